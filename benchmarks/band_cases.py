"""Bands and intervals: what is compared with what."""

from benchmarks.case import Case, Deadline, Limit, Ratio, Sizes, Subject

_FLOOR = "AP"
_TEN = ("AP", "AUC", "nDCG@10", "P@10", "R@50", "MaxF1", "F1@20", "RR", "EF", "BEDROC")


def bands(sizes: Sizes) -> Case:
    one = {"groups": 1, "per_group": sizes.band_items}
    many = {"groups": sizes.band_groups, "per_group": 1000}
    more = {"groups": 5 * sizes.band_groups, "per_group": 200}
    some = {"groups": 1, "per_group": sizes.interval_items}
    of_ap = {"metrics": ["AP"], "n_resamples": 1000}
    subjects = [
        Subject("band, one group", "band", {"kind": "studentized", **one}),
        Subject("sup ball, one group", "band", {"method": "smoothed-bootstrap", **one}),
        Subject(f"{_FLOOR}, one group", "curve_floor", dict(one)),
        Subject("band, groups", "band", {"kind": "studentized", **many}, later=0),
        Subject("sup ball, groups", "band", {"method": "smoothed-bootstrap", **many}, later=0),
        Subject("band, more groups", "band", {"kind": "studentized", **more}, later=0, rounds=1),
        Subject(f"{_FLOOR}, groups", "curve_floor", dict(many)),
        *(
            Subject(f"interval, {method}", "interval", {"method": method, **of_ap, **some})
            for method in ("auto", "percentile")
        ),
        Subject(f"{_FLOOR}, interval", "curve_floor", dict(some)),
        Subject(
            "intervals, groups",
            "interval",
            {"metrics": ["AP", "AUC"], "method": "auto", "n_resamples": 2000, **many},
            later=0,
        ),
    ]
    return Case(
        "bands",
        '`band(frame, by=...)` with 2,000 draws at 181 levels of recall, and with `method="smoothed-bootstrap"`, '
        f"of one group of {sizes.band_items:,} rows, of {sizes.band_groups:,} groups of 1,000 rows, "
        f'and of {5 * sizes.band_groups:,} groups of 200; `interval(frame, "AP")` with 1,000 draws '
        f"or resamples of {sizes.interval_items:,} rows, and of AP and AUC of the groups. A tenth of "
        "the rows is positive, with scores that are higher by one standard deviation. The floor is "
        "`evaluate` of AP, which sorts the same rows.",
        subjects,
        [
            Ratio("band, one group", f"{_FLOOR}, one group"),
            Ratio("sup ball, one group", f"{_FLOOR}, one group"),
            Ratio("band, groups", f"{_FLOOR}, groups"),
            Ratio("sup ball, groups", f"{_FLOOR}, groups"),
            Ratio("interval, auto", f"{_FLOOR}, interval"),
            Ratio("interval, percentile", f"{_FLOOR}, interval"),
        ],
        sizes.few_rounds,
        limits=[Limit("band, groups", 500), Limit("band, more groups", 500)],
        deadlines=[
            Deadline("band, one group", 0.5),
            Deadline("sup ball, one group", 0.5),
            Deadline("band, groups", 30),
            Deadline("sup ball, groups", 30),
            *(Deadline(f"interval, {method}", 2) for method in ("auto", "percentile")),
        ],
    )


def bands_of_groups(sizes: Sizes) -> Case:
    data = {"groups": sizes.band_groups, "per_group": 1000}
    return _of_groups(
        "bands-groups",
        f"`band(frame, by=...)` with 2,000 draws at 181 levels of recall of {_described(data)}",
        Subject("band", "band", {"kind": "studentized", **data}, later=1),
        data,
        Deadline("band", 4),
    )


def intervals_of_groups(sizes: Sizes) -> Case:
    data = {"groups": sizes.band_groups, "per_group": 1000}
    options = {"metrics": ["AP", "AUC"], "method": "auto", "n_resamples": 2000}
    return _of_groups(
        "intervals-groups",
        f'`interval(frame, ["AP", "AUC"], by=...)` with 2,000 draws of {_described(data)}',
        Subject("interval", "interval", options | data, later=1),
        data,
        Deadline("interval", 5),
    )


def many_intervals_of_groups(sizes: Sizes) -> Case:
    data = {"groups": sizes.band_groups, "per_group": 1000}
    options = {"metrics": list(_TEN), "method": "auto", "n_resamples": 2000}
    return _of_groups(
        "intervals-metrics",
        f"`interval(frame, metrics, by=...)` of {', '.join(_TEN)} with 2,000 draws of "
        f"{_described(data)}",
        Subject("interval", "interval", options | data, later=1),
        data,
        Deadline("interval", 10),
    )


def _of_groups(
    name: str, text: str, subject: Subject, data: dict[str, int], deadline: Deadline
) -> Case:
    """Return a case of many groups beside AP of the same rows."""
    floor = Subject(_FLOOR, "curve_floor", dict(data))
    return Case(
        name,
        f"{text}. The floor is `evaluate` of AP, which sorts the same rows.",
        [subject, floor],
        [Ratio(subject.name, _FLOOR)],
        1,
        limits=[Limit(subject.name, 500)],
        deadlines=[deadline],
    )


def _described(data: dict[str, int]) -> str:
    """Say which rows these are."""
    return (
        f"{data['groups']:,} groups of {data['per_group']:,} rows, a tenth of them positive, with "
        "scores that are higher by one standard deviation"
    )
