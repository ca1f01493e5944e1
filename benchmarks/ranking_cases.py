"""Bands, intervals, the tests of AP, and rankers: what is compared with what."""

from typing import Any

from benchmarks.case import Case, Ratio, Sizes, Subject

_TEN = ["AP", "AUC", "nDCG@10", "P@10", "R@50", "MaxF1", "F1@20", "RR", "EF", "BEDROC"]


def bands(sizes: Sizes) -> Case:
    one, some = (
        {"groups": 1, "per_group": items} for items in (sizes.band_items, sizes.interval_items)
    )
    ball, of_ap = {"method": "smoothed-bootstrap"}, {"metrics": ["AP"], "n_resamples": 1000}
    group, interval = "AP, one group", "AP, interval"
    return Case(
        "bands",
        '`band(frame)` with 2,000 draws at 181 levels of recall, and with `method="smoothed-bootstrap"`, '
        f'of one group of {sizes.band_items:,} rows; `interval(frame, "AP")` with 1,000 draws '
        f"or resamples of {sizes.interval_items:,} rows. A tenth of the rows is positive, with "
        "scores that are higher by one standard deviation. The floor is `evaluate` of AP, which "
        "sorts the same rows.",
        [
            Subject("band, one group", "band", one, seconds=0.5),
            Subject("sup ball, one group", "band", ball | one, seconds=0.5),
            Subject(group, "curve_floor", one),
            *(
                Subject(
                    f"interval, {method}",
                    "interval",
                    {"method": method, **of_ap, **some},
                    seconds=2,
                )
                for method in ("auto", "percentile")
            ),
            Subject(interval, "curve_floor", some),
        ],
        [
            *(Ratio(f"{name}, one group", group) for name in ("band", "sup ball")),
            *(Ratio(f"interval, {method}", interval) for method in ("auto", "percentile")),
        ],
        sizes.few_rounds,
    )


def _of_groups(
    sizes: Sizes, name: str, call: str, seconds: float, task: str, **options: Any
) -> Case:
    """Return a case of many groups beside AP of the same rows."""
    data = {"groups": sizes.band_groups, "per_group": 1000}
    return Case(
        name,
        f"`{call}` with 2,000 draws of {sizes.band_groups:,} groups of 1,000 rows, a tenth of them "
        "positive, with scores that are higher by one standard deviation. The floor is `evaluate` "
        "of AP, which sorts the same rows.",
        [
            Subject(task, task, options | data, later=1, seconds=seconds, megabytes=500),
            Subject("AP", "curve_floor", data),
        ],
        [Ratio(task, "AP")],
        1,
    )


def bands_of_groups(sizes: Sizes) -> Case:
    return _of_groups(sizes, "bands-groups", "band(frame, by=...)", 4, "band")


def intervals_of_groups(sizes: Sizes) -> Case:
    options = {"metrics": ["AP", "AUC"], "n_resamples": 2000}
    call = 'interval(frame, ["AP", "AUC"], by=...)'
    return _of_groups(sizes, "intervals-groups", call, 5, "interval", **options)


def many_intervals_of_groups(sizes: Sizes) -> Case:
    options = {"metrics": _TEN, "n_resamples": 2000}
    call = f"interval(frame, [{', '.join(_TEN)}], by=...)"
    return _of_groups(sizes, "intervals-metrics", call, 10, "interval", **options)


_PAIRS, _HARMONIC = "moments", "SciPy: digamma and zeta"
# So many seconds, at most, for each kind of groups.
_TESTED = {
    "distinct": 2,
    "retrieved": 10,
    "large": 1,
    "vaswani": 2,
    "tied_queries": 3,
    "few_items": 5,
    "far": 1,
}
# The p-value of many rows costs no more than AP itself, so that both take twice as long.
_BOTH = {"half": 2.0}


