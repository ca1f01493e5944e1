"""``python -m benchmarks.rank_learning``: what `prframe.learn` learns, beside discriminants.

The experiments of ``examples/rank_experiments.py`` at full size, which take half an hour;
``--quick`` takes fewer of everything, and ``--only`` one part. ``python -m benchmarks`` runs it too.
"""

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))

import rank_experiments

TEXT = """## rank-learning

Scoring rules that maximise a rank statistic, on the models of Clemencon, Limnios & Vayatis 2021: \
15 dimensions, 150 training items of each class unless told. Mean ± standard deviation over the \
replications; *less LDA or QDA* is the mean of paired differences in AUC, with its standard error, \
and *less MWW* that to MWW by the same solver, in AUC and in the true positive rate at .05; *best* is the replication with the largest criterion on the test items. *W_phi* is the criterion \
over the number of positives, of what was learned on the training items and on the test items, and \
of the best rule on the latter. RTB has u0 = .9 unless told. With the derivative of phi as weights, \
150 positives count like 150 with MWW, like 106 with Pol and like 57 with RTB (Loc2, best rule): RTB \
and, less so, Pol exceed the best rule's criterion on the training items and fall short on others.

In Scale1 to Scale3 positives are spread more in all directions and theta is positive definite, as in \
the source: RTB is ahead of MWW by Algorithm 1, not by L-BFGS, and theta = I, which is not learned, is \
ahead of both. *Inverse* is the rule z' theta^-1 z. Of the variants, *to 24* has a larger difference \
of the classes, and in *both signs* positives are spread more or less, by direction, and theta is any \
symmetric matrix. Then come two remarks on the location models: how often steps of 1 / sqrt(T) end \
below the diagonal, and how often the best of as many curves is that of RTB, by its slopes, in six \
groups of samples per model, with the mean difference of d_theta to MWW.
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rank_learning", description=TEXT)
    parser.add_argument("--quick", action="store_true", help="fewer of everything")
    parser.add_argument("--only", choices=rank_experiments.PARTS, help="run one part")
    options = parser.parse_args()
    print(TEXT, flush=True)
    chosen = ["--only", options.only] if options.only else []
    rank_experiments.main(chosen if options.quick else ["--full", *chosen])


if __name__ == "__main__":
    main()
