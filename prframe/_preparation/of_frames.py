"""Pictures of a frame: the verb and its drawing in one call, for `.pr.plot` and `.pr.chart`."""

import inspect
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from prframe.errors import ArgumentError
from prframe.typing import FrameT
from prframe.verbs._guards import advising
from prframe.verbs.comparison.compare import compare as compare_verb
from prframe.verbs.comparison.curves import compare_curves as compare_curves_verb
from prframe.verbs.curves.band import band as band_verb
from prframe.verbs.curves.curve import curve as curve_verb, roc as roc_verb
from prframe.verbs.evaluate import evaluate as evaluate_verb
from prframe.verbs.intervals.interval import interval as interval_verb

Picture = Callable[..., Any]

# The arguments of both verbs and pictures: captions tell of them.
_TOLD = ("confidence_level", "simultaneous")
# The arguments of pictures that name columns by which there is a curve each.
_SPLITTING = ("color", "facet", "over")


def of_frame(
    verb: Picture, picture: Picture, without: Sequence[str] = (), *, gain: bool | None = None
) -> Picture:
    """Return the function that draws the result of a verb, with the arguments of both.

    Of arguments with one name the picture takes its own, but for those of which captions tell. If
    `gain` is given, the picture decides whether the verb adds gains.
    """
    of_verb = inspect.signature(verb).parameters
    of_picture = {
        name: parameter
        for name, parameter in inspect.signature(picture).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in without
    }
    told = [name for name in _TOLD if name in of_picture]

    def drawn(frame: object, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - verbs have many options
        drawing = {name: options.get(name, of_verb[name].default) for name in told}
        own = (of_picture.keys() - told) & options.keys()
        drawing |= {name: options.pop(name) for name in own}
        if gain is not None:
            if "gain" in options:
                raise ArgumentError(
                    f"`gain` is not taken by the picture {picture.__name__!r}: 'gain' draws "
                    "precision-recall-gain curves, and 'curve' precision by recall."
                )
            options["gain"] = gain
        if "color" in of_picture:
            split = [drawing.get(name) for name in _SPLITTING]
            options["by"] = _columns([options.get("by"), *split])
        many = "" if drawing.get("over") else ", for thin lines around their mean over={column}"
        advice = f"For one curve each use color={{column}} or facet={{column}}{many}"
        with advising(advice if "over" in of_picture else None):
            result = verb(frame, *args, **options)
        return picture(result, **drawing)

    decided = of_picture.keys() | ({"gain"} if gain is not None else set())
    kept = [p for name, p in of_verb.items() if name not in decided]
    drawn.__signature__ = inspect.Signature([*kept, *of_picture.values()])  # type: ignore[attr-defined]
    drawn.__name__ = picture.__name__
    door = picture.__module__.rsplit(".", 1)[0]
    drawn.__doc__ = (
        f"Draw the result of `prframe.{verb.__name__}` with `{door}.{picture.__name__}`.\n\n"
        "The arguments are those of both functions; columns in color=, facet= and over= need not\n"
        "be named in by= again."
    )
    return drawn


def _columns(named: Sequence[Any]) -> list[str] | None:
    """Return the columns that are named, each once."""
    lists = [[part] if isinstance(part, str) else part for part in named if part is not None]
    columns = [column for part in lists for column in part]
    return list(dict.fromkeys(columns)) or None


def _one_metric(metric: str | None, use: str) -> str:
    """Return the metric of a picture that shows a single one, which has to be named."""
    if metric is None:
        raise ArgumentError(f"`metric` must name the metric {use}, for example 'AP'.")
    return metric


def _of_one_metric(picture: Picture) -> Picture:
    """Return a picture of one metric of a comparison, with the metric as an option of the call."""
    drawn = of_frame(compare_verb, picture)
    signature = inspect.signature(drawn)

    def drawn_of_metric(frame: FrameT, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - verbs have many options
        metric = _one_metric(options.get("metric"), "to compare")
        return drawn(frame, metric, *args, **options)

    kept = [p for name, p in signature.parameters.items() if name != "metrics"]
    drawn_of_metric.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    drawn_of_metric.__name__, drawn_of_metric.__doc__ = picture.__name__, drawn.__doc__
    return drawn_of_metric


def _queries(picture: Picture) -> Picture:
    """Return the function that draws differences of two systems query by query."""

    def queries(  # noqa: PLR0913 - a picture has as many options as its users need, by keyword
        frame: FrameT,
        a: object,
        b: object,
        score: str = "score",
        label: str = "label",
        *,
        metric: str | None = None,
        model: str = "system",
        query: str = "query_id",
        text: str | None = None,
        **options: Any,  # noqa: ANN401 - verbs have many options
    ) -> Any:  # noqa: ANN401 - libraries that draw have types of their own
        """Draw the differences of two systems query by query.

        The further options are those of `prframe.evaluate` and of the picture.
        """
        metric = _one_metric(metric, "whose differences are drawn")
        drawing = {name: options.pop(name) for name in ("name", "ax") if name in options}
        by = _columns([model, query, text])
        values = evaluate_verb(frame, [metric], score, label, by=by, **options)
        return picture(values, a, b, metric=metric, model=model, query=query, text=text, **drawing)

    # Messages of Python about arguments that are missing begin with this.
    queries.__qualname__ = picture.__name__
    return queries


def pictures_of(door: ModuleType) -> dict[str, Picture]:
    """Return the pictures of frames that a way to draw, `prframe.plot` for example, offers."""
    shared = {
        "curve": of_frame(curve_verb, door.curve, gain=False),
        "roc": of_frame(roc_verb, door.roc),
        "band": of_frame(band_verb, door.curve, without=("over", "band")),
        "interval": of_frame(interval_verb, door.interval),
    }
    if not hasattr(door, "matrix"):
        return shared
    return shared | {
        "gain": of_frame(curve_verb, door.gain, gain=True),
        "curve_difference": of_frame(compare_curves_verb, door.curve_difference),
        "queries": _queries(door.queries),
        "matrix": _of_one_metric(door.matrix),
        "groups": _of_one_metric(door.groups),
        "ap_null": door.ap_null,
        "scores": door.scores,
    }
