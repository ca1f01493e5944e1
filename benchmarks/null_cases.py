"""The null distribution of AP: what is compared with what."""

from benchmarks.case import Case, Deadline, Ratio, Sizes, Subject

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
        Subject(_PAIRS, "null_moments", pairs),
        Subject(_HARMONIC, "harmonic_numbers", pairs),
    ]
    for data, options in size.items():
        both = {"data": data, **options}
        subjects.append(Subject(f"ap_test, {data}", "null_test", both, later=1))
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
        deadlines=[
            Deadline(_PAIRS, 1),
            *(Deadline(f"ap_test, {data}", most) for data, most in _TESTED.items()),
        ],
    )


def null_peer(sizes: Sizes) -> Case:
    whole = {"data": "distinct", "groups": sizes.null_groups}
    part = {"data": "distinct", "groups": sizes.null_part}
    one = {"data": "rare"}
    parts = [1_000, 10_000, 100_000]
    return Case(
        "null-peer",
        "From a polars frame to a p-value of AP for each group: `ap_test(frame, by=...)` beside "
        "copairs (`compute.ap_contiguous` and `compute.p_values`), which draws random rankings on "
        f"all CPUs. *Whole* is the groups *distinct* of `null` ({sizes.null_groups:,}), *part* the "
        f"first {sizes.null_part} of them; *one* is a group of 500 items with p = .01, which takes "
        f"{sizes.null_draws:,} draws to be known to 1 %.",
        [
            Subject("ap_test, whole", "null_test", whole, later=1),
            _peer("whole", whole, 1_000),
            Subject("ap_test, part", "null_test", part),
            *(_peer("part", part, draws) for draws in parts),
            Subject("ap_test, one", "null_test", one),
            _peer("one", one, sizes.null_draws),
        ],
        [
            Ratio(_name("whole", 1_000), "ap_test, whole"),
            *(Ratio(_name("part", draws), "ap_test, part") for draws in parts),
            Ratio(_name("one", sizes.null_draws), "ap_test, one"),
        ],
        sizes.few_rounds,
    )


def _name(data: str, draws: int) -> str:
    return f"copairs, {data}, B = {draws:,}"


def _peer(name: str, data: dict[str, object], draws: int) -> Subject:
    """Return the peer as a subject, with a number of draws."""
    options = {**data, "draws": draws}
    rounds = 1 if draws * int(str(data.get("groups", 1))) >= 10**6 else None
    return Subject(_name(name, draws), "null_test_by_copairs", options, later=0, rounds=rounds)
