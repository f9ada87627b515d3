"""Random programs that count what NumPy warns of, for arguments in memory of any layout."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

__all__ = ["argument", "random_program_that_warns"]

NUMBERS = (
    "x[{i}] * 1e308", "x[{i}] / zero", "np.log(x[{i}] * zero)", "np.sqrt(-x[{i}] ** 2)",
    "np.mean(x[:0])", "np.median(x[:0])", "np.std(x[:0])", "np.prod(x * 1e200)", "x[{i}] % zero",
    "np.nanmax(x * np.nan)", "np.linalg.det(np.outer(x, x) * 1e200)", "round(x[{i}] * 1e6, 2)",
    "np.floor(x[{i}] * 1e6)", "x[{i}] ** 2", "abs(x[{i}] * 1j * 1e308 * 1e9)",
)  # fmt: skip
ARRAYS = (
    "x * 1e308", "x / zero", "np.log(x * zero)", "np.exp(x * 1e4)", "np.cumprod(x * 1e200)",
    "np.add(x, 1j).astype(float)", "x.ravel()", "np.sort(x)", "np.hypot(x * 1e308, x * 1e308)",
    "np.require(x, requirements='A')", "np.where(x > zero, np.sqrt(x), x)",
    "np.clip(x / zero, 0, 1)",
    "x[::-1] * x", "np.corrcoef(np.stack([x, x * zero]))[0]", "np.ascontiguousarray(x)",
)  # fmt: skip
WRITES = (
    "x[{i}] = {n}", "x[1:] = x[:-1]", "y[...] = {a}", "y *= {n}", "x += {a}", "x[0] = [[{n}]]",
    "x[:2] = [[{n}, 0.5]]", "np.multiply(x, {n}, out=y)", "y = {a}", "s = s + {n}",
    "b = np.broadcast_arrays(y, s)[1]; b[0] = {n}", "s = s + np.sum({a}) + np.sum({a})",
)  # fmt: skip


def random_program_that_warns(seed: int) -> str:
    """Return the text of a function ``f(x)``: a number, and what was warned of and raised."""
    random = Random(seed)
    lines: list[str] = []
    for _ in range(random.randint(2, 5)):
        text = random.choice(WRITES)
        while "{" in text:
            text = text.replace("{i}", str(random.randrange(3)))
            text = text.replace("{n}", random.choice(NUMBERS), 1)
            text = text.replace("{a}", random.choice(ARRAYS), 1)
        lines += ["        try:"] + [f"            {part}" for part in text.split("; ")]
        lines += ["        except (ValueError, ArithmeticError, Warning) as error:"]
        lines += ["            told.append(f'{type(error).__name__}: {error}')"]
    head = [
        "def f(x):", "    s, zero, y, told = 0.0, 0.0, x * 1.0, []",
        "    with warnings.catch_warnings(record=True) as log:",
        '        warnings.simplefilter("always")',
    ]  # fmt: skip
    tail = [
        "    total = np.sum(np.tanh(np.nan_to_num(x)))",
        "    told += [f'{w.category.__name__}: {w.message} {w.filename}:{w.lineno}' for w in log]",
        "    return total + len(log) + x.strides[0] + x.flags.aligned, sorted(told)",
    ]
    return "\n".join([*head, *lines, *tail]) + "\n"


def argument(seed: int) -> Any:
    """Return four numbers in memory of a random layout."""
    random = Random(seed)
    raw = np.zeros(80, np.uint8)
    x = random.choice((
        lambda: np.zeros(4), lambda: raw[8:40].view(float), lambda: raw[3:35].view(float),
        lambda: np.ndarray(4, float, raw, 1, (9,)), lambda: np.zeros((4, 2))[:, 1],
        lambda: np.zeros(4, [("flag", "i1"), ("value", float)])["value"],
        lambda: np.zeros(8)[::-2],
    ))()  # fmt: skip
    x[...] = [random.uniform(0.5, 2.0) for _ in range(4)]
    return x
