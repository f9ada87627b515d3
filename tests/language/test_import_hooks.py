"""Names and attributes that code of a module makes: ``__getattr__``, properties of its class."""

from __future__ import annotations

import functools
import importlib
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpoint, grad, hvp, jvp, value_and_grad
from tests.support.gradients import check

X = np.array([3.0, 2.0])
MADE: Any = types.ModuleType("made")


class WithProperty(types.ModuleType):
    w: Any

    @property
    def rate(self) -> Any:
        return self.w[0] * self.w[1]


class WithFallback(types.ModuleType):
    w: Any = X

    def __getattr__(self, name: str) -> Any:
        return self.w[0] * len(name)


class Rates:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __call__(self, name: str) -> Any:
        return self.x[0] * self.x[1] * len(name)

    def named(self, name: str) -> Any:
        return self.x.sum() * len(name)


OF_PROPERTY, OF_FALLBACK = WithProperty("of_property"), WithFallback("of_fallback")


@pytest.fixture(autouse=True)
def modules(monkeypatch: pytest.MonkeyPatch) -> None:
    vars(MADE).pop("__getattr__", None)
    for module in (MADE, OF_PROPERTY, OF_FALLBACK):
        monkeypatch.setitem(sys.modules, module.__name__, module)


FALLBACKS = {
    "function": lambda x: lambda name: x[0] * x[0] * len(name),
    "partial": lambda x: functools.partial(lambda a, name: a[0] * a[1] * len(name), x),
    "object": Rates,
    "method": lambda x: Rates(x).named,
}


def imported(x: Any) -> Any:
    from made import rate, size  # pyright: ignore[reportMissingImports]

    return rate * size


def in_class(x: Any) -> Any:
    class A:
        from made import rate  # pyright: ignore[reportMissingImports]

    return A.rate


def bound_globally(x: Any) -> Any:
    global size
    from made import size  # pyright: ignore[reportMissingImports]

    return size


def attribute(x: Any) -> Any:
    return MADE.rate * x[1]


@pytest.mark.without_modes("the module is another one after the test")
@pytest.mark.parametrize("kind", FALLBACKS)
@pytest.mark.parametrize("read", [imported, in_class, bound_globally, attribute])
def test_names_that_a_function_of_a_module_makes(kind: str, read: Any) -> None:
    def f(x: Any) -> Any:
        MADE.__getattr__ = FALLBACKS[kind](x)
        return read(x)

    check(f, X)
    expected = grad(f)(X)
    assert_allclose(grad(f, debug=True)(X), expected)
    assert_allclose(jvp(f, (X,), (X,))[1], expected @ X)
    assert_allclose(grad(lambda x: checkpoint(f, x) * 1.0)(X), expected)
    hvp(f, (X,), X)


@pytest.mark.without_modes("the module is another one after the test")
def test_names_of_modules_of_other_classes() -> None:
    def f(x: Any) -> Any:
        OF_PROPERTY.w = OF_FALLBACK.w = x * 2
        OF_PROPERTY.__getattr__ = lambda name: x[1]  # pyright: ignore[reportAttributeAccessIssue]
        from of_fallback import long  # pyright: ignore[reportMissingImports]
        from of_property import other, rate  # pyright: ignore[reportMissingImports]

        return rate * other * long + OF_PROPERTY.rate * OF_PROPERTY.third * OF_FALLBACK.more

    check(f, X)


@pytest.mark.without_modes("the module is another one after the test")
def test_what_the_code_of_a_module_changes_is_restored() -> None:
    asked: list[str] = []

    def f(x: Any) -> Any:
        MADE.__getattr__ = lambda name: (asked.append(name), x[0])[1]
        from made import a, b  # pyright: ignore[reportMissingImports]

        return a * b

    f(X)
    assert asked[0] == "__path__"
    asked.clear()
    assert value_and_grad(f)(X)[1].tolist() == [6.0, 0.0]
    assert asked == []


PACKAGE = """
W = None
def __getattr__(name):
    if name == "rate":
        return W[0] * W[1]
    raise AttributeError(name)
"""
WITHIN = """
def use(x):
    from .. import leaf, rate
    from ..leaf import K as k
    return rate * k * leaf.K
"""


def test_packages_with_modules_that_are_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "of_rates" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / "__init__.py").write_text(PACKAGE)
    (inner.parent / "leaf.py").write_text("K = 2.0\n")
    (inner / "__init__.py").write_text(WITHIN)
    monkeypatch.syspath_prepend(str(tmp_path))

    def f(x: Any) -> Any:
        import of_rates  # pyright: ignore[reportMissingImports]

        of_rates.W = x
        from of_rates import inner, rate

        return rate * inner.use(x)

    def missing(x: Any) -> Any:
        from of_rates import nothing  # pyright: ignore[reportMissingImports]

        return nothing

    value, g = value_and_grad(f)(X)
    assert value == 144.0
    assert_allclose(g, 2 * 144.0 / X)
    with pytest.raises(ImportError) as plain:
        missing(X)
    with pytest.raises(ImportError) as derived:
        grad(missing)(X)
    assert str(derived.value).startswith(str(plain.value))
    assert (derived.value.name, derived.value.path) == (plain.value.name, plain.value.path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "of_rates"]:
        del sys.modules[name]
    importlib.invalidate_caches()
