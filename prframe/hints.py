"""Other libraries' names of arguments and columns, and what is written here instead."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral

# For each argument here what other libraries call it.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "alternative": ("tail", "sided", "two_sided", "two_tailed", "direction_of_test"),
    "baseline": ("reference", "control", "ref"),
    "by": (
        *("group", "groups", "groupby", "group_by", "groupby_cols", "segment", "sameby"),
        *("qid", "query", "query_id", "partition_by", "strata"),
    ),
    "cluster": ("clusters", "block", "blocks", "unit"),
    "confidence_level": ("ci", "conf", "conf_level", "confidence", "level", "ci_level", "cl"),
    "correction": ("adjust", "p_adjust", "p_adjust_method", "multiple_testing", "multitest"),
    "equivalence": ("margin", "equivalence_margin"),
    "ignore": ("ignore_index", "ignore_label", "exclude"),
    "interpolate": ("interpolated", "interpolation", "smooth"),
    "item": ("id", "ids", "doc_id", "docno", "document", "item_id", "on", "pair"),
    "label": (
        *("labels", "y_true", "y", "target", "targets", "truth", "true", "actual", "response"),
        *("relevance", "rel", "ground_truth"),
    ),
    "metrics": ("metric", "measures", "measure", "scoring"),
    "missing": ("na", "nan_policy", "na_rm", "dropna", "skipna"),
    "model": ("models", "system", "systems", "run", "runs", "estimator"),
    "n": ("n_total", "total", "n_items"),
    "n_neg": ("n_negatives", "negatives", "num_neg"),
    "n_pos": ("n_positives", "positives", "num_pos", "num_rel", "n_rel"),
    "n_resamples": (
        *("n_boot", "n_boots", "n_bootstrap", "n_bootstraps", "nboot", "boot_n", "b", "r"),
        *("n_permutations", "n_perm", "n_iter", "n_samples", "null_size", "reps", "times"),
    ),
    "over": ("average", "mean_over", "aggregate", "macro", "fold", "folds"),
    "positive": (
        *("min_rel", "rel_threshold", "relevance_level", "relevance_threshold", "min_grade"),
        *("pos_label", "positive_label", "pos_class", "positive_class"),
        "event_level",
    ),
    "prior": ("prevalence", "base_rate", "pi", "prior_probability", "class_prior"),
    "recall": ("points", "n_points", "levels", "recall_levels", "thresholds", "grid"),
    "rng": ("seed", "random_state", "random_seed", "generator"),
    "score": (
        *("scores", "y_score", "y_scores", "y_pred", "y_prob", "pred", "preds", "prediction"),
        *("predictions", "predictor", "estimate", "prob", "probas_pred", "similarity"),
    ),
    "test": ("stat_test", "significance_test", "statistic_test"),
    "weight": ("weights", "sample_weight", "sample_weights", "case_weights", "w"),
}
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
# What is said of arguments that are called differently and mean something else.
NOT_OFFERED: dict[str, str] = {
    "alpha": "a confidence_level= of 0.95 leaves out 0.05, and p-values are columns of the result",
    "ascending": "the largest score is the best one; give distances with the opposite sign",
    "descending": "the largest score is the best one; give distances with the opposite sign",
    "higher_is_better": "the largest score is the best one; give distances with the opposite sign",
    **dict.fromkeys(
        ("as_dict", "as_pandas", "output", "output_format", "return_type"),
        "the result is a frame of the kind that was given, with methods to make others",
    ),
    **dict.fromkeys(
        ("cut", "cut_off", "cutoff", "cutoffs", "depth", "top_k", "topk"),
        "a cut-off stands in the name of a metric, for example 'nDCG@10'",
    ),
    **dict.fromkeys(
        ("per_query", "by_query", "per_group"),
        "by= has a row for each query, and over= the mean of all, for example by='query_id'",
    ),
    **dict.fromkeys(
        ("progress", "show_progress", "progress_bar", "verbose"),
        "long work shows its progress by itself where a person watches",
    ),
    "k": "a cut-off stands in the name of a metric, for example 'nDCG@10'",
    "max_p": "p-values are columns of the result, to be compared with any limit",
    "n_jobs": "POLARS_MAX_THREADS in the environment sets the number of threads",
    "qrels": "prframe.trec.join(run, qrels) makes a frame of both, and prframe.trec.evaluate(run, "
    "qrels) has trec_eval's measures",
    "raise_on_error": "the result is a frame, and its column 'severity' says how bad a problem is",
    "threshold": "it stands in the name of a metric, for example 'P(threshold=0.5)'; curve() has "
    "the counts at every score",
}
# The pictures that draw the result of a verb whose name is none of a picture.
_PICTURES: dict[str, tuple[str, ...]] = {
    "ap_test": ("ap_null",),
    "band": ("curve",),
    "compare": ("interval", "matrix", "groups"),
    "compare_curves": ("curve_difference",),
    "evaluate": ("queries",),
}
_STRATA = "by= has a row for each stratum"
_OF_ONE_RANKING = (
    "the test is of one ranking; by= has a row for each, whose p-values correction= adjusts, and "
    "ap_test(frame, over=...) tests a mean over rankings, that of AP"
)
_FOLDS = (
    "bands know no correction of dependent folds; at one level of recall {}(..., 'Prec@0.5', "
    "resampling='cv'{}) has an interval that does"
)
_RETRIEVED = (
    "the rows are what is retrieved; keep the first ones of each ranking, and give n_pos= and "
    "n_neg= for all that there are"
)
# What is said of arguments that one function alone does not have.
_NOT_OFFERED_BY = {
    **{("ap_test", word): _RETRIEVED for word in ("cutoff", "depth", "k", "top_k")},
    **{
        (verb, "strata"): _STRATA
        for verb in ("evaluate", "interval", "band", "compare", "compare_curves")
    },
    **{(verb, "over"): _OF_ONE_RANKING for verb in ("rank_test", "topk_test")},
    ("band", "resampling"): _FOLDS.format("interval", ""),
    ("compare_curves", "resampling"): _FOLDS.format("compare", ", test='t'"),
    ("evaluate", "test"): "compare() has tests of two models, and ap_test() one against chance",
    ("interval", "undefined"): "take the values of evaluate(..., undefined=0), by group, and name "
    "their column in values=",
    ("interval", "test"): "an interval has a method=; compare() has tests of two models",
    ("roc", "over"): "a mean of ROC curves is none, as it depends on what is held fixed; draw a "
    "curve for each group with by=, average AUC with evaluate(frame, 'AUC', over=...), or take "
    "curve(frame, over=...), the mean of PR curves",
}
# The columns by which `prframe.trec` knows queries and documents. In PyTerrier `qid` is the id of
# the query and `query` its text, `docno` is the id of the document and `docid` a number.
QUERY = ("query_id", "qid", "q_id", "query", "topic", "query-id")
DOCUMENT = ("doc_id", "docno", "docid", "document_id", "corpus-id")
# Whatever else queries are called.
QUERIES = (*QUERY, "topic_id")
# What the folds of a cross-validation are called, and its repetitions and splits.
FOLDS = ("fold", "folds", "fold_id", "cv_fold", "cv", "kfold", "k_fold")
REPETITIONS = ("split", "split_id", "cv_split", "repeat", "repeat_id", "repetition", "rep")
# Names that columns often have, for the arguments that may name them. The first of them that a
# frame has is proposed.
_COLUMNS: dict[str, tuple[str, ...]] = {
    "score": (
        *("score", "scores", "y_score", "y_pred", "y_prob", "prob", "proba", "probability"),
        *("pred", "prediction", "similarity", "sim", "logit", "logits"),
    ),
    "label": (
        *("label", "labels", "relevance", "rel", "y_true", "y", "target", "truth", "grade"),
        *("is_relevant", "relevant", "positive", "is_positive"),
    ),
    "query": QUERIES,
    "item": (*DOCUMENT, "item", "item_id", "id"),
    "model": ("model", "system", "run", "tag", "run_id"),
}


# What other libraries call the options here, by the argument.
_OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "alternative": {
        "greater": ("right", "larger", ">"),
        "less": ("left", "smaller", "<"),
        "two-sided": ("two.sided", "twosided", "two_sided", "two-tailed", "both", "!="),
    },
    "correction": {
        "bh": ("fdr_bh", "fdr", "benjamini-hochberg", "benjamini_hochberg", "fdr_i"),
        "bonferroni": ("bonf", "b"),
        "by": ("fdr_by", "fdr_n", "benjamini-yekutieli", "benjamini_yekutieli"),
        "holm": ("holm-bonferroni", "holm-sidak", "sidak", "hs", "h"),
        "max-t": ("maxt", "max_t", "westfall-young"),
    },
}


def of_option(argument: str, given: object, options: Iterable[str]) -> str:
    """Return a sentence on an option that is called differently; nothing if none is known."""
    if not isinstance(given, str):
        return ""
    word = given.lower()
    if argument == "correction" and word in {"none", "no", "uncorrected"}:
        return " Without a correction say correction=None."
    for ours, theirs in _OPTIONS.get(argument, {}).items():
        if ours in options and (word == ours or word in theirs):
            return f" Write {argument}={ours!r}."
    return ""


def of_arguments(function: str, unknown: Sequence[str], known: Sequence[str]) -> str:
    """Return the message about arguments that a function does not have.

    `known` are those that it has. For each unknown one the message says what to write instead, if
    that can be guessed.
    """
    several = "an unexpected keyword argument" if len(unknown) == 1 else "unexpected arguments"
    sentences = [f"{function}() got {several} {', '.join(map(repr, unknown))}."]
    hints = (_instead(name, known, function) for name in unknown)
    return " ".join([*sentences, *filter(None, hints)])


# Other names of metrics that are expressions here, and these.
_EXPRESSIONS: dict[str, str] = {
    **dict.fromkeys(("average_precision", "average_precision_score"), "ap"),
    **dict.fromkeys(("roc_auc", "roc_auc_score", "auroc"), "auc"),
    **dict.fromkeys(("reciprocal_rank", "mrr", "recip_rank"), "rr"),
}


def of_attribute(name: str, offered: Sequence[str]) -> str:
    """Return a sentence on a method that `.pr` does not have."""
    other = _EXPRESSIONS.get(name) if "metric" in offered else None
    close = [other] if other else get_close_matches(name, offered, n=1)
    if close:
        return f" Did you mean {close[0]!r}?"
    if "queries" in offered:
        return ""
    verb = "metric" if "metric" in offered else "evaluate"
    return f" A metric is asked for by its name, as in .pr.{verb}('AP', ...)."


# Functions of other libraries, and the call here.
_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "evaluate(frame, 'AP')": ("average_precision_score", "average_precision", "ap"),
    "evaluate(frame, 'AP', over='query_id')": ("mean_average_precision", "map_score"),
    "evaluate(frame, 'AUC')": ("roc_auc_score", "roc_auc", "auc_score", "auroc", "auc"),
    "evaluate(frame, 'F1(threshold=0.5)')": ("f1_score", "fbeta_score"),
    "evaluate(frame, 'P(threshold=0.5)')": ("precision_score",),
    "evaluate(frame, 'R(threshold=0.5)')": ("recall_score",),
    "evaluate(frame, 'nDCG@10')": ("ndcg_score", "dcg_score"),
    "curve(frame)": ("precision_recall_curve", "pr_curve", "confusion_matrix", "det_curve"),
    "roc(frame)": ("roc_curve",),
    "compare(frame, 'AUC', score=['a', 'b'], over=None, test='delong')": (
        *("delong", "delong_test", "delong_roc_test", "roc_test"),
    ),
    "tables.results(result)": ("table", "to_markdown", "to_latex"),
    "report(frame)": ("classification_report",),
}


def of_function(name: str) -> str:
    """Return a sentence on a function of another library; nothing if none is known."""
    for call, theirs in _FUNCTIONS.items():
        if name.lower() in theirs:
            columns = " with score= and label= for the columns" if "(frame" in call else ""
            return f" The call is prframe.{call}{columns}."
    return ""


def of_method(kind: str, name: str, offered: Sequence[str]) -> str:
    """Return the message about a method that an object of a class does not have."""
    # A short form has letters of the name in their order, as to_md has those of to_markdown.
    short = [known for known in offered if _is_short_for(name, known)]
    close = short or get_close_matches(name, offered, n=1)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    return f"a {kind} has no {name!r}; it has {', '.join(offered)}.{meant}"


def _is_short_for(name: str, known: str) -> bool:
    """Tell whether a name has letters of a known one, in their order."""
    rest = iter(known)
    return all(letter in rest for letter in name)


def of_statistic(name: str, offered: Sequence[str]) -> str:
    """Return the message about a name that `prframe.stats` does not have."""
    folded = {known.lower().replace("_", ""): known for known in offered}
    close = get_close_matches(name.lower().replace("_", ""), folded, n=1)
    meant = f" Did you mean {folded[close[0]]!r}?" if close else ""
    return (
        f"module 'prframe.stats' has no attribute {name!r}.{meant} All statistics are names of "
        "prframe.stats itself, which dir(prframe.stats) lists; its modules are not public."
    )


def of_picture(door: str, name: str, offered: Sequence[str]) -> str:
    """Return the message about a name that `prframe.plot` or `prframe.chart` does not have."""
    message = f"module {door!r} has no attribute {name!r}."
    if name in _PICTURES:
        *before, last = [f"{door}.{picture}" for picture in _PICTURES[name]]
        pictures = f"{', '.join(before)} and {last} draw" if before else f"{last} draws"
        return f"{message} {pictures} the result of prframe.{name}."
    close = get_close_matches(name, offered, n=1)
    return f"{message} Did you mean {close[0]!r}?" if close else message


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


def _instead(name: str, known: Sequence[str], function: str) -> str:
    """Return a sentence on what to write instead of an unknown argument; nothing if none is."""
    word = name.lower()
    if (function, word) in _NOT_OFFERED_BY:
        return f"There is no {name}=: {_NOT_OFFERED_BY[function, word]}."
    for ours, theirs in SYNONYMS.items():
        if ours in known and word in theirs:
            return f"Write {ours}= for {name}=."
    if word in NOT_OFFERED:
        return f"There is no {name}=: {NOT_OFFERED[word]}."
    close = get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else ""


def of_column(column: str, argument: str, present: Iterable[str]) -> str | None:
    """Return the column of a frame that may be meant by one that it does not have."""
    names = {str(name).lower(): str(name) for name in present}
    for role, theirs in _COLUMNS.items():
        if role == argument or (argument in {"by", "over"} and column.lower() in theirs):
            return next((names[name] for name in theirs if name in names), None)
    return None
