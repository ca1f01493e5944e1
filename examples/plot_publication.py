"""
A figure for a paper from one call
==================================

A figure for print has the width of a column, letters that can be read and distinct colours, a
caption with the test, and an alternative text.
"""

# %%
# The style of the package knows the widths of a column and of a page.

import prframe

runs = prframe.datasets.load_digits()
options = {"over": "query_id", "n_pos": "n_relevant"}
pairs = runs.pr.compare(["AP", "P@10"], model="system", rng=1, **options)
with prframe.plot.style(width="page"):
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
