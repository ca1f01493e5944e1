"""Writes what was measured as Markdown."""

import os
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

from benchmarks.case import Case, Ratio, Results, Subject
from benchmarks.fresh import Answer, Measurement

# Versions of these are always told, those of other tools where the text has them.
_PACKAGES = ("polars", "numpy")
_PEERS = (
    "scikit-learn",
    "pytrec_eval-terrier",
    "ir_measures",
    "ranx",
    "numba",
    "polarbearings",
    "copairs",
)

PREFACE = """# Benchmarks

Every time below is that of a fresh process. *First call* is the first of its process: the package
is imported and the data are made, but nothing is warm, and what is loaded on first use counts.
*Later calls* is the median of the calls after it in the same process. The subjects of a table are
run in turn, round after round. A ratio is the median over the rounds of the ratio within a round,
with the smallest and the largest in brackets. Data are random with a fixed seed; scores are
uniform. *Peak* is the largest resident memory of the process in MB (10^6 bytes) from the first
call on. While other programs keep more than .2 CPUs busy, a process is measured anew, as long as
the time for that (`--patience`) lasts.

The targets are what the project aims at; a target that is missed is said to be missed. Tables
sum up what was measured; the commands print the rest.
"""

COMMANDS = """## Commands

    pip install -e '.[bench]'
    python -m benchmarks                    # everything; with --write, kept in this file
    python -m benchmarks --only NAME ...    # some cases or studies, each a section below
    python -m benchmarks --patience 60      # wait up to an hour for idle CPUs
    python -m benchmarks --quick            # small sizes, to see that it runs
    python -m benchmarks.coverage --part PART --every       # coverage of intervals and bands
    python -m benchmarks.paired_study --part PART           # tests over queries
    python -m benchmarks.growth             # docs/guide/growth.csv and growth.svg

Programs that need more than Python packages are kept by `| python -m benchmarks.results TITLE`:

    python -m benchmarks.copairs            # p-values beside those of copairs
    python -m benchmarks.command_line --trec-eval PATH      # beside the C program
    python -m benchmarks.spark_times --folder FOLDER        # Spark
"""


def measured_with(text: str = "") -> str:
    """Return a line with the day; of times also with the CPUs and the versions."""
    peers = [peer for peer in _PEERS if re.split(r"[-.]", peer)[0] in text]
    packages = (*_PACKAGES, *peers)
    versions = [f"{package} {found}" for package in packages if (found := _version(package))]
    machine = [f"{os.cpu_count()} CPUs{_processor()}", *versions] if " call" in text else []
    return f"*Measured on {', '.join([str(datetime.now(tz=UTC).date()), *machine])}.*\n"


def _processor() -> str:
    """Return the name, family and model of the processor in brackets, where Linux tells them.

    Sorting takes several times as long on some as on others.
    """
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    # The first of several processors is the first in the list, which is read from its end.
    told = dict(re.split(r"\s*:\s*", line, maxsplit=1) for line in reversed(lines) if ":" in line)
    if "model name" not in told:
        return ""
    family, model = told.get("cpu family", "?"), told.get("model", "?")
    return f" ({told['model name']}, family {family}, model {model})"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def targets(cases: Iterable[tuple[Case, Results]]) -> str:
    """Return the table of everything that has a target."""
    rows: list[list[str]] = []
    for case, results in cases:
        aimed_at = [ratio for ratio in case.ratios if ratio.target is not None]
        rows += [[case.name, *_ratio_row(ratio, results)] for ratio in aimed_at]
        for wanted, row in (("megabytes", _memory_row), ("seconds", _seconds_row)):
            limited = [one for one in case.subjects if getattr(one, wanted) is not None]
            rows += [[case.name, *row(one, results[one.name])] for one in limited]
    header = ["case", "what", "first call", "later calls", "target", "verdict"]
    return "## Targets\n\n" + table(header, rows)


def case_section(case: Case, results: Results, checks: dict[str, Answer | str]) -> str:
    """Return the section of a case: ratios and times without a target, and what agreed."""
    header = ["ratio", "first call", "later calls"]
    rows = [_ratio_row(ratio, results)[:3] for ratio in case.ratios if ratio.target is None]
    parts = [f"## {case.name}\n", f"{case.text}\n", *([table(header, rows)] if rows else [])]
    header = ["measured", "first call, s", "later calls, s", "peak, MB"]
    free = [one.name for one in case.subjects if one.seconds is None and one.megabytes is None]
    timed = [_time_row(name, results[name]) for name in free]
    parts += [table(header, timed)] if timed else []
    lines = [_agreement_line(one, results) for one in case.subjects if one.agrees]
    lines += [_check_line(name, found) for name, found in checks.items()]
    if lines:
        parts.append("\n".join(lines) + "\n")
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


def _agreement_line(subject: Subject, results: Results) -> str:
    one, other = (results[name][0] for name in (subject.name, subject.agrees))
    pair = f"{subject.name} and {subject.agrees}"
    if one.skipped or other.skipped:
        return f"- {pair}: not compared."
    largest = max(abs(value - other.answer[name]) for name, value in one.answer.items())
    return f"- {pair}: the results (means over the groups) differ by {largest:.1e} at most."


def _check_line(name: str, found: Answer | str) -> str:
    if isinstance(found, str):
        return f"- {name}: not compared ({found})."
    each = ", ".join(f"{metric} {difference:.1e}" for metric, difference in found.items())
    return f"- {name}, largest difference of a group's value, no scores tied: {each}."


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"
