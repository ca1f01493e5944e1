"""A mutation study of the core: whether a default test notices that a line of it is wrong.

    python scripts/mutations.py                 # all of them, a line each
    python scripts/mutations.py --only metrics  # those of the modules with this in their path
    python scripts/mutations.py --check         # without running: is each old text there once?

Each mutation replaces one text of a module by another in a scratch copy, and runs the default
tests that are named for the module until one fails. The study fails if fewer than 95 % of the
mutations are caught. Where an old text is gone, replace the mutation by another of its kind.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ENOUGH = 0.95

# A module and its tests, and below it the old and the new texts.
TABLE = """
_engine/rows.py: engine/test_keys.py engine/test_edge_cases.py
    values[np.isnan(values)] = -np.inf => values[np.isnan(values)] = np.inf
    values = numbers.to_numpy() + 0.0 => values = numbers.to_numpy() - 0.0
    flip &= 0x7FFF_FFFF_FFFF_FFFF => flip &= 0
    np.maximum(values, least), values) => values, values)
    units: int = ceil(Fraction => units: int = int(Fraction
_engine/sorting.py: engine/test_sorting.py metrics/test_oracle.py
    lead = 0 if merit > 0 else => lead = 0 if merit < 0 else
    np.repeat(start + size, count) => np.repeat(start + count, count)
    np.repeat(above + count, count) => np.repeat(above + 1, count)
    kept = self.start < n[self.group] => kept = self.start <= n[self.group]
    before[np.diff(group, prepend=-1) != 0] = 0 => before[:0] = 0
    begins[places[1:]] |= key => begins[places[1:]] &= key
    kind[rows], ~key[rows], stretch => kind[rows], key[rows], stretch
_engine/ranks.py: engine/test_pieces.py verbs/curves/test_curve.py metrics/test_oracle.py
    tp -= np.repeat(_sums_before(rows.n_pos), n_blocks) => tp -= 0
    tp = tp[ends - 1] => tp = tp[ends - 2]
    marked = rows.kind > 0 => marked = rows.kind > 1
    sums.positives.of_first(group, tp) => sums.positives.of_first(group, k)
_engine/hits.py: engine/test_pieces.py metrics/test_oracle.py verbs/test_extremes.py
    firsts = self._first_hits => firsts = np.zeros(1, np.int64)
    if not whole_groups: => if whole_groups is not None:
    positive = (pl.col("gain") >= rel) => positive = (pl.col("gain") > rel)
    (pl.col("n_neg") - more) => (pl.col("n_neg") + more)
    end - np.repeat(count, count) + place => end - 1 + 0 * place
    nonrel &= pl.col("judged") > 0 => nonrel &= pl.col("judged") >= 0
    self._first = self._last - sizes => self._first = self._last - sizes - 1
    (merit if policy.merit < 0 else -merit => (merit if policy.merit > 0 else -merit
_engine/pieces.py: engine/test_pieces.py engine/test_edge_cases.py metrics/test_oracle.py
    return keys.n_unique() < keys.height => return keys.n_unique() < 0
    bool(least > UNRETRIEVED) => bool(least >= UNRETRIEVED)
    self.first_rows, dtype=np.uint32) => self.first_rows, dtype=np.uint8)
_engine/pieces.py: test_messages.py engine/test_edge_cases.py metrics/test_oracle.py
    pl.col(name) < pl.col(present) => pl.col(name) < pl.col(present) - 1
    groups.filter(values > 1) => groups.filter(values > 2)
    pl.col("repeated") > 0 => pl.col("repeated") > 1
    to_numpy() >= least_key( => to_numpy() > least_key(
_engine/rows.py: test_messages.py engine/test_edge_cases.py metrics/test_oracle.py
    else grade >= wanted => else grade > wanted
    pl.col(args.weight).ne_missing(0) => pl.col(args.weight).is_not_nan()
    (~judged & below) => (~judged)
    conditions.append(~_equals_any( => conditions.append(_equals_any(
    label.max() or 0) <= 1 => label.max() or 0) <= 2
_engine/measure.py: metrics/test_oracle.py engine/test_edge_cases.py metrics/test_laws.py
    (pl.col(name) > 0 for name => (pl.col(name) >= 0 for name
    (rank + 1).log(2) => (rank + 2).log(2)
    value.cum_max(reverse=True) => value.cum_max()
    table.filter(pl.col("weight") > 0) => table.filter(pl.col("weight") >= 0)
    pl.col("n_pos") > pl.col("present_pos") => pl.col("n_pos") > 9
metrics/quantities.py: metrics/test_oracle.py engine/test_columns.py metrics/test_prior.py
    (1 - self.prior) / self.prior if => self.prior / (1 - self.prior) if
    pl.max_horizontal(top, 0) => top
    return self.n * 0 + value => return pl.lit(value)
    pl.when(fp > 0).then(scaled).otherwise(1.0) => scaled.fill_nan(0.0)
metrics/thresholds.py: metrics/test_rounding.py metrics/test_oracle.py metrics/test_sklearn.py
    least = most**2 / 2 => least = most**2
    m.number("max_recall") * q.n_pos => m.number("max_recall") * q.n_hits
    pl.when(q.start == 0).then(1.0) => pl.when(q.start == 0).then(0.0)
    (q.fp_start + q.fp_end) / 2 => q.fp_start
    (terms[0] + missed / 2) => (terms[0] + missed)
    q.interpolated * (reached - before) * share => q.interpolated * reached * share
    float(m.k or 0) * q.n_pos * HAIR_BELOW => float(m.k or 0) * q.n_pos
    (0.9 if m["levels"] == "v9" => (0.5 if m["levels"] == "v9"
metrics/positions.py: metrics/test_rounding.py metrics/test_oracle.py metrics/test_laws.py
    _total(q) - 1e-9).ceil() => _total(q)).ceil()
    m.number("at_precision") * HAIR_BELOW => m.number("at_precision")
    q.nonrel_end - q.nonrel_start + 1 => q.nonrel_end - q.nonrel_start + 2
    pl.min_horizontal(q.n_nonrel, q.n_pos) => q.n_nonrel
    pl.when(missed > 0).then(below) => pl.when(missed > 9).then(below)
    pl.min_horizontal(pl.lit(m.rank()), q.n) => pl.lit(m.rank())
metrics/shared.py: metrics/test_oracle.py
    pl.when(q.end <= q.above( => pl.when(q.end < q.above(
stats/rankings/metrics/retrieved.py: metrics/test_oracle.py
    beta**2 * n_pos + tp => beta**2 * n_pos + 2 * tp
verbs/evaluate.py: verbs/test_settings.py verbs/test_summary.py verbs/test_row_order.py
    "std": value.std() => "std": value.std(0)
    value.clip(_LEAST) => value.clip(1e-9)
    "n": value.count() => "n": value.len()
    "n_undefined": value.null_count() => "n_undefined": value.count()
stats/intervals/means.py: stats/intervals/test_clusters_of_values.py
    (numbers < least - RESIDUE) => (numbers < least)
    (numbers > most + RESIDUE) => (numbers > most)
    float(np.clip(sample.mean, least, most)) => float(sample.mean)
    sample.influence / np.abs(sample.influence).max() => sample.influence
    wald_interval(mean, error, confidence, df=n - 1) => wald_interval(mean, error, confidence)
stats/paired_values/query_tests.py: stats/paired_values/test_tests.py
    if n and not sample.sums.any() => if n < 1 and not sample.sums.any()
    partial(stdtr, n - 1), t => partial(stdtr, n), t
    differences = differences[differences != 0] => differences = differences[differences != 9]
    np.round(sizes / sizes.max(), EQUAL_DIGITS) => sizes
    wins + losses, 0.5) => wins + losses + 1, 0.5)
    a**2 * t**3 / 27 + a / 6 => a**2 * t**3 / 27 - a / 6
stats/paired_values/sample.py: stats/paired_values/test_tests.py
    where=np.abs(difference) <= rounding => where=np.abs(difference) < 0
stats/_p_values.py: stats/paired_values/test_family.py
    (extreme + 1) / (n_draws + 1) => extreme / n_draws
stats/paired_values/multiplicity.py: stats/paired_values/test_multiplicity.py
    "holm": lambda j, m: m + 1 - j => "holm": lambda j, m: m - j
    np.maximum.accumulate(steps) => steps
    np.minimum(steps, 1.0) => steps
trec/joining.py: trec/test_join.py trec/test_evaluate.py
    keep[lost[first]] = True => keep[lost[first]] = False
    pl.when("judged").then("score") => pl.when(True).then("score")
    rows.filter(other), qrels.filter(other) => rows.filter(other), qrels
trec/matching.py: trec/test_join.py trec/test_evaluate.py
    cast(pl.Int32).fill_null(-1) => cast(pl.Int32).fill_null(0)
    (query < 0).any(): => (query < 0).all():
    descending=[False, True], maintain_order => descending=[False, False], maintain_order
    {"all", "qrels", "means"} => {"all", "qrels"}
    keys=groups.keys.cast({"query_id" => keys=groups.keys.head().cast({"query_id"
trec/evaluating.py: trec/test_evaluate.py trec/test_trec_eval.py
    pl.when(place < depth) => pl.when(place <= depth)
    float32=self.version == 9 => float32=self.version == 10
    pl.col("doc_id").cast(pl.String), descending=True => pl.col("doc_id").cast(pl.String)
    undefined=0.0) => undefined=None)
gates.py: verbs/comparison/test_like_data.py commands/test_exits.py
    difference >= -margin: => difference >= 0:
    * (1 + 1e-12): => * (1 - 1e-12):
    if undecided and not worse: => if undecided and worse:
commands/exits.py: commands/test_exits.py
    (error, OSError) and error.filename is not None => (error, OSError)
    ArgumentError: USAGE => ArgumentError: DATA
    CLOSED_PIPE = 128 + 13 => CLOSED_PIPE = 0
    PrframeWarning: DATA => PrframeWarning: OK
commands/compare.py: commands/test_frames.py commands/test_files.py
    return FAILED if worse else OK => return OK
    if least > alpha * (1 + 1e-12): => if least > 1:
"""


class Mutation(NamedTuple):
    """A module, the tests that look after it, and what is replaced by what."""

    module: str
    tests: list[str]
    old: str
    new: str


def mutations(part: str) -> list[Mutation]:
    """Return the mutations of the modules whose path has a text in it."""
    module, found = "", list[Mutation]()
    tests: list[str] = []
    for line in TABLE.strip().splitlines():
        if line.startswith(" "):
            old, new = line.strip().split(" => ")
            found.append(Mutation(module, tests, old, new))
        else:
            module, _, names = line.partition(": ")
            tests = [f"tests/{name}" for name in names.split()]
    return [one for one in found if part in one.module]


def faults(one: Mutation) -> Iterator[str]:
    """Say which files are not there, and whether the old text is not there once."""
    for test in one.tests:
        if not (ROOT / test).exists():
            yield f"no {test}"
    file = ROOT / "prframe" / one.module
    if not file.exists():
        yield "no such module"
    elif file.read_text().count(one.old) != 1:
        yield f"not there once: {one.old}"


def copy_to(folder: Path) -> None:
    """Copy what the tests need."""
    ignored = shutil.ignore_patterns("__pycache__", "_build")
    for name in ("prframe", "tests", "docs", "examples", "scripts"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)


def is_caught(one: Mutation, folder: Path) -> bool:
    """Say whether a test fails on the mutated module."""
    file = folder / "prframe" / one.module
    text = file.read_text()
    file.write_text(text.replace(one.old, one.new))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:randomly", *one.tests]
    alone = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    alone["HYPOTHESIS_PROFILE"] = "mutations"
    done = subprocess.run(  # noqa: S603 - the tests of this project
        command, cwd=folder, env=alone, capture_output=True, check=False
    )
    file.write_text(text)
    # Tests that are not found, or none, catch nothing.
    if done.returncode in (4, 5):
        raise SystemExit(done.stdout.decode()[-2000:] + done.stderr.decode()[-2000:])
    return done.returncode != 0


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", metavar="PART", help="modules with this in the path")
    parser.add_argument("--check", action="store_true", help="look whether the texts are there")
    given = parser.parse_args()
    chosen = mutations(given.only)
    stale = [f"{one.module}: {told}" for one in chosen for told in faults(one)]
    print(*dict.fromkeys(stale), f"{len(chosen)} mutations", sep="\n")
    if given.check or stale:
        return 1 if stale else 0
    n_caught = 0
    with tempfile.TemporaryDirectory() as name:
        copy_to(Path(name))
        for one in chosen:
            begun = time.monotonic()
            caught = is_caught(one, Path(name))
            n_caught += caught
            verdict = f"{'caught' if caught else 'SURVIVED'} {time.monotonic() - begun:4.0f} s"
            print(f"{verdict}  {one.module}: {one.old} => {one.new}", flush=True)
    print(f"{n_caught} of {len(chosen)} mutations were caught")
    return 0 if n_caught >= ENOUGH * len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
