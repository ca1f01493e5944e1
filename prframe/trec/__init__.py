"""TREC files, and the labelled frame that every verb takes.

A *run* lists the documents that a system retrieved for each query, with scores. *Qrels* hold the
judgments: a label for each judged pair of query and document.
"""

from prframe.trec.evaluating import evaluate
from prframe.trec.joining import join
from prframe.trec.reading import read_qrels, read_results, read_run
from prframe.trec.writing import write_run

__all__ = ["evaluate", "join", "read_qrels", "read_results", "read_run", "write_run"]
