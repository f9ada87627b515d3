"""State in objects of the standard library, and settings of the process, are as before the call."""

from __future__ import annotations

import contextvars
import decimal
import gc
import locale
import logging
import os
import queue
import signal
import sys
import threading
import unittest.mock
import warnings
from typing import Any

import numpy as np
import pytest

from mooncake_py import checkpoint, grad, jvp, value_and_grad
from mooncake_py.runtime.activity import is_iterator


def filled() -> queue.Queue[int]:
    q: queue.Queue[int] = queue.Queue()
    q.put(1)
    return q


def local() -> Any:
    found = threading.local()
    found.k = 1.0
    return found


class OwnLocal(threading.local):
    def __init__(self) -> None:
        self.k = 1.0


VARIABLE: contextvars.ContextVar[int] = contextvars.ContextVar("VARIABLE", default=0)


# fmt: off
CASES = {  # how to make it, what the program does, what is compared
    "put": (queue.Queue, lambda q: q.put(1), lambda q: (q.qsize(), q.unfinished_tasks)),
    "get": (filled, lambda q: q.get(), lambda q: (q.qsize(), list(q.queue))),
    "task_done": (filled, lambda q: (q.get(), q.task_done()), lambda q: q.unfinished_tasks),
    "priority": (queue.PriorityQueue, lambda q: q.put(1), lambda q: q.qsize()),
    "event": (threading.Event, lambda e: e.set(), lambda e: e.is_set()),
    "semaphore": (threading.Semaphore, lambda s: s.acquire(), lambda s: s._value),
    "thread": (threading.current_thread, lambda t: setattr(t, "name", "other"), lambda t: t.name),
    "mock": (lambda: unittest.mock.Mock(k=1), lambda o: setattr(o, "k", 5), lambda o: o.k),
    "no mock": (lambda: unittest.mock.Mock(k=1), lambda o: delattr(o, "k"),
        lambda o: hasattr(o, "k")),
    "local": (local, lambda t: setattr(t, "k", t.k + 1), lambda t: t.__dict__.copy()),
    "new local": (local, lambda t: setattr(t, "j", 1), lambda t: t.__dict__.copy()),
    "no local": (local, lambda t: delattr(t, "k"), lambda t: t.__dict__.copy()),
    "own local": (OwnLocal, lambda t: setattr(t, "k", 2.0), lambda t: t.__dict__.copy()),
    "context": (lambda: VARIABLE, lambda v: v.set(3), lambda v: v.get()),
    "logger": (lambda: logging.getLogger("a"), lambda o: o.setLevel(10), lambda o: o.level),
    "logging": (lambda: 0, lambda _: logging.disable(10), lambda _: logging.root.manager.disable),
    "environment": (lambda: os.environ, lambda e: e.update(MK_A="1"), lambda e: e.get("MK_A")),
    "recursion": (lambda: 0, lambda _: sys.setrecursionlimit(5000),
        lambda _: sys.getrecursionlimit()),
    "collector": (gc.enable, lambda _: gc.disable(), lambda _: gc.isenabled()),
    "floating-point errors": (lambda: 0, lambda _: np.seterr(divide="ignore"),
        lambda _: np.geterr()["divide"]),
    "buffers": (lambda: 0, lambda _: np.setbufsize(4096), lambda _: np.getbufsize()),
    "printing": (lambda: 0, lambda _: np.set_printoptions(precision=3),
                 lambda _: np.get_printoptions()["precision"]),
    "warnings": (lambda: 0, lambda _: warnings.simplefilter("ignore"),
        lambda _: list(warnings.filters)),
    "signal": (lambda: 0, lambda _: signal.signal(signal.SIGUSR1, signal.SIG_IGN),
               lambda _: signal.getsignal(signal.SIGUSR1)),
    "locale": (lambda: 0, lambda _: locale.setlocale(locale.LC_NUMERIC, "C.UTF-8"),
               lambda _: locale.setlocale(locale.LC_NUMERIC)),
    "decimal": (lambda: 0, lambda _: decimal.setcontext(decimal.Context(prec=7)),
                lambda _: decimal.getcontext().prec),
    "folder": (lambda: 0, lambda _: os.chdir("/"), lambda _: os.getcwd()),
}
# fmt: on
WAYS = {
    "grad": lambda f: grad(f)(3.0),
    "jvp": lambda f: jvp(f, (3.0,), (1.0,)),
    "checkpoint": lambda f: grad(lambda x: checkpoint(f, x))(3.0),
    "debug": lambda f: grad(f, debug=True)(3.0),
}


@pytest.mark.without_modes("each case is a state of its own")
@pytest.mark.parametrize("name", CASES)
def test_what_the_program_changes_is_put_back(name):
    make, change, read = CASES[name]
    for way in WAYS.values():
        o = make()
        before = read(o)
        way(lambda x, o=o: (change(o), x * x)[1])
        assert read(o) == before


def test_the_program_sees_what_it_has_changed():
    t = local()

    def f(x):
        t.k = t.k + 1.0
        q = queue.Queue()
        q.put(x * t.k)
        return q.get() * q.qsize() + x * t.k

    assert value_and_grad(f)(3.0) == (6.0, 2.0)
    assert t.k == 1.0


def test_iterators_are_found_without_running_descriptors():
    class Descriptor:
        def __get__(self, o, t):
            raise AssertionError

    class Object:
        __next__ = Descriptor()

    assert not is_iterator(Object)
    assert is_iterator(type(iter([])))
    assert is_iterator(zip)


class Mocked(unittest.mock.MagicMock):
    """A mock of a class of the program."""


def test_mocks_of_classes_of_the_program_are_made() -> None:
    def f(x: Any) -> Any:
        mock = Mocked()
        mock(1)
        return x * x * mock.call_count

    assert grad(f)(3.0) == 6.0
