"""Names that people use elsewhere for arguments and columns, and what to write here instead."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import wraps
from numbers import Integral
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# What other libraries call the arguments here.
SYNONYMS: dict[str, str] = {
    **dict.fromkeys(("by_query", "group", "groupby", "group_by", "qid", "query_id"), "by"),
    **dict.fromkeys(("ci", "confidence", "level"), "confidence_level"),
    **dict.fromkeys(("docno", "doc_id", "id"), "item"),
    **dict.fromkeys(("y_true", "labels", "relevance"), "label"),
    **dict.fromkeys(("measures", "scoring"), "metrics"),
    **dict.fromkeys(("system", "run"), "model"),
    **dict.fromkeys(
        ("n_boot", "n_bootstrap", "n_permutations", "n_perm", "null_size"), "n_resamples"
    ),
    **dict.fromkeys(("pos_label", "min_rel", "relevance_level"), "positive"),
    **dict.fromkeys(("seed", "random_state"), "rng"),
    **dict.fromkeys(("y_score", "y_pred"), "score"),
    "sample_weight": "weight",
    "points": "recall",
    "prevalence": "prior",
}
# What other libraries call the values of options.
_VALUES = {
    **dict.fromkeys(("fdr", "fdr_bh"), "bh"),
    **dict.fromkeys(("fisher", "permutation"), "randomization"),
    **dict.fromkeys(("normal", "paired_t", "student", "ttest"), "t"),
}
_LARGEST_FIRST = "the largest score is the best one; give distances with the opposite sign"
_CUTOFF = "a cut-off is part of a metric's name, for example 'nDCG@10'"
# Arguments of other libraries that have no counterpart, and what to do instead.
NOT_OFFERED: dict[str, str] = {
    **dict.fromkeys(("ascending", "descending"), _LARGEST_FIRST),
    **dict.fromkeys(("cutoff", "depth", "k"), _CUTOFF),
    "alpha": "a confidence_level= of 0.95 leaves out 0.05, and p-values are columns of the result",
    "over": "results are of single groups, which by= names",
    "per_query": "by='query_id' has a row for each query, and over='query_id' the mean of all",
    "qrels": "prframe.trec.join(run, qrels) makes a frame of both",
    "undefined": "evaluate(undefined=0) gives values for interval(values=)",
    "threshold": "write it into the name of a metric, for example 'P(threshold=0.5)'; the verb "
    "curve has the counts at every score",
}
# For columns of pandas whose names are tuples.
OF_LEVELS = (
    " Names are strings; those of several levels become so, for example, by frame.columns = "
    "frame.columns.map('_'.join)."
)
# The dtypes of the columns of an argument.
TAKEN: dict[str, str] = {
    "score": "Scores are integers, floats or decimals.",
    "label": "Labels are booleans, numbers or text.",
}
# Which metrics need a column that the caller has not named.
NEEDED: dict[str, str] = {
    "judged": "Bpref, infAP and Judged need to know which items are judged; trec.join makes this "
    "column. "
}
# The columns by which `prframe.trec` knows queries and documents. In PyTerrier `qid` is the id of
# the query and `query` its text, `docno` is the id of the document and `docid` a number.
QUERY = ("query_id", "qid", "q_id", "query", "topic", "query-id")
DOCUMENT = ("doc_id", "docno", "docid", "document_id", "corpus-id")
QUERIES = (*QUERY, "topic_id")
MODELS = ("model", "system", "run", "tag", "run_id")
# The columns of the folds of a cross-validation, and of its repetitions and splits.
FOLDS = ("fold", "folds", "fold_id", "cv_fold", "cv", "kfold", "k_fold")
REPETITIONS = ("split", "split_id", "cv_split", "repeat", "repeat_id", "repetition", "rep")
# Usual names of columns for each argument. The first of them that a frame has is proposed.
_COLUMNS: dict[str, tuple[str, ...]] = {
    "score": ("score", "scores", "y_score", "y_pred", "y_prob", "prob", "pred", "similarity"),
    "label": ("label", "labels", "relevance", "rel", "y_true", "y", "target", "is_relevant"),
    "query": QUERIES,
    "item": (*DOCUMENT, "item", "item_id", "id"),
    "model": MODELS,
}


def closest(value: object, options: Iterable[object], cutoff: float = 0.6) -> str | None:
    """Return the option that resembles a value but for case and underscores, if any does."""
    folded = {str(option).lower().replace("_", ""): str(option) for option in options}
    close = get_close_matches(str(value).lower().replace("_", ""), folded, n=1, cutoff=cutoff)
    return folded[close[0]] if close else None


def did_you_mean(value: object, options: Iterable[object]) -> str:
    """Return a hint when one of the options resembles the value, else nothing."""
    known = {str(option): option for option in options}
    usual = _VALUES.get(str(value).lower())
    close = usual if usual in known else closest(value, known)
    return f" Did you mean {known[close]!r}?" if close else ""


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function say what arguments that it does not have are called here."""
    known = list(inspect.signature(function).parameters)

    @wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> T:
        refuse_unknown(function.__name__, options, known)
        return function(*args, **options)

    return called


