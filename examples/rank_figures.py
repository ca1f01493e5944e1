"""Figures of `rank_experiments`: one colour for one criterion, the optimum dotted."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from rank_experiments import FPR, Method, Result, Study

# Colours that the colour-blind can tell apart (Okabe & Ito).
COLOURS = {
    "MWW": "#0072B2",
    "Pol": "#E69F00",
    "RTB": "#009E73",
    "LDA": "#D55E00",
    "QDA": "#D55E00",
    "logistic regression": "#666666",
    "theta = I": "#CC79A7",
    "RTB u0=0.6": "#56B4E9",
    "RTB u0=0.7": "#CC79A7",
    "RTB u0=0.8": "#A6761D",
    "RTB u0=0.95": "#56B4E9",
}
OPTIMUM = {"color": "black", "linestyle": ":", "linewidth": 1.6, "label": "optimum"}
KINDS = {
    "Loc": ("Loc1", "Loc2", "Loc3"),
    "Scale": ("Scale1", "Scale2", "Scale3"),
    "Scale_both_signs": tuple(f"Scale{i}, both signs" for i in (1, 2, 3)),
}
SINGLE = (*KINDS["Loc"], *KINDS["Scale"])
MODEL_LINES = ("-", "--", "-.")
# Methods to draw, and their labels.
THREE = {name: name for name in ("MWW", "Pol", "RTB")}
U0_LOCATION = {"RTB u0=0.7": "RTB, u0 = .7", "RTB": "RTB, u0 = .9", "RTB u0=0.95": "RTB, u0 = .95"}
U0_SCALE = {f"RTB u0=0.{i}": f"RTB, u0 = .{i}" for i in (6, 7, 8)}


def chosen(
    study: Study, names: Iterable[str], solver: str, *, inverse: bool = False
) -> list[tuple[Method, Result]]:
    """Return the results of a solver, and of those that need none, in the order of the names."""
    by_name = {
        method.name: (method, one)
        for method, one in study.results.items()
        if method.solver in {solver, ""} and method.inverse == inverse
    }
    return [by_name[name] for name in names]


def average_and_best(
    studies: Sequence[Study],
    names: Mapping[str, str] = THREE,
    solver: str = "gradient-ascent",
    *,
    inverse: bool = False,
) -> Figure:
    """Draw mean curves (solid) and best ones (dashed), whole and near the origin."""
    # Both panels of a single study are side by side.
    shape = (2, len(studies)) if len(studies) > 1 else (1, 2)
    size = (3.3 * shape[1] + 0.4, 3.5 * shape[0] + 0.3)
    fig, axes = plt.subplots(*shape, figsize=size, layout="constrained")
    axes = axes.reshape(2, len(studies))
    for study, column in zip(studies, axes.T, strict=True):
        for ax in column:
            for method, one in chosen(study, names, solver, inverse=inverse):
                colour = COLOURS[method.name]
                ax.plot(FPR, one.rocs.mean(axis=0), color=colour, label=names[method.name])
                ax.plot(FPR, one.rocs[one.best], color=colour, linestyle="--", linewidth=1)
            ax.plot(FPR, study.optimum.roc, **OPTIMUM)
        high = study.optimum.roc[FPR <= 0.1].max()
        column[0].set(title=study.model.name, xlim=(0, 1), ylim=(0, 1))
        column[0].plot([0, 1], [0, 1], color="0.8", linewidth=0.8, zorder=0)
        column[1].set(xlim=(0, 0.1), ylim=(0, 1.03 * high))
    axes[0, 0].plot([], [], color="0.4", linestyle="--", linewidth=1, label="best")
    axes[0, 0].legend(loc="lower right", fontsize="small")
    fig.supxlabel("false positive rate")
    fig.supylabel("true positive rate")
    return fig


def all_curves(
    study: Study, names: Mapping[str, str] = THREE, solver: str = "gradient-ascent"
) -> Figure:
    """Draw the curve of every replication, mean and standard deviation, best and worst."""
    found = chosen(study, names, solver)
    fig, axes = plt.subplots(
        1, len(found), figsize=(3.3 * len(found) + 0.4, 3.9), sharey=True, layout="constrained"
    )
    for ax, (method, one) in zip(axes, found, strict=True):
        colour, mean, sd = COLOURS[method.name], one.rocs.mean(axis=0), one.rocs.std(axis=0)
        ax.plot(FPR, one.rocs.T, color="0.8", linewidth=0.6)
        ax.plot(FPR, mean, color=colour, label="mean")
        for i, end in enumerate((mean - sd, mean + sd)):
            label = None if i else "mean ± sd"
            ax.plot(FPR, end, color=colour, linewidth=1, linestyle=(0, (4, 2)), label=label)
        ax.plot(FPR, one.rocs[one.best], color="#332288", linewidth=1, label="best")
        ax.plot(FPR, one.rocs[one.worst], color="#AA4499", linewidth=1, label="worst")
        ax.plot(FPR, study.optimum.roc, **OPTIMUM)
        ax.set(title=f"{study.model.name}, {method.name}", xlim=(0, 1), ylim=(0, 1))
    axes[-1].legend(loc="lower right", fontsize="small")
    fig.supxlabel("false positive rate")
    axes[0].set_ylabel("true positive rate")
    return fig


def paths(studies: Sequence[Study], names: Mapping[str, str] = THREE) -> Figure:
    """Draw the mean criterion over the steps of Algorithm 1, a panel per criterion."""
    fig, axes = plt.subplots(
        1, len(names), figsize=(3.3 * len(names) + 0.4, 3.6), layout="constrained"
    )
    for study, dashes in zip(studies, MODEL_LINES, strict=False):
        found = chosen(study, names, "gradient-ascent")
        for ax, (method, one) in zip(axes, found, strict=True):
            mean = one.paths.mean(axis=0)
            ax.plot(mean, color=COLOURS[method.name], linestyle=dashes, label=study.model.name)
            ax.set(title=method.name, xlim=(0, len(mean) - 1), xlabel="step")
    axes[0].set_ylabel("smoothed criterion / n, training")
    axes[0].legend(loc="lower right", fontsize="small")
    return fig


def auc_by(studies: dict[int, Study], label: str) -> Figure:
    """Draw mean test AUC, and standard deviations, against what has been varied."""
    first = next(iter(studies.values()))
    fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    names = list(first.results)
    for i, method in enumerate(names):
        aucs = [list(study.results.values())[i].auc for study in studies.values()]
        # Apart from each other, or error bars would hide others.
        shift = 1.03 ** (i - (len(names) - 1) / 2)
        ax.errorbar(
            [value * shift for value in studies],
            np.mean(aucs, axis=1),
            np.std(aucs, axis=1, ddof=1),
            color=COLOURS[method.name],
            marker="o",
            markersize=4,
            capsize=2,
            label=method.name,
        )
    ax.axhline(first.optimal_test_auc, **OPTIMUM)
    ax.set(xscale="log", xlabel=label, ylabel="test AUC", title=first.model.name)
    ax.set_xticks(list(studies), [str(value) for value in studies])
    ax.minorticks_off()
    fig.legend(loc="outside right upper", fontsize="small")
    return fig


def keep_all(studies: Sequence[Study], directory: Path) -> None:
    """Write the figures of the study as PNG files."""
    by_name = {study.model.name: study for study in studies}
    figures = {f"all_{name}": all_curves(by_name[name]) for name in SINGLE if name in by_name}
    for kind, names in KINDS.items():
        present = [by_name[name] for name in names if name in by_name]
        if present:
            figures[f"average_{kind}"] = average_and_best(present)
            figures[f"average_{kind}_l_bfgs"] = average_and_best(present, solver="l-bfgs")
            figures[f"paths_{kind}"] = paths(present)
    if "Loc2" in by_name:
        figures["u0_Loc"] = average_and_best([by_name["Loc2"], by_name["Loc3"]], U0_LOCATION)
    if "Scale2" in by_name:
        figures["u0_Scale"] = average_and_best([by_name["Scale2"]], U0_SCALE)
        scales = [by_name[name] for name in KINDS["Scale"]]
        figures["average_Scale_inverse"] = average_and_best(scales, inverse=True)
    for name, figure in figures.items():
        figure.savefig(directory / f"{name}.png", dpi=100)
        plt.close(figure)
