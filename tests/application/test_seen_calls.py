"""Native code that calls Python code of the user's: what it changes is seen, and put back."""

import collections
import contextlib
import csv
import io
import itertools
import json
import logging
import pprint
import string
import textwrap
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mooncake_py import MooncakeError, checkpoint, grad, jvp
from mooncake_py.application.seen_calls import runs_python

Write = Callable[[], Any]


class Holding:
    def __init__(self, write: Write) -> None:
        self.write_one = write


class File(Holding):
    def write(self, text: str) -> int:
        self.write_one()
        return len(text)

    def flush(self) -> None:
        pass


class Texts(Holding):
    def __iter__(self) -> Iterator[str]:
        for text in "ab":
            self.write_one()
            yield text


class Numbers(Holding):
    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> float:
        if i >= 2:
            raise IndexError
        self.write_one()
        return float(i + 1)


class Shown(Holding):
    def __str__(self) -> str:
        self.write_one()
        return "shown"

    __repr__ = __str__

    def __int__(self) -> int:
        self.write_one()
        return 1

    def __lt__(self, other: Any) -> bool:
        self.write_one()
        return False

    def __hash__(self) -> int:
        self.write_one()
        return 1

    def __eq__(self, other: object) -> bool:
        self.write_one()
        return self is other


class Missing(dict[str, Any]):
    def __init__(self, write: Write) -> None:
        super().__init__()
        self.write_one = write

    def __missing__(self, key: str) -> str:
        self.write_one()
        return key


class Handler(logging.Handler):
    def __init__(self, write: Write) -> None:
        super().__init__()
        self.write_one = write

    def emit(self, record: logging.LogRecord) -> None:
        self.write_one()


class Filter(logging.Filter):
    def __init__(self, write: Write) -> None:
        super().__init__()
        self.write_one = write

    def filter(self, record: logging.LogRecord) -> bool:
        self.write_one()
        return False


class Encoder(json.JSONEncoder):
    write_one: Any = None

    def default(self, o: Any) -> Any:
        Encoder.write_one()
        return 1


def encoded(write: Write) -> None:
    Encoder.write_one = staticmethod(write)
    json.dumps([object()], cls=Encoder)


def logged(add: str, remove: str, what: Any) -> None:
    logger = logging.getLogger("test_seen_calls")
    logger.propagate = False
    getattr(logger, add)(what)
    logger.warning("x")
    getattr(logger, remove)(what)


class Adapter(logging.LoggerAdapter):  # type: ignore[type-arg]
    def process(self, msg: Any, kwargs: Any) -> Any:
        extra: Any = self.extra
        extra["write"]()
        return msg, kwargs


def adapted(adapter: Any, handler: Any, write: Write) -> None:
    logger = logging.Logger("test_seen_calls")
    logger.addHandler(handler)
    adapter(adapter(logger, {"write": write}), {"write": write}).warning("x")


def redirected(write: Write) -> None:
    with contextlib.redirect_stdout(File(write)):
        print(1)


def warned(write: Write) -> None:
    with warnings.catch_warnings():
        warnings.showwarning = lambda *args, **kwargs: write()
        warnings.simplefilter("always")
        warnings.warn("x", stacklevel=1)


def then(write: Write, value: Any) -> Any:
    write()
    return value


CALLS: dict[str, Callable[[Write], Any]] = {
    "csv.writer": lambda w: csv.writer(File(w)).writerow([1]),
    "csv.DictWriter": lambda w: csv.DictWriter(File(w), ["a"]).writeheader(),
    "csv of an object": lambda w: csv.writer(io.StringIO()).writerow([Shown(w)]),
    "json.dumps": lambda w: json.dumps([object()], default=lambda o: then(w, 1)),
    "json.dumps of a class": encoded,
    "json.loads": lambda w: json.loads('{"a": 1.5}', object_hook=lambda d: then(w, d)),
    "json.loads of floats": lambda w: json.loads("[1.5]", parse_float=lambda d: then(w, 1.5)),
    "savetxt": lambda w: np.savetxt(File(w), np.ones(2)),
    "array2string": lambda w: np.array2string(
        np.ones(2),
        formatter={"float": lambda v: then(w, "1")},  # type: ignore[call-overload]
    ),
    "isclose": lambda w: np.isclose(Numbers(w), 1.0),  # type: ignore[call-overload]
    "np.array": lambda w: np.array(Numbers(w)),
    "join": lambda w: "".join(Texts(w)),
    "writelines": lambda w: io.StringIO().writelines(Texts(w)),
    "format": lambda w: "{}".format(Shown(w)),  # noqa: UP032
    "format_map": lambda w: "{b}".format_map(Missing(w)),
    "percent": lambda w: "%s" % Shown(w),  # noqa: UP031
    "repr": lambda w: repr([Shown(w)]),
    "int": lambda w: int(Shown(w)),  # type: ignore[call-overload]
    "sorted": lambda w: sorted([Shown(w), Shown(w)]),  # type: ignore[type-var]
    "set": lambda w: {Shown(w)},
    "index": lambda w: [Shown(w), 1].index(1),
    "pformat": lambda w: pprint.pformat([Shown(w)]),
    "Template": lambda w: string.Template("$a").substitute(a=Shown(w)),
    "Template of a dict": lambda w: string.Template("$b").substitute(Missing(w)),
    "indent": lambda w: textwrap.indent("a\nb", "-", lambda line: then(w, True)),
    "handler": lambda w: logged("addHandler", "removeHandler", Handler(w)),
    "stream": lambda w: logged("addHandler", "removeHandler", logging.StreamHandler(File(w))),
    "filter": lambda w: logged("addFilter", "removeFilter", Filter(w)),
    "adapter": lambda w: adapted(Adapter, logging.NullHandler(), w),
    "adapter of the library": lambda w: adapted(logging.LoggerAdapter, Handler(w), w),
    "redirect_stdout": redirected,
    "showwarning": warned,
}


