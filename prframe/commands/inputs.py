"""What a command reads: runs with their qrels, or a frame; and the arguments of verbs for it."""

import argparse
import os
import signal
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from prframe.commands import files, options
from prframe.commands.exits import UsageError
from prframe.commands.files import STANDARD_INPUT

if TYPE_CHECKING:
    from prframe.trec.joining import Queries

_OF_FILES = ("complete", "judged_only", "depth", "duplicates", "exclude_self")
_OF_FRAMES = ("score", "label", "by", "over", "item", "weight", "n_pos", "n_neg", "positive")
# The column of scores where models with a column each are put into rows.
_SCORE = "score of the model"
_BOTH = "--frame stands in place of QRELS and RUN; got both"


@dataclass(frozen=True)
class Rankings:
    """Rows of rankings, and the arguments of verbs for them.

    `models` are columns of scores, `n_queries` counts the judged queries of each run.
    """

    frame: Any
    by: list[str]
    over: list[str]
    options: dict[str, Any]
    models: list[str]
    n_queries: Any = None
    note: str = ""

    @property
    def single(self) -> list[str]:
        """The columns that identify a ranking."""
        return [*self.by, *self.over]

    def columns(self, *, by_query: bool) -> dict[str, Any]:
        """Return the arguments `by` and `over` of a verb that takes means over queries."""
        if by_query or not self.over:
            return {"by": self.single or None}
        return {"by": self.by or None, "over": self.over}

    @property
    def score(self) -> dict[str, Any]:
        """The argument of a verb that takes several columns of scores."""
        return {"score": self.models} if self.models else {}

    def in_rows(self) -> "Rankings":
        """Return these with their models in rows, where each has a column of scores."""
        if not self.models:
            return self
        names = self.frame.collect_schema().names()
        rest = [name for name in names if name not in {*self.models, "model"}]
        chosen: Any = {"index": rest, "variable_name": "model", "value_name": _SCORE}
        return replace(
            self,
            frame=self.frame.select(*rest, *self.models).unpivot(self.models, **chosen),
            by=[*self.by, "model"],
            models=[],
            options={**self.options, "score": _SCORE},
        )


def allow_interrupts() -> None:
    """Let an interrupt end the wait for a pipe, which polars has made impossible."""
    import polars as _  # noqa: F401, ICN001 - once it is loaded, this can be undone

    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)  # noqa: FBT003


def read(given: argparse.Namespace, *, every_query: bool = False) -> Rankings:
    """Read what was named on the command line, perhaps with all queries of the qrels."""
    allow_interrupts()
    return _read_frame(given) if given.frame else _read_files(given, every_query=every_query)


def trec_files(given: argparse.Namespace) -> tuple[str, list[str]]:
    """Return the path of the qrels, and those of the runs, all of which exist."""
    if given.frame:
        raise UsageError(_BOTH if given.files else "-f trec takes QRELS and RUN, and no --frame")
    taken = options.extra_words(given)
    if len(given.files) < 2 or any(map(os.path.isfile, taken)):  # noqa: PLR2004 - one and another
        tables = [name for name in given.files if name.endswith((".parquet", ".csv", ".jsonl"))]
        if len(given.files) == 1 and tables:
            raise UsageError(f"{tables[0]} is a table, and no QRELS: put --frame before it")
        raise UsageError(_missing(taken))
    if flags := options.flags_of(given, *_OF_FRAMES):
        also = "; for a row per query pass -q" if "--by" in flags else ""
        raise UsageError(f"{flags} names columns of a frame, and goes with --frame{also}")
    if [*given.files].count(STANDARD_INPUT) > 1:
        raise UsageError("standard input can be read once; - stands for two files here")
    from prframe.trec.layouts import QRELS, RUN

    qrels, *runs = given.files
    judged = _expand(qrels, QRELS.pattern)
    if len(judged) > 1:
        raise UsageError(f"QRELS is one file; {qrels!r} matches {len(judged)}")
    paths = [path for run in runs for path in _expand(run, RUN.pattern)]
    refuse_to_overwrite(given, [*judged, *paths])
    return judged[0], paths


def refuse_to_overwrite(given: argparse.Namespace, paths: Iterable[str]) -> None:
    """Refuse to write the output over a file of the input."""
    output = given.output
    # What is no file, such as /dev/null, loses nothing.
    if output is None or not os.path.isfile(output):  # noqa: PTH113
        return
    if any(os.path.exists(path) and os.path.samefile(path, output) for path in paths):  # noqa: PTH110, PTH121
        raise UsageError(f"{output} is a file of the input; name another one with -o")


def _missing(taken: Sequence[str]) -> str:
    """Return the message that files are missing, and which words an option has taken."""
    if not taken:
        return "name QRELS and one RUN or more, or --frame FILE for a table such as CSV or Parquet"
    words = " and ".join(map(repr, taken))
    return (
        f"QRELS or RUN is missing: an option takes all words after it, and has taken {words}. "
        "Name the files first, as in: prframe evaluate QRELS RUN -m AP nDCG@10; or put -- "
        "before them"
    )


def _expand(path: str, example: str) -> list[str]:
    """Return the files that a path or a pattern stands for; `example` is proposed for a folder."""
    if path == STANDARD_INPUT:
        if not os.path.exists("/dev/stdin"):  # noqa: PTH110
            raise UsageError("- needs a system with /dev/stdin; name a file")
        return ["/dev/stdin"]
    return files.expand_pattern(path, example)


