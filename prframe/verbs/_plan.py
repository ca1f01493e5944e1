"""The plan of a verb: what it is asked for, what it accepts, and how it makes rows of a frame."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe.errors import PrframeError
from prframe.tie_policies import ALL_TIES, Ties


@dataclass(frozen=True)
class Accepts:
    """What a verb accepts of the arguments that all verbs share, and why not the rest.

    Attributes
    ----------
    verb : str
        The verb, which opens what is said.
    whole_items : str
        What the verb does with whole items, for which reason it takes no weight: "counts". Absent:
        it takes weights.
    ties : collection of str
        The tie policies that it takes.
    taker : str
        What takes these policies and no others, unless it is the verb.
    otherwise : str
        What follows after another policy: why the verb does not take it.
    one_ranking : str
        What the verb needs, for which reason it does not take a mean over rankings, and what to do
        with another policy: "which have different curves; draw". Absent: see `ties`.
    where : str
        In which calls of the verb this is so; absent: in all.
    cluster : str
        Why the verb takes no clusters; absent: where it has an argument for them, it takes them.
    clusters_of_items : bool
        Whether what is not listed is in no cluster, so that clusters go with no totals.
    """

    verb: str
    whole_items: str = ""
    ties: Collection[Ties] = ALL_TIES
    taker: str = ""
    otherwise: str = ""
    one_ranking: str = ""
    where: str = ""
    cluster: str = ""
    clusters_of_items: bool = False

    def check(self, args: Arguments) -> None:
        """Refuse the arguments that the verb does not accept."""
        if self.whole_items and args.weight is not None:
            raise PrframeError(
                f"{self.verb} {self.whole_items} whole items and takes no `weight`{self.where}; "
                "leave it out."
            )
        if self.one_ranking and args.policy.mean:
            raise PrframeError(
                f"ties={args.ties!r} is a mean over rankings, {self.one_ranking} 'group', or the "
                "range from 'worst' to 'best'."
            )
        takes_ties(self.taker or self.verb, self.ties, args, self.where, self.otherwise)
        if self.cluster and args.cluster is not None:
            raise PrframeError(self.cluster)
        if self.clusters_of_items and args.cluster is not None and args.totals:
            raise PrframeError(
                f"`{args.totals[0]}` counts items that are not listed, and so in no cluster; list "
                "them with a score of -inf."
            )


def takes_ties(
    taker: str, ties: Collection[Ties], args: Arguments, where: str = "", otherwise: str = ""
) -> None:
    """Refuse the tie policies that a verb, or a metric, does not take."""
    if args.ties not in ties:
        raise PrframeError(
            f"{taker} takes ties={checks.listed(ties)}{where}; got {args.ties!r}{otherwise}."
        )


@dataclass(frozen=True)
class Plan(ABC):
    """What a verb is asked for: a subclass has the verb's own options.

    `run` asks first what the verb accepts of the shared arguments, then has the options checked,
    and then, for a lazy frame when it is collected, the rows made.
    """

    args: Arguments

    @abstractmethod
    def accepts(self) -> Accepts:
        """Return what the verb accepts of the arguments that all verbs share."""

    def check(self) -> None:  # noqa: B027 - most verbs have some
        """Refuse options of the verb that do not go together."""

    @abstractmethod
    def results(self, source: Source) -> pl.DataFrame:
        """Return the rows of the result, with the working names of the keys."""
