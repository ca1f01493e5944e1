"""``python -m benchmarks.quantile_times [NAME ...]``: CPU seconds of critical values of AP.

Each row is one `APNull.isf` in a process of its own, the first call without the import, and is
ended after a minute of CPU. Beside the time stand the method, and how far the logarithm of
P(AP >= isf(q)) is from that of q: it is at most 0, but where single rankings carry weight the next
value may be far rarer. Names are those of `KINDS`. To compare with another commit, run the same
file with its package first on PYTHONPATH.
"""

import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.report import table
from prframe.stats import APNull

LIMIT = 60
_LEVELS = 1e-4, 1e-20, 1e-100


class Quantile(NamedTuple):
    """A group, how its items are tied or retrieved, and the level."""

    n: int
    n_pos: int
    q: float
    blocks: int | None = None
    depth: int | None = None

    @property
    def null(self) -> APNull:
        """The distribution; tie blocks are uneven, and the same in every run."""
        total = self.n if self.depth is None else self.depth
        if self.blocks is None:
            return APNull(self.n, self.n_pos, depth=self.depth)
        ends = np.random.default_rng(1).choice(np.arange(1, total), self.blocks - 1, replace=False)
        ties = np.diff(np.sort(ends), prepend=0, append=total).tolist()
        return APNull(self.n, self.n_pos, ties, depth=self.depth)


def _plane() -> Iterator[Quantile]:
    """Return groups from 100 to 10 million items, from rare positives to nearly all."""
    for n in (100, 10_000, 1_000_000, 10_000_000):
        for share in (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9):
            if n * share >= 1:
                yield from (Quantile(n, round(n * share), q) for q in _LEVELS)


def _random(count: int, seed: int, levels: tuple[float, ...]) -> Iterator[Quantile]:
    """Return groups of all sizes and shares, some with tie blocks and some with a depth."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(10 ** rng.uniform(1, 7.3))
        share = float(10 ** rng.uniform(-6, 0))
        n_pos = int(np.clip(round(n * (share if rng.random() < 0.7 else 1 - share)), 1, n - 1))
        q, kind = float(rng.choice(levels)), rng.random()
        blocks = int(10 ** rng.uniform(0.3, min(3.5, np.log10(n / 2)))) if kind < 0.3 else None
        depth = int(10 ** rng.uniform(0, np.log10(n))) if kind > 0.8 else None
        yield Quantile(n, n_pos, q, blocks, depth)


KINDS = {
    "plane": list(_plane()),
    "few": [Quantile(n, k, q) for n in (10**5, 10**6) for k in (10, 30, 50) for q in _LEVELS],
    "random": list(_random(100, 11, (0.05, 0.01, 1e-4))),
    "elsewhere": [
        *_random(250, 21, (0.1, 0.05, 0.01, 1e-3, 1e-4)),
        *_random(200, 31, (0.1, 0.05, 0.01, 1e-3, 1e-4)),
    ],
    "few-negatives": [
        Quantile(n, n - few, q)
        for n in (10**5, 10**6, 2 * 10**7)
        for few in (1, 2, 3, 4)
        for q in (0.05, 1e-4)
    ],
    "few-positives": [
        Quantile(n, few, q)
        for n in (10**5, 8 * 10**6, 2 * 10**7)
        for few in (1, 2, 3, 4)
        for q in (0.05, 1e-4)
    ],
    "first-hits": [
        Quantile(n, n_pos, q)
        for n in (10**6, 10**7, 2 * 10**7)
        for n_pos in (100, 300, 1000, 3000, 10**4)
        for q in (1e-3, 1e-6, 1e-10, 1e-20, 1e-30)
    ],
    "crowded-negatives": [
        Quantile(n, n - few, q)
        for n in (10**5, 10**7)
        for few in (10, 20, 50)
        for q in (1e-6, 1e-20, 1e-30)
    ],
    "ties": [
        Quantile(10**6, n_pos, 1e-20, blocks)
        for n_pos, blocks in ((500_000, 1000), (100, 5000), (10_000, 100), (10_000, 5000))
    ],
    "depth": [
        *(Quantile(10**5, n_pos, q, depth=1000) for n_pos in (50, 1000, 50_000) for q in _LEVELS),
        *(Quantile(7 * 10**6, 20_000, q, depth=250_000) for q in (1e-3, 1e-10, 1e-27)),
    ],
}


def main() -> None:
    """Measure the kinds that are named, or all; measure one group here if it is given."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(_measured(Quantile(*json.loads(sys.argv[2])))))
        return
    heads = ["kind", "n", "n_pos", "blocks", "depth", "q", "CPU s", "off by", "method"]
    # It takes minutes: each row is shown when it is there.
    print(table(heads, []), end="", flush=True)
    for name in sys.argv[1:] or KINDS:
        for each in KINDS[name]:
            shape = [name, each.n, each.n_pos, each.blocks or "", each.depth or "", each.q]
            print("|", " | ".join([*map(str, shape), *_apart(each)]), "|", flush=True)


def _apart(each: Quantile) -> list[str]:
    """Return what a process finds that has nothing else to do."""
    command = sys.executable, "-m", __spec__.name, "--one", json.dumps(each)
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    found: list[str] = json.loads(done.stdout) if done.stdout else [f"> {LIMIT}", "", ""]
    return found


def _measured(each: Quantile) -> list[str]:
    """Return CPU seconds, how far the tail is from the level, and the method of the tail."""
    warnings.simplefilter("ignore")
    null = each.null
    spent, (soft, hard) = time.process_time(), resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(spent) + LIMIT + 1, hard))
    critical = null.isf(each.q)
    seconds = f"{time.process_time() - spent:.2f}"
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
    if np.isnan(critical):
        return [seconds, "", "no value"]
    tails = null.tails(critical)
    return [seconds, f"{tails.log_sf - np.log(each.q):.1e}", str(tails.method)]


if __name__ == "__main__":
    main()
