"""The pictures of a frame that `.pr.plot` offers: the verb and its drawing in one call."""

from prframe import plot
from prframe._preparation.of_frames import pictures_of

globals().update(pictures_of(plot))
