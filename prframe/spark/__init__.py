"""Spark frames: the verbs on rows that many workers hold, each group whole on one of them.

Nothing of pyspark is imported: a frame brings its methods along, of whichever kind it is, classic
or Connect.
"""
