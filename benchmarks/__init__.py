"""Benchmarks: how long prframe takes beside the work that cannot be avoided, and beside its peers.

``python -m benchmarks`` measures and prints everything; ``--only NAME`` runs some cases alone, ``--quick``
uses small sizes, ``--write`` renews their sections of ``benchmarks/RESULTS.md``. Run it from the root of the
repository, with the packages of the extra ``bench`` installed; a peer that is missing is left out.

`cases` says what is compared; `tasks`, `files`, `peers`, `ranking_tasks` and `compare_tasks` hold what is
timed, `fresh` runs each of them in a process of its own, `report` writes the tables and `results` keeps
them. No result depends on the time taken.

The studies come last. `null_study` and `rank_study` compare p-values with references; `coverage` measures
how often intervals and bands cover, in the parts that `settings` declares; `paired_study` studies tests of
models over queries.
"""
