"""Column names are an interface: frozen here."""

import polars as pl
import pytest

from prframe import trec

DATA = pl.DataFrame({"q": [1, 1], "score": [2.0, 1.0], "label": [1, 0], "w": [1.0, 2.0]})
DTYPES = {"i": pl.Int64, "s": pl.String, "b": pl.Boolean, "": pl.Float64}

COUNTS = "threshold k:i tp:i fp:i"
TEST = "null_mean null_std z p_value log10_p_value method:s"
RANKS = "phi:s n_pos:i n_neg:i statistic null_mean null_std z p_value estimate std_error conf_low"
PAIR = "metric:s model_a:s model_b:s difference conf_low conf_high"
PAIRED = "effect_size mean_a mean_b statistic wins:i ties:i losses:i n:i method:s test:s"
FACTS = "correction:s n_family:i confidence_level p_std_error"
BAND = "recall precision conf_low conf_high method:s confidence_level simultaneous:b"
CURVES = "model_a:s model_b:s recall precision_a precision_b difference conf_low conf_high"
TOPK = "k:i hits:i precision recall null_mean null_std p_value conf_low conf_high method:s"
SEEDED = {"rng": 1, "n_resamples": 50}
MAX_T = {"correction": "max-t", "within": "by", "power": 0.8, "rng": 1}


@pytest.mark.parametrize(
    ("verb", "args", "options", "columns"),
    [
        ("curve", [], {}, f"{COUNTS} recall precision"),
        ("curve", [], {"weight": "w"}, "threshold k:i tp fp recall precision"),
        ("curve", [], {"order": "input"}, f"{COUNTS} recall precision"),
        ("curve", [], {"recall": [0.5]}, f"{COUNTS} recall precision"),
        ("curve", [], {"over": "w"}, "recall precision n:i"),
        ("roc", [], {}, f"{COUNTS} fpr tpr"),
        ("evaluate", [["AP", "P@1"]], {}, "AP P@1"),
        ("evaluate", [["AP", "P@1"]], {"layout": "long"}, "metric:s value"),
        (
            "evaluate",
            ["AP"],
            {"over": "w", "geometric_mean": True},
            "metric:s mean std n:i n_undefined:i geometric_mean",
        ),
        ("ap_test", [], {"correction": "bh"}, f"n:i n_pos:i ap normalized_ap {TEST} p_adjusted"),
        ("ap_test", [], {"over": "w"}, f"n_groups:i map {TEST}"),
        ("rank_test", [], {"correction": "bh"}, f"{RANKS} conf_high method:s p_adjusted"),
        (
            "compare",
            ["AP", ["score", "w"]],
            {"over": "label", **MAX_T},
            f"{PAIR} p_adjusted p_value {PAIRED} {FACTS} p_adjusted_std_error "
            "detectable_difference n_needed:i",
        ),
        (
            "compare",
            ["AP"],
            {"model": "w", "over": "label", "correction": None, "incomplete": "pairwise"},
            f"{PAIR} p_value {PAIRED} {FACTS}".replace("_a:s", "_a").replace("_b:s", "_b"),
        ),
        ("band", [], SEEDED, BAND),
        ("band", [], {"over": "w", **SEEDED}, f"{BAND} n:i"),
        (
            "compare_curves",
            [["score", "w"]],
            {"over": "label", **SEEDED},
            f"{CURVES} p_value method:s p_std_error n:i",
        ),
        ("compare_curves", [["score", "w"]], SEEDED, f"{CURVES} p_value method:s p_std_error"),
        (
            "interval",
            ["AP"],
            SEEDED,
            "metric:s estimate std_error conf_low conf_high method:s confidence_level",
        ),
        ("topk_test", [], {"k": [1, 2]}, TOPK),
        ("topk_test", [], {"k": [1, 2], "correction": "by"}, f"{TOPK} p_adjusted"),
    ],
)
@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
def test_columns_after_the_keys(verb, args, options, columns) -> None:
    found = getattr(DATA.pr, verb)(*args, by="q", **options).schema
    named = (column.partition(":") for column in columns.split())
    expected = {"q": pl.Int64} | {name: DTYPES[kind] for name, _, kind in named}
    assert list(found.items()) == list(expected.items())


def test_a_joined_run() -> None:
    run = pl.DataFrame({"system": ["a"], "qid": ["1"], "docno": ["d"], "score": [1.0]})
    qrels = pl.DataFrame({"qid": ["1"], "docno": ["d"], "label": [1]})
    assert dict(trec.join(run, qrels).schema) == {
        "system": pl.String,
        "query_id": pl.String,
        "doc_id": pl.String,
        "score": pl.Float64,
        "label": pl.Int64,
        "judged": pl.Boolean,
    }