def refuse_unknown(function: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse arguments that a function does not have."""
    if not (unknown := [name for name in given if name not in known]):
        return
    several = "an unexpected keyword argument" if len(unknown) == 1 else "unexpected arguments"
    message = f"{function}() got {several} {', '.join(map(repr, unknown))}."
    raise TypeError(message + "".join(_instead(name, known[1:]) for name in unknown))


def _instead(name: str, known: Sequence[str]) -> str:
    """Return a sentence on what to write instead of an unknown argument, if that is known."""
    word = name.lower()
    ours = SYNONYMS.get(word, word)
    # A few functions have the names of other libraries.
    ours = next((each for each in known if ours in {each, SYNONYMS.get(each)}), ours)
    if ours in known:
        return f" Write {ours}= for {name}=."
    if word in NOT_OFFERED:
        return f" There is no {name}=: {NOT_OFFERED[word]}."
    return did_you_mean(name, known)


def of_module(module: str, name: str, offered: Sequence[str]) -> str:
    """Return the message about a name that a module does not have."""
    return f"module {module!r} has no attribute {name!r}.{did_you_mean(name, offered)}"


def of_column_name(argument: str, given: object) -> str:
    """Return a sentence for an object in place of a column's name, if one is known."""
    if isinstance(given, Integral):
        return (
            " Names are strings; those of a pandas frame become so, for example, by "
            "frame.columns = frame.columns.astype(str)."
        )
    listed = isinstance(given, (list, tuple)) and all(isinstance(name, str) for name in given)
    if argument == "score" and listed and given:
        return (
            " Put the columns of models into one, with unpivot in polars or melt in pandas, and "
            "name the new column of models in by=."
        )
    if isinstance(given, tuple) and listed and given:
        return OF_LEVELS
    if type(given).__name__ == "Expr":
        return " Make it a column first, for example with with_columns."
    numbers = isinstance(given, (list, tuple)) and any(
        isinstance(value, (int, float)) for value in given
    )
    if numbers or (hasattr(given, "__array__") and not isinstance(given, str)):
        return " Make it a column of the frame and give its name."
    return ""


def of_dtype(dtype: object) -> str:
    """Return a sentence for a column of lists, text or flags where numbers are due."""
    if str(dtype).startswith(("List", "Array")):
        return " Give each item a row; of several classes take one column, as in proba[:, 1]."
    if str(dtype) == "String":
        return " Make numbers of it first, for example with cast(pl.Float64) or astype(float)."
    if str(dtype) == "Boolean":
        return (
            " Name the scores by which the items are ranked; if these are the flags, make numbers "
            "of them, for example with cast(pl.Int8) or astype(int)."
        )
    return f" {TAKEN['score']}"


def of_column(column: str, argument: str, present: Iterable[str]) -> str | None:
    """Return the column of a frame that may be meant by one that it does not have."""
    names = {str(name).lower(): str(name) for name in present}
    for role, theirs in _COLUMNS.items():
        if role == argument or (argument in {"by", "over"} and column.lower() in theirs):
            return next((names[name] for name in theirs if name in names), None)
    return None
