"""What prframe raises and warns.

::

    ValueError
    └── PrframeError              everything that is wrong with the input
        └── MissingColumnError    also a KeyError
    UserWarning
    └── UndefinedMetricWarning    results that do not exist, returned as null
"""


class PrframeError(ValueError):
    """The input cannot be evaluated as asked."""


class MissingColumnError(PrframeError, KeyError):
    """A column that was named does not exist in the frame."""

    def __str__(self) -> str:
        """Show the plain message; KeyError would show its repr."""
        return str(self.args[0])


class UndefinedMetricWarning(UserWarning):
    """Some groups have no value for what was asked; theirs is null."""
