"""Hooks of Python, NumPy and SciPy that write: native code calls them, with constants.

Each function takes what the hook calls, and returns what runs the native code.
"""

import abc
import argparse
import bisect
import codecs
import collections
import copy
import csv
import ctypes
import enum
import gc
import importlib
import io
import itertools
import logging
import pickle
import re
import signal
import sys
import traceback
import types
import weakref
import xml.parsers.expat
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.programs.unseen.readers import Three
from tests.programs.unseen.states import Write

Run = Callable[[], Any]
HOOKS: dict[str, Callable[[Write], Run]] = {}
REFUSED: set[str] = set()
"""Hooks that are refused by name: Python calls them where no one can see it."""


def hook(make: Callable[[Write], Run]) -> Callable[[Write], Run]:
    HOOKS[make.__name__] = make
    return make


def refused(make: Callable[[Write], Run]) -> Callable[[Write], Run]:
    REFUSED.add(make.__name__)
    return hook(make)


def with_method(name: str, write: Write, result: Any) -> Any:
    """Return an object whose class has one method, which writes."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        write()
        return result

    return type("Hooked", (), {name: method, "__module__": __name__})()


def simple(name: str, result: Any, run: Callable[[Any], Any]) -> None:
    """Add a hook that is a method of one object."""

    def make(write: Write) -> Run:
        o = with_method(name, write, result)
        return lambda: run(o)

    HOOKS[f"{name} {len(HOOKS)}"] = make


simple("__dir__", ["a"], dir)
simple("__bytes__", b"a", bytes)
simple("__getitem__", "a", lambda o: "%(a)s" % o)  # noqa: UP031 - of mappings
simple("__getitem__", "a", "ab".translate)
simple("__eq__", True, lambda o: types.SimpleNamespace(a=o) == types.SimpleNamespace(a=1))
simple("__fspath__", "a", lambda o: io.StringIO(str(o.__fspath__())))
simple("__reduce__", (float, (1.0,)), pickle.dumps)
simple("__str__", "a", lambda o: traceback.format_exception_only(ValueError(o)))
simple("__add__", 1.0, lambda o: np.array([o, o], object) + 1)
simple("__add__", 1.0, lambda o: np.array([o, 1.0], object).sum())
simple("__lt__", False, lambda o: np.sort(np.array([o, o], object)))
simple("__repr__", "a", lambda o: str(np.array([o, o], object)))
simple("__neg__", 1.0, lambda o: -np.array([o, o], object))
simple("__radd__", 1.0, lambda o: np.ones(2) + np.array([o, o], object))
simple("__array__", np.ones(2), np.sum)
simple("__float__", 1.0, lambda o: np.zeros(2).__setitem__(0, o))
simple("__float__", 1.0, np.float64)
simple("write", None, lambda o: csv.writer(o).writerow([1]))
simple("write", 1, lambda o: np.savetxt(o, np.ones(2)))
simple("__deepcopy__", 1, lambda o: copy.deepcopy([o]))


simple("__index__", 1, lambda o: [1, 2][o])
simple("__index__", 1, lambda o: [1, 2].insert(o, 3))
simple("__index__", 1, lambda o: [1] * o)
simple("__index__", 1, lambda o: list(itertools.islice([1, 2], o)))
simple("__index__", 1, lambda o: list(enumerate("a", o)))
simple("__index__", 1, lambda o: collections.deque([1, 2]).rotate(o))
simple("__index__", 2, np.zeros)
simple("__index__", 0, lambda o: np.sum(np.ones(2), axis=o))
simple("sin", 1.0, lambda o: np.sin(np.array([o], object)))
simple("__eq__", True, lambda o: np.array([o], object) == np.array([1], object))
simple("__deepcopy__", 1, lambda o: copy.deepcopy(np.array([o, o], object)))
simple("__float__", 1.0, lambda o: np.array([o], object).astype(float))


@refused
def bound_of_slice(write: Write) -> Run:
    bound = with_method("__index__", write, 1)
    return lambda: [1, 2][bound:]


@hook
def iterator_from_outside(write: Write) -> Run:
    moved = map(lambda v: write() or v, itertools.repeat(1.0))  # noqa: C417
    return lambda: next(moved)


@hook
def array_interface(write: Write) -> Run:
    class Lent:
        @property
        def __array_interface__(self) -> Any:
            write()
            return np.ones(2).__array_interface__

    return lambda: np.asarray(Lent())


@hook
def dtype(write: Write) -> Run:
    class Typed:
        @property
        def dtype(self) -> Any:
            write()
            return np.dtype(float)

    return lambda: np.dtype(Typed())


@hook
def missing(write: Write) -> Run:
    class Kind(enum.Enum):
        A = 1.0

        @classmethod
        def _missing_(cls, value: object) -> Any:
            write()
            return cls.A

    return lambda: Kind(9)


@hook
def array_finalize(write: Write) -> Run:
    class Own(np.ndarray):
        def __array_finalize__(self, obj: Any) -> None:
            if obj is not None and obj.shape == (3,):
                write()

    a = np.ones(4).view(Own)[:3]
    return lambda: a[1:]


@hook
def converters(write: Write) -> Run:
    return lambda: np.loadtxt(io.StringIO("1 2"), converters={0: lambda s: write() or 1.0})


@hook
def formatter(write: Write) -> Run:
    def run() -> None:
        with np.printoptions(formatter={"float": lambda v: write() or "1"}):
            str(np.ones(2))

    return run


@hook
def formatter_of_text(write: Write) -> Run:
    return lambda: np.array2string(np.ones(2), formatter={"float": lambda v: write() or "1"})


@hook
def argument_type(write: Write) -> Run:
    parser = argparse.ArgumentParser()
    parser.add_argument("a", type=lambda text: write() or 1.0)
    return lambda: parser.parse_args(["1"])


@hook
def csv_reader(write: Write) -> Run:
    class Lines(Three):
        def __next__(self) -> Any:
            super().__next__()
            return "a,b"

    lines: Any = Lines(write)
    return lambda: list(csv.reader(lines))


@hook
def codec_errors(write: Write) -> Run:
    codecs.register_error("mooncake_hook", lambda error: (write() or "?", error.end))  # type: ignore[attr-defined]
    return lambda: b"\xff".decode("ascii", "mooncake_hook")


@hook
def ctypes_callback(write: Write) -> Run:
    callback = ctypes.CFUNCTYPE(None)(lambda: write() and None)
    return lambda: callback()


@hook
def parser_of_xml(write: Write) -> Run:
    def run() -> None:
        parser = xml.parsers.expat.ParserCreate()
        parser.StartElementHandler = lambda *args: write()
        parser.Parse("<a/>", True)

    return run


@hook
def raw_file(write: Write) -> Run:
    class Raw(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            write()
            return 0

    return lambda: io.BufferedReader(Raw()).read()


@hook
def logged(write: Write) -> Run:
    logger = logging.Logger("hooked")
    logger.addFilter(lambda record: write() and False)
    return lambda: logger.warning("a")


@hook
def substitution(write: Write) -> Run:
    return lambda: re.sub("a", lambda match: write() or "b", "aa")


@hook
def key_of_bisection(write: Write) -> Run:
    return lambda: bisect.bisect([1, 2], 1, key=lambda v: write() or v)


@hook
def group(write: Write) -> Run:
    return lambda: [list(g) for _, g in itertools.groupby([1, 1, 2], lambda v: write() or v)]


@hook
def default(write: Write) -> Run:
    return lambda: collections.defaultdict(lambda: write() or 1.0)[1]


@hook
def class_by_type(write: Write) -> Run:
    class Base:
        def __init_subclass__(cls) -> None:
            write()

    return lambda: type("Made", (Base,), {})


@hook
def new_class(write: Write) -> Run:
    class Base:
        def __init_subclass__(cls) -> None:
            write()

    return lambda: types.new_class("Made", (Base,))


@hook
def init_subclass(write: Write) -> Run:
    class Base:
        def __init_subclass__(cls) -> None:
            write()

    def run() -> None:
        class Made(Base):
            pass

    return run


@hook
def set_name(write: Write) -> Run:
    class Descriptor:
        def __set_name__(self, owner: type, name: str) -> None:
            write()

    def run() -> None:
        class Made:
            part = Descriptor()

    return run


@hook
def metaclass(write: Write) -> Run:
    class Meta(type):
        def __new__(cls, *args: Any) -> Any:
            write()
            return super().__new__(cls, *args)

    def run() -> None:
        class Made(metaclass=Meta):
            pass

    return run


@hook
def prepare(write: Write) -> Run:
    class Meta(type):
        @classmethod
        def __prepare__(cls, *args: Any, **kwargs: Any) -> Any:
            write()
            return {}

    class Base(metaclass=Meta):
        pass

    def run() -> None:
        class Made(Base):
            pass

    return run


@hook
def mro_entries(write: Write) -> Run:
    class Entry:
        def __mro_entries__(self, bases: Any) -> Any:
            write()
            return (object,)

    entry: Any = Entry()

    def run() -> None:
        class Made(entry):
            pass

    return run


@refused
def subclass_hook(write: Write) -> Run:
    class Protocol(abc.ABC):  # noqa: B024
        @classmethod
        def __subclasshook__(cls, other: type) -> bool:
            write()
            return True

    return lambda: isinstance(abc, Protocol)


@hook
def collection(write: Write) -> Run:
    def told(phase: str, info: Any) -> None:
        write()

    def run() -> None:
        gc.callbacks.append(told)
        try:
            gc.collect()
        finally:
            gc.callbacks.remove(told)

    return run


class Finder:
    """A finder of modules, of which it finds none."""

    def __init__(self, write: Write) -> None:
        self.write = write

    def find_spec(self, *args: Any) -> None:
        self.write()


@hook
def finder(write: Write) -> Run:
    found: Any = Finder(write)

    def run() -> None:
        sys.meta_path.insert(0, found)
        try:
            import mooncake_nowhere  # noqa: F401  # pyright: ignore[reportMissingImports]
        except ImportError:
            pass
        finally:
            sys.meta_path.remove(found)

    return run


@hook
def finder_by_name(write: Write) -> Run:
    found: Any = Finder(write)

    def run() -> None:
        sys.meta_path.insert(0, found)
        try:
            importlib.import_module("mooncake_nowhere")
        except ImportError:
            pass
        finally:
            sys.meta_path.remove(found)

    return run


@refused
def unraisable(write: Write) -> Run:
    class Failing:
        def __del__(self) -> None:
            raise ValueError

    def run() -> None:
        old = sys.unraisablehook
        sys.unraisablehook = lambda error: write()
        try:
            Failing()
        finally:
            sys.unraisablehook = old

    return run


@refused
def unraisable_from_outside(write: Write) -> Run:
    class Failing:
        def __del__(self) -> None:
            raise ValueError

    class Hook:
        def __call__(self, error: Any) -> None:
            write()

    def run() -> None:
        old = sys.unraisablehook
        setattr(sys, "unraisablehook", Hook())  # noqa: B010
        try:
            Failing()
        finally:
            sys.unraisablehook = old

    return run


@refused
def finalizer(write: Write) -> Run:
    class Freed:
        def __del__(self) -> None:
            write()

    return lambda: Freed() and None


@refused
def weak_callback(write: Write) -> Run:
    return lambda: weakref.ref(set(), lambda _: write())


@refused
def error_call(write: Write) -> Run:
    def run() -> None:
        with np.errstate(divide="call", call=lambda kind, flag: write()):
            np.divide(np.ones(1), np.zeros(1))

    return run


@refused
def error_log(write: Write) -> Run:
    def run() -> None:
        with np.errstate(divide="log", call=with_method("write", write, None)):
            np.divide(np.ones(1), np.zeros(1))

    return run


@refused
def error_call_set(write: Write) -> Run:
    def run() -> None:
        np.seterrcall(lambda kind, flag: write())
        old = np.seterr(divide="call")
        np.divide(np.ones(1), np.zeros(1))
        np.seterr(**old)
        np.seterrcall(None)

    return run


@refused
def handler_of_signal(write: Write) -> Run:
    def run() -> None:
        old = signal.signal(signal.SIGUSR1, lambda *args: write())
        signal.raise_signal(signal.SIGUSR1)
        signal.signal(signal.SIGUSR1, old)

    return run
