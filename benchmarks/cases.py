"""What is compared with what, and what was aimed at."""

from collections.abc import Callable
from math import ceil
from typing import Any, TypeAlias

from benchmarks.case import Case, Ratio, Subject

# Makes sizes smaller where it is only to be seen that a case runs.
Size: TypeAlias = Callable[[int], int]
PER_GROUP = 1_000
_FOUR = 'evaluate(frame, ["AP", "nDCG@10", "RR", "P@10"], by="group")'
_PACK, _SORT = "NumPy: pack keys and sort", "NumPy: sort packed keys"


def _data(groups: int, prevalence: float = 0.05, **options: Any) -> dict[str, Any]:
    return {"groups": groups, "per_group": PER_GROUP, "prevalence": prevalence, **options}


def _shape(data: dict[str, Any]) -> str:
    """Return how many rows there are in how many groups."""
    return f"{data['groups']:,} groups of {data['per_group']:,} rows"


def many_groups(size: Size) -> Case:
    data = _data(size(7_000))
    shuffled = "evaluate, shuffled"
    variants: dict[str, dict[str, Any]] = {
        "evaluate": {},
        "evaluate, string keys": {"key": "string"},
        "evaluate, integer labels": {"label": "integer"},
        "evaluate, prevalence 0.5": {"prevalence": 0.5},
    }
    ratios = [Ratio("evaluate", floor, 3) for floor in (_PACK, _SORT)]
    ratios += [Ratio(variant, _PACK) for variant in variants if variant != "evaluate"]
    ratios += [
        Ratio(f"evaluate, {one}", "evaluate", 1.6) for one in ("prevalence 0.5", "shuffled")
    ]
    return Case(
        "many-groups",
        f"`{_FOUR}` on {_shape(data)}: integer keys, boolean labels, prevalence 0.05, each group "
        "in one stretch unless they are *shuffled*. The floor is one NumPy sort of the same rows "
        "with group and score (to 32 bits) packed into one integer; it yields no metric. Building "
        "the integers is part of the first floor and not of the second.",
        [
            *(Subject(name, "tasks.evaluate", data | more) for name, more in variants.items()),
            Subject(shuffled, "tasks.evaluate", data | {"shuffled": True}, agrees="evaluate"),
            Subject(_PACK, "tasks.pack_and_sort", data),
            Subject(_SORT, "tasks.sort_packed", data),
        ],
        ratios,
        rounds=11,
    )


def pytrec_eval(size: Size) -> Case:
    part, whole = _data(size(1_000)), _data(size(7_000))
    subjects, ratios = [], []
    for name, data, later in (("part", part, 5), ("whole", whole, 1)):
        ours, theirs = f"evaluate, {name}", f"pytrec_eval, {name}"
        subjects.append(Subject(ours, "tasks.evaluate", data))
        subjects.append(_peer("pytrec_eval", data, ours, name=theirs, later=later))
        ratios.append(Ratio(theirs, ours, 8, "at least"))
    return Case(
        "pytrec_eval",
        f"From a polars frame to one row per group: `{_FOUR}` beside building the nested "
        "dictionaries and `RelevanceEvaluator(...).evaluate(...)` for map, ndcg_cut_10, "
        f"recip_rank and P_10. *Part* is {_shape(part)}, *whole* is {_shape(whole)}, both with "
        "prevalence 0.05.",
        subjects,
        ratios,
        rounds=5,
    )


