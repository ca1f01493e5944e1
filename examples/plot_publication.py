"""
A figure for a paper from one call
==================================

A figure for print has the width of a column, letters that can be read and colours that can be told apart, a
caption with the test, and an alternative text.
"""

# %%
# The style is that of the package; width and size of letters are settings of matplotlib.

import matplotlib.pyplot as plt

import prframe

runs = prframe.datasets.load_digits()
options = {"over": "query_id", "n_pos": "n_relevant"}
pairs = runs.pr.compare(["AP", "P@10"], model="system", rng=1, **options)
with prframe.plot.style():
    plt.rcParams.update({"figure.figsize": (6.8, 3.0), "font.size": 8})
    figure = runs.pr.plot.interval(["AP", "P@10"], by="system", letters=pairs, **options)
figure

# %%
# ``figure.savefig("figure.pdf")`` writes it; the text is in the file as text. Publishers ask for an
# alternative text:

print(prframe.plot.alt_text(figure))

# %%
# The table to it compiles as it is:

means = runs.pr.interval(["AP", "P@10"], by="system", **options)
print(prframe.tables.results(means, pairs).to_latex(label="tab:digits"))
