"""What is compared with what, and what was aimed at."""

from collections.abc import Callable
from math import ceil
from typing import Any

from benchmarks.case import Case, Ratio, Sizes, Subject
from benchmarks.compare_cases import compare, compare_pairs, compare_peer
from benchmarks.ranking_cases import (
    bands,
    bands_of_groups,
    intervals_of_groups,
    learn,
    many_intervals_of_groups,
    null,
    null_peer,
)

FULL = Sizes()
QUICK = Sizes(
    groups=200,
    one_group=200_000,
    peer_groups=50,
    slow_peer_groups=20,
    parquet_groups=1_000,
    odd_megabytes=20,
    small_groups=2_000,
    many_rounds=2,
    rounds=2,
    few_rounds=1,
    import_pairs=3,
    null_pairs=10_000,
    null_groups=20,
    null_part=5,
    null_queries=10,
    null_items=100_000,
    null_draws=10_000,
    band_items=20_000,
    band_groups=10,
    interval_items=5_000,
    learn_items=2_000,
    compare_systems=5,
    compare_queries=20,
    compare_draws=1_000,
    compare_many=6,
    compare_long=50,
    compare_items=1_000,
)

_FOUR = 'evaluate(frame, ["AP", "nDCG@10", "RR", "P@10"], by="group")'
_PACK, _SORT = "NumPy: pack keys and sort", "NumPy: sort packed keys"


def many_groups(sizes: Sizes) -> Case:
    data = {"groups": sizes.groups, "per_group": sizes.per_group, "prevalence": 0.05}
    variants: dict[str, dict[str, Any]] = {
        "evaluate": {},
        "evaluate, string keys": {"key": "string"},
        "evaluate, integer labels": {"label": "integer"},
        "evaluate, prevalence 0.5": {"prevalence": 0.5},
    }
    ratios = [Ratio("evaluate", floor, 3) for floor in (_PACK, _SORT)]
    ratios += [Ratio(variant, _PACK) for variant in variants if variant != "evaluate"]
    ratios.append(Ratio("evaluate, prevalence 0.5", "evaluate", 1.6))
    return Case(
        "many-groups",
        f"`{_FOUR}` on {_shape(data)}: integer keys, boolean labels, prevalence 0.05, each group "
        "in one stretch. The floor is one NumPy sort of the same rows with group and score (to "
        "32 bits) packed into one integer; it yields no metric. Building the integers is part "
        "of the first floor and not of the second.",
        [
            *(Subject(name, "evaluate", data | options) for name, options in variants.items()),
            Subject(_PACK, "pack_and_sort", data),
            Subject(_SORT, "sort_packed", data),
        ],
        ratios,
        sizes.many_rounds,
    )


def shuffled(sizes: Sizes) -> Case:
    ours, other = "evaluate, shuffled", "evaluate, clustered"
    data = {"groups": sizes.groups, "per_group": sizes.per_group, "prevalence": 0.05}
    return Case(
        "shuffled",
        f"The rows of `many-groups` ({_shape(data)}) in random order, beside the same rows with "
        "each group in one stretch.",
        [
            Subject(ours, "evaluate", data | {"shuffled": True}, agrees=other),
            Subject(other, "evaluate", data),
        ],
        [Ratio(ours, other, 1.6)],
        sizes.rounds,
    )