def _read_files(given: argparse.Namespace, *, every_query: bool) -> Rankings:
    """Read runs and judge them by the conventions of trec_eval, unless told otherwise."""
    qrels, runs = trec_files(given)
    import polars as pl

    from prframe import trec
    from prframe.errors import PrframeError, UnretrievedWarning
    from prframe.trec.evaluating import limited
    from prframe.trec.joining import join_both

    own_rule = getattr(given, "incomplete", None) or getattr(given, "by_query", False)
    of_means: Queries = "both" if own_rule else "means"
    queries = "qrels" if every_query or given.complete else of_means
    # A check reports documents that are listed twice.
    rules = ({"duplicates": "keep"} if every_query else {}) | join_options(given)
    predicted = getattr(given, "predicted", None)
    if predicted is None:
        joined = trec.join(runs, qrels, queries=queries, **rules)
    else:
        joined = join_both(runs, qrels, _machine(given), queries=queries, **rules)
    query = pl.col("query_id").filter(pl.col("score") > -float("inf"))
    n_queries = joined.group_by("system", maintain_order=True).agg(n=query.n_unique())
    if joined.is_empty() or not (given.complete or every_query or n_queries["n"].sum()):
        raise PrframeError(
            "the runs and the qrels have no query in common; take other qrels, or mend ids."
        )
    # The join gives unretrieved documents the score -inf.
    warnings.simplefilter("ignore", UnretrievedWarning)
    ties = given.ties or "trec"
    # Version 9 of trec_eval compares scores as 32-bit floats.
    float32 = ties == "trec" and getattr(given, "trec_eval", 9) == 9  # noqa: PLR2004 - a name
    joined = limited(
        joined,
        ["system", "query_id"],
        given.depth,
        judged_only=given.judged_only,
        float32=float32,
    )
    ranked: dict[str, Any] = {"item": "doc_id", "ties": ties, "float32": float32}
    ranked |= options.given_only(given, "missing")
    if given.level is not None:
        ranked["positive"] = given.level
    note = f"(ties: {ties})\n"
    if predicted is not None:
        ranked["predicted"] = "predicted"
        n = joined.group_by("query_id").agg(pl.col("label").first())["label"]
        sources = f"human labels of {n.count()} queries from {qrels}, machine labels of {n.len()}"
        note = f"(ties: {ties}; {sources} from {predicted})\n"
    counts = n_queries if predicted is None else None
    return Rankings(joined, ["system"], ["query_id"], ranked, [], counts, note)


def _machine(given: argparse.Namespace) -> list[str]:
    """Return the paths of the machine's judgments."""
    if given.judged_only:
        raise UsageError("-J leaves out what no human has judged; leave it out with --predicted")
    paths = _expand(given.predicted, "*.qrels")
    refuse_to_overwrite(given, paths)
    return paths


def join_options(given: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments for documents that are listed twice, or are the query itself."""
    exclude_self = {"exclude_self": True} if given.exclude_self else {}
    return options.given_only(given, "duplicates") | exclude_self


def _read_frame(given: argparse.Namespace) -> Rankings:
    """Scan a frame."""
    if given.files:
        raise UsageError(_BOTH)
    if flags := options.flags_of(given, *_OF_FILES):
        raise UsageError(f"{flags} goes with QRELS and RUN, and not with --frame")
    found = files.expand(given.frame)
    refuse_to_overwrite(given, (path for paths in found.values() for path in paths))
    named = [given.item, getattr(given, "model", None), getattr(given, "cluster", None)]
    keys = [*given.by, *given.over, *(column for column in named if column is not None)]
    numbers = [*(given.score or ["score"]), given.weight, given.n_pos, given.n_neg]
    names = [name for name in numbers if isinstance(name, str)]
    model = getattr(given, "model", None) or "model"
    frame: Any
    frame, is_added = files.scan(found, keys, model, names)
    if hasattr(given, "rng") and getattr(given, "interval", True):
        # An interrupt ends draws in the main thread alone, and a query of polars has its own.
        frame = frame.collect()
    columns = ("label", "item", "weight", "n_pos", "n_neg")
    ranked = options.given_only(given, "ties", "missing", *columns)
    if getattr(given, "predicted", None):
        ranked["predicted"] = given.predicted
    if given.positive is not None:
        ranked["positive"] = _label(frame, given.label or "label", given.positive)
    if given.level is not None:
        ranked["positive"] = given.level
    models = given.score if len(given.score) > 1 else []
    if len(given.score) == 1:
        ranked["score"] = given.score[0]
    # Each of several files is a model.
    by = [*given.by, *([model] if is_added and model not in {*given.by, *given.over} else [])]
    return Rankings(frame, by, given.over, ranked, models)


def _label(frame: Any, column: str, word: str) -> str | list[float]:  # noqa: ANN401 - a frame of polars
    """Return a label as its column holds it: where labels are numbers, the number, in a list."""
    dtype = frame.collect_schema().get(column)
    if dtype is None or not dtype.is_numeric():
        return word
    try:
        return [int(word) if dtype.is_integer() else float(word)]
    except ValueError:
        return word
