# pyright: reportInvalidTypeForm=false
"""Calls that the interpreter makes by itself run as part of the program, as often as in Python.

Each program calls methods that way which change captured data.  Values, derivatives and the number
of calls are those of the plain run, in each mode, and the data are afterwards as before.
"""

import collections.abc
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, hvp, jvp, value_and_grad

b = np.zeros(1)
calls = [0]


def change() -> None:
    """Change what a program reads afterwards: each call multiplies its derivative by 3."""
    b[0] = b[0] * 3
    calls[0] += 1


class Error(Exception):
    def __init__(self) -> None:
        super().__init__()
        change()


class New(Exception):
    def __new__(cls) -> Any:
        change()
        return super().__new__(cls)


class Meta(type):
    def __call__(cls) -> Any:
        change()
        return super().__call__()


class OfMeta(Exception, metaclass=Meta):
    pass


class Valued(Exception):
    def __init__(self, value: Any = None) -> None:
        super().__init__(value)
        change()


class Stop(StopIteration):
    def __init__(self) -> None:
        super().__init__()
        change()


class Truth:
    """What a comparison returns."""

    def __bool__(self) -> bool:
        change()
        return calls[0] < 4


class Q:
    """Compares by objects."""

    __hash__ = object.__hash__

    def __lt__(self, other: Any) -> Any:
        return Truth()

    __eq__ = __ne__ = __gt__ = __le__ = __ge__ = __lt__  # pyright: ignore[reportAssignmentType]


class Itself:
    """Compares by itself."""

    def __lt__(self, other: Any) -> Any:
        return self

    def __bool__(self) -> bool:
        change()
        return True


class Two:
    def __index__(self) -> int:
        change()
        return 2


class Reader:
    """An iterator of the program."""

    def __init__(self) -> None:
        self.i = 0

    def __iter__(self) -> Any:
        change()
        return self

    def __next__(self) -> float:
        change()
        self.i += 1
        if self.i > 3:
            raise StopIteration("end")
        return b[0] * self.i


class Sender(Reader):
    def send(self, value: Any) -> Any:
        change()
        return value * b[0]

    def throw(self, *error: Any) -> Any:
        change()
        return b[0]

    def close(self) -> None:
        change()


class Abstract(collections.abc.Generator[Any, Any, Any]):
    def send(self, value: Any) -> Any:
        change()
        return b[0] * (2.0 if value is None else value)

    def throw(self, *error: Any) -> Any:
        change()
        raise error[0]


def around(iterator: Any) -> Iterator[Any]:
    yield (yield from iterator)


