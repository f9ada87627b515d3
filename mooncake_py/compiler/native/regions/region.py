"""A function of numbers and arrays, read for given types of its arguments."""

from __future__ import annotations

from dataclasses import dataclass

from mooncake_py.compiler.regions.ir import Block

__all__ = ["BOOL", "FLOAT", "FLOAT32", "INT", "REAL", "NativeRegion"]

FLOAT, FLOAT32, INT, BOOL = "float", "float32", "int", "bool"
"""The kinds of numbers: float64, float32, int64 and bool."""
REAL = frozenset({FLOAT, FLOAT32})
"""The kinds of what may have a derivative."""


@dataclass(frozen=True)
class NativeRegion:
    """The computation of a function, with statements on arrays as loops over scalar stores.

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
    complexes : frozenset of str
        The arrays that hold complex numbers: as their last axis real and imaginary parts.
    lists : frozenset of str
        The inputs that are passed as lists of floats, and the results that are given back as lists
        of numbers.
    private : frozenset of str
        Inputs that the function may write though the region does not: who passes them must not
        look at them afterwards.
    contiguous : frozenset of str
        Inputs that must be in C order in memory: of others a part may be a copy in the place of
        a view.
    is_exact : bool
        Whether each operation is the one that the user's code has, to the last bit: complex
        numbers are pairs of real ones, say.
    """

    body: Block
    inputs: tuple[str, ...]
    kinds: dict[str, str]
    arrays: dict[str, int]
    results: tuple[str, ...]
    complexes: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    private: frozenset[str] = frozenset()
    contiguous: frozenset[str] = frozenset()
    is_exact: bool = True
