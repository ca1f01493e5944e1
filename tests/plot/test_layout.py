"""No text of any picture overlaps another or runs off, at paper and slide size, light and dark."""

from itertools import combinations

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from prframe import plot
from tests.plot.cases import PICTURES, data

SIZES = {"paper": ((3.4, 3.2), 9.0), "slide": ((9.0, 5.2), 14.0)}
# Texts may touch: the boxes have room for letters with parts above and below.
TOUCH = 1.5


def texts_of(figure: Figure) -> list[Text]:
    """Return the texts that are drawn, with the labels of those ticks that are."""
    texts = list(figure.texts)
    for legend in figure.legends:
        texts += legend.get_texts()
    # The note below all panels, as figures have it.
    texts += [text for text in [figure._supxlabel] if text is not None]
    for axes in figure.axes:
        texts += [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        for axis in (axes.xaxis, axes.yaxis):
            majors = set(axis.get_major_ticks())
            ticks = [tick for tick in axis._update_ticks() if tick in majors]
            texts += [label for tick in ticks for label in (tick.label1, tick.label2)]
    return [text for text in dict.fromkeys(texts) if text.get_visible() and text.get_text()]


def boxes(figure: Figure) -> list[tuple[str, Bbox]]:
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    return [
        # The box of an annotation would take in its line, and that of rotated text is too large.
        (text.get_text(), Text.get_window_extent(text, renderer))
        for text in texts_of(figure)
        if text.get_rotation() in {0, 90}
    ]


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", PICTURES)
def test_texts_neither_overlap_nor_run_off(kind: str, dark: bool, size: str) -> None:
    with plot.style(dark=dark):
        plt.rcParams["figure.figsize"], plt.rcParams["font.size"] = SIZES[size]
        drawn = PICTURES[kind](data())
        figure = drawn if isinstance(drawn, Figure) else drawn.figure
        texts = boxes(figure)
    assert texts
    width, height = figure.bbox.width, figure.bbox.height
    for text, box in texts:
        assert box.x0 >= -TOUCH, text
        assert box.y0 >= -TOUCH, text
        assert box.x1 <= width + TOUCH, text
        assert box.y1 <= height + TOUCH, text
    for (a, first), (b, second) in combinations(texts, 2):
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        up = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert across <= TOUCH or up <= TOUCH, (a, b)
