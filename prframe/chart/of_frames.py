"""The pictures of a frame that `.pr.chart` offers: the verb and its drawing in one call."""

from prframe import chart
from prframe._preparation.of_frames import pictures_of

globals().update(pictures_of(chart))
