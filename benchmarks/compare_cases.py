"""Comparisons of models over queries: what is compared with what."""

from typing import Any

from benchmarks.case import Case, Ratio, Sizes, Subject

_FLOOR = "evaluate AP"
_LAWS: dict[str, dict[str, Any]] = {
    "max-t": {"correction": "max-t"},
    "convolution": {},
}


def compare(sizes: Sizes) -> Case:
    size, draws = _size(sizes), sizes.compare_draws
    subjects = []
    for law, options in _LAWS.items():
        asked = {"options": {"n_resamples": draws, **options}}
        subjects.append(
            Subject(f"compare, {law}", "compare_models", asked | size, later=2, seconds=5)
        )
    subjects.append(Subject(_FLOOR, "compare_floor", size))
    return Case(
        "compare",
        f'`compare(frame, "AP", model="system")` of all pairs of {_shape(size)}: with '
        f'{draws:,} draws `correction="max-t"`; and without draws, by *convolution*, with Holm\'s '
        "correction. The floor is AP of the same rows.",
        subjects,
        [Ratio(f"compare, {law}", _FLOOR) for law in _LAWS],
        sizes.few_rounds,
    )


def compare_pairs(sizes: Sizes) -> Case:
    many, long, items = sizes.compare_many, sizes.compare_long, sizes.compare_items
    shapes = {
        f"{many // 8 + 3} on {long:,} queries": ((many // 8 + 3, long), 2),
        f"{many // 3} on {long:,} queries": ((many // 3, long), 10),
        f"{many} on {long // 5:,} queries": ((many, long // 5), 5),
    }
    subjects = []
    for name, ((systems, queries), seconds) in shapes.items():
        options = {"systems": systems, "queries": queries}
        asked = ("compare_few_values", options)
        subjects.append(Subject(f"systems, {name}", *asked, later=1, seconds=seconds))
    for size, seconds in ((items, 1), (10 * items, 5)):
        for share in (0.01, 0.1):
            name = f"items, {size:,}, {share:g} positive"
            options = {"items": size, "prevalence": share}
            subjects.append(Subject(name, "compare_items", options, later=1, seconds=seconds))
            options = options | {"metric": "AUC"}
            subjects.append(Subject(f"AUC of {name}", "compare_items", options, later=1))
    return Case(
        "compare-pairs",
        "`compare` with its default options. *Systems*: all pairs by AP of three relevant "
        "documents among 30, for systems that are much alike. *Items*: one pair on the same items, "
        f"by AP, {10_000:,} swaps and as many resamples, and by AUC, which needs no swaps.",
        subjects,
        [],
        sizes.few_rounds,
    )


def compare_peer(sizes: Sizes) -> Case:
    size = _size(sizes)
    ours, theirs = ("student", "convolution"), ("student", "fisher")
    pairs = [
        (f"ranx, {one}", f"compare, {other}") for one, other in zip(theirs, ours, strict=True)
    ]
    return Case(
        "compare-peer",
        f"AP and nDCG@10 of {_shape(size)}, all pairs compared: `compare` beside `ranx.compare`. "
        "*Student*: the paired t test. *Fisher*: the randomization test with 1,000 draws, which is "
        "ranx's default; *convolution* is ours, without draws. The data are in memory: a frame, and "
        "ranx's own objects.",
        [
            *(Subject(f"compare, {test}", "compare_files", {"test": test}) for test in ours),
            *(
                Subject(f"ranx, {test}", "compare_by_ranx", {"test": test}, later=1)
                for test in theirs
            ),
        ],
        [Ratio(*pair, 1, "at least") for pair in pairs],
        sizes.few_rounds,
        prepare=Subject("write", "make_runs", size, later=0),
    )


def _size(sizes: Sizes) -> dict[str, Any]:
    return {
        "systems": sizes.compare_systems,
        "queries": sizes.compare_queries,
        "documents": 100,
    }


def _shape(size: dict[str, Any]) -> str:
    """Say how many systems, queries and documents there are."""
    return (
        f"{size['systems']} systems on {size['queries']} queries with "
        f"{size['documents']} retrieved documents each"
    )