def caught(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except Exception as error:
        return float(len(type(error).__name__))


# Exceptions


def raise_class() -> Any:
    try:
        raise Error
    except Error:
        return b[0]


def raise_class_by_new() -> Any:
    try:
        raise New
    except New:
        return b[0]


def raise_class_of_metaclass() -> Any:
    try:
        raise OfMeta
    except OfMeta:
        return b[0]


def raise_from_class() -> Any:
    try:
        raise ValueError from Error
    except ValueError as error:
        return b[0] * (type(error.__cause__) is Error) * error.__suppress_context__


def raise_both() -> Any:
    try:
        raise New from Error
    except New as error:
        return b[0] * isinstance(error.__cause__, Error)


def raise_from_none() -> Any:
    try:
        raise Error from None
    except Error as error:
        return b[0] * (error.__cause__ is None) * error.__suppress_context__


def raise_from_number() -> Any:
    try:
        raise Error from 1  # pyright: ignore[reportGeneralTypeIssues]
    except TypeError as error:
        return b[0] * (str(error) == "exception causes must derive from BaseException")


def raise_number() -> Any:
    try:
        raise 1  # pyright: ignore[reportGeneralTypeIssues]  # noqa: B016
    except TypeError as error:
        return b[0] * (str(error) == "exceptions must derive from BaseException")


def raise_what_is_no_exception() -> Any:
    class Odd(Exception):
        def __new__(cls) -> Any:
            change()
            return 1

    try:
        raise Odd
    except TypeError as error:
        return b[0] * str(error).startswith("calling <class")


def throw_class() -> Any:
    def generator() -> Iterator[Any]:
        try:
            yield 1.0
        except Error:
            yield b[0]

    g = generator()
    next(g)
    return g.throw(Error)  # pyright: ignore[reportAttributeAccessIssue]


def throw_class_with_value() -> Any:
    def generator() -> Iterator[Any]:
        try:
            yield 1.0
        except Valued as error:
            yield b[0] * error.args[0]

    g: Any = generator()
    next(g)
    return g.throw(Valued, 2.0)


def stop_by_class() -> Any:
    class Stopping(Reader):
        def __next__(self) -> Any:
            raise Stop

    return b[0] + sum(Stopping())


# Truth


def in_if() -> Any:
    if Q() < 1:
        return b[0]
    return 0.0


def in_while() -> Any:
    while Q() < 1:
        pass
    return b[0]


def in_not() -> Any:
    return b[0] * (not Q() == 1)  # noqa: SIM201


def in_and() -> Any:
    return (Itself() < 1 and 1.0) * b[0]


def in_or() -> Any:
    found = Itself() < 1 or 1.0
    return b[0] * (type(found) is Itself)


def in_and_of_tests() -> Any:
    if (Q() < 1 and Q() > 1) or Q() == 1:
        return b[0]
    return 0.0


def in_chain() -> Any:
    q = Itself()
    found = q < q < 1
    return b[0] * (type(found) is Itself)


def in_chain_of_calls() -> Any:
    def q() -> Any:
        change()
        return Itself()

    return b[0] * bool(q() < q() < q())


def in_chain_of_test() -> Any:
    q = Itself()
    return b[0] if q < q < q else 0.0


def in_chain_with_in() -> Any:
    q = Itself()
    if q < 1 in [1]:
        return b[0]
    return 0.0


def in_assert() -> Any:
    assert Q() == 1
    return b[0]


def in_ternary() -> Any:
    return b[0] if Q() < 1 else 0.0


def in_comprehension() -> Any:
    return sum([b[0] for _ in range(3) if Q() < 1])


def in_guard() -> Any:
    match 1:
        case 1 if Q() < 1:
            return b[0]


def in_lambda() -> Any:
    return (lambda q: q < 1 and b[0])(Itself())


def of_equal_lists() -> Any:
    return b[0] * ([Q()] == [Q()])


def of_equal_tuples_in_dicts() -> Any:
    return b[0] * ({1: (Q(), 1)} == {1: (Q(), 1)})


def of_ordered_tuples() -> Any:
    return b[0] * bool((1, Q()) < (1, Q())) + b[0] * ((1, 2, Q()) > (1, 2))


def of_the_largest() -> Any:
    max(Q(), Q())
    return b[0]


def of_the_smallest_of_many() -> Any:
    min([Q(), Q(), Q()])
    return b[0]


def of_membership() -> Any:
    return b[0] * (1 in [Q()])


def of_a_sentinel() -> Any:
    return b[0] * len(list(iter(lambda: 1, Q())))


def of_what_a_manager_answers() -> Any:
    class Manager:
        def __enter__(self) -> None:
            change()

        def __exit__(self, *details: Any) -> Any:
            return Itself()

    with Manager():
        raise KeyError
    return b[0]


# Annotations, positions


def of_a_parameter() -> Any:
    def f(y: change(), *args: change(), k: change() = 1, **kwargs: change()) -> change(): ...

    return b[0] * (f.__annotations__["return"] is None)


def of_attributes() -> Any:
    class C:
        x: change() = 1
        y: change()

    return b[0] * len(C.__annotations__)


def in_a_range() -> Any:
    return b[0] * len(range(Two())) + b[0] * sum(range(Two(), 9, Two()))


def in_a_loop_over_a_range() -> Any:
    total = 0.0
    for i in range(Two()):
        total += b[0] * i
    return total


def of_a_range() -> Any:
    return range(5)[Two()] * b[0] + b"abc"[Two()]


def of_a_wrong_index() -> Any:
    class Wrong:
        def __index__(self) -> Any:
            return 1.5

    try:
        return b[Wrong()]
    except IndexError as error:
        return b[0] * len(str(error))


def in_repeat() -> Any:
    two: Any = Two
    return b[0] * len([*itertools.repeat(1, two())]) * len([*itertools.repeat(1, times=two())])


# Delegation


def delegate() -> Any:
    return [v if isinstance(v, float) else 2.0 * b[0] for v in around(Reader())][1] + b[0]


def delegate_to_sender() -> Any:
    return sum(v for v in itertools.islice(around(Sender()), 2)) + b[0]


def delegate_sends() -> Any:
    g: Any = around(Sender())
    return next(g) * g.send(2.0) * b[0]


def delegate_throws() -> Any:
    g: Any = around(Sender())
    next(g)
    return g.throw(KeyError("k")) * b[0]


def delegate_throws_class() -> Any:
    g: Any = around(Sender())
    next(g)
    return g.throw(Error) * b[0]


def delegate_closes() -> Any:
    g: Any = around(Sender())
    next(g)
    g.close()
    return b[0]


def delegate_to_abstract() -> Any:
    g: Any = around(Abstract())
    return next(g) * g.send(b[0]) * caught(lambda: g.throw(KeyError("k")))


def delegate_without_send() -> Any:
    g: Any = around(Reader())
    next(g)
    try:
        g.send(1.0)
    except AttributeError as error:
        return b[0] * len(str(error))


def delegate_to_what_stands_in() -> Any:
    total = 0.0
    for source in (map(float, [1, 2]), np.ones(2), filter(None, [1, 2]), iter([1, 2])):
        g: Any = around(source)
        next(g)
        total += caught(lambda g=g: g.send(1.0))
    return b[0] * total


PROGRAMS: tuple[Callable[[], Any], ...] = (
    raise_class, raise_class_by_new, raise_class_of_metaclass, raise_from_class, raise_both,
    raise_from_none, raise_from_number, raise_number, raise_what_is_no_exception, throw_class,
    throw_class_with_value, stop_by_class,
    in_if, in_while, in_not, in_and, in_or, in_and_of_tests, in_chain, in_chain_of_calls,
    in_chain_of_test, in_chain_with_in, in_assert, in_ternary, in_comprehension, in_guard,
    in_lambda, of_equal_lists, of_equal_tuples_in_dicts, of_ordered_tuples, of_the_largest,
    of_membership, of_a_sentinel, of_what_a_manager_answers, of_a_range, of_a_wrong_index,
    of_a_parameter, of_attributes, in_a_range, in_a_loop_over_a_range, in_repeat,
    delegate, delegate_to_sender, delegate_sends, delegate_throws, delegate_throws_class,
    delegate_closes, delegate_to_abstract, delegate_without_send, delegate_to_what_stands_in,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:the .type, exc, tb. signature:DeprecationWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_the_plain_run(program: Callable[[], Any]) -> None:
    def f(a: Any) -> Any:
        b[0] = a
        calls[0] = 0
        y = program()
        return (y + b[0]) * (1.0 + calls[0])

    def plain(a: float) -> float:
        try:
            return f(a)
        finally:
            b[0] = calls[0] = 0

    at, h = 1.25, 1e-3
    y, slope = plain(at), (plain(at + h) - plain(at - h)) / (2 * h)
    curve = (plain(at + h) - 2 * plain(at) + plain(at - h)) / h**2
    found = {
        "value_and_grad": value_and_grad(f)(at),
        "again": value_and_grad(f)(at),
        "debug": value_and_grad(f, debug=True)(at),
        "jvp": jvp(f, (at,), (1.0,)),
        "checkpoint": value_and_grad(lambda a: checkpoint(f, a) * 1.0)(at),
    }
    for mode, result in found.items():
        np.testing.assert_allclose(result, (y, slope), rtol=1e-5, err_msg=mode)
    np.testing.assert_allclose(hvp(f, (at,), 1.0), curve, rtol=1e-4, atol=1e-4 * abs(y))
    assert b[0] == 0
    assert calls == [0]
