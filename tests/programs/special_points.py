"""Smooth functions at zeros, ones and ties, where formulas of derivatives divide zero by zero."""

from __future__ import annotations

from random import Random

import numpy as np

from tests.programs.writer import Writer

__all__ = ["STATEMENTS", "special_block"]

SMOOTH = (  # smooth at every number
    "np.logaddexp({0}, 0.0)", "np.logaddexp({0}, {0})", "np.logaddexp({0}, {0}[::-1])",
    "np.logaddexp2({0}, 0.0)", "np.sinc({0})", "np.i0({0})", "np.expm1({0})", "np.tanh({0})",
    "{0} ** 2", "{0} ** 3", "np.power({0}, 2.0)", "np.square({0})", "np.hypot(1.0, {0})",
    "np.sqrt(1.0 + {0} * {0})", "np.arctan2({0}, 1.5)", "np.arctan2(1.5, {0})", "np.sinh({0})",
    "(1.5 + {0}) ** {0}", "np.exp(-({0} ** 2))", "np.log1p({0} ** 2)", "np.cumprod({0})",
    "np.sin({0}) * {0}", "np.float_power({0}, 2)", "np.cos({0}) ** 2", "np.arcsinh({0})",
    "{0} * {0}[::-1]", "(1.3 + {0} ** 2) ** 0.0", "{0} ** 1", "{0} ** 0", "1.7 ** {0}",
    "np.cumsum({0} * {0})", "np.convolve({0}, {0})", "({0} - np.mean({0})) ** 2", "np.arctan({0})",
    "np.ldexp({0}, 1)", "np.real(np.exp(1j * {0}))", "np.polyval([0.3, 0.5, 0.1], {0})",
    "np.reciprocal(1.5 + {0})", "np.outer({0}, {0})", "{0} ** 4 / (1.0 + {0} ** 2)",
)  # fmt: skip
NUMBERS = (  # of all the numbers together
    "np.prod({0})", "np.var({0})", "np.logaddexp.reduce({0})", "np.linalg.norm({0} + 3.0)",
    "np.log(np.sum(np.exp({0})))", "np.dot({0}, {0})", "math.prod({0})", "np.sum({0}) ** 2",
    "np.exp({0}[0] * {0}[1])", "math.pow({0}[0], 2)", "math.hypot(1.0, {0}[0])",
    "math.expm1({0}[0])",
    "{0}[0] ** 2 * {0}[1]", "np.linalg.det(np.eye({0}.size) + np.outer({0}, {0}))",
    "np.cov({0})[()]", "np.prod({0} + 1.0)", "math.exp({0}[0]) * {0}[1] ** 2", "{0} @ {0}",
    "np.einsum('i,i', {0}, {0})", "np.trapezoid({0} ** 2)", "np.multiply.reduce({0})",
    "np.sum(np.linalg.inv(np.eye({0}.size) + 0.1 * np.outer({0}, {0})))", "math.sinh({0}[0])",
)  # fmt: skip


def smooth(w: Writer) -> bool:
    """Bind an array or a number made of the special one."""
    special = w.name("special")
    if special is None:
        return False
    t = special.text
    operand = w.pick(t, t, t, f"({t} - {t}[0])", f"({t} * {w.scalar(1)})", f"({t} + 0.0)")
    name = w.fresh("s")
    if w.chance(0.5):
        w.write(f"{name} = np.sum({w.rng.choice(SMOOTH).format(operand)} * {w.scalar(1)})")
    else:
        w.write(f"{name} = {w.rng.choice(NUMBERS).format(operand)} * {w.scalar(1)}")
    w.scope.add(name, "float")
    return True


def special_block(rng: Random) -> np.ndarray:
    """Return zeros, ones, or numbers of which some are equal."""
    return np.array(rng.choice((
        [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.5], [0.0, 0.7, 0.0],
        [-1.0, 0.0, 1.0], [0.0, 0.0], [2.0, 2.0, 0.0],
    )))  # fmt: skip


STATEMENTS = {smooth: 6}
