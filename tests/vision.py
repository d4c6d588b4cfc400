"""How far apart colours are, as they are seen with and without each kind of cones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Colours = npt.NDArray[np.float64]

# Machado, Oliveira and Fernandes 2009, severity 1, over linear RGB.
_MACHADO = {
    "protanopia": """
        0.152286  1.052583 -0.204868
        0.114503  0.786281  0.099216
       -0.003882 -0.048116  1.051998""",
    "deuteranopia": """
        0.367322  0.860646 -0.227968
        0.280085  0.672501  0.047413
       -0.011820  0.042940  0.968881""",
    "tritanopia": """
        1.255528 -0.076749 -0.178779
       -0.078411  0.930809  0.147602
        0.004733  0.691367  0.303900""",
}


def _matrix(text: str) -> Colours:
    return np.array(text.split(), np.float64).reshape(3, 3)


VISIONS = {"normal": np.eye(3)} | {name: _matrix(text) for name, text in _MACHADO.items()}

# Ottosson 2020.
_CONES = _matrix("""
    0.4122214708 0.5363325363 0.0514459929
    0.2119034982 0.6806995451 0.1073969566
    0.0883024619 0.2817188376 0.6299787005""")
_OPPONENTS = _matrix("""
    0.2104542553 0.7936177850 -0.0040720468
    1.9779984951 -2.4285922050 0.4505937099
    0.0259040371 0.7827717662 -0.8086757660""")


def linear(colours: list[tuple[int, int, int]]) -> Colours:
    """Return the linear components of colours, from 0 to 1."""
    values: Colours = np.array(colours) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def oklab(colours: Colours) -> Colours:
    """Return the places of linear colours in OKLab."""
    places: Colours = np.cbrt(np.clip(colours, 0, 1) @ _CONES.T) @ _OPPONENTS.T
    return places


def least_distances(colours: list[tuple[int, int, int]]) -> Colours:
    """Return how far apart each two colours are in OKLab, in the vision that tells least."""
    seen = (oklab(linear(colours) @ matrix.T) for matrix in VISIONS.values())
    distances = [np.linalg.norm(p[:, None] - p[None], axis=2) for p in seen]
    least: Colours = np.min(distances, axis=0)
    return least


def luminance(colour: tuple[int, int, int]) -> float:
    """Return the relative luminance of a colour, 0 for black and 1 for white (WCAG 2.2)."""
    linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    """Return the contrast ratio of two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
