"""A construct, and the loops by which it is measured."""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["Construct", "written"]

ROUNDS = 200

# `it` hides the iterator, so that no loop runs as one piece: what is measured is the construct.
PRELUDE = """\
import enum
import functools
import math
from collections import namedtuple
from dataclasses import dataclass

import numpy as np

it = iter


def g(x, y):
    return x


def g1(x):
    return x


def keyword_only(x, *, y):
    return x


def counting():
    n = 0

    def count(x):
        nonlocal n
        n = n + 1
        return x

    return count


class M:
    def __init__(self):
        self.k = 1.0
        self.seen = []

    def get(self, a):
        return a

    def step(self, a):
        s = a * 0.99 + self.k
        self.seen.append(s)
        return s

    @property
    def p(self):
        return self.k

    @staticmethod
    def static(a):
        return a

    @classmethod
    def of_class(cls, a):
        return a

    def __call__(self, a):
        return a

    def __getitem__(self, i):
        return self.k

    def __len__(self):
        return 2

    def __bool__(self):
        return True

    def __iter__(self):
        yield self.k
        yield self.k

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class Child(M):
    def get(self, a):
        return super().get(a)


class Steps:
    def __init__(self, x):
        self.x = x
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 3:
            raise StopIteration
        self.n += 1
        return self.x


class E(enum.Enum):
    A = 1
    B = 2


class V:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return self

    def __neg__(self):
        return self

    def __lt__(self, other):
        return True


class Pair:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Pair(self.x + other.x, self.y + other.y)


class Empty:
    pass


@dataclass
class D:
    x: float
    y: float


P = namedtuple("P", "x y")
PART = functools.partial(g, y=1.0)
MODEL = M()
CHILD = Child()

"""

_names = itertools.count()


@dataclass(frozen=True)
class Construct:
    """A piece of a program that is run in a loop.

    Parameters
    ----------
    name : str
    body : str
        Lines of the loop, which may read the number `s`, the number `v` of the iteration, the
        arrays `a` (three elements), `b` (a thousand) and `m` (three by three), and what `setup`
        binds.
    setup : str
        Lines before the loop.
    baseline : str
        The body of the loop that is subtracted: what belongs to the statement around a call.
    limit : float or None
        The most that it may cost: in plain calls of an empty function for the language, in
        microseconds for functions.
    result : str
        What the function returns.
    """

    name: str
    body: str
    setup: str = "pass"
    baseline: str = "pass"
    limit: float | None = None
    result: str = "s"

    def text_of(self, name: str, body: str) -> str:
        """Return the text of a function of this name that runs a body in the loop."""
        lines = [
            f"def {name}(s, a, b, m, vs):",
            *(f"    {line}" for line in self.setup.splitlines()),
            "    for v in it(vs):",
            *(f"        {line}" for line in body.splitlines()),
            f"    return {self.result}",
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Loops:
    """The loops of one construct."""

    construct: Construct
    measured: Callable[..., Any]
    subtracted: Callable[..., Any]


def written(constructs: list[Construct]) -> list[Loops]:
    """Return the loops of constructs, from a file of their own: derivatives read source."""
    parts = [PRELUDE]
    for i, each in enumerate(constructs):
        parts.append(each.text_of(f"measured_{i}", each.body))
        parts.append(each.text_of(f"subtracted_{i}", each.baseline))
    module = module_of("\n\n\n".join(parts) + "\n")
    return [
        Loops(each, getattr(module, f"measured_{i}"), getattr(module, f"subtracted_{i}"))
        for i, each in enumerate(constructs)
    ]


def module_of(text: str) -> ModuleType:
    """Return a new module with this text."""
    name = f"constructs_{next(_names)}"
    path = Path(tempfile.mkdtemp(prefix="constructs")) / f"{name}.py"
    path.write_text(text)
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
