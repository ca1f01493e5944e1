"""Writes what was measured as Markdown."""

from collections.abc import Iterable, Sequence
from statistics import median

from benchmarks.case import Case, Ratio, Results, Subject
from benchmarks.fresh import Measurement

TARGETS = ("case", "what", "first call", "later calls", "target", "verdict")


def targets(case: Case, results: Results) -> str:
    """Return the table of everything in a case that has a target."""
    rows = [_ratio_row(ratio, results) for ratio in case.ratios if ratio.target is not None]
    for wanted, row in (("megabytes", _memory_row), ("seconds", _seconds_row)):
        limited = [one for one in case.subjects if getattr(one, wanted) is not None]
        rows += [row(one, results[one.name]) for one in limited]
    return "## Targets\n\n" + table(TARGETS, ([case.name, *row] for row in rows))


def case_section(case: Case, results: Results) -> str:
    """Return the section of a case: ratios and times without a target."""
    parts = [f"## {case.name}\n", f"{case.text}\n"]
    rows = [_ratio_row(ratio, results)[:3] for ratio in case.ratios if ratio.target is None]
    parts += [table(["ratio", "first call", "later calls"], rows)] if rows else []
    free = [one.name for one in case.subjects if one.seconds is None and one.megabytes is None]
    rows = [_time_row(name, results[name]) for name in free]
    header = ["measured", "first call, s", "later calls, s", "peak, MB"]
    parts += [table(header, rows)] if rows else []
    return "\n".join(parts)


def _ratio_row(ratio: Ratio, results: Results) -> list[str]:
    what = f"{ratio.above} / {ratio.below}"
    above, below = results[ratio.above], results[ratio.below]
    skipped = next((found.skipped for found in (*above, *below) if found.skipped), "")
    if skipped:
        return [what, "", "", _target(ratio), f"skipped: {skipped}"]
    first = [a.first / b.first for a, b in zip(above, below, strict=False)]
    later = [
        median(a.later) / median(b.later)
        for a, b in zip(above, below, strict=False)
        if a.later and b.later
    ]
    met = [ratio.met(median(values)) for values in (first, later) if values]
    verdict = "" if ratio.target is None else _verdict(met)
    return [what, f"{median(first):.2f}", _spread(later), _target(ratio), verdict]


def _target(ratio: Ratio) -> str:
    return "" if ratio.target is None else f"{ratio.side} {ratio.target:g}"


def _verdict(met: Sequence[bool]) -> str:
    """Say whether a target was met by the first call and, if there were any, by later ones."""
    if all(met):
        return "met"
    if not any(met):
        return "missed"
    return "met by the first call only" if met[0] else "met by later calls only"


def _spread(values: list[float]) -> str:
    """Return median (least to largest)."""
    if not values:
        return ""
    middle, low, high = (f"{value:.2f}" for value in (median(values), min(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"


def _memory_row(subject: Subject, found: list[Measurement]) -> list[str]:
    limit = subject.megabytes or 0.0
    taken = [(m.peak, m.peak_later, m.ready if subject.beyond else 0.0) for m in found]
    peak = max(first - ready for first, _, ready in taken)
    later = max(last - ready for _, last, ready in taken)
    met = [value < limit for value in (peak, later)]
    verdict = "met" if all(met) else "met by the first call only" if met[0] else "missed"
    target = f"under {limit:g} MB"
    what = f"largest peak memory of {subject.name}" + ", beyond its data" * subject.beyond
    return [what, f"{peak:.0f} MB", f"{later:.0f} MB", target, verdict]


def _seconds_row(subject: Subject, found: list[Measurement]) -> list[str]:
    most = subject.seconds or 0.0
    what, target = f"seconds of {subject.name}", f"under {most:g} s"
    if skipped := next((one.skipped for one in found if one.skipped), ""):
        return [what, "", "", target, f"skipped: {skipped}"]
    first = [one.first for one in found]
    later = [median(one.later) for one in found if one.later]
    medians = [median(values) for values in (first, later) if values]
    met = [value < most for value in medians]
    cells = [*(f"{value:.2f}" for value in medians), ""]
    return [what, *cells[:2], target, _verdict(met)]


def _time_row(name: str, found: list[Measurement]) -> list[str]:
    skipped = next((one.skipped for one in found if one.skipped), "")
    if skipped:
        return [name, f"skipped: {skipped}", "", ""]
    later = [median(one.later) for one in found if one.later]
    return [
        name,
        f"{median(one.first for one in found):.3f}",
        f"{median(later):.3f}" if later else "",
        f"{median(one.peak for one in found):.0f}",
    ]


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
