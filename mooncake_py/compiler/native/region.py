"""A function of numbers and arrays, read for given types of its arguments."""

from __future__ import annotations

from dataclasses import dataclass

from mooncake_py.compiler.ir import Block

__all__ = ["BOOL", "FLOAT", "INT", "NativeRegion"]

FLOAT, INT, BOOL = "float", "int", "bool"
"""The kinds of numbers: float64, int64 and bool."""


@dataclass(frozen=True)
class NativeRegion:
    """What a function computes, statements on arrays as loops over scalar stores.

    Attributes
    ----------
    body : Block
    inputs : tuple of str
        Numbers and arrays, in the order in which they are passed.
    kinds : dict of str to str
        Of every name and array, inputs and what is bound within.
    arrays : dict of str to int
        Of every array, allocated ones too, the number of its axes.
    results : tuple of str
        What is given back: names of numbers, and of arrays, which are inputs or allocated at the
        top level of the body.
    """

    body: Block
    inputs: tuple[str, ...]
    kinds: dict[str, str]
    arrays: dict[str, int]
    results: tuple[str, ...]