def peers(size: Size) -> Case:
    whole, part = _data(size(7_000), label="integer"), _data(size(200), label="integer")
    two, four, one = "evaluate AP, nDCG@10", "evaluate four metrics, part", "evaluate AP, part"
    return Case(
        "peers",
        "From a polars frame with integer labels, prevalence 0.05, to one row per group. "
        f"polarbearings: AP and nDCG@10 of {_shape(whole)}. ranx: the four metrics of "
        f"{_shape(part)}; its first call compiles them, unless it finds them compiled by an "
        "earlier run. scikit-learn: `average_precision_score` in a loop over the same part.",
        [
            Subject(two, "tasks.evaluate", {"metrics": ["AP", "nDCG@10"], **whole}),
            _peer("polarbearings", whole, two),
            Subject(four, "tasks.evaluate", part),
            _peer("ranx", part, four, rounds=3),
            Subject(one, "tasks.evaluate", {"metrics": ["AP"], **part}),
            _peer("scikit_learn", part, one),
        ],
        [Ratio("polarbearings", two), Ratio("ranx", four), Ratio("scikit_learn", one)],
        rounds=5,
    )


def _peer(peer: str, data: dict[str, Any], ours: str, name: str = "", **options: Any) -> Subject:
    """Return a peer as a subject, whose values are ours but for ties of its 32-bit scores."""
    asked = {"peer": peer, **data}
    options = {"agrees": ours, "tolerance": 1e-4, **options}
    return Subject(name or peer, "peers.evaluate_by_peer", asked, **options)


def one_ranking(size: Size) -> Case:
    rows = size(10_000_000)
    data: dict[str, Any] = {"groups": 1, "per_group": rows, "prevalence": 0.5}
    floor, peer, ap = "NumPy: sort all, sort positives, search", "scikit-learn", "evaluate AP"
    variants: dict[str, tuple[dict[str, Any], float]] = {
        ap: ({}, 2),
        "evaluate AP, two decimals": ({"decimals": 2}, 2),
        "evaluate AP, weights": ({"weighted": True}, 4),
        "evaluate AP, twice the rows": ({"per_group": 2 * rows}, 4),
    }
    curve, level, sort = "curve", "curve at one level", "polars: sort the columns"
    return Case(
        "dense",
        f"One ranking of {rows:,} rows, half of them positive: "
        '`evaluate(frame, "AP")`, beside what it cannot do without (sorting all scores and those of '
        "the positives, and searching these in those) and beside scikit-learn's "
        "`average_precision_score`; `curve(frame)`, and at one level of recall, beside sorting the "
        "columns of the frame with polars.",
        [
            *(
                Subject(name, "tasks.evaluate_one_group", data | options)
                for name, (options, _) in variants.items()
            ),
            Subject(floor, "tasks.rank_positives", data),
            Subject(peer, "peers.scikit_learn_one_group", data, rounds=3, agrees=ap),
            Subject(curve, "tasks.curve_of_one_group", data),
            Subject(level, "tasks.curve_of_one_group", data | {"recall": 0.5}),
            Subject(sort, "tasks.sort_rows", data),
        ],
        [
            *(Ratio(name, floor, limit) for name, (_, limit) in variants.items()),
            Ratio(peer, ap, 5, "at least"),
            Ratio(curve, sort, 2),
            Ratio(level, ap, 1.2),
        ],
        rounds=5,
    )


