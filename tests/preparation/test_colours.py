"""The palettes differ from the ground and from each other, also for people who see fewer colours."""

from itertools import combinations

import numpy as np
import pytest

from prframe._preparation.colours import PALETTE, PALETTE_DARK

# G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, A Physiologically-based Model for Simulation
# of Color Vision Deficiency, 2009, at full severity, on linear RGB.
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
# From linear sRGB to CIE XYZ, and the white of daylight D65.
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = TO_XYZ @ np.ones(3)
LIGHT_GROUND, DARK_GROUND = "#FFFFFF", "#121212"


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[start : start + 2], 16) for start in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(colour: str, ground: str) -> float:
    """The contrast ratio of the Web Content Accessibility Guidelines."""
    lights = sorted(float(TO_XYZ[1] @ linear(c)) for c in (colour, ground))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def lab(rgb: np.ndarray) -> np.ndarray:
    ratio = TO_XYZ @ rgb.clip(0, 1) / WHITE
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(a: str, b: str) -> float:
    """The least distance in CIE Lab that people with one of the deficiencies see."""
    return min(
        float(np.linalg.norm(lab(seen @ linear(a)) - lab(seen @ linear(b))))
        for seen in DEFICIENCIES.values()
    )


@pytest.mark.parametrize(
    ("palette", "ground", "least_contrast", "least_distance"),
    [(PALETTE, LIGHT_GROUND, 3.0, 16), (PALETTE_DARK, DARK_GROUND, 5.0, 16)],
)
def test_palettes(
    palette: tuple[str, ...], ground: str, least_contrast: float, least_distance: float
) -> None:
    assert min(contrast(colour, ground) for colour in palette) > least_contrast
    assert min(distance(a, b) for a, b in combinations(palette, 2)) > least_distance
