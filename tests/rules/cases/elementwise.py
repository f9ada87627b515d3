"""Cases for the elementwise functions of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.rules.clipping import CLIP, clip_between
from tests.rules.cases import Case, layouts_once
from tests.rules.cases.versions import since

SHAPE = (2, 3)


def _rng() -> np.random.Generator:
    return np.random.default_rng(7)


def _between(low: float, high: float, shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return _rng().uniform(low, high, shape)


def _complex(scale: float = 1.0, shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    rng = _rng()
    # Off the axes, on which the branch cuts lie.
    parts = rng.uniform(0.2, 1.0, (2, *shape)) * rng.choice([-1, 1], (2, *shape))
    return scale * (parts[0] + 1j * parts[1])


# Functions of one real argument, and the interval from which points are drawn.
UNARY_REAL: list[tuple[Callable[..., Any], float, float]] = [
    (np.negative, -2, 2), (np.positive, -2, 2), (np.exp, -2, 2), (np.exp2, -2, 2),
    (np.expm1, -2, 2), (np.log, 0.3, 3), (np.log2, 0.3, 3), (np.log10, 0.3, 3),
    (np.log1p, -0.7, 3), (np.sinc, -2, 2), (np.i0, 0.2, 40), (np.sqrt, 0.3, 3),
    (np.cbrt, 0.3, 3), (np.square, -2, 2), (np.reciprocal, 0.3, 3), (np.sin, -2, 2),
    (np.cos, -2, 2), (np.tan, -1, 1), (np.arcsin, -0.9, 0.9), (np.arccos, -0.9, 0.9),
    (np.arctan, -2, 2), (np.sinh, -2, 2), (np.cosh, -2, 2), (np.tanh, -2, 2),
    (np.arcsinh, -2, 2), (np.arccosh, 1.2, 3), (np.arctanh, -0.9, 0.9),
    (np.degrees, -2, 2), (np.rad2deg, -2, 2), (np.radians, -90, 90), (np.deg2rad, -90, 90),
    (np.absolute, 0.2, 2), (np.absolute, -2, -0.2), (np.fabs, 0.2, 2), (np.fabs, -2, -0.2),
    (np.sign, 0.2, 2), (np.conjugate, -2, 2), (np.real, -2, 2), (np.imag, -2, 2),
    (np.ndarray.conj, -2, 2), (np.ndarray.conjugate, -2, 2), (np.modf, 1.1, 1.9),
    (np.modf, -1.9, -1.1), (np.frexp, 1.1, 1.9), (np.frexp, -0.24, -0.13),
]  # fmt: skip

# Functions of one complex argument.
UNARY_COMPLEX: list[Callable[..., Any]] = [
    np.negative, np.positive, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p,
    np.sinc, np.sqrt, np.square, np.reciprocal, np.sin, np.cos, np.tan, np.arcsin, np.arccos,
    np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh, np.absolute,
    np.sign, np.conjugate, np.real, np.imag, np.ndarray.conj, np.ndarray.conjugate,
]  # fmt: skip

# Functions of two real arguments, and the intervals of both.
BINARY_REAL: list[tuple[Callable[..., Any], tuple[float, float], tuple[float, float]]] = [
    (np.add, (-2, 2), (-2, 2)), (np.subtract, (-2, 2), (-2, 2)),
    (np.multiply, (-2, 2), (-2, 2)), (np.divide, (-2, 2), (0.3, 3)),
    (np.power, (0.3, 3), (-2, 2)), (np.float_power, (0.3, 3), (-2, 2)),
    (np.logaddexp, (-2, 2), (-3, 3)), (np.logaddexp2, (-2, 2), (-3, 3)),
    (np.arctan2, (-2, -0.3), (-2, 2)), (np.arctan2, (0.3, 2), (-2, 2)),
    (np.hypot, (-2, 2), (0.3, 2)), (np.maximum, (0, 1), (1.1, 2)), (np.maximum, (1.1, 2), (0, 1)),
    (np.minimum, (0, 1), (1.1, 2)), (np.minimum, (1.1, 2), (0, 1)), (np.fmax, (0, 1), (1.1, 2)),
    (np.fmin, (0, 1), (1.1, 2)), (np.copysign, (0.2, 2), (-2, -0.2)),
    (np.copysign, (-2, -0.2), (-2, -0.2)), (np.copysign, (-2, -0.2), (0.2, 2)),
    (np.remainder, (2.1, 2.9), (0.9, 1.0)), (np.remainder, (-2.9, -2.1), (0.9, 1.0)),
    (np.remainder, (2.1, 2.6), (-1.0, -0.9)), (np.fmod, (2.1, 2.6), (0.9, 1.0)),
    (np.fmod, (-2.6, -2.1), (0.9, 1.0)), (np.fmod, (2.1, 2.6), (-1.0, -0.9)),
    (np.divmod, (2.1, 2.6), (0.9, 1.0)), (np.divmod, (-2.6, -2.1), (0.9, 1.0)),
    (np.heaviside, (0.2, 2), (0, 1)),
]  # fmt: skip

BINARY_COMPLEX: list[Callable[..., Any]] = [
    np.add, np.subtract, np.multiply, np.divide, np.power, np.float_power,
]  # fmt: skip


def unary_cases() -> list[Case]:
    """One argument: real and complex arrays, and a number."""
    cases = [Case(f, (_between(low, high),)) for f, low, high in UNARY_REAL]
    cases += [Case(f, (_complex(0.9),)) for f in UNARY_COMPLEX]
    return [
        *cases,
        Case(np.exp, (0.3,)),
        Case(np.sin, (np.float64(0.3),)),
        Case(np.conjugate, (1.5 - 0.5j,)),
        Case(np.real, (1.5 - 0.5j,)),
        Case(np.imag, (1.5 - 0.5j,)),
        Case(np.absolute, (1.5 - 0.5j,)),
        Case(abs, (_between(0.2, 2),)),
        Case(abs, (_complex(),)),
        Case(np.sqrt, (_between(0.3, 3, ()),)),
        Case(np.i0, (np.array([-30.0, -3.0, 3.0, 24.9, 25.1]),), label="both expansions"),
        Case(np.sinc, (np.array([-1.0, -1e-3, 1e-3, 0.09, 0.11, 1.0]),), label="near zero"),
        Case(np.angle, (_complex(),)),
        Case(np.angle, (_complex(), True)),
        Case(np.nan_to_num, (_between(-2, 2),)),
        Case(np.nan_to_num, (_complex(),)),
        Case(np.real_if_close, (_complex(),)),
    ]


def binary_cases() -> list[Case]:
    """Two arguments: real and complex, and broadcast against each other."""
    cases = [Case(f, (_between(*a), _between(*b)[:, ::-1].copy())) for f, a, b in BINARY_REAL]
    cases += [
        Case(f, (_between(*a, (3, 1)), _between(*b, (1, 4))), label="broadcast")
        for f, a, b in BINARY_REAL
    ]
    cases += [Case(f, (_complex(), _complex(1.5)[:, ::-1].copy())) for f in BINARY_COMPLEX]
    mixed = (_between(0.3, 2), _complex()[:1])
    cases += [Case(f, mixed, label="mixed") for f in BINARY_COMPLEX]
    cases += [Case(f, mixed[::-1], label="mixed") for f in BINARY_COMPLEX]
    return [
        *cases,
        Case(np.ldexp, (_between(-2, 2), np.array([1, -2, 0]))),
        Case(np.nextafter, (_between(0.2, 2), 3.0), label="towards a number"),
        Case(np.multiply, (_between(-2, 2), 2.5)),
        Case(np.divide, (2.5, _between(0.3, 3))),
        Case(np.remainder, (_between(2.1, 2.9), 1)),
    ]


def power_cases() -> list[Case]:
    """Exponents of special forms, bases below zero."""
    signed = np.array([-1.5, -0.4, 0.6, 2.0])
    cases = [Case(np.power, (signed, n), label="integer exponent") for n in (-2, -1, 0, 1, 2, 3, 5)]
    return [
        *cases,
        Case(np.power, (signed, np.array([2, 3, 0, 1]))),
        Case(np.power, (signed, 2.0), label="no neighbours", interface_only=True),
        Case(np.power, (2.0, signed)),
        Case(np.power, (2, signed), label="integer base"),
        Case(np.power, (_complex(), 3)),
        Case(np.power, (-2.0 + 0.5j, _complex())),
        Case(np.float_power, (signed, 3)),
    ]


def selection_cases() -> list[Case]:
    """Clipping, selection and remaining steps."""
    x = np.linspace(-1.05, 1.95, 6)
    low, high = np.full(6, -0.4), np.linspace(0.5, 0.9, 6)
    mask = np.array([True, False, True, True, False, False])
    return [
        Case(np.clip, (x, -0.4, 0.8)),
        Case(np.clip, (0.3, -0.4, 0.8)),
        *since(
            "2.1.0",
            Case(np.clip, (x,), {"min": low, "max": high}, label="keywords"),
            Case(np.clip, (x,), {"min": -0.4}, label="keywords"),
        ),
        Case(np.clip, (x,), {"a_min": low, "a_max": None}, label="keywords"),
        Case(np.ndarray.clip, (x,), {"max": high}, label="keywords"),
        Case(np.ndarray.clip, (x, low), label="lower bound"),
        Case(clip_between, (x, low, high)),
        Case(CLIP, (x, low, high)),
        Case(clip_between, (x, None, high)),
        Case(clip_between, (x, high, low), label="crossed bounds"),
        Case(np.clip, (x, low, high)),
        Case(np.clip, (x.reshape(2, 3), low[:3], high[:1]), label="broadcast"),
        Case(np.clip, (x, None, high)),
        Case(np.clip, (x, low, None)),
        Case(np.clip, (x, high, low), label="crossed bounds"),
        Case(np.ndarray.clip, (x, low, high)),
        Case(np.ndarray.clip, (x, None, high)),
        Case(np.where, (mask, x, high)),
        Case(np.where, (mask, x, 0.0), label="number"),
        Case(np.where, (mask[:, None], x, 1.5), label="broadcast"),
        Case(np.where, (mask, x, x * 1j), label="mixed"),
        Case(np.heaviside, (np.array([-1.0, 0.0, 2.0]), np.array([0.1, 0.2, 0.3])),
             label="at the step", interface_only=True),
    ]  # fmt: skip


def kink_cases() -> list[Case]:
    """Ties and kinks: a documented choice, never nan and never an exception."""
    zero = np.array([0.0, -0.0])
    tie = np.array([1.0, -2.0])
    points: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (np.absolute, (zero,)), (np.absolute, (np.zeros(2, complex),)), (np.fabs, (zero,)),
        (np.sign, (zero,)), (np.sign, (np.zeros(2, complex),)), (np.hypot, (zero, zero)),
        (np.arctan2, (zero, zero)), (np.sinc, (zero,)), (np.i0, (zero,)),
        (np.maximum, (tie, tie)), (np.minimum, (tie, tie)), (np.fmax, (tie, tie)),
        (np.fmin, (tie, tie)), (np.power, (zero, 2.0)), (np.power, (zero, zero)),
        (np.power, (tie, 2.0)), (np.copysign, (zero, tie)),
        (clip_between, (np.array([0.0, 1.0]), 0.0, 1.0)), (np.frexp, (zero,)),
        (np.angle, (np.zeros(2, complex),)),
    ]  # fmt: skip
    return [Case(f, args, label="kink", interface_only=True) for f, args in points]


def pole_cases() -> list[Case]:
    """Infinite values and slopes; repeated elements would add inf to -inf."""
    zero, one = np.zeros(2), np.ones(2)
    infinite = np.array([np.inf, -np.inf])
    points: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
        (np.sqrt, (zero,)), (np.sqrt, (zero + 0j,)), (np.cbrt, (zero,)), (np.log, (zero,)),
        (np.arcsin, (one,)), (np.arccos, (-one,)), (np.arccos, (one + 0j,)), (np.arccosh, (one,)),
        (np.arctanh, (one,)), (np.reciprocal, (zero,)), (np.power, (zero, 0.5)),
        (np.power, (zero + 0j, 0.5)), (np.divide, (one, zero)), (np.divmod, (one, zero)),
        (np.maximum, (infinite, infinite)), (np.logaddexp, (infinite, infinite)),
        (np.logaddexp2, (infinite, infinite)), (np.exp, (infinite,)),
    ]  # fmt: skip
    return [
        Case(f, args, label="pole", interface_only=True, options={"layouts": False})
        for f, args in points
    ]


def keyword_cases() -> list[Case]:
    """The keywords of ufuncs."""
    x, out = _between(0.3, 2), _between(5, 6)
    mask = np.array([True, False, True])
    return [
        Case(np.exp, (x,), {"out": out}),
        Case(np.multiply, (x, x[::-1].copy()), {"out": out}),
        Case(np.add, (x, 1.5), {"out": out, "where": mask}),
        Case(np.sin, (x,), {"out": out, "where": mask}),
        Case(np.divide, (x, out), {"dtype": np.float32}, options={"dtypes": False}),
        Case(np.clip, (x, 0.5, 1.5), {"out": out}),
    ]


def cases() -> list[Case]:
    """All cases of the family."""
    return layouts_once([
        *unary_cases(), *binary_cases(), *power_cases(), *selection_cases(), *kink_cases(),
        *pole_cases(), *keyword_cases(),
    ])  # fmt: skip