def pytrec_eval(sizes: Sizes) -> Case:
    part: dict[str, Any] = {
        "groups": sizes.peer_groups,
        "per_group": sizes.per_group,
        "prevalence": 0.05,
    }
    whole = part | {"groups": sizes.groups}
    subjects, ratios = [], []
    for name, data, later in (("part", part, 5), ("whole", whole, 1)):
        ours, theirs = f"evaluate, {name}", f"pytrec_eval, {name}"
        options = {"peer": "pytrec_eval"} | data
        subjects.append(Subject(ours, "evaluate", data))
        subjects.append(Subject(theirs, "evaluate_by_peer", options, later=later))
        ratios.append(Ratio(theirs, ours, 8, "at least"))
    return Case(
        "pytrec_eval",
        f"From a polars frame to one row per group: `{_FOUR}` beside building the nested "
        "dictionaries and `RelevanceEvaluator(...).evaluate(...)` for map, ndcg_cut_10, "
        f"recip_rank and P_10. *Part* is {_shape(part)}, *whole* is {_shape(whole)}, both with "
        "prevalence 0.05.",
        subjects,
        ratios,
        sizes.rounds,
        checks=[_check("pytrec_eval", sizes.peer_groups, sizes)],
    )


def peers(sizes: Sizes) -> Case:
    whole: dict[str, Any] = {"groups": sizes.groups, "per_group": sizes.per_group}
    whole |= {"prevalence": 0.05, "label": "integer"}
    part = whole | {"groups": sizes.slow_peer_groups}
    two = ["AP", "nDCG@10"]
    return Case(
        "peers",
        "From a polars frame with integer labels, prevalence 0.05, to one row per group. "
        f"polarbearings: AP and nDCG@10 of {_shape(whole)}. ranx: the four metrics of "
        f"{_shape(part)}; its first call compiles them, unless it finds them compiled by an "
        "earlier run. scikit-learn: `average_precision_score` in a loop over the same part.",
        [
            Subject("evaluate AP, nDCG@10", "evaluate", {"metrics": two, **whole}),
            _peer("polarbearings", whole),
            Subject("evaluate four metrics, part", "evaluate", part),
            _peer("ranx", part, rounds=sizes.few_rounds),
            Subject("evaluate AP, part", "evaluate", {"metrics": ["AP"], **part}),
            _peer("scikit_learn", part),
        ],
        [
            Ratio("polarbearings", "evaluate AP, nDCG@10"),
            Ratio("ranx", "evaluate four metrics, part"),
            Ratio("scikit_learn", "evaluate AP, part"),
        ],
        sizes.rounds,
        checks=[
            _check(peer, sizes.slow_peer_groups, sizes)
            for peer in ("polarbearings", "ranx", "scikit_learn")
        ],
    )


def one_group(sizes: Sizes) -> Case:
    data = {"groups": 1, "per_group": sizes.one_group, "prevalence": 0.01}
    return Case(
        "one-group",
        f'`evaluate(frame, "AP")` on {sizes.one_group:,} rows, prevalence 0.01, beside sorting '
        'the scores (`frame["score"].sort()`) and beside scikit-learn\'s '
        "`average_precision_score`.",
        [
            Subject("evaluate AP", "evaluate_one_group", data, agrees="scikit-learn"),
            Subject("polars: sort the scores", "sort_scores", data),
            Subject("scikit-learn", "scikit_learn_one_group", data, rounds=sizes.few_rounds),
        ],
        [
            Ratio("evaluate AP", "polars: sort the scores", 3),
            Ratio("scikit-learn", "evaluate AP", 8, "at least"),
        ],
        sizes.rounds,
    )


