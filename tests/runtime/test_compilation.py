"""The setting that says whether functions are compiled: where it comes from, whom it reaches."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from typing import Any

import numpy as np
import pytest

import mooncake_py
from mooncake_py import (
    CoDual,
    Dual,
    MooncakeWarning,
    NoFData,
    NoTangent,
    compile_mode,
    debug_mode,
    frule,
    grad,
    hessian,
    hessian_diagonal,
    hvp,
    jacobian,
    jvp,
    rrule,
    value_and_grad,
    value_and_hvp,
    value_and_jacobian,
    value_grad_and_hessian,
    vjp,
)
from mooncake_py.compiler.native import region_site, site
from mooncake_py.compiler.native.regions.refused import NoCompiler
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.modes.forward.context import ForwardContext
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.modes.reverse.inner import InnerContext
from mooncake_py.runtime import compilation
from mooncake_py.runtime.compilation import compiles

pytestmark = [pytest.mark.plain, pytest.mark.without_modes("about the setting itself")]

X = np.array([1.0, 2.0])

Calls = list[tuple[str, str]]


@pytest.fixture(autouse=True)
def _compiled_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests begin without the setting, whatever the environment says."""
    monkeypatch.setattr(compilation, "by_default", lambda: False)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Return the modes that asked for functions to be compiled, and the names of these."""
    calls: Calls = []

    def call(_: Any, ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
        calls.append((type(ctx).__name__, f.__name__))
        return Elsewhere

    monkeypatch.setattr(site.FunctionSite, "call", call)
    monkeypatch.setattr(site.FunctionSite, "matched", lambda *_: None)  # no way without a mode
    monkeypatch.setattr(compilation, "can_compile", lambda: True)
    return calls


def half(x):
    return 0.5 * x


def energy(x):
    return np.sum(half(x) ** 2)


def slope(x):
    return np.sum(grad(energy)(x))


# Whom it reaches.

DERIVATIVES: dict[str, tuple[Callable[..., Any], set[str]]] = {
    "grad": (lambda **o: grad(energy, **o)(X), {"ReverseContext"}),
    "value_and_grad": (lambda **o: value_and_grad(energy, **o)(X), {"ReverseContext"}),
    "forward": (lambda **o: grad(energy, mode="forward", **o)(1.0), {"ForwardContext"}),
    "at once": (lambda **o: grad(energy, mode="forward", **o)(X), {"StackedContext"}),
    "vjp": (lambda **o: vjp(energy, X, **o), {"ReverseContext"}),
    "jvp": (lambda **o: jvp(energy, (X,), (X,), **o), {"ForwardContext"}),
    "jvp along": (lambda **o: jvp(energy, (X,), [(X,), (X,)], **o), {"StackedContext"}),
    "jacobian": (lambda **o: jacobian(half, **o)(X), {"StackedContext"}),
    "by rows": (lambda **o: jacobian(half, mode="reverse", **o)(X), {"ReverseContext"}),
    "value_and_jacobian": (lambda **o: value_and_jacobian(half, **o)(X), {"StackedContext"}),
    "hvp": (lambda **o: hvp(energy, (X,), X, **o), {"ForwardContext"}),
    "value_and_hvp": (lambda **o: value_and_hvp(energy, (X,), X, **o), {"ForwardContext"}),
    "hessian": (
        lambda **o: hessian(energy, **o)(X),
        {"StackedContext", "ForwardContext"},  # one direction is tried after several
    ),
    "hessian_diagonal": (lambda **o: hessian_diagonal(energy, **o)(X), {"ForwardContext"}),
    "value_grad_and_hessian": (
        lambda **o: value_grad_and_hessian(energy, **o)(X),
        {"StackedContext", "ForwardContext"},
    ),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_every_derivative_takes_it(name: str, asked: Calls) -> None:
    derivative, modes = DERIVATIVES[name]
    derivative()
    derivative(compile=False)
    with debug_mode():
        derivative(compile=True)
    assert asked == []
    derivative(compile=True)
    assert {mode for mode, f in asked if f == "half"} == modes
    asked.clear()
    with compile_mode():
        derivative()
    assert {mode for mode, f in asked if f == "half"} == modes


def test_the_outermost_function_and_those_that_it_calls_are_asked_for(asked: Calls) -> None:
    grad(energy, compile=True)(X)
    assert asked == [("ReverseContext", "energy"), ("ReverseContext", "half")]


def test_what_comes_back_is_the_result(monkeypatch: pytest.MonkeyPatch, asked: Calls) -> None:
    def call(_: Any, ctx: Any, f: Any, args: Any, kwargs: Any) -> Any:
        return 7.0 if f is half else Elsewhere

    monkeypatch.setattr(site.FunctionSite, "call", call)
    assert value_and_grad(energy, compile=True)(X)[0] == 49.0


@pytest.mark.parametrize(
    "derivative",
    [
        lambda: grad(slope)(X),
        lambda: vjp(slope, X)[1](1.0),
        lambda: jvp(slope, (X,), (X,)),
        lambda: hvp(slope, (X,), X),
        lambda: grad(lambda x: jvp(energy, (x,), (X,))[1])(X),
        lambda: grad(lambda x: vjp(energy, x)[1](1.0)[0][0])(X),
    ],
)
def test_derivatives_inside_have_it_too(derivative: Callable[[], Any], asked: Calls) -> None:
    with compile_mode():
        derivative()
    again = list(asked)
    modes = {mode for mode, f in asked if f == "half"}
    assert modes & {"InnerContext", "ForwardContext"}
    asked.clear()
    derivative()
    assert asked == []
    assert len(again) >= 4


def test_one_inside_may_have_its_own(asked: Calls) -> None:
    """Also when it runs once more on the way back: what it computes must be the same."""

    def inside(compile: bool) -> Callable[..., Any]:
        return lambda x: np.sum(grad(energy, compile=compile)(x))

    grad(inside(False), compile=True)(X)
    assert [f for _, f in asked] == ["<lambda>"]
    asked.clear()
    grad(inside(True), compile=False)(X)
    assert [mode for mode, f in asked if f == "half"] == ["InnerContext", "ForwardContext"]


def test_pullbacks_inside_keep_it(asked: Calls) -> None:
    def f(x):
        _, pullback = vjp(energy, x, compile=True)
        before = len(asked)
        return pullback(1.0)[0][0], len(asked) - before

    _, during_the_pullback = grad(f, has_aux=True)(X)
    assert during_the_pullback >= 2


def test_pullbacks_keep_it(asked: Calls) -> None:
    _, pullback = vjp(energy, X, compile=True)
    pullback(1.0)
    asked.clear()
    pullback(1.0)
    assert ("ReverseContext", "half") in asked
    asked.clear()
    _, pullback = vjp(energy, X)
    with compile_mode():
        pullback(1.0)
        pullback(1.0)
    assert asked == []


def test_pullbacks_to_parameters_keep_it(asked: Calls) -> None:
    x = X.copy()
    with compile_mode():
        _, pullback = mooncake_py.pullback(lambda: energy(x), params=mooncake_py.Params([x]))
    asked.clear()
    pullback(1.0)
    assert ("ReverseContext", "half") in asked


def test_derived_rules_have_it(asked: Calls) -> None:
    with compile_mode():
        rrule(CoDual(energy, NoFData()), CoDual(X, np.zeros(2)))
        frule(Dual(energy, NoTangent()), Dual(X, X.copy()))
    assert {mode for mode, f in asked if f == "half"} == {"ReverseContext", "ForwardContext"}


def test_derivatives_keep_it_when_pickled(asked: Calls) -> None:
    pickle.loads(pickle.dumps(grad(energy, compile=True)))(X)
    assert len(asked) == 2


def test_contexts_know_it(asked: Calls) -> None:
    assert not ReverseContext().compiles
    with compile_mode():
        outer = ReverseContext()
        assert outer.compiles
        assert ForwardContext(outer, plain=True).compiles
        with compile_mode(False):
            inner = InnerContext(outer)
            assert not inner.compiles
            assert not ForwardContext(inner, plain=False).compiles


# The block.


def test_the_block_belongs_to_a_thread(asked: Calls) -> None:
    found: list[bool] = []
    with compile_mode():
        assert compiles()
        thread = threading.Thread(target=lambda: found.append(compiles()))
        thread.start()
        thread.join()
        with compile_mode(False):
            assert not compiles()
        with pytest.raises(KeyError), compile_mode(False):
            raise KeyError
        assert compiles()
    assert not compiles()
    assert found == [False]


def test_debug_mode_compiles_nothing(asked: Calls) -> None:
    with compile_mode():
        grad(slope, debug=True)(X)
        vjp(slope, X, debug=True)[1](1.0)
        with debug_mode():
            grad(slope)(X)
            grad(slope, compile=True)(X)
            jvp(slope, (X,), (X,), compile=True)
            rrule(CoDual(energy, NoFData()), CoDual(X, np.zeros(2)))
    grad(slope, debug=True, compile=True)(X)
    assert asked == []


# Without a compiler, and from the environment.


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let nothing be known of compilers."""
    monkeypatch.setattr(compilation, "can_compile", CAN_COMPILE)
    monkeypatch.setattr(compilation, "_why", None)
    compilation.problem.cache_clear()
    yield
    compilation.problem.cache_clear()


