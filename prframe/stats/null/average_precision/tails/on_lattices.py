"""Tails of AP on lattices for groups that share a depth and tie blocks.

Plain lattices serve values near the mean. Far out among rare positives lattices are tilted; where
single values carry weight, lists of first hits are compared with what the others add.
"""

from collections.abc import Sequence
from math import nan

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.generating_function.walk import Group
from prframe.stats.null.average_precision.tails.alike import LISTED, AlikeGroups
from prframe.stats.null.average_precision.tails.counted.full_lists import FullLists
from prframe.stats.null.average_precision.tails.first_ranks.tails import FirstRanks
from prframe.stats.null.average_precision.tails.neighbours import Sharing
from prframe.stats.null.average_precision.tails.plain.lattice import (
    NEVER,
    TRIES,
    Lattice,
    LatticeTails,
    Levels,
    Try,
    lattice_tails,
)
from prframe.stats.null.average_precision.tails.tail import (
    Hint,
    Tail,
    as_hints,
    log_rest,
)
from prframe.stats.null.average_precision.tails.tilted.lattice import TiltedLattice
from prframe.stats.null.average_precision.tails.tilted.runs import log_tail_beside_run
from prframe.typing import Integers


class OnLattices(AlikeGroups):
    """Tails on lattices, which are kept for further values.

    What neighbouring values share is in `shares`, if they share anything.
    """

    def __init__(
        self, groups: Sequence[Group], depth: int | None = None, ends: Integers | None = None
    ) -> None:
        super().__init__(groups, depth, ends)
        self.shares: Sharing | None = None
        self._lattices: dict[int, Lattice] = {}
        self._tilted: dict[int, TiltedLattice] = {}
        self._first_ranks: dict[int, FirstRanks] = {}
        self._full_lists: dict[int, FullLists] = {}

    def from_lattice(
        self, group: int, values: Sequence[float], tries: Sequence[Try], levels: Levels
    ) -> LatticeTails:
        """Return the tails from lattices that are kept for other values of the group."""
        if group not in self._lattices:
            self._lattices[group] = Lattice(self.retrieved(group), self._shape[1])
        targets = np.array([self._target(group, x) for x in values])
        return self._lattices[group].tails(targets, tries, levels)

    def tilted(self, group: int, x: float) -> Hint | None:
        """Return the tails of a value far out; None where there is no answer.

        Small T are looked up in lists of first hits, and otherwise on a tilted lattice. In a rough
        search its tails are taken where it is too coarse.
        """
        if self._is_sparse(group) or x <= self.mean[group]:
            return None
        if self.is_listed_first(group, x) and (tail := self.listed(group, x)):
            return Hint(tail, nan, is_accurate=True, is_from_lattice=True)
        lattice, target = self._tilted_lattice(group), np.array([self._target(group, x)])
        is_rough = self.shares is not None and self.shares.is_rough
        (hint,) = as_hints(lattice.tails(target, is_rough=is_rough))
        if self.shares and is_rough and hint is not None and not hint.is_accurate:
            self.shares.of(group).is_coarse = True
            return hint._replace(is_accurate=True)
        return hint

    def _tilted_lattice(self, group: int) -> TiltedLattice:
        """Return the tilted lattice of a group, which is kept."""
        if group not in self._tilted:
            # Walks of one group take megabytes, so that those of others are not kept.
            self._tilted.clear()
            items, n_pos = self._items(group)
            self._tilted[group] = TiltedLattice(items, n_pos, n_pos * float(self.mean[group]))
        return self._tilted[group]

    def forget_tilted(self) -> None:
        """Drop the tilted lattices, which take megabytes, of a part that is done with."""
        self._tilted.clear()

    def nearly_full(self, group: int, x: float, most_rows: int) -> Tail | None:
        """Return the tails of a list that positives nearly fill; None of others."""
        if self._is_sparse(group):
            return None
        if group not in self._full_lists:
            self._full_lists[group] = FullLists(*self._items(group))
        tails = self._full_lists[group].tails(self._target(group, x), most_rows)
        hint = None if tails is None else as_hints(tails)[0]
        return hint.tail if hint is not None and hint.is_accurate else None

    def beside_run(self, group: int, x: float) -> Tail | None:
        """Return the tails of a value next to a large whole T; None where it is not."""
        target = self._target(group, x)
        if self.is_tied or not self.is_scarce(group) or target < LISTED * (1 - 2 * EQUAL):
            return None
        lists, lattice = self._lists(group), self._tilted_lattice(group)
        log_tail = log_tail_beside_run(lattice, lists.case, lists.rest_of_run, target)
        return None if log_tail is None else Tail(log_tail, log_rest(log_tail), "estimate")

    def listed(self, group: int, x: float) -> Tail | None:
        """Return the tails of rare positives from lists of first hits; None where these fail."""
        target = self._target(group, x)
        is_near = not self.is_tied and self.is_rare(group) and target < LISTED
        if not is_near and not self.begins_with_lists(group, x):
            return None
        lists = self._lists(group)
        extent = own = lists.extent(target)
        if self.shares and self.shares.is_rough and (extent := lists.nearest(own)) != own:
            self.shares.of(group).is_coarse = True
        log_tail = lists.log_tail(target, extent)
        return None if log_tail is None else Tail(log_tail, log_rest(log_tail), "lattice")

    def _lists(self, group: int) -> FirstRanks:
        """Return the lists of first hits of a group, which are kept."""
        if group not in self._first_ranks:
            self._first_ranks[group] = FirstRanks(self.retrieved(group))
        return self._first_ranks[group]