def memory(size: Size) -> Case:
    # These numbers stand in docs/guide/performance.md.
    fixed, per_row, per_positive, per_row_of_groups = 64, 40, 15, 10
    rows = size(10_000_000)
    subjects = []
    for share in (0.001, 0.5):
        for groups, of_row, of_positive in (
            (1, per_row, per_positive),
            (rows // PER_GROUP, per_row_of_groups, 0),
        ):
            data = {"groups": groups, "per_group": rows // groups, "prevalence": share}
            shape = "one group" if groups == 1 else f"{groups:,} groups"
            megabytes = ceil(fixed + (of_row + of_positive * share) * rows / 1e6)
            asked = ("tasks.evaluate", {"metrics": ["AP"], **data})
            name = f"{shape}, {share:g} positive"
            subjects.append(Subject(name, *asked, megabytes=megabytes, beyond=True))
    return Case(
        "memory",
        f'Memory that `evaluate(frame, "AP", by="group")` takes beyond the frame, {rows:,} rows as '
        f"one group, and in groups of {PER_GROUP:,}: {fixed} MB, {per_row} bytes for each row "
        f"of a group and {per_positive} for each of its positives; in small groups "
        f"{per_row_of_groups} for each row.",
        subjects,
        [],
    )


def parquet(size: Size) -> Case:
    data, floor = _data(size(80_000), 0.02), "read in batches"
    names = ["collect()", 'collect(engine="streaming")', "sink_parquet(path)"]
    names.append("collect(), large row groups")
    more: list[dict[str, Any]] = [{}, {"engine": "streaming"}, {}, {"row_group": 1_000_000}]
    limits: list[dict[str, Any]] = [{"megabytes": 300}] * 3 + [{"megabytes": 600}]
    limits[0] = limits[0] | {"seconds": 2}
    subjects = [
        Subject(
            name, f"tasks.{'sink' if 'sink' in name else 'evaluate'}_parquet", asked, 1, **most
        )
        for name, asked, most in zip(names, more, limits, strict=True)
    ]
    return Case(
        "parquet",
        f"`scan_parquet(path).pr.{_FOUR.replace('frame, ', '')}` on {_shape(data)}: integer keys, "
        "boolean labels, prevalence 0.02, each group in one stretch, in a Parquet file with row "
        "groups of 125,000 rows; *large* ones have 1,000,000, which a reader must decode whole. "
        "The floor reads the file in batches and adds up its columns.",
        [*subjects, Subject(floor, "tasks.read_parquet", later=1)],
        [Ratio(name, floor) for name in names[:3]],
        prepare=Subject("write", "tasks.make_parquet", data, later=0),
    )


def small(size: Size) -> Case:
    tiny = _data(size(200_000), per_group=20, metrics=["AP"])
    many = _data(size(7_000), metrics=["AP"])
    subjects, ratios = [], []
    for name, data in (("tiny", tiny), ("many", many)):
        ours, expression = f"evaluate AP, {name}", f"expression AP, {name}"
        asked = {key: value for key, value in data.items() if key != "metrics"}
        subjects.append(Subject(ours, "tasks.evaluate", data))
        subjects.append(Subject(expression, "tasks.expression", asked, agrees=ours))
        ratios.append(Ratio(expression, ours, 1.2))
    return Case(
        "small",
        f"*Tiny* is {_shape(tiny)}, *many* is {_shape(many)}: the expression "
        '`pl.col("score").pr.ap("label")` in a `group_by` beside `evaluate` of AP.',
        subjects,
        ratios,
    )


def trec_files(size: Size) -> Case:
    data = {"queries": size(7_000), "documents": 1_000, "judged": 50}
    ours, theirs, at_once = "files to metrics", "ir_measures", "files to metrics at once, whole"
    subjects, ratios = [], [Ratio("read_run", "polars.read_csv", 2)]
    for file, often in (("part", {"later": 1}), ("whole", {"later": 0, "rounds": 2})):
        names, asked = (f"{ours}, {file}", f"{theirs}, {file}"), {"file": file}
        options = {"agrees": names[0], **often}
        subjects.append(Subject(names[0], "files.files_to_metrics", asked))
        subjects.append(Subject(names[1], "files.files_to_metrics_by_peer", asked, **options))
        ratios.append(Ratio(names[1], names[0], 5, "at least"))
    return Case(
        "trec",
        # The limit of memory stands in docs/guide/performance.md.
        f"A run of {data['queries']:,} queries with 1,000 documents each, and 50 "
        "judgments for each query. `read_run` beside `polars.read_csv` of the same file. Then from "
        "both files to AP, nDCG@10, RR and P@10 per query: `read_run`, `read_qrels`, `join` and "
        '`evaluate(..., ties="trec")`, and *at once*, `trec.evaluate(run, qrels, ...)`, beside '
        "ir_measures, on the *whole* run and on a seventh of it, *part*.",
        [
            Subject("read_run", "files.read_run", agrees="polars.read_csv", tolerance=1e-6),
            Subject("polars.read_csv", "files.read_csv"),
            *subjects,
            Subject(
                at_once,
                "files.files_to_metrics_at_once",
                {"file": "whole"},
                seconds=2.2,
                megabytes=600,
                agrees=f"{ours}, whole",
            ),
        ],
        ratios,
        rounds=5,
        prepare=Subject("write", "files.make_trec", data, later=0),
    )


def null(size: Size) -> Case:
    queries = size(225)
    groups: dict[str, dict[str, Any]] = {
        "distinct": {"groups": size(1_000)},
        "retrieved": {"groups": size(93)},
        "large": {"n": size(1_000_000)},
        "vaswani": {"runs": 1},
        "tied_queries": {"systems": 4, "queries": queries},
        "half": {"n": size(20_000_000)},
    }
    most = {"distinct": 2, "retrieved": 10, "large": 1, "vaswani": 2, "tied_queries": 3}
    subjects, ratios = [], []
    for data, options in groups.items():
        asked, ours, floor = {"data": data, **options}, f"ap_test, {data}", f"AP, {data}"
        limit = most.get(data)
        subjects.append(Subject(ours, "ranking_tasks.null_test", asked, 1, seconds=limit))
        subjects.append(Subject(floor, "ranking_tasks.null_floor", asked))
        # The p-value of many rows costs no more than AP itself, so that both take twice as long.
        ratios.append(Ratio(ours, floor, 2.0 if data == "half" else None))
    return Case(
        "null",
        '`ap_test(frame, by=...)` beside `evaluate(frame, "AP", by=...)`, which gives AP and no '
        f"p-value. *Distinct*: {groups['distinct']['groups']:,} groups of 100 to 1,000 items with "
        f"different numbers of positives, 1 to 100. *Retrieved*: {groups['retrieved']['groups']} cut "
        f"lists, the best 1,000 of 11,429 items. *Large*: one group of {groups['large']['n']:,} items, "
        f"a hundredth of them positive; *half* {groups['half']['n']:,} items, half of them positive. "
        f"*Tied queries*: the mean over {queries} queries with tied scores, for four systems. "
        "*Vaswani*: one run for the 93 queries of that collection, which is not part of the "
        "repository; PRFRAME_TEST_DATA names its directory.",
        subjects,
        ratios,
    )


def bands(size: Size) -> Case:
    one = {"groups": 1, "per_group": size(1_000_000)}
    some = {"groups": 1, "per_group": size(100_000)}
    ball, of_ap = {"method": "smoothed-bootstrap"}, {"metrics": ["AP"], "n_resamples": 1000}
    group, interval = "AP, one group", "AP, interval"
    return Case(
        "bands",
        '`band(frame)` with 2,000 draws at 181 levels of recall, and with `method="smoothed-bootstrap"`, '
        f'of one group of {one["per_group"]:,} rows; `interval(frame, "AP")` with 1,000 draws '
        f"or resamples of {some['per_group']:,} rows. A tenth of the rows is positive, with "
        "scores that are higher by one standard deviation. The floor is `evaluate` of AP, which "
        "sorts the same rows.",
        [
            Subject("band, one group", "ranking_tasks.band", one, seconds=0.5),
            Subject("sup ball, one group", "ranking_tasks.band", ball | one, seconds=0.5),
            Subject(group, "ranking_tasks.curve_floor", one),
            *(
                Subject(
                    f"interval, {method}",
                    "ranking_tasks.interval",
                    {"method": method, **of_ap, **some},
                    seconds=2,
                )
                for method in ("auto", "percentile")
            ),
            Subject(interval, "ranking_tasks.curve_floor", some),
        ],
        [
            *(Ratio(f"{name}, one group", group) for name in ("band", "sup ball")),
            *(Ratio(f"interval, {method}", interval) for method in ("auto", "percentile")),
        ],
    )


def groups(size: Size) -> Case:
    data = {"groups": size(1_000), "per_group": 1_000}
    ten = ["AP", "AUC", "nDCG@10", "P@10", "R@50", "MaxF1", "F1@20", "RR", "EF", "BEDROC"]
    asked: dict[str, tuple[str, list[str], float]] = {
        "band": ("band", [], 4),
        "interval, AP and AUC": ("interval", ten[:2], 5),
        "interval, ten metrics": ("interval", ten, 10),
    }
    subjects = []
    for name, (verb, metrics, seconds) in asked.items():
        options = {"metrics": metrics, "n_resamples": 2000} if metrics else {}
        limits = {"later": 1, "rounds": 1, "seconds": seconds, "megabytes": 500}
        subjects.append(Subject(name, f"ranking_tasks.{verb}", data | options, **limits))
    return Case(
        "groups",
        f"`band(frame, by=...)` and `interval(frame, metrics, by=...)` with 2,000 draws of "
        f"{_shape(data)}, a tenth of them positive, with scores that are higher by one standard "
        f"deviation. Ten metrics: {', '.join(ten)}. The floor is `evaluate` of AP, which sorts the "
        "same rows.",
        [*subjects, Subject("AP", "ranking_tasks.curve_floor", data)],
        [Ratio(name, "AP") for name in asked],
    )


def compare_pairs(size: Size) -> Case:
    subjects = []
    for systems, queries, seconds in ((40, 1_000, 2), (100, 1_000, 10), (300, 200, 5)):
        options = {"systems": size(systems), "queries": size(queries)}
        name = f"systems, {options['systems']} on {options['queries']:,} queries"
        asked = ("compare_tasks.compare_few_values", options)
        subjects.append(Subject(name, *asked, later=1, seconds=seconds))
    for items, share in ((20_000, 0.01), (20_000, 0.1), (200_000, 0.01), (200_000, 0.1)):
        options = {"items": size(items), "prevalence": share}
        name, seconds = f"items, {size(items):,}, {share:g} positive", 1 if items == 20_000 else 5
        asked = ("compare_tasks.compare_items", options)
        subjects.append(Subject(name, *asked, later=1, seconds=seconds))
    return Case(
        "compare-pairs",
        "`compare` with its default options. *Systems*: all pairs by AP of three relevant "
        "documents among 30, for systems that are much alike. *Items*: one pair on the same items, "
        "by AP, 10,000 swaps and as many resamples.",
        subjects,
        [],
    )


def compare_peer(size: Size) -> Case:
    data = {"systems": size(20), "queries": size(200), "documents": 100}
    tests = {"t": "student", "randomization": "fisher"}
    subjects, ratios = [], []
    for ours, theirs in tests.items():
        names = f"compare, {ours}", f"ranx, {theirs}"
        asked = data | {"test": ours}, data | {"test": theirs}
        subjects.append(Subject(names[0], "compare_tasks.compare_runs", asked[0]))
        subjects.append(Subject(names[1], "compare_tasks.compare_by_ranx", asked[1], later=1))
        ratios.append(Ratio(names[1], names[0], 1, "at least"))
    return Case(
        "compare-peer",
        f"AP and nDCG@10 of {data['systems']} systems on {data['queries']} queries with 100 "
        "retrieved documents each, all pairs compared: `compare` beside `ranx.compare`. *Student*: "
        "the paired t test. *Fisher*: the randomization test with 1,000 draws, which is ranx's "
        "default; *randomization* is ours, without draws. The data are in memory: a frame, and "
        "ranx's own objects.",
        subjects,
        ratios,
    )


CASES: dict[str, Callable[[Size], Case]] = {
    "many-groups": many_groups,
    "pytrec_eval": pytrec_eval,
    "peers": peers,
    "dense": one_ranking,
    "parquet": parquet,
    "trec": trec_files,
    "small": small,
    "memory": memory,
    "null": null,
    "bands": bands,
    "groups": groups,
    "compare-peer": compare_peer,
    "compare-pairs": compare_pairs,
}