def null(sizes: Sizes) -> Case:
    size = {
        "distinct": {"groups": sizes.null_groups},
        "retrieved": {"groups": sizes.null_queries},
        "large": {"n": sizes.null_items},
        "vaswani": {"runs": 1},
        "tied_queries": {"systems": 4, "queries": sizes.null_tied},
        "few_items": {"groups": sizes.null_small},
        "far": {"n": sizes.null_items},
        "half": {"n": sizes.null_half},
    }
    pairs = {"pairs": sizes.null_pairs}
    subjects = [
        Subject(_PAIRS, "null_moments", pairs, seconds=1),
        Subject(_HARMONIC, "harmonic_numbers", pairs),
    ]
    for data, options in size.items():
        both = {"data": data, **options}
        most = _TESTED.get(data)
        subjects.append(Subject(f"ap_test, {data}", "null_test", both, later=1, seconds=most))
        subjects.append(Subject(f"AP, {data}", "null_floor", both))
    seven = {"data": "vaswani", "runs": 7}
    subjects.append(Subject("ap_test, seven runs", "null_test", seven, later=0, rounds=1))
    subjects.append(Subject("AP, seven runs", "null_floor", seven, rounds=1))
    return Case(
        "null",
        f"`ap_null_moments` of {sizes.null_pairs:,} pairs of n (up to a million) and n_pos, beside "
        "the harmonic numbers that any formula for them needs. Then `ap_test(frame, by=...)` "
        'beside `evaluate(frame, "AP", by=...)`, which gives AP and no p-value. *Distinct*: '
        f"{sizes.null_groups:,} groups of 100 to 1,000 items with different numbers of positives, 1 "
        f"to 100. *Retrieved*: {sizes.null_queries} cut lists, the best 1,000 of 11,429 items. "
        f"*Large*: one group of {sizes.null_items:,} items, a hundredth of them positive, *far* the "
        f"same with scores that are two standard deviations higher, *half* {sizes.null_half:,} items, "
        f"half of them positive. *Tied queries*: the mean over {sizes.null_tied} queries with tied "
        f"scores, for four systems. *Few items*: {sizes.null_small:,} groups of 50 items. *Vaswani*: "
        "one run and seven runs for the 93 queries of that collection, which is not part of the "
        "repository; PRFRAME_TEST_DATA names its directory.",
        subjects,
        [
            Ratio(_PAIRS, _HARMONIC),
            *(
                Ratio(f"ap_test, {data}", f"AP, {data}", _BOTH.get(data))
                for data in (*size, "seven runs")
            ),
        ],
        sizes.few_rounds,
    )


def null_peer(sizes: Sizes) -> Case:
    whole = {"data": "distinct", "groups": sizes.null_groups}
    part = {"data": "distinct", "groups": sizes.null_part}
    parts = [1_000, 10_000, 100_000]
    asked = {"whole": (whole, [1_000]), "part": (part, parts)}
    asked["one"] = ({"data": "rare"}, [sizes.null_draws])
    subjects, ratios = [], []
    for name, (data, numbers) in asked.items():
        ours = f"ap_test, {name}"
        subjects.append(Subject(ours, "null_test", data, later=1))
        for draws in numbers:
            theirs, is_long = (
                f"copairs, {name}, B = {draws:,}",
                draws * data.get("groups", 1) >= 10**6,
            )
            options = {"later": 0, "rounds": 1 if is_long else None}
            subjects.append(
                Subject(theirs, "null_test_by_copairs", data | {"draws": draws}, **options)
            )
            ratios.append(Ratio(theirs, ours))
    return Case(
        "null-peer",
        "From a polars frame to a p-value of AP for each group: `ap_test(frame, by=...)` beside "
        "copairs (`compute.ap_contiguous` and `compute.p_values`), which draws random rankings on "
        f"all CPUs. *Whole* is the groups *distinct* of `null` ({sizes.null_groups:,}), *part* the "
        f"first {sizes.null_part} of them; *one* is a group of 500 items with p = .01, which takes "
        f"{sizes.null_draws:,} draws to be known to 1 %.",
        subjects,
        ratios,
        sizes.few_rounds,
    )


def learn(sizes: Sizes) -> Case:
    many = sizes.learn_items
    subjects, ratios = [], []
    for rule in ("linear", "quadratic"):
        data = {"rule": rule, "n": many}
        peer = Subject(f"logistic regression, {rule}", "logistic", data)
        for solver in ("gradient-ascent", "l-bfgs"):
            options = data | {"solver": solver}
            subject = Subject(f"{solver}, {rule}", "rank_statistic", options, seconds=30)
            subjects.append(subject)
            ratios.append(Ratio(subject.name, peer.name))
        subjects.append(peer)
    return Case(
        "learn",
        '`RankStatisticRanker("p-norm-push", rule).fit(X, y)` with 15 features and '
        f"{many:,} items: Algorithm 1 with 50 steps, and L-BFGS until it converges. "
        "Classes are normal and differ in location for linear rules, in scale for quadratic ones. "
        "Beside them, scikit-learn's `LogisticRegression`, of all products of two features for "
        "quadratic rules.",
        subjects,
        ratios,
        sizes.few_rounds,
    )
