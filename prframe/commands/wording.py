"""Messages of the verbs, which name arguments of functions, in the words of the shell."""

import re
from collections.abc import Mapping

# What stands in parentheses behind a name is a call, or a metric such as P(threshold=0.5). In
# front of an argument there is a space, so that paths and ids are left as they are.
_CALL = r"[\w.]+\([^()]*\)"
_QUOTED = r"`(?P<quoted>\w+)`"
_GIVEN = r"(?<![^\s(])(?P<name>\w+)=(?P<value>'[^']*'|\.\.\.|\[[^\[\]]*\]|[\w.]*\w)?"
_ARGUMENT = re.compile(f"{_CALL}|{_QUOTED}|{_GIVEN}")


def in_shell_words(message: str, flags: Mapping[str, str]) -> str:
    """Return a message in which arguments that have an option are called by that option.

    Parameters
    ----------
    message : str
        A message that names arguments as in ``by=``, ``test='t'`` or, between backticks, ``by``.
    flags : mapping
        The option of each argument.
    """

    def translated(match: re.Match[str]) -> str:
        flag = flags.get(match["quoted"] or match["name"] or "")
        if flag is None:
            return match[0]
        value = (match["value"] or "").strip("'")
        return f"no {flag}" if value == "None" else f"{flag} {value}".rstrip()

    return _ARGUMENT.sub(translated, message)
