"""The pictures of a frame that `.pr.chart` offers: the verb and its drawing in one call."""

from prframe import chart
from prframe._preparation.of_frames import Picture, pictures_of

_PICTURES = pictures_of(chart)


def __getattr__(name: str) -> Picture:
    """Return a picture."""
    if name in _PICTURES:
        return _PICTURES[name]
    raise AttributeError(f"module {__name__!r} has no {name!r}.")
