"""Other libraries' names of arguments, columns and functions, and what is written here instead."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral

# What other libraries call the arguments here.
SYNONYMS: dict[str, str] = {
    **dict.fromkeys(("group", "groupby", "group_by", "qid", "query_id"), "by"),
    **dict.fromkeys(("ci", "conf_level", "confidence", "level"), "confidence_level"),
    **dict.fromkeys(("p_adjust", "p_adjust_method"), "correction"),
    **dict.fromkeys(("docno", "doc_id", "id"), "item"),
    **dict.fromkeys(("y_true", "labels", "target", "relevance"), "label"),
    **dict.fromkeys(("measure", "measures", "scoring"), "metrics"),
    **dict.fromkeys(("system", "run", "models"), "model"),
    **dict.fromkeys(("n_boot", "n_bootstrap", "n_permutations", "null_size"), "n_resamples"),
    **dict.fromkeys(("pos_label", "min_rel", "relevance_level"), "positive"),
    **dict.fromkeys(("seed", "random_state"), "rng"),
    **dict.fromkeys(("y_score", "y_pred", "scores", "probas_pred"), "score"),
    **dict.fromkeys(("sample_weight", "weights"), "weight"),
    "average": "over",
    "points": "recall",
    "margin": "equivalence",
    "prevalence": "prior",
    "tail": "alternative",
}
_LARGEST_FIRST = "the largest score is the best one; give distances with the opposite sign"
_CUTOFF = "a cut-off stands in the name of a metric, for example 'nDCG@10'"
# What is said of arguments that are called differently and mean something else.
NOT_OFFERED: dict[str, str] = {
    **dict.fromkeys(("ascending", "descending", "higher_is_better"), _LARGEST_FIRST),
    **dict.fromkeys(("cutoff", "depth", "k", "top_k"), _CUTOFF),
    "alpha": "a confidence_level= of 0.95 leaves out 0.05, and p-values are columns of the result",
    "n_jobs": "POLARS_MAX_THREADS in the environment sets the number of threads",
    "per_query": "by='query_id' has a row for each query, and over='query_id' the mean of all",
    "qrels": "prframe.trec.join(run, qrels) makes a frame of both",
    "threshold": "it stands in the name of a metric, for example 'P(threshold=0.5)'; curve() has "
    "the counts at every score",
}
# What other libraries call the corrections here.
_CORRECTIONS = {"fdr_bh": "bh", "fdr": "bh", "fdr_by": "by", "bonf": "bonferroni"}
# What is said of columns of pandas whose names are tuples.
OF_LEVELS = (
    " Names are strings; those of several levels become so, for example, by frame.columns = "
    "frame.columns.map('_'.join)."
)
# Of which dtypes the columns of an argument are.
TAKEN: dict[str, str] = {
    "score": "Scores are integers, floats or decimals.",
    "label": "Labels are booleans, numbers or text.",
}
# The columns by which `prframe.trec` knows queries and documents. In PyTerrier `qid` is the id of
# the query and `query` its text, `docno` is the id of the document and `docid` a number.
QUERY = ("query_id", "qid", "q_id", "query", "topic", "query-id")
DOCUMENT = ("doc_id", "docno", "docid", "document_id", "corpus-id")
# Whatever else queries are called.
QUERIES = (*QUERY, "topic_id")
# What the folds of a cross-validation are called, and its repetitions and splits.
MODELS = ("model", "system", "run", "tag", "run_id")
FOLDS = ("fold", "folds", "fold_id", "cv_fold", "cv", "kfold", "k_fold")
REPETITIONS = ("split", "split_id", "cv_split", "repeat", "repeat_id", "repetition", "rep")
# Names that columns often have, for the arguments that may name them. The first of them that a
# frame has is proposed.
_COLUMNS: dict[str, tuple[str, ...]] = {
    "score": ("score", "scores", "y_score", "y_pred", "y_prob", "prob", "pred", "similarity"),
    "label": ("label", "labels", "relevance", "rel", "y_true", "y", "target", "is_relevant"),
    "query": QUERIES,
    "item": (*DOCUMENT, "item", "item_id", "id"),
    "model": MODELS,
}
# Other names of metrics that are expressions here, and these.
_EXPRESSIONS = {"average_precision": "ap", "roc_auc": "auc", "mrr": "rr"}
# Functions of other libraries, and the call here.
_FUNCTIONS: dict[str, str] = {
    **dict.fromkeys(("average_precision_score", "ap"), "evaluate(frame, 'AP')"),
    **dict.fromkeys(("roc_auc_score", "auc"), "evaluate(frame, 'AUC')"),
    **dict.fromkeys(("f1_score", "fbeta_score"), "evaluate(frame, 'F1(threshold=0.5)')"),
    "precision_score": "evaluate(frame, 'P(threshold=0.5)')",
    "recall_score": "evaluate(frame, 'R(threshold=0.5)')",
    "ndcg_score": "evaluate(frame, 'nDCG@10')",
    **dict.fromkeys(("precision_recall_curve", "pr_curve", "confusion_matrix"), "curve(frame)"),
    "roc_curve": "roc(frame)",
    "delong_test": "compare(frame, 'AUC', score=['a', 'b'], over=None, test='delong')",
    "classification_report": "report(frame)",
    "table": "tables.results(result)",
}
# The pictures that draw the result of a verb whose name is none of a picture.
_PICTURES: dict[str, tuple[str, ...]] = {
    "ap_test": ("ap_null",),
    "band": ("curve",),
    "compare": ("interval", "matrix", "groups"),
    "compare_curves": ("curve_difference",),
    "evaluate": ("queries",),
}


def _meant(name: str, offered: Iterable[str]) -> str:
    """Return the offered name that may be meant, of which case and underscores do not matter."""
    folded = {known.lower().replace("_", ""): known for known in offered}
    close = get_close_matches(name.lower().replace("_", ""), folded, n=1, cutoff=0.65)
    return f" Did you mean {folded[close[0]]!r}?" if close else ""


def of_option(argument: str, given: object, options: Iterable[str]) -> str:
    """Return a sentence on an option that is called differently; nothing if none is known."""
    word = given.lower() if isinstance(given, str) else ""
    if argument == "correction" and word == "none":
        return " Without a correction say correction=None."
    ours = _CORRECTIONS.get(word, word)
    return f" Write {argument}={ours!r}." if word and ours in options else ""


def of_arguments(function: str, unknown: Sequence[str], known: Sequence[str]) -> str:
    """Return the message about arguments that a function does not have.

    `known` are those that it has. For each unknown one the message says what to write instead, if
    that can be guessed.
    """
    several = "an unexpected keyword argument" if len(unknown) == 1 else "unexpected arguments"
    message = f"{function}() got {several} {', '.join(map(repr, unknown))}."
    return message + "".join(_instead(name, known) for name in unknown)


def _instead(name: str, known: Sequence[str]) -> str:
    """Return a sentence on what to write instead of an unknown argument; nothing if none is."""
    word = name.lower()
    if word in SYNONYMS and SYNONYMS[word] in known:
        return f" Write {SYNONYMS[word]}= for {name}=."
    if word in NOT_OFFERED:
        return f" There is no {name}=: {NOT_OFFERED[word]}."
    return _meant(name, known)


def of_attribute(name: str, offered: Sequence[str]) -> str:
    """Return a sentence on a method that `.pr` does not have."""
    if name in _EXPRESSIONS and "metric" in offered:
        return f" Did you mean {_EXPRESSIONS[name]!r}?"
    if (meant := _meant(name, offered)) or ("roc" in offered and "evaluate" not in offered):
        return meant
    verb = "metric" if "metric" in offered else "evaluate"
    return f" A metric is asked for by its name, as in .pr.{verb}('AP', ...)."


def of_function(name: str) -> str:
    """Return a sentence on a function of another library; nothing if none is known."""
    call = _FUNCTIONS.get(name.lower())
    columns = " with score= and label= for the columns" if "(frame" in str(call) else ""
    return "" if call is None else f" The call is prframe.{call}{columns}."


def of_method(kind: str, name: str, offered: Sequence[str]) -> str:
    """Return the message about a method that an object of a class does not have."""
    return f"a {kind} has no {name!r}; it has {', '.join(offered)}.{_meant(name, offered)}"


def of_statistic(name: str, offered: Sequence[str]) -> str:
    """Return the message about a name that `prframe.stats` does not have."""
    return (
        f"module 'prframe.stats' has no attribute {name!r}.{_meant(name, offered)} All statistics "
        "are names of prframe.stats itself, which dir(prframe.stats) lists; its modules are not "
        "public."
    )


def of_picture(door: str, name: str, offered: Sequence[str]) -> str:
    """Return the message about a name that `prframe.plot` or `prframe.chart` does not have."""
    message = f"module {door!r} has no attribute {name!r}."
    if name not in _PICTURES:
        return message + _meant(name, offered)
    doors = [door if picture in offered else "prframe.plot" for picture in _PICTURES[name]]
    pictures = map(".".join, zip(doors, _PICTURES[name], strict=True))
    return f"{message} The result of prframe.{name} is drawn by {' or '.join(pictures)}."


def of_column_name(argument: str, given: object) -> str:
    """Return a sentence for an object in place of a column's name; nothing if none is known."""
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
        return " Give each item a row, for example with explode; of several classes take one."
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
