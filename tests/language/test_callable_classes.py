"""Subclasses of partial functions, static methods, properties and weak references."""

from __future__ import annotations

import functools
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import checkpoint, grad, jvp
from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([3.0, 2.0])


class Doubled(functools.partial[Any]):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs) * 2


class Kept(functools.partial[Any]):
    def __new__(cls, f: Any, *args: Any) -> Any:
        made: Any = super().__new__(cls, f, *args)
        made.first = args[0]
        return made


DOUBLED = Doubled(lambda a, b, c=1.0: a * b * c, 2.0)


@programs(X)
def made_before(x: Any) -> Any:
    return DOUBLED(x[0], c=x[1]) * functools.partial.__call__(DOUBLED, x[1])


@programs(X)
def made_inside(x: Any) -> Any:
    nested = Doubled(Doubled(lambda a, b, c: a * b * c, x[0]), x[1])
    return nested(x[0]) + sum(map(Doubled(lambda a, b: a * b, x[0]), [x[1], 1.0]))


@programs(X)
def class_made_inside(x: Any) -> Any:
    class Plain(functools.partial[Any]):
        pass

    kept = Kept(lambda a, b: a * b, x[0])
    return Plain(lambda a, b: a * b, x[0])(x[1]) * kept(x[1]) * kept.first


@programs(X)
def static_methods(x: Any) -> Any:
    class Scaled(staticmethod):  # type: ignore[type-arg]
        def __call__(self, *args: Any) -> Any:
            return super().__call__(*args) * x[1]

    class Plain(staticmethod):  # type: ignore[type-arg]
        pass

    class A:
        m = Plain(lambda v: v * x[0])

    return A.m(x[1]) * Plain(lambda v: v * x[0])(x[1]) * Scaled(lambda v: v * x[0])(x[0])


@programs(X)
def properties(x: Any) -> Any:
    class Scaled(property):
        def __get__(self, o: Any, t: Any = None) -> Any:
            return super().__get__(o, t) * x[0]

    class A:
        p = Scaled(lambda self: self.v * x[1])

        @p.setter
        def p(self, v: Any) -> None:
            self.v = v * x[0]

    a = A()
    a.p = x[1]
    return a.p


@programs(X)
def class_methods_and_namespaces(x: Any) -> Any:
    class Method(classmethod):  # type: ignore[type-arg]
        pass

    class Names(SimpleNamespace):
        pass

    class A:
        @Method
        def m(cls) -> Any:
            return x[0] * x[1]

    return Names(a=A.m(), b=x[0]).a * A().m()


@programs(X)
def weak_references(x: Any) -> Any:
    class Reference(weakref.ref[Any]):
        def __call__(self) -> Any:
            return super().__call__().v * x[0]

    class A:
        v = x[1] * x[1]

    a = A()
    return Reference(a)()


@pytest.mark.parametrize("program", programs, ids=str)
def test_they_are_derived(program: Program) -> None:
    program.check()
    expected = grad(program.f)(X)
    assert_allclose(grad(program.f, debug=True)(X), expected, rtol=1e-14)
    assert_allclose(jvp(program.f, (X,), (X,))[1], expected @ X, rtol=1e-14)
    assert_allclose(grad(lambda x: checkpoint(program.f, x) * 1.0)(X), expected, rtol=1e-14)
