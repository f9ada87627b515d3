"""Classes whose objects the programs of several test files differentiate."""
# The unusual style is the point of them.
# ruff: noqa: B019

from __future__ import annotations

import functools

__all__ = ["Box", "Memoized"]


class Box:
    """Two sides, its area by a method, and a property."""

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def area(self, k=1.0):
        return self.a * self.b * k

    @property
    def d(self):
        return self.a * 2


class Memoized:
    """Methods made by the decorators of `functools`."""

    def __init__(self, s):
        self.s = s

    def scale(self, v, k):
        return self.s * v * k

    twice = functools.partialmethod(scale, k=2.0)
    thrice = functools.partialmethod(scale, 3.0)

    @functools.cached_property
    def sq(self):
        return self.s * self.s

    @functools.cache
    def cached(self, k):
        return self.s * k

    @functools.singledispatchmethod
    def disp(self, v):
        return v * self.s

    @disp.register
    def _(self, v: int):
        return v * self.s * 10

    @disp.register(str)
    def _(self, v):
        return len(v) * self.s

    @disp.register
    def _(self, v: list):
        return sum(v) * self.s
