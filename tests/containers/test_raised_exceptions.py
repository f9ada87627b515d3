"""Exceptions from outside that a program raises: what Python sets of them is put back."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mooncake_py import checkpoint, grad, jvp, value_and_grad, vjp
from mooncake_py.containers.state import of_raised
from tests.support.pairs import rotating

ERROR, OTHER = ValueError("from outside"), KeyError("another")
Program = Callable[[Any], Any]
PROGRAMS: dict[str, Program] = {}


def program(f: Program) -> Program:
    PROGRAMS[f.__name__] = f
    return f


@program
def raises(x):
    try:
        raise ERROR
    except ValueError:
        return x * (1.0 if ERROR.__traceback__ is None else 2.0)


@program
def raises_from(x):
    try:
        raise ERROR from OTHER
    except ValueError:
        return x * (2.0 if ERROR.__cause__ is OTHER and ERROR.__suppress_context__ else 1.0)


@program
def raises_from_nothing(x):
    try:
        raise ERROR from None
    except ValueError:
        return x * (1.0 + ERROR.__suppress_context__)


@program
def raises_in_a_handler(x):
    try:
        try:
            raise OTHER
        except KeyError:
            raise ERROR  # noqa: B904
    except ValueError:
        return x * (2.0 if ERROR.__context__ is OTHER else 1.0)


@program
def raises_in_finally(x):
    try:
        try:
            raise OTHER
        finally:
            raise ERROR
    except ValueError:
        return 2.0 * x


@program
def raises_again(x):
    try:
        try:
            raise ERROR
        except ValueError:
            raise
    except ValueError:
        return 2.0 * x


@program
def is_suppressed(x):
    with contextlib.suppress(ValueError):
        raise ERROR
    return 2.0 * x


@program
def is_thrown(x):
    def steps() -> Iterator[Any]:
        try:
            yield x
        except ValueError:
            yield 2.0 * x

    made: Any = steps()
    next(made)
    return made.throw(ERROR)


@program
def raises_in_a_key(x):
    def key(value: Any) -> Any:
        raise ERROR

    try:
        sorted([1, 2], key=key)
    except ValueError:
        return 2.0 * x


@program
def sets_attributes(x):
    ERROR.__cause__, OTHER.__context__ = OTHER, ERROR
    return 2.0 * x


@program
def takes_a_traceback(x):
    try:
        raise OTHER
    except KeyError as error:
        ERROR.with_traceback(error.__traceback__)
    return 2.0 * x


DERIVATIVES: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: value_and_grad(f)(3.0),
    "debug": lambda f: value_and_grad(f, debug=True)(3.0),
    "jvp": lambda f: jvp(f, (3.0,), (1.0,)),
    "vjp": lambda f: (vjp(f, 3.0)[0], 2.0),
    "checkpoint": lambda f: value_and_grad(lambda x: checkpoint(f, x) * 1.0)(3.0),
    "inner": lambda f: (6.0, grad(lambda x: value_and_grad(f)(x)[1] * x)(3.0)),
}


@pytest.mark.parametrize(("name", "derivative"), rotating(PROGRAMS, DERIVATIVES, times=2))
def test_programs(name: str, derivative: str) -> None:
    before = of_raised(ERROR), of_raised(OTHER)
    assert before == ((None, None, None, False),) * 2
    assert DERIVATIVES[derivative](PROGRAMS[name]) == (6.0, 2.0)
    assert (of_raised(ERROR), of_raised(OTHER)) == before


def test_what_leaves_the_call_keeps_what_it_has() -> None:
    error, cause = ValueError("leaves"), KeyError("cause")

    def f(x):
        try:
            raise cause
        except KeyError:
            raise error from cause

    with pytest.raises(ValueError, match="leaves"):
        grad(f)(3.0)
    assert error.__cause__ is error.__context__ is cause
    names = []
    traceback = error.__traceback__
    while traceback is not None:
        names.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    assert names[-1] == "f"
