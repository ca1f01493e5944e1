"""
Runs and judgments from TREC files
==================================

Three systems rank documents for the same queries. Their runs and the judgments are files, as retrieval
systems and evaluation campaigns write them.
"""

# %%
# The files
# ---------
# The runs are those of the digits: an image is a query, and images of the same digit are relevant. Only
# listed images are judged here.

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

import prframe
from prframe import trec

digits = prframe.datasets.load_digits()
folder = TemporaryDirectory()
systems = ["pixels", "thumbnail", "binary"]
for system in systems:
    rows = digits.filter(system=system).rename({"item_id": "doc_id"})
    trec.write_run(rows, Path(folder.name, f"{system}.run"))
judged = digits.filter(pl.col("label")).unique(["query_id", "item_id"])
judgments = judged.select(pl.format("{} 0 {} 1", "query_id", "item_id")).to_series()
qrels = Path(folder.name, "qrels.txt")
_ = qrels.write_text("\n".join(judgments) + "\n", encoding="utf-8")

# %%
# From files to curves
# --------------------
# ``join`` reads the files. The mean curves over the queries, each with a band for all levels at once:

runs = {system: Path(folder.name, f"{system}.run") for system in systems}
ranked = trec.join(runs, qrels)
ranked.pr.plot.band(by="system", over="query_id", recall=21, rng=1, facet="system")

# %%
# Which system is better
# ----------------------
# The systems on the scale of mean AP; joined dots would be systems that do not differ
# significantly.

ranked.pr.plot.groups(metric="AP", model="system", rng=1)

# %%
# Query by query
# --------------

ranked.pr.plot.queries("pixels", "thumbnail", metric="AP")
