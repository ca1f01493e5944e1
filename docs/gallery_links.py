"""Links to examples, which lead to the scripts where pages are read as they stand in the repository."""

import re

_PICTURE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+examples/(plot_\w+)\.py#picture-(\d+)\)")
_SCRIPT = re.compile(r"\]\((?:\.\./)+examples/(plot_\w+)\.py\)")


def built(text: str, root: str) -> str:
    """Lead links to the pages of the gallery, which is built below `root`, and show its pictures."""
    text = _PICTURE.sub(
        lambda link: (
            f"![{link[1]}]({root}gallery/images/sphx_glr_{link[2]}_{int(link[3]):03}.png)"
        ),
        text,
    )
    return _SCRIPT.sub(rf"]({root}gallery/\1)", text)