def dense(sizes: Sizes) -> Case:
    data: dict[str, Any] = {"groups": 1, "per_group": sizes.one_group, "prevalence": 0.5}
    floor, peer = "NumPy: sort all, sort positives, search", "scikit-learn"
    variants: dict[str, tuple[dict[str, Any], float]] = {
        "evaluate AP": ({}, 2),
        "evaluate AP, two decimals": ({"decimals": 2}, 2),
        "evaluate AP, weights": ({"weighted": True}, 4),
        "evaluate AP, twice the rows": ({"per_group": 2 * sizes.one_group}, 4),
    }
    return Case(
        "dense",
        f"One ranking of {sizes.one_group:,} rows, half of them positive: "
        '`evaluate(frame, "AP")`, beside what it cannot do without (sorting all scores and those of '
        "the positives, and searching these in those) and beside scikit-learn's "
        "`average_precision_score`; `curve(frame)`, and at one level of recall, beside sorting the "
        "columns of the frame with polars.",
        [
            *(
                Subject(name, "evaluate_one_group", data | options)
                for name, (options, _) in variants.items()
            ),
            Subject(floor, "rank_positives", data),
            Subject(
                peer, "scikit_learn_one_group", data, rounds=sizes.few_rounds, agrees="evaluate AP"
            ),
            Subject("curve", "curve_of_one_group", data),
            Subject("curve at one level", "curve_of_one_group", data | {"recall": 0.5}),
            Subject("polars: sort the columns", "sort_rows", data),
        ],
        [
            *(Ratio(name, floor, limit) for name, (_, limit) in variants.items()),
            Ratio(peer, "evaluate AP", 5, "at least"),
            Ratio("curve", "polars: sort the columns", 2),
            Ratio("curve at one level", "evaluate AP", 1.2),
        ],
        sizes.rounds,
    )


