"""``python -m benchmarks.command_line``: whole processes, from the start to the last line.

``prframe --help`` beside an interpreter that does nothing, and ``prframe evaluate`` of generated runs
beside ir_measures and pytrec_eval, where these are installed, and beside the C program trec_eval, which
``--trec-eval PATH`` names unless it is on the path.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from tempfile import TemporaryDirectory

from benchmarks.files import make_trec

PYTREC_EVAL = """
import sys
import pytrec_eval
with open(sys.argv[1]) as file:
    qrels = pytrec_eval.parse_qrel(file)
with open(sys.argv[2]) as file:
    run = pytrec_eval.parse_run(file)
values = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut_10", "P_10"}).evaluate(run)
for name in ("map", "ndcg_cut_10", "P_10"):
    print(name, sum(query[name] for query in values.values()) / len(values))
"""


def measured(words: list[str], repetitions: int) -> tuple[float, float, float]:
    """Return the least wall and CPU seconds of several calls, and the most MB (10^6 bytes).

    Systems count at least the memory of the process that starts the command.
    """
    costs = []
    for _ in range(repetitions):
        start = time.perf_counter()
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:  # noqa: S603 - our own
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, words
        memory = used.ru_maxrss * (1 if sys.platform == "darwin" else 1 << 10) / 1e6
        costs.append((time.perf_counter() - start, used.ru_utime + used.ru_stime, memory))
    wall, cpu, memory = zip(*costs, strict=True)
    return min(wall), min(cpu), max(memory)


def commands(qrels: str, run: str, trec_eval: str | None) -> dict[str, list[str]]:
    """Return the commands that evaluate a run, by name."""
    here = [sys.executable, "-m", "prframe", "evaluate", qrels, run]
    wanted = {
        "prframe evaluate -f trec": [*here, "-f", "trec"],
        "prframe evaluate -m AP nDCG@10 P@10": [*here, "-m", "AP", "nDCG@10", "P@10"],
    }
    if importlib.util.find_spec("ir_measures"):
        measures = ["AP", "nDCG@10", "P@10"]
        wanted["ir_measures"] = [sys.executable, "-m", "ir_measures", qrels, run, *measures]
    if importlib.util.find_spec("pytrec_eval"):
        wanted["pytrec_eval"] = [sys.executable, "-c", PYTREC_EVAL, qrels, run]
    if trec_eval is not None:
        wanted["trec_eval"] = [trec_eval, qrels, run]
    return wanted


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.command_line", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small run alone")
    parser.add_argument("--trec-eval", metavar="PATH", default="trec_eval", help="the C program")
    given = parser.parse_args()
    trec_eval = shutil.which(given.trec_eval)
    print("| command | wall, s | CPU, s | memory, MB |\n|---|---|---|---|")
    starts = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import polars'": [sys.executable, "-c", "import polars"],
        "python -c 'import prframe'": [sys.executable, "-c", "import prframe"],
        "prframe --help": [sys.executable, "-m", "prframe", "--help"],
        "prframe compare --help": [sys.executable, "-m", "prframe", "compare", "--help"],
    }
    for name, words in starts.items():
        _print(name, measured(words, 3 if given.quick else 20))
    with TemporaryDirectory() as folder:
        for queries, repetitions in [(10, 1)] if given.quick else [(178, 7), (1000, 7), (7000, 3)]:
            make_trec(folder, queries, 1000, 50).call()
            qrels, run = f"{folder}/whole.qrels.txt", f"{folder}/whole.txt"
            for name, words in commands(qrels, run, trec_eval).items():
                _print(f"{name}, {queries * 1000:,} lines", measured(words, repetitions))


def _print(name: str, cost: tuple[float, float, float]) -> None:
    print("| {} | {:.3f} | {:.3f} | {:.0f} |".format(name, *cost), flush=True)


if __name__ == "__main__":
    main()
