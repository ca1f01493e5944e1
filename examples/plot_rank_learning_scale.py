"""
Learning to rank: classes that differ in scale
==============================================

The scale models of Clemencon, Limnios & Vayatis 2021, section 5, with quadratic rules; the location
models are :doc:`here </gallery/plot_rank_learning>`. Numbers in the text are from the full study
(:doc:`/benchmarks`, rank-learning).
"""

# %%
# Three models
# ------------
# Both classes are normal with mean 0 in 15 dimensions, the negatives with covariance matrix I, the
# positives with I + (eps / 15) H, eps being .7, .8 and .9. H is not given in the source. Here it is
# nearly diagonal with eigenvalues from -12 to 12, so that positives are spread more in some directions
# and less in others, and the best AUC is .763, .802 and .841. With smaller eigenvalues hardly anything
# can be learned from 150 items of each class, as a rule z' theta z has 120 coefficients.
#
# The best theta is S_Y^-1 - S_X^-1; the source prints its negative, and asks for a positive
# definite one, which this is not.

import matplotlib.pyplot as plt
import polars as pl
import rank_experiments as study
import rank_figures as figures

REPLICATIONS, TEST = 6, 20_000

studies = []
for number in (1, 2, 3):
    methods = [*study.criteria(), *study.peers("quadratic")]
    if number == 2:
        methods += study.three_u0("quadratic", ["gradient-ascent"])
    studies.append(study.run(study.scale(number), methods, REPLICATIONS, TEST))

cells = [row for one in studies for row in study.rows(one)]
table = pl.DataFrame(cells, schema=study.HEADER, orient="row")
shown = table.drop("best: AUC, TPR").filter(~pl.col("method").str.contains("u0"))
with pl.Config(
    tbl_rows=-1,
    tbl_width_chars=120,
    tbl_formatting="NOTHING",
    tbl_hide_column_data_types=True,
    tbl_hide_dataframe_shape=True,
):
    print(shown)

# %%
# Logistic regression is that on all products of two features, with the usual penalty (C = 1).
#
# Average and best curves
# -----------------------
# As in figure 8 of the source; below is the beginning of the curves.

figures.average_and_best(studies)
plt.show()

# %%
# All methods stay far from the optimum: 300 items are few for 120 coefficients. In the full study, AUC
# by Algorithm 1 is
#
# ======  =======  ====  =====  ====  ====  ===================
# .       optimum  QDA   MWW    Pol   RTB   logistic regression
# ======  =======  ====  =====  ====  ====  ===================
# Scale1  .763     .664  .627   .618  .583  .633
# Scale2  .802     .711  .662   .653  .608  .671
# Scale3  .841     .763  .701   .691  .633  .714
# ======  =======  ====  =====  ====  ====  ===================
#
# The source finds RTB slightly ahead; here it is behind, for the same reason as in the location
# models: in Scale2 its criterion is .204 on the training items and .136 on others, where the best rule
# has .180.
#
# Every curve
# -----------
# As in figure 7.

figures.all_curves(studies[0])
plt.show()

# %%
# Criterion and steps
# -------------------
# As in figure 9. On the training items RTB all but reaches its maximum, .207, which it would
# have if all positives were above all negatives.

figures.paths(studies)
plt.show()

# %%
# More steps, more items
# ----------------------
# MWW is best after 15 to 50 steps and loses .01 with ten times as many: stopping early is a mild
# penalty. It is why Algorithm 1 is ahead of L-BFGS here, by .006 to .008. RTB gains .015 from 500 steps.

by_steps = study.by_steps(study.scale(2), REPLICATIONS, TEST)
figures.auc_by(by_steps, "steps of Algorithm 1")
plt.show()

# %%
# Quadratic discriminants use that the classes are normal, which rank statistics do not. That is
# worth .054 of AUC over MWW with 150 items of each class, .018 with 600 and .005 with 2400; MWW and
# logistic regression, which does not use it either, are within .015, .005 and .002.

by_size = study.by_size(study.scale(2), REPLICATIONS, TEST)
figures.auc_by(by_size, "training items of each class")
plt.show()

# %%
# Three ways to look at the top
# -----------------------------
# As in figure 16, with 70 steps. Again, the larger the part that RTB looks at, the better: AUC is .640,
# .629 and .617, and the true positive rate at a false positive rate of .05 is .116, .112 and .108.

figures.average_and_best(studies[1:2], figures.U0_SCALE)
plt.show()