def memory(sizes: Sizes) -> Case:
    # These numbers stand in docs/guide/performance.md.
    fixed, per_row, per_positive, per_row_of_groups = 64, 40, 15, 10
    rows = sizes.one_group
    subjects = []
    for share in (0.001, 0.5):
        for groups, of_row, of_positive in (
            (1, per_row, per_positive),
            (rows // sizes.per_group, per_row_of_groups, 0),
        ):
            data = {"groups": groups, "per_group": rows // groups, "prevalence": share}
            shape = "one group" if groups == 1 else f"{groups:,} groups"
            name = f"{shape}, {share:g} positive"
            megabytes = ceil(fixed + (of_row + of_positive * share) * rows / 1e6)
            options = {"megabytes": megabytes, "beyond": True}
            subjects.append(Subject(name, "evaluate", {"metrics": ["AP"], **data}, **options))
    return Case(
        "memory",
        f'Memory that `evaluate(frame, "AP", by="group")` takes beyond the frame, {rows:,} rows as '
        f"one group, and in groups of {sizes.per_group:,}: {fixed} MB, {per_row} bytes for each row "
        f"of a group and {per_positive} for each of its positives; in small groups "
        f"{per_row_of_groups} for each row.",
        subjects,
        [],
        sizes.few_rounds,
    )


def parquet(sizes: Sizes) -> Case:
    data = {"groups": sizes.parquet_groups, "per_group": sizes.per_group, "prevalence": 0.02}
    names = ["collect()", 'collect(engine="streaming")', "sink_parquet(path)"]
    same: dict[str, Any] = {"later": 1, "megabytes": 300, "agrees": names[0]}
    return Case(
        "parquet",
        f"`scan_parquet(path).pr.{_FOUR.replace('frame, ', '')}` on {_shape(data)}: integer keys, "
        "boolean labels, prevalence 0.02, each group in one stretch, in a Parquet file with row "
        "groups of 125,000 rows. The floor reads the file in batches and adds up its columns.",
        [
            Subject(names[0], "evaluate_parquet", later=1, seconds=2, megabytes=300),
            Subject(names[1], "evaluate_parquet", {"engine": "streaming"}, **same),
            Subject(names[2], "sink_parquet", **same),
            Subject("read in batches", "read_parquet", later=1),
        ],
        [Ratio(name, "read in batches") for name in names],
        sizes.few_rounds,
        prepare=Subject("write", "make_parquet", data, later=0),
    )


def large_row_groups(sizes: Sizes) -> Case:
    data = {"groups": sizes.parquet_groups, "per_group": sizes.per_group, "prevalence": 0.02}
    return Case(
        "large-row-groups",
        "The case `parquet` with row groups of 1,000,000 rows, which a reader must decode whole.",
        [
            Subject("collect()", "evaluate_parquet", later=1, megabytes=600),
            Subject("read in batches", "read_parquet", later=1),
        ],
        [Ratio("collect()", "read in batches")],
        sizes.few_rounds,
        prepare=Subject("write", "make_parquet", {**data, "row_group": 1_000_000}, later=0),
    )


def imports(sizes: Sizes) -> Case:
    return Case(
        "import",
        'Whole processes, from start to end, in turn: `python -c "import prframe"` beside `python -c "import '
        'polars"`.',
        [
            Subject("import prframe", statement="import prframe"),
            Subject("import polars", statement="import polars"),
        ],
        [Ratio("import prframe", "import polars", 1.3)],
        sizes.import_pairs,
    )


def small(sizes: Sizes) -> Case:
    tiny = {"groups": sizes.small_groups, "per_group": 20, "prevalence": 0.05}
    many = {"groups": sizes.groups, "per_group": sizes.per_group, "prevalence": 0.05}
    only_ap = {"metrics": ["AP"]}
    hundred = tiny | {"groups": sizes.small_groups // 2, "per_group": 100}
    floors = {"tiny": "NumPy: pack keys and sort, tiny", "many": "NumPy: pack keys and sort, many"}
    sort = "polars: sort each group, hundreds"
    return Case(
        "small",
        f"*Tiny* is {_shape(tiny)}, *hundreds* is {_shape(hundred)}, *many* is {_shape(many)}: "
        'four metrics; the expression `pl.col("score").pr.ap("label")` in a `group_by` beside '
        "`evaluate` of AP; sorting the scores of each group; and `curve`.",
        [
            Subject("evaluate four metrics, tiny", "evaluate", tiny),
            Subject("evaluate AP, tiny", "evaluate", tiny | only_ap),
            Subject("expression AP, tiny", "expression", tiny, agrees="evaluate AP, tiny"),
            Subject(floors["tiny"], "pack_and_sort", tiny),
            Subject("evaluate AP, hundreds", "evaluate", hundred | only_ap),
            Subject(sort, "sort_groups", hundred),
            Subject("evaluate AP, many", "evaluate", many | only_ap),
            Subject("expression AP, many", "expression", many, agrees="evaluate AP, many"),
            Subject("curve, many", "curve", many),
            Subject(floors["many"], "pack_and_sort", many),
        ],
        [
            Ratio("evaluate four metrics, tiny", floors["tiny"]),
            Ratio("expression AP, tiny", "evaluate AP, tiny", 1.2),
            Ratio("evaluate AP, hundreds", sort, 1.4),
            Ratio("expression AP, many", "evaluate AP, many", 1.2),
            Ratio("curve, many", floors["many"]),
        ],
        sizes.few_rounds,
    )


def trec_files(sizes: Sizes) -> Case:
    data = {"queries": sizes.groups, "documents": sizes.per_group, "judged": 50}
    ours, theirs, program = ("files to metrics", "ir_measures", "trec_eval's C code, whole")
    return Case(
        "trec",
        # The limit of memory stands in docs/guide/performance.md.
        f"A run of {sizes.groups:,} queries with {sizes.per_group:,} documents each, and 50 "
        "judgments for each query. `read_run` beside `polars.read_csv` of the same file. Then from "
        "both files to AP, nDCG@10, RR and P@10 per query: `read_run`, `read_qrels`, `join` and "
        '`evaluate(..., ties="trec")`, and *at once*, `trec.evaluate(run, qrels, ...)`, beside '
        "ir_measures, on the *whole* run and on a seventh of it, *part*. *trec_eval's C code* is "
        "that of the package pytrec_eval-terrier, called by `benchmarks/trec_eval.py`.",
        [
            Subject("read_run", "read_run", agrees="polars.read_csv", tolerance=1e-6),
            Subject("polars.read_csv", "read_csv"),
            *(
                subject
                for file in ("part", "whole")
                for subject in (
                    Subject(f"{ours}, {file}", "files_to_metrics", {"file": file}),
                    Subject(
                        f"{theirs}, {file}",
                        "files_to_metrics_by_ir_measures",
                        {"file": file},
                        later=1 if file == "part" else 0,
                        rounds=None if file == "part" else min(2, sizes.rounds),
                        agrees=f"{ours}, {file}",
                        tolerance=1e-9,
                    ),
                )
            ),
            Subject(
                f"{ours} at once, whole",
                "files_to_metrics_at_once",
                {"file": "whole"},
                seconds=2.2,
                megabytes=600,
                agrees=f"{ours}, whole",
            ),
            Subject(
                program,
                "files_to_metrics_by_trec_eval",
                {"file": "whole"},
                later=1,
                rounds=min(3, sizes.rounds),
                agrees=f"{ours} at once, whole",
                tolerance=1e-9,
            ),
        ],
        [
            Ratio("read_run", "polars.read_csv", 2),
            Ratio(program, f"{ours} at once, whole", 4, "at least"),
            *(
                Ratio(f"{theirs}, {size}", f"{ours}, {size}", 5, "at least")
                for size in ("part", "whole")
            ),
        ],
        sizes.rounds,
        prepare=Subject("write", "make_trec", data, later=0),
    )


def odd_files(sizes: Sizes) -> Case:
    data = {"queries": sizes.groups // 7, "documents": sizes.per_group}
    odd = {
        "zeros, gzip": "zeros.gz",
        "one line": "one_line.txt",
        "blank lines": "blank.txt",
    }
    ten, none = "read_run, 10 scores of -inf", "read_run, none"
    return Case(
        "trec-odd",
        f"`read_run` of {_shape({'groups': data['queries'], 'per_group': data['documents']})} with "
        f"10 scores of -inf, beside the same run without; and of {sizes.odd_megabytes:,} MB which "
        "hold no run: zeros in a gzip file, a single line (both are refused), and blank lines.",
        [
            Subject(none, "read_odd", {"file": "whole.txt"}),
            Subject(ten, "read_odd", {"file": "infinite.txt"}, agrees=none, tolerance=0),
            *(
                Subject(f"read_run, {name}", "read_odd", {"file": file}, later=0, megabytes=300)
                for name, file in odd.items()
            ),
        ],
        [Ratio(ten, none, 1.3)],
        sizes.rounds,
        prepare=Subject(
            "write", "make_odd_files", data | {"megabytes": sizes.odd_megabytes}, later=0
        ),
    )


CASES: dict[str, Callable[[Sizes], Case]] = {
    "many-groups": many_groups,
    "shuffled": shuffled,
    "pytrec_eval": pytrec_eval,
    "peers": peers,
    "one-group": one_group,
    "dense": dense,
    "memory": memory,
    "parquet": parquet,
    "large-row-groups": large_row_groups,
    "trec": trec_files,
    "trec-odd": odd_files,
    "import": imports,
    "small": small,
    "null": null,
    "null-peer": null_peer,
    "bands": bands,
    "bands-groups": bands_of_groups,
    "intervals-groups": intervals_of_groups,
    "intervals-metrics": many_intervals_of_groups,
    "learn": learn,
    "compare": compare,
    "compare-pairs": compare_pairs,
    "compare-peer": compare_peer,
}


def _shape(data: dict[str, Any]) -> str:
    """Say how many rows there are in how many groups."""
    return f"{data['groups']:,} groups of {data['per_group']:,} rows"


def _peer(peer: str, data: dict[str, Any], *, rounds: int | None = None) -> Subject:
    """Return a peer as a subject."""
    return Subject(peer, "evaluate_by_peer", {"peer": peer, **data}, rounds=rounds)


def _check(peer: str, groups: int, sizes: Sizes) -> Subject:
    """Return the comparison with a peer, group by group, on scores that differ."""
    data = {"groups": groups, "per_group": sizes.per_group, "prevalence": 0.05}
    options = {"peer": peer, "label": "integer", **data}
    return Subject(peer, "agreement", options, later=0, tolerance=1e-6)
