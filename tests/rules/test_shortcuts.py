"""Shortcuts give what the source of NumPy does that is derived for all other calls."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, jvp, local_rules, overlay, value_and_grad
from mooncake_py.application import apply, shortcut_calls
from mooncake_py.modes.forward import shortcut_calls as forward_calls
from mooncake_py.rules.kinds import function_name
from mooncake_py.rules.shortcuts import SHORTCUTS, VIEWS, VIEWS_OF_CONTIGUOUS
from mooncake_py.tangents.bits import bits_of
from tests.rules import cases
from tests.rules.cases.drawing import draw
from tests.support.pairs import rotating

LINALG = np.linalg
ROW, TABLE, PLACES = draw(5), draw(4, 5), np.array([0.0, 0.3, 0.9, 1.3, 2.0])
WEIGHTS = np.abs(draw(5, seed=1)) + 0.1
THREE = draw(3), draw(3, seed=1)
LINES = draw(4, 5, seed=2), draw(5, 3, seed=3)

CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "average": (np.average, (TABLE,)),
    "average, axis": (lambda a: np.average(a, axis=1, keepdims=True), (TABLE,)),
    "average, weights": (lambda a, w: np.average(a, weights=w), (ROW, WEIGHTS)),
    "average, table": (lambda a, w: np.average(a, 0, w), (TABLE, np.abs(TABLE) + 1.0)),
    "average, list": (lambda a: np.average(a, weights=[1.0, 2.0, 3.0, 4.0, 5.0]), (ROW,)),
    "average, complex": (lambda a, w: np.average(a, weights=w * (1 + 2j)), (ROW, WEIGHTS)),
    "average, counts": (lambda a: np.average(a, weights=np.arange(1, 6)), (ROW,)),
    "average, row": (lambda a, w: np.average(a, 1, w), (TABLE, WEIGHTS)),
    "average, returned": (lambda a: np.average(a, returned=True), (ROW,)),
    "cov": (np.cov, (TABLE,)),
    "cov, columns": (lambda a: np.cov(a, rowvar=False, bias=True), (TABLE,)),
    "cov, two": (lambda a, b: np.cov(a, b, ddof=0), (ROW, WEIGHTS)),
    "cov, one": (np.cov, (ROW,)),
    "cov, weighted": (lambda a, w: np.cov(a, aweights=w), (TABLE, WEIGHTS)),
    "cov, few": (lambda a: np.cov(a, ddof=7), (ROW,)),
    "corrcoef": (np.corrcoef, (TABLE,)),
    "corrcoef, two": (lambda a, b: np.corrcoef(a, b)[0, 1], (ROW, WEIGHTS)),
    "corrcoef, proportional": (lambda a: np.corrcoef(a, 2.0 * a), (ROW,)),
    "corrcoef, constant": (lambda a: np.corrcoef(a, a * 0.0 + 1.0), (ROW,)),
    "corrcoef, one": (np.corrcoef, (ROW,)),
    "quantile": (lambda a: np.quantile(a, 0.3), (ROW,)),
    "quantile, several": (lambda a: np.quantile(a, [0.0, 0.5, 0.77, 1.0], axis=1), (TABLE,)),
    "quantile, ties": (lambda a: np.quantile(np.round(a), [0.25, 0.6]), (TABLE,)),
    "quantile, of one": (lambda a: np.quantile(a[:1], 0.3), (ROW,)),
    "quantile, active": (lambda a, q: np.quantile(a, q), (ROW, 0.3)),
    "quantile, lower": (lambda a: np.quantile(a, 0.3, method="lower"), (ROW,)),
    "percentile": (lambda a: np.percentile(a, (10, 50), axis=0), (TABLE,)),
    "percentile, keepdims": (lambda a: np.percentile(a, 10, axis=0, keepdims=True), (TABLE,)),
    "median": (lambda a: np.median(a, axis=-1), (TABLE,)),
    "median, all": (np.median, (TABLE,)),
    "median, keepdims": (lambda a: np.median(a, 0, keepdims=True), (TABLE,)),
    "meshgrid": (lambda *x: np.meshgrid(*x), (ROW, PLACES, THREE[0])),
    "meshgrid, ij": (lambda x, y: np.meshgrid(x, y, indexing="ij")[0], (ROW, THREE[0])),
    "meshgrid, sparse": (lambda x, y: np.meshgrid(x, y, sparse=True)[1], (ROW, THREE[0])),
    "meshgrid, numbers": (lambda x, s: np.meshgrid(x, s), (ROW, 1.5)),
    "vander": (np.vander, (ROW,)),
    "vander, increasing": (lambda x: np.vander(x, 3, increasing=True), (ROW,)),
    "vander, zeros": (lambda x: np.vander(x, N=4), (np.zeros(3),)),
    "vander, one": (lambda x: np.vander(x, 1), (ROW,)),
    "polyval": (np.polyval, (ROW, TABLE)),
    "polyval, list": (lambda x: np.polyval([1.0, 2, -3.0], x), (TABLE,)),
    "polyval, number": (lambda p, x: np.polyval(p, x), (ROW, 0.7)),
    "polyval, numbers": (lambda s, x: np.polyval([s, 2.0, s * s], x), (1.5, 0.7)),
    "polyval, constant": (lambda p, x: np.polyval(p, x), (ROW[:1], TABLE)),
    "cross": (np.cross, THREE),
    "cross, rows": (np.cross, (draw(4, 3), draw(4, 3, seed=1))),
    "cross, one": (lambda a: np.cross(a, THREE[1]), THREE[:1]),
    "gradient": (np.gradient, (ROW,)),
    "gradient, step": (lambda f, h: np.gradient(f, h, edge_order=2), (ROW, 0.3)),
    "gradient, axis": (lambda f: np.gradient(f, 0.5, axis=-1), (TABLE,)),
    "gradient, table": (np.gradient, (TABLE,)),
    "gradient, places": (np.gradient, (ROW, PLACES)),
    "trapezoid": (np.trapezoid, (TABLE,)),
    "trapezoid, places": (lambda y, x: np.trapezoid(y, x=x), (TABLE, PLACES)),
    "trapezoid, step": (lambda y, h: np.trapezoid(y, dx=h, axis=0), (TABLE, 0.3)),
    "trapezoid, no such axis": (lambda y: np.trapezoid(y, axis=3), (TABLE,)),
    "trapezoid, table": (np.trapezoid, (TABLE, np.cumsum(TABLE**2, axis=1))),
    "einsum": (lambda a, b: np.einsum("ij,jk->ki", a, b), LINES),
    "einsum, number": (lambda a: np.einsum("i,i", a, a), (ROW,)),
    "einsum, broadcast": (lambda a, b: np.einsum("...j,j->...", a, b), (TABLE, ROW)),
    "einsum, optimized": (lambda a, b: np.einsum("ij,jk,lk", a, b, a[:, :3], optimize=True), LINES),
    "einsum, trace": (lambda a: np.einsum("ii->i", a[:, :4]), (TABLE,)),
    "einsum, lists": (lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [0, 2]), LINES),
    "einsum, diagonal": (lambda a, b: np.einsum("ii,i->", a[:, :4], b[:4]), (TABLE, ROW)),
    "diff": (np.diff, (ROW,)),
    "diff, twice": (lambda a: np.diff(a, n=2, axis=0), (TABLE,)),
    "diff, of one": (lambda a: np.diff(a[:1]), (ROW,)),
    "diff, more than there is": (lambda a: np.diff(a, 7), (ROW,)),
    "diff, none": (lambda a: np.diff(a, 0), (ROW,)),
    "diff, after": (lambda a, s: np.diff(a, prepend=s), (ROW, 1.5)),
    "append": (np.append, (TABLE, ROW)),
    "append, number": (np.append, (ROW, 1.5)),
    "append, axis": (lambda a, b: np.append(a, b, axis=1), (TABLE, TABLE[:, 1:])),
    "append, list": (lambda a, s: np.append(a, [s, 2.0]), (ROW, 1.5)),
    "unwrap": (lambda a: np.unwrap(4 * a), (TABLE,)),
    "unwrap, axis": (lambda a: np.unwrap(4 * a, axis=0, period=2.0), (TABLE,)),
    "unwrap, active": (lambda a, p: np.unwrap(4 * a, period=p), (TABLE, 2.0)),
    "einsum, one": (lambda a: np.einsum("ij->", a), (TABLE,)),
    "einsum, one transposed": (lambda a: np.einsum("ij->ji", a) * 1.0, (TABLE,)),
    "block": (lambda a, b: np.block([a, b, a[1:]]), (ROW, THREE[0])),
    "block, matrices": (lambda a, b: np.block([a, b[:4]]), LINES),
    "block, table": (lambda a: np.block([[a, a], [a, a * a]]), (TABLE,)),
    "block, numbers": (lambda a, s: np.block([a, s]), (ROW, 1.5)),
    "multi_dot": (lambda a, b: LINALG.multi_dot([a, b, a[:3, :3]]), LINES),
    "multi_dot, vectors": (lambda a, b, v: LINALG.multi_dot((b[:, 0], b, a[:3], v)), (*LINES, ROW)),
    "multi_dot, two": (lambda a, b: LINALG.multi_dot([a, b]), LINES),
    "matrix_power": (lambda a: LINALG.matrix_power(a[:, :4], 3), (TABLE,)),
    "matrix_power, square": (lambda a: LINALG.matrix_power(a[:, :4], 2), (TABLE,)),
    "matrix_power, inverse": (lambda a: LINALG.matrix_power(a[:, :4], -2), (TABLE,)),
    "interp": (lambda x, xp, fp: np.interp(x, xp, fp), (0.7 * ROW, PLACES, ROW)),
    "interp, beyond": (lambda x, fp, s: np.interp(x, PLACES, fp, s, right=s * s), (ROW, ROW, 0.5)),
    "interp, lists": (lambda x: np.interp(x, [0.0, 0.5, 1.0], [1.0, 2, -1.0]), (TABLE,)),
    "interp, list": (lambda x, s: np.interp(x, [0.0, 0.5, 1.0], [s, 2.0, s]), (TABLE, 1.5)),
    "interp, period": (lambda x, fp: np.interp(x, PLACES, fp, period=2.5), (TABLE, ROW)),
    "interp, nodes": (lambda x: np.interp(x, PLACES, np.cos(PLACES)), (PLACES,)),
    "nan_to_num": (np.nan_to_num, (TABLE,)),
    "nan_to_num, odd": (lambda a: np.nan_to_num(a / np.round(a), nan=1.0), (TABLE,)),
    "nan_to_num, in place": (lambda a: np.nan_to_num(a * 2.0, copy=False), (TABLE,)),
}  # fmt: skip


VIEWED: dict[str, Callable[[Any], Any]] = {
    "split": lambda a: np.split(a, 2)[1],
    "array_split": lambda a: np.array_split(a, [1, 3], axis=1)[1],
    "hsplit": lambda a: np.hsplit(a, [2])[0],
    "vsplit": lambda a: np.vsplit(a, 4)[3],
    "dsplit": lambda a: np.dsplit(a[:, :, None], 1)[0],
    "atleast_1d": np.atleast_1d,
    "atleast_2d": lambda a: np.atleast_2d(a[1]),
    "atleast_3d": np.atleast_3d,
    "broadcast_to": lambda a: np.broadcast_to(a[:1], (2, 5)) * 1.0,
    "expand_dims": lambda a: np.expand_dims(a, (0, 2)),
    "squeeze": lambda a: np.squeeze(a[:, None], axis=1),
    "moveaxis": lambda a: np.moveaxis(a, [0], [1]),
    "rollaxis": lambda a: np.rollaxis(a, 1),
    "swapaxes": lambda a: np.swapaxes(a, 0, -1),
    "transpose": lambda a: np.transpose(a, axes=(1, 0)),
    "matrix_transpose": np.matrix_transpose,
    "flip": lambda a: np.flip(a, axis=0),
    "fliplr": np.fliplr,
    "flipud": np.flipud,
    "rot90": lambda a: np.rot90(a, 3),
    "diagonal": lambda a: np.diagonal(a, 1) * 1.0,
    "unstack": lambda a: getattr(np, "unstack", list)(a)[2],
    "reshape": lambda a: np.reshape(a, (5, 4)),
    "reshape, order": lambda a: np.reshape(a, (5, 4), order="F") * 1.0,
    "reshape, copied": lambda a: np.reshape(a.T, (4, 5)) * 1.0,
    "ravel": lambda a: np.ravel(a).reshape(10, 2),
    "method reshape": lambda a: a.reshape(2, -1),
    "method ravel": lambda a: a[1:].ravel().reshape(3, 5),
    "method ravel, copied": lambda a: a.T.ravel().reshape(4, 5) * 1.0,
    "method squeeze": lambda a: a[None].squeeze(0),
    "method swapaxes": lambda a: a.swapaxes(0, 1),
    "method transpose": lambda a: a.transpose((1, 0)),
    "method diagonal": lambda a: a.diagonal() * 1.0,
    "several": lambda a: np.atleast_1d(a[0], 2.0)[0],
    "in another order": lambda a: a.T.reshape(2, 10, order="F").T,
    "of a part": lambda a: a[1:3].reshape(-1)[2:].reshape(4, 2),
    "complex": lambda a: np.imag(np.transpose(a * 1j)),
}


def variants() -> Iterator[Any]:
    """Yield all calls, and each function in each variant: its calls take turns."""
    of_function: dict[str, list[str]] = {}
    for name, (f, args) in CALLS.items():
        yield pytest.param(f, args, id=name)
        # NumPy reads the diagonal of (0, 4) outside the memory of the array.
        if all(isinstance(a, np.ndarray) for a in args) and name not in DIAGONALS:
            of_function.setdefault(name.partition(",")[0], []).append(name)
    for names in of_function.values():
        for name, kind in rotating(names, VARIANTS):
            f, args = CALLS[name]
            yield pytest.param(f, tuple(map(VARIANTS[kind], args)), id=f"{name}-{kind}")


DIAGONALS = ("einsum, trace", "einsum, diagonal")


def strided(a: np.ndarray) -> np.ndarray:
    """Return the same numbers in a view of every second element in the order of Fortran."""
    made = np.zeros(tuple(2 * n for n in a.shape), order="F")
    view = made[tuple(slice(None, None, 2) for _ in a.shape)]
    view[...] = a
    return view


VARIANTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "single": lambda a: a.astype(np.float32),
    "complex": lambda a: a * (1 + 0.5j),
    "strided": strided,
    "infinite": lambda a: np.where(a == a.max(), np.inf, a),
    "nan": lambda a: np.where(a == a.min(), np.nan, a),
    "empty": lambda a: a[:0],
}


def numbers(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [part for v in value for part in numbers(v)]
    return [value]


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        y = 0.0
        for part in numbers(f(*args)):
            along = np.cos(1.0 + np.arange(float(np.size(part))))
            y = y + np.sum(along * np.ravel(np.real(part) + 0.5 * np.imag(part)))
        return y

    return run


def outcome(f: Callable[..., Any], args: Any) -> list[Any]:
    """Return the results of a function and its derivatives, or the class and text of an error."""
    kept = [bits_of(a) for a in args if isinstance(a, np.ndarray)]
    along = [np.sin(1.0 + np.arange(np.size(a))).reshape(np.shape(a)) for a in args]
    tangents = tuple(
        t.astype(a.dtype) if isinstance(a, np.ndarray) else float(t)
        for t, a in zip(along, args, strict=True)
    )
    found: list[Any] = []
    every = tuple(range(len(args)))
    for run in (
        lambda: [value_and_grad(total(f), argnums=every)(*args)],
        lambda: [jvp(f, args, tangents)],
    ):
        try:
            found += numbers(run())
        except (MooncakeError, ValueError, TypeError, IndexError, ArithmeticError) as error:
            found += [type(error), str(error).splitlines()[0]]
    assert kept == [bits_of(a) for a in args if isinstance(a, np.ndarray)]
    return found


def generally(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply, "flat", lambda *args: None)
    monkeypatch.setattr(shortcut_calls, "flat", lambda *args: None)
    monkeypatch.setattr(forward_calls, "push_flat", lambda *args: None)


@pytest.mark.sampled(6)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("f", "args"), [*variants()])
def test_shortcuts_are_the_source(
    f: Callable[..., Any], args: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    precisions = [np.finfo(a.dtype).eps for a in args if isinstance(a, np.ndarray)]
    quick = outcome(f, args)
    generally(monkeypatch)
    source = outcome(f, args)
    assert len(quick) == len(source)
    for k, (x, y) in enumerate(zip(quick, source, strict=True)):
        assert type(x) is type(y), k
        if hasattr(x, "dtype"):
            assert (x.dtype, np.shape(x)) == (y.dtype, np.shape(y))
            size = np.abs(y[np.isfinite(y)]).max(initial=1.0)
            eps = max([np.finfo(x.dtype).eps, *precisions])
            np.testing.assert_allclose(x, y, rtol=50 * eps, atol=50 * eps * size)
        elif not isinstance(x, type):
            assert x == y or x == pytest.approx(y, rel=1e-13, nan_ok=True)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_values_are_the_same_to_the_bit() -> None:
    for name, (f, args) in CALLS.items():
        if name == "trapezoid, no such axis":
            continue

        def seen(*args: Any, f: Any = f) -> Any:
            y = f(*args)
            return y, [
                (type(v).__name__, np.shape(v), getattr(v, "strides", ())) for v in numbers(y)
            ]

        y, layouts = jvp(seen, args, args)[0]
        plain, expected = seen(*args)
        assert layouts == expected, name
        for a, b in zip(numbers(y), numbers(plain), strict=True):
            assert bits_of(np.asarray(a)) == bits_of(np.asarray(b)), name


@pytest.mark.parametrize("scale", [1.0, 1e160])
def test_warnings_are_those_of_numpy(scale: float) -> None:
    for name in (
        "average, weights",
        "cov, two",
        "quantile",
        "diff",
        "append",
        "unwrap",
        "trapezoid",
    ):
        f, args = CALLS[name]
        args = tuple(scale * a for a in args)

        def warned(run: Callable[[], Any]) -> list[str]:
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                run()
            return sorted({str(w.message) for w in found})

        plain = warned(lambda f=f, args=args: f(*args))
        assert warned(lambda f=f, args=args: jvp(f, args, args)) == plain, name
        if not plain:
            with np.errstate(over="raise", invalid="raise"):
                assert warned(lambda f=f, args=args: jvp(f, args, args)) == [], name


@pytest.mark.sampled(3)
@pytest.mark.parametrize("view", VIEWED.values(), ids=list(VIEWED))
def test_views_are_followed_without_an_entry(view: Callable[[Any], Any]) -> None:
    def f(a: Any, s: Any) -> Any:
        y = view(a)
        y[0] *= s
        z = np.sum(np.cos(np.arange(float(y.size))) * np.ravel(y) ** 2)
        a[1] += s
        return z + np.sum(view(a)) * s

    results = []
    for block in (contextlib.nullcontext(), local_rules()):
        with block:
            args = TABLE.copy(), 1.5
            y, grads = value_and_grad(f, argnums=(0, 1))(*args)
            results.append([y, *grads, *jvp(f, args, (np.sin(TABLE), 0.5))])
            assert bits_of(args[0]) == bits_of(TABLE)
    for quick, general in zip(*results, strict=True):
        np.testing.assert_allclose(quick, general, rtol=1e-13)
    assert np.shape(f(TABLE.copy(), 1.5)) == ()


def test_functions_of_views_are_all_tested() -> None:
    assert {f.__name__ for f in VIEWS | VIEWS_OF_CONTIGUOUS} <= {
        name.removeprefix("method ") for name in VIEWED
    }


def test_rules_of_users_come_first() -> None:
    def doubled(a: Any, axis: Any = None, **options: Any) -> Any:
        return 2.0 * np.sum(a)

    with local_rules():
        overlay(np.dot, replace=True)(lambda a, b: 3.0 * (a @ b))
        y, _ = value_and_grad(lambda a: np.sum(np.cov(a)))(TABLE)
    assert y == pytest.approx(3.0 * np.sum(np.cov(TABLE)))
    with local_rules():
        overlay(np.average, replace=True)(doubled)
        y, da = value_and_grad(lambda a: np.average(a) * 1.0)(ROW)
    assert y == pytest.approx(2.0 * ROW.sum())
    np.testing.assert_array_equal(da, np.full(5, 2.0))


@pytest.mark.thorough
def test_every_shortcut_has_a_case() -> None:
    modules = (
        importlib.import_module(f"{cases.__name__}.{module.name}")
        for module in pkgutil.iter_modules(cases.__path__)
    )
    found = [c for m in modules if hasattr(m, "cases") for c in m.cases()]
    functions = {f for c in found for f in (c.function, *c.covers)}
    assert [function_name(f) for f in SHORTCUTS if f not in functions] == []
    names = {name.partition(",")[0] for name in CALLS}
    assert {f.__name__ for f in SHORTCUTS} == names
