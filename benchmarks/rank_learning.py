"""``python -m benchmarks.rank_learning``: what `prframe.learn` learns, beside discriminants.

The experiments of ``examples/rank_experiments.py`` at full size; ``--quick`` takes fewer of
everything. ``python -m benchmarks`` runs it too.
"""

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))

import rank_experiments

TEXT = """## rank-learning

Scoring rules that maximise a rank statistic, on the models of Clemencon, Limnios & Vayatis 2021: \
15 dimensions, 150 training items of each class unless told. Mean ± standard deviation over the \
replications; *less LDA or QDA* is the mean of paired differences in AUC, with its standard error; \
*best* is the replication with the largest criterion on the test items. *W_phi* is the criterion \
over the number of positives, of what was learned on the training items and on the test items, and \
of the best rule on the latter. RTB has u0 = .9 unless told. With the derivative of phi as weights, \
150 positives count like 150 with MWW, like 106 with Pol and like 57 with RTB (Loc2, best rule): RTB \
and, less so, Pol exceed the best rule's criterion on the training items and fall short on others.
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rank_learning", description=TEXT)
    parser.add_argument("--quick", action="store_true", help="fewer of everything")
    quick = parser.parse_args().quick
    print(TEXT, flush=True)
    rank_experiments.main([] if quick else ["--full"])


if __name__ == "__main__":
    main()