def lattice_hints(
    values: "Sequence[tuple[OnLattices, int, float]]", levels: Levels = NEVER
) -> list[Hint | None]:
    """Return the tails of values of groups on lattices; None where these are too small.

    They are estimates where single values carry weight. Far out among many items (`is_far`) lists
    of first hits come first, and a tilted lattice where there are none. Where the first lattice is
    too coarse closer ones are tried, and lists (`is_listed_first`) right before one of these.
    """
    hints = [part.tilted(group, x) if part.is_far(group, x) else None for part, group, x in values]
    near = [place for place, hint in enumerate(hints) if hint is None]
    plain = _from_lattices([values[place] for place in near], TRIES[:1], levels)
    for place, hint in zip(near, plain, strict=True):
        part, group, x = values[place]
        is_coarse = hint is not None and not hint.is_accurate
        is_tilted = part.is_tilted_next(group) and not part.is_listed_first(group, x)
        tilted = part.tilted(group, x) if is_coarse and is_tilted else None
        hints[place] = tilted if tilted is not None and tilted.is_accurate else hint
    coarse = [place for place, hint in enumerate(hints) if hint and not hint.is_accurate]
    for number, closer in enumerate(TRIES[1:], start=1):
        is_last = number == len(TRIES) - 1
        open_ = []
        for place in coarse:
            part, group, x = values[place]
            listed = part.listed(group, x) if part.is_listed_first(group, x) != is_last else None
            hint = hints[place]
            if hint is not None and listed is not None:
                hints[place] = hint._replace(tail=listed, is_accurate=True)
            elif not is_last or part.is_rare(group) or not part.is_small(group):
                open_.append(place)
        again = _from_lattices([values[place] for place in open_], [closer], levels)
        coarse = []
        for place, hint in zip(open_, again, strict=True):
            hints[place] = hint
            if hint and not hint.is_accurate:
                coarse.append(place)
    return hints


def _from_lattices(
    values: Sequence[tuple[OnLattices, int, float]], tries: Sequence[Try], levels: Levels
) -> list[Hint | None]:
    """Return the tails of values on lattices, which groups without ties share."""
    hints: list[Hint | None] = [None] * len(values)
    groups: dict[tuple[OnLattices, int], list[int]] = {}
    for place, (part, group, _) in enumerate(values):
        groups.setdefault((part, group), []).append(place)
    untied = [places for (part, _), places in groups.items() if not part.is_tied]
    # The lattices of a single group are kept for values that are asked for later on.
    shared = sorted(place for places in untied for place in places) if len(untied) > 1 else []
    if shared:
        problems = [values[place][0].problem(*values[place][1:]) for place in shared]
        cases = [values[place][0].retrieved(values[place][1]) for place in shared]
        targets = np.array([problem.target for problem in problems])
        own = as_hints(lattice_tails(cases, targets, tries=tries))
        for place, hint in zip(shared, own, strict=True):
            hints[place] = hint
    for (part, group), places in groups.items():
        if part.is_tied or not shared:
            x = [values[place][2] for place in places]
            own = as_hints(part.from_lattice(group, x, tries, levels))
            for place, hint in zip(places, own, strict=True):
                hints[place] = hint
    return hints