def program(call: Callable[[Write], Any], seen: list[Any]) -> Callable[[Any], Any]:
    def f(a: Any) -> Any:
        call(lambda: seen.append(a * a))
        return sum(seen) + a

    return f


@pytest.mark.without_modes("streams that are read stay where they are")
@pytest.mark.parametrize("name", CALLS)
def test_changes_are_seen_and_put_back_or_refused(name: str) -> None:
    seen: list[Any] = []
    f = program(CALLS[name], seen)
    f(2.0)
    count = len(seen)
    assert count
    seen.clear()
    for derivative in (
        lambda: grad(f)(2.0),
        lambda: jvp(f, (2.0,), (1.0,))[1],
        lambda: grad(lambda a: checkpoint(f, a))(2.0),
        lambda: grad(f, debug=True)(2.0),
    ):
        with contextlib.suppress(MooncakeError):
            assert derivative() == pytest.approx(4.0 * count + 1.0)
        assert seen == []


@pytest.mark.parametrize(
    "name",
    ["csv.writer", "json.dumps", "json.loads", "join", "handler", "adapter", "indent", "pformat"],
)
def test_these_are_not_refused_where_the_changes_are_constants(name: str) -> None:
    seen: list[Any] = []

    def f(a: Any) -> Any:
        CALLS[name](lambda: seen.append(1))
        return a * a * len(seen)

    f(2.0)
    count = len(seen)
    seen.clear()
    assert grad(f)(2.0) == 4.0 * count
    assert jvp(f, (2.0,), (1.0,))[1] == 4.0 * count
    assert seen == []


def test_handlers_that_a_program_adds_are_taken_away() -> None:
    logger = logging.getLogger("test_seen_calls.added")

    def f(a: Any) -> Any:
        logger.addHandler(logging.NullHandler())
        logger.info("x")
        return a * a

    assert grad(f)(2.0) == 4.0
    assert logger.handlers == []


@pytest.mark.parametrize(
    ("value", "answer"),
    [(1.0, False), ([1.0, "a"], False), (np.ones(2), False), (len, False), (io.StringIO(), False),
     ({"a": (1, [2])}, False), (collections.OrderedDict, False),
     (Shown(int), True), ([1, Shown(int)], True), ({"a": [File(int)]}, True), (lambda: 1, True),
     (csv.writer(File(int)), True), (csv.DictWriter(File(int), []), True),
     (csv.writer(io.StringIO()), False), (Encoder, True)],
)  # fmt: skip
def test_what_may_call_python(value: Any, answer: bool) -> None:
    assert runs_python(value) is answer


class Steps(Holding):
    def __iter__(self) -> Iterator[float]:
        return self

    def __next__(self) -> float:
        self.write_one()
        return 1.0


def same(v: Any) -> Any:
    return v


def listed(v: Any) -> list[Any]:
    return [v]


@pytest.mark.parametrize(
    ("make", "answer"),
    [(lambda: iter([1.0]), False), (lambda: iter({"a": Shown(int)}.values()), False),
     (lambda: iter("text"), False), (lambda: reversed([Shown(int)]), False),
     (lambda: zip([1.0], (2.0,), strict=True), False), (lambda: enumerate(iter([1.0])), False),
     (lambda: itertools.product([1.0], [Shown(int)], [len]), False),
     (lambda: itertools.islice(itertools.count(1), 3), False),
     (lambda: itertools.chain([1.0], [len]), False), (lambda: map(float, ["1"]), False),
     (lambda: map(len, ["1"]), False), (lambda: zip((i for i in range(2)), strict=True), False),
     (lambda: map(same, [1.0]), True), (lambda: map(Numbers(int).__getitem__, [1]), True),
     (lambda: zip([1.0], Steps(int), strict=False), True), (lambda: enumerate(Steps(int)), True),
     (lambda: itertools.chain.from_iterable(map(listed, [1.0])), True),
     (lambda: itertools.islice(filter(lambda v: v > 0, [1.0]), 3), True),
     (lambda: enumerate(zip(itertools.chain([1.0]), map(same, [1.0]), strict=True)), True),
     (lambda: itertools.takewhile(lambda v: v > 0, [1.0]), True),
     (lambda: iter(lambda: 1.0, 2.0), True)],
)  # fmt: skip
def test_which_iterators_may_call_python(make: Callable[[], Any], answer: bool) -> None:
    assert runs_python(make()) is answer
    iterator = make()
    next(iterator)
    assert runs_python(iterator) is answer
