"""Colours that differ enough, also for people who see fewer colours, each with dashes of its own.

The colours are from M. Okabe and K. Ito, Color Universal Design, 2008, without those that are pale
on the ground, and a brown.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from prframe.errors import PrframeError

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8B5A2B", "#000000")
PALETTE_DARK = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#FFFFFF")
# The ground of the dark style, the text on it, and the greys of what is not the matter itself.
GROUND, GROUND_DARK, TEXT_DARK = "#FFFFFF", "#121212", "#F2F2F2"
MUTED, MUTED_DARK = "#6B6B6B", "#A8A8A8"

# Lengths of dashes and gaps, in widths of the line.
DASHES: tuple[tuple[float, ...], ...] = (
    *((), (6, 1.5), (1.5, 1.5), (6, 1.5, 1.5, 1.5)),
    *((3, 1.5), (6, 1.5, 1.5, 1.5, 1.5, 1.5)),
)
_MOST_GROUPS = 18


@dataclass(frozen=True)
class Look:
    """The colour of a group, and its dashes, none of which is a solid line."""

    colour: str
    dashes: tuple[float, ...] = ()


def looks(groups: Sequence[object], palette: Sequence[str]) -> dict[object, Look]:
    """Return a look per group: colours in turn, and dashes that shift with each turn."""
    if len(groups) > _MOST_GROUPS:
        raise PrframeError(
            f"one picture must have at most {_MOST_GROUPS} groups, which can be told apart; got "
            f"{len(groups)}. Name the column of groups in facet=, or, of queries or folds, in "
            "over=."
        )
    made = {}
    for place, group in enumerate(groups):
        turn, colour = divmod(place, len(palette))
        made[group] = Look(palette[colour], DASHES[(colour + turn) % len(DASHES)])
    return made
