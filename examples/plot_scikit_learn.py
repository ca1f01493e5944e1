"""
Two classifiers of scikit-learn
===============================

Probabilities of classifiers on a test set become a frame; curves, intervals and a comparison on the same
items are a call each.
"""

# %%
# Probabilities as a frame
# ------------------------

import polars as pl
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import prframe  # noqa: F401 - the import offers .pr

x, y = load_breast_cancer(return_X_y=True)
x_train, x_test, y_train, y_test = train_test_split(x, y == 0, test_size=0.5, random_state=0)
classifiers = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
}
scores = pl.concat(
    pl.DataFrame(
        {
            "model": name,
            "item": range(len(y_test)),
            "score": classifier.fit(x_train, y_train).predict_proba(x_test)[:, 1],
            "label": y_test,
        }
    )
    for name, classifier in classifiers.items()
)

# %%
# Curves with what is sure of them
# --------------------------------
# The tree has a handful of different scores, each one threshold.

scores.pr.plot.band(by="model", recall=41, rng=1, chance=float(y_test.mean()))

# %%
# The same items
# --------------
# Both have classified the same patients. The difference of the curves has a band of its own.

scores.pr.plot.curve_difference(model="model", item="item", recall=21, rng=1)

# %%
# Scores and a threshold
# ----------------------

scores.filter(model="logistic").pr.plot.scores(threshold=0.5, bins=25)
