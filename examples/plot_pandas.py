"""
A pandas frame, one curve per segment
=====================================

Everything works on pandas frames: pandas in, pandas out, and the pictures are the same.
"""

# %%
# Scores of customers
# -------------------
# Customers of three segments have a score, and have bought or not.

import numpy as np
import pandas as pd

import prframe

rng = np.random.default_rng(1)
segment = rng.choice(["new", "regular", "lost"], 3000, p=[0.3, 0.5, 0.2])
bought = rng.random(3000) < pd.Series(segment).map({"new": 0.15, "regular": 0.3, "lost": 0.05})
skill = pd.Series(segment).map({"new": 0.6, "regular": 1.5, "lost": 1.0})
score = rng.normal(size=3000) + skill * bought
customers = pd.DataFrame({"segment": segment, "score": score, "label": bought.to_numpy()})
customers.pr.evaluate(["AP", "AUC", "P@50"], by="segment")

# %%
# The dotted lines are the shares of buyers, which random rankings have as precision.

chance = customers.groupby("segment")["label"].mean().to_dict()
customers.pr.plot.curve(by="segment", chance=chance)

# %%
# How sure the areas are
# ----------------------

customers.pr.plot.interval(["AP", "AUC"], by="segment")

# %%
# An interactive chart
# --------------------
# ``.pr.chart`` has the same pictures for Altair, in which the point at the pointer tells its threshold. In a
# notebook the last line shows it; the text here is the one for those who do not see it.

chart = customers.pr.chart.curve(by="segment")
print(prframe.chart.alt_text(chart))
