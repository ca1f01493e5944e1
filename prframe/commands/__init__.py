"""The command ``prframe``: the verbs on files, from a shell.

No module here imports polars, numpy or a verb before the arguments are parsed, so that ``--help``,
and errors of usage are immediate.
"""
