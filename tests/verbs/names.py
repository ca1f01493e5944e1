"""What is said of names of columns that are numbers."""

NUMBERED = (
    " Names are strings; those of a pandas frame become so, for example, by "
    "frame.columns = frame.columns.astype(str)."
)
