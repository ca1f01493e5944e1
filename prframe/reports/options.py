"""The options that both kinds of reports share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prframe import checks
from prframe._preparation import wording
from prframe.errors import ArgumentError
from prframe.metrics import Metric, parse_metric
from prframe.tie_policies import Ties
from prframe.typing import Positive
from prframe.verbs._evaluation import OF_ALL_ROWS
from prframe.verbs.comparison.rows import JointCorrection, Test

ALPHA = 0.05


@dataclass(frozen=True)
class Options:
    """How the numbers of a report are made; the first metric orders the systems."""

    metrics: tuple[str, ...]
    positive: Positive
    ties: Ties
    n_pos: str | int | None
    test: Test
    correction: JointCorrection | None
    confidence_level: float
    seed: int
    depth: int
    queries: Mapping[Any, str]
    texts: Mapping[Any, str]
    float32: bool = False

    def __post_init__(self) -> None:
        """Check what no verb checks."""
        checks.whole_number("seed", self.seed, 0)
        checks.whole_number("depth", self.depth, 1)
        for name in ("queries", "texts"):
            if not isinstance(getattr(self, name), Mapping):
                raise ArgumentError(
                    f"`{name}` must be a dict of texts by id; got "
                    f"{checks.brief(getattr(self, name))}."
                )

    @property
    def shared(self) -> dict[str, Any]:
        """The arguments that all verbs take."""
        return {
            "positive": self.positive,
            "ties": self.ties,
            "n_pos": self.n_pos,
            "float32": self.float32,
        }

    @property
    def level(self) -> str:
        """The confidence level as it is written."""
        return wording.percent(self.confidence_level)

    @property
    def compared(self) -> dict[str, Any]:
        """The arguments of comparisons."""
        return {
            "test": self.test,
            "correction": self.correction,
            "confidence_level": self.confidence_level,
            "rng": self.seed,
        }

    @property
    def enclosed(self) -> dict[str, Any]:
        """The arguments of intervals and bands."""
        return {"confidence_level": self.confidence_level, "rng": self.seed}

    def rows(self) -> list[list[str]]:
        """Return the options as rows of a table."""
        rows = {
            "metrics": ", ".join(self.metrics),
            "positive": str(self.positive),
            "ties": "as in trec_eval: equal scores in descending order of ids"
            if self.ties == "trec"
            else self.ties,
            "test": self.test,
            "correction": str(self.correction),
            "confidence level": f"{self.confidence_level:g}",
            "seed": str(self.seed),
        }
        return [[name, value] for name, value in rows.items()]


def metric_names(
    metrics: str | Metric | Sequence[str | Metric] | None, default: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of metrics as results have them, but those of which verbs warn."""
    asked = default if metrics is None else metrics
    given = [asked] if isinstance(asked, (str, Metric)) else list(asked)
    if not given:
        raise ArgumentError("`metrics` must name at least one metric; got none.")
    names = (str(m) if str(m) in OF_ALL_ROWS else str(parse_metric(m)) for m in given)
    return tuple(dict.fromkeys(names))
