"""``python -m benchmarks.copairs``: p-values of mean average precision, of copairs and of prframe.

The profiles are simulated: compounds of six replicates, of which two in five have no effect. copairs
draws its null distribution; it is that of one ranking, so that p-values above its floor should be
those of `dependence="comonotone"` but for sampling.
"""

import importlib.metadata
import time
import warnings

import numpy as np
import pandas as pd
from copairs.map import average_precision, mean_average_precision

import prframe

COMPOUNDS, REPLICATES, CONTROLS, FEATURES, DRAWS = 300, 6, 96, 30, 10_000
COLUMNS = {"ap": "average_precision", "n_pos": "n_pos_pairs", "n": "n_total_pairs"}


def profiles() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    strength = np.repeat(rng.choice([0, 0, 0.6, 1.0, 1.6], COMPOUNDS), REPLICATES)
    direction = np.repeat(rng.normal(size=(COMPOUNDS, FEATURES)), REPLICATES, axis=0)
    treated = rng.normal(size=direction.shape) + strength[:, None] * direction
    controls = rng.normal(size=(CONTROLS, FEATURES))
    names = [f"c{number:03d}" for number in range(COMPOUNDS)]
    meta = pd.DataFrame(
        {
            "compound": [*np.repeat(names, REPLICATES), *["control"] * CONTROLS],
            "control": [0] * treated.shape[0] + [1] * CONTROLS,
            "well": range(treated.shape[0] + CONTROLS),
        }
    )
    return meta, np.vstack([treated, controls])


def main() -> None:
    meta, features = profiles()
    rankings = average_precision(
        meta,
        features,
        pos_sameby=["compound"],
        pos_diffby=[],
        neg_sameby=[],
        neg_diffby=["control"],
    )
    rankings = rankings[rankings["control"] == 0]
    begin = time.perf_counter()
    sampled = mean_average_precision(
        rankings, ["compound"], null_size=DRAWS, threshold=0.05, seed=0
    )
    theirs = time.perf_counter() - begin
    options = {"by": "compound", "over": "well", "correction": "bh"} | COLUMNS
    prframe.ap_test(rankings.head(1), **COLUMNS)
    begin = time.perf_counter()
    computed = prframe.ap_test(rankings, dependence="comonotone", **options)
    ours = time.perf_counter() - begin
    begin = time.perf_counter()
    prframe.ap_test(rankings, **options)
    independent = time.perf_counter() - begin
    both = sampled.merge(computed, on="compound", suffixes=("_sampled", ""))
    frequent = both[both["p_value"] > 100 / DRAWS]
    apart = np.log(frequent["p_value_sampled"] / frequent["p_value"])
    error = np.sqrt((1 - frequent["p_value"]) / frequent["p_value"] / DRAWS)
    print(
        f"copairs {importlib.metadata.version('copairs')}, {COMPOUNDS} compounds of {REPLICATES} "
        f"replicates, {CONTROLS} controls, {DRAWS} draws\n"
        f"p-values above {100 / DRAWS}: {len(frequent)}, root of the mean square of the "
        f"differences of logarithms {np.sqrt(np.mean(apart**2)):.4f}, that of sampling "
        f"{np.sqrt(np.mean(error**2)):.4f}\n"
        f"at the floor of the draws: {(both['p_value_sampled'] < 1.5 / DRAWS).sum()}; smallest "
        f"p-value here {both['p_value'].min():.1e}\n"
        f"corrected p below 1e-4: copairs {(both['corrected_p_value'] < 1e-4).sum()}, here "
        f"{(both['p_adjusted'] < 1e-4).sum()}\n"
        f"seconds: copairs {theirs:.2f}, comonotone {ours:.2f}, independent {independent:.2f}"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