CAN_COMPILE = compilation.can_compile


@pytest.mark.parametrize(
    "derivative", [*(d for d, _ in DERIVATIVES.values()), lambda **o: compile_mode().__enter__()]
)
def test_without_a_compiler_it_is_said_once(
    derivative: Callable[..., Any], fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    with pytest.warns(MooncakeWarning, match=r"llvmlite is not installed") as caught:
        derivative(compile=True)
    (told,) = caught
    derivative(compile=True)  # warnings are errors here
    assert "fix:   pip install llvmlite scipy" in str(told.message)
    assert told.filename == __file__
    with compile_mode():
        assert not compiles()


@pytest.mark.parametrize(
    "maker",
    [
        grad, hessian, hessian_diagonal, jacobian, value_and_grad, value_and_jacobian,
        value_grad_and_hessian,
    ],
)  # fmt: skip
def test_it_is_said_before_anything_runs(
    maker: Callable[..., Any], fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilation, "beside_compiler", lambda: ["llvmlite-0.43.0.dist-info"])
    monkeypatch.setattr(compilation, "is_installed", lambda: True)
    with pytest.warns(MooncakeWarning, match=r"llvmlite 0\.43\.0 is older than 0\.45"):
        maker(energy, compile=True)


def test_a_compiler_that_does_not_work_is_asked_once(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("llvmlite")
    calls: list[Any] = []

    def fail(region: Any, *rest: Any) -> Any:
        calls.append(region)
        raise NoCompiler("LLVM does not run here: no memory")

    monkeypatch.setattr(region_site, "form_of", fail)

    def f(x):
        s = 0.0
        for v in x:
            s += v * np.sin(v) + half(x)[0]
        return s

    x = np.ones(100)
    with pytest.warns(MooncakeWarning, match="LLVM does not run here: no memory") as caught:
        found = grad(f, compile=True)(x)
    np.testing.assert_array_equal(found, grad(f)(x))
    assert len(caught) == 1
    before = len(calls)
    grad(f, compile=True)(np.ones((100, 1)).ravel())
    assert len(calls) == before > 0


PROGRAM = """
import importlib.machinery, sys, warnings
if {blocked}:
    sys.modules["llvmlite"] = None
else:
    sys.modules["llvmlite"] = type(sys)("llvmlite")
    sys.modules["llvmlite"].__spec__ = importlib.machinery.ModuleSpec("llvmlite", None)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from mooncake_py import compile_mode, grad
    from mooncake_py.modes.reverse.context import ReverseContext
    grad(abs)(1.0), grad(abs)(1.0)
    print(ReverseContext().compiles, len(caught), *[w.message for w in caught])
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("value", "blocked", "expected"),
    [
        ("1", False, "True 0"),
        ("0", False, "False 0"),
        ("", True, "False 0"),
        ("1", True, "False 1 nothing is compiled, and derivatives run as without"),
    ],
)
def test_the_environment_says_the_default(
    value: str, blocked: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOONCAKE_COMPILE", value)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(blocked=blocked)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.startswith(expected)


# Signatures.


@pytest.mark.parametrize(
    "function",
    [
        grad, hessian, hessian_diagonal, hvp, jacobian, jvp, value_and_grad, value_and_hvp,
        value_and_jacobian, value_grad_and_hessian, vjp,
    ],
)  # fmt: skip
def test_it_is_a_parameter_by_keyword_only(function: Callable[..., Any]) -> None:
    parameter = signature(function).parameters["compile"]
    assert (parameter.kind, parameter.default) == (Parameter.KEYWORD_ONLY, None)
