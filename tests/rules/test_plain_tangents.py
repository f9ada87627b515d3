"""Tangents that are computed where nothing else is differentiated: those of the pullback.

Where the pullback refuses, they refuse too, in the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, jvp
from mooncake_py.modes.forward import apply, pushforward
from mooncake_py.rules import registry, sorting
from mooncake_py.rules.kinds import VjpRule, function_name
from tests.rules.cases.drawing import draw
from tests.support.pairs import rotating

LINALG = np.linalg
SQUARE: dict[str, Callable[..., Any]] = {
    "eigh": LINALG.eigh,
    "eigh, upper": lambda a: LINALG.eigh(a, "U"),
    "eigvalsh": lambda a: LINALG.eigvalsh(a, UPLO="U"),
    "eig": lambda a: LINALG.eig(a @ a.swapaxes(-1, -2) + 0.1 * a),
    "eig, perhaps complex": LINALG.eig,
    "eigvals": LINALG.eigvals,
    "svd, Hermitian": lambda a: LINALG.svd(a + a.swapaxes(-1, -2), hermitian=True),
    "det": LINALG.det,
    "slogdet": LINALG.slogdet,
}
ANY: dict[str, Callable[..., Any]] = {
    "svd": lambda a: LINALG.svd(a, full_matrices=False),
    "svd, all vectors": LINALG.svd,
    "svd, values": lambda a: LINALG.svd(a, compute_uv=False),
    "qr": LINALG.qr,
    "qr, complete": lambda a: LINALG.qr(a, "complete"),
    "qr, r": lambda a: LINALG.qr(a, "r"),
    "qr, raw": lambda a: LINALG.qr(a, mode="raw"),
    "pinv": LINALG.pinv,
    "pinv, cut": lambda a: LINALG.pinv(a, 0.9),
    "cumprod": lambda a: np.cumprod(a, axis=-1),
    "cumprod, all": np.cumprod,
    "prod": lambda a: np.prod(a, axis=0, keepdims=True),
    "prod, method": lambda a: a.prod(-1),
    "prod, started": lambda a: np.prod(a, initial=2.0),
    "nansum": lambda a: np.nansum(a, axis=0),
    "nansum, some": lambda a: np.nansum(a, where=a > 0, keepdims=True),
    "nanmean": lambda a: np.nanmean(a, axis=(0, -1)),
    "nancumsum": lambda a: np.nancumsum(a, axis=1),
    "partition": lambda a: np.partition(a, 1, axis=0),
    "partition, all": lambda a: np.partition(a, 2, axis=None),
    "median": lambda a: np.median(a[0]) if a.ndim == 1 else np.median(a[0].ravel()),
    "select": lambda a: np.select([a > 0.5, a > -0.5], [a * a, a], 2.0),
    "select, numbers": lambda a: np.select([a > 0, a < -1], [a[0, 0], 1.5], a),
    "linspace": lambda a: np.linspace(a[0], 2.0, 4, axis=-1),
    "linspace, step": lambda a: np.linspace(1, a[0], 4, endpoint=False, retstep=True),
}
ROWS: dict[str, Callable[..., Any]] = {
    "lstsq": lambda a: LINALG.lstsq(a, np.arange(1.0, 1.0 + len(a)), rcond=None),
    "lstsq, columns": lambda a: LINALG.lstsq(
        a, a[0, 0] ** 2 * np.cos(np.arange(2.0 * len(a))).reshape(-1, 2)
    ),
    "lstsq, right side": lambda a: LINALG.lstsq(np.cos(np.arange(2.0 * len(a))).reshape(-1, 2), a),
}


EVERY = SQUARE | ANY | ROWS
OTHERS = {
    "stack": draw(2, 2, 2), "tall": draw(4, 2), "wide": draw(2, 4), "one": draw(1, 1),
    "equal": np.eye(3), "zero": np.zeros((3, 3)), "rank one": np.ones((3, 3)),
    "nan": np.where(np.eye(3) > 0, draw(3, 3), np.nan), "complex": draw(3, 3, dtype=complex),
    "single": draw(3, 3).astype(np.float32),
}  # fmt: skip
ORDERED = ("select", "nan", "median", "partition")  # functions of numbers that have an order


def suits(name: str, kind: str) -> bool:
    """Tell whether a function takes a kind of matrix."""
    if kind == "complex":
        return not name.startswith(ORDERED)
    return not ((kind in ("tall", "wide") and name in SQUARE) or (kind == "stack" and name in ROWS))


def cases() -> Iterator[tuple[str, Callable[..., Any], np.ndarray]]:
    """Yield all calls with a square matrix, and each function with each other kind in turn."""
    yield from ((f"{name}-square", f, draw(3, 3)) for name, f in EVERY.items())
    by_function: dict[str, list[str]] = {}
    for name in EVERY:
        by_function.setdefault(name.partition(",")[0], []).append(name)
    for names in by_function.values():
        for name, kind in rotating(names, OTHERS):
            if suits(name, kind):
                yield f"{name}-{kind}", EVERY[name], OTHERS[kind]


def found(f: Callable[..., Any], a: np.ndarray) -> Any:
    """Return value and tangent, or the class and the first line of an error."""
    t = np.cos(1.0 + np.arange(a.size)).reshape(a.shape).astype(a.dtype)
    with np.errstate(all="ignore"):
        try:
            return jvp(f, (a,), (t,))
        except (MooncakeError, LINALG.LinAlgError, ValueError) as error:
            return type(error), str(error).splitlines()[0]


def numbers(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [part for v in value for part in numbers(v)]
    return [value]


@pytest.mark.sampled(6)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("f", "a"), [pytest.param(f, a, id=name) for name, f, a in cases()])
def test_tangents_are_those_of_the_pullback(
    f: Callable[..., Any], a: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = found(f, a)
    monkeypatch.setattr(apply, "push_flat", lambda *args: None)
    monkeypatch.setattr(pushforward, "FEW", 0)
    general = found(f, a)
    eps = np.finfo(a.dtype).eps
    for x, y in zip(numbers(quick), numbers(general), strict=True):
        assert type(x) is type(y)
        if hasattr(x, "dtype"):
            assert x.dtype == y.dtype
            size = np.abs(y[np.isfinite(y)]).max(initial=0.0)
            np.testing.assert_allclose(x, y, rtol=200 * eps, atol=200 * eps * size)
        elif isinstance(x, str):
            assert x == y


def test_every_plain_tangent_is_tested() -> None:
    text = " ".join([*SQUARE, *ANY, *ROWS])
    for function, rule in registry.registered():
        if isinstance(rule, VjpRule) and rule.plain_jvp is not None:
            name = function_name(function).rpartition(".")[2]
            assert name.removesuffix("_of") in text, name
    assert sorting.median_of is not None
