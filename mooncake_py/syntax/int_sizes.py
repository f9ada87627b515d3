"""How many bits the ints of a function have at most, as far as its text and the call tell."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

__all__ = ["MOST_BITS", "USUAL", "IntSizes"]

MOST_BITS = 63
USUAL = 20  # of lengths and counters of which nothing is known: products of three fit


class IntSizes:
    """The sizes of expressions of ints.

    Parameters
    ----------
    own : dict of str to list
        What names are bound to, see `Bindings`.
    parameters : mapping of str to int
        The bits of parameters that are large in a call.
    """

    def __init__(self, own: Mapping[str, list[Any]], parameters: Mapping[str, int]) -> None:
        self.own = {name: list(values) for name, values in own.items()}
        self.parameters = parameters
        self.known: dict[str, int] = {}

    def bits(self, e: ast.AST) -> int:
        """Return how many bits an int has at most."""
        match e:
            case ast.Constant(value=int(value)):
                return value.bit_length()
            case ast.Name(id=name):
                return self._of_name(name)
            case ast.UnaryOp(operand=operand):
                return self.bits(operand)
            case ast.BinOp():
                return self._of_operation(e)
        return USUAL

    def _of_name(self, name: str) -> int:
        """Return the bits of a name; what depends on itself has the usual ones meanwhile."""
        if name not in self.known:
            self.known[name] = self.parameters.get(name, USUAL)
            found = [self._of_binding(value) for value in self.own.get(name, ())]
            self.known[name] = max(self.parameters.get(name, 1), *found, 1)
        return self.known[name]

    def _of_binding(self, value: Any) -> int:
        """Return the bits of what a name is bound to: the items of a ``range``, or a value."""
        if isinstance(value, ast.For):
            steps: Any = value.iter
            args = steps.args if isinstance(steps, ast.Call) else []
            return max([USUAL, *map(self.bits, args)])
        return USUAL if value is None else self.bits(value)

    def _of_operation(self, e: ast.BinOp) -> int:
        """Return the bits of the result of an operator."""
        left, right = self.bits(e.left), self.bits(e.right)
        exponent: Any = e.right.value if isinstance(e.right, ast.Constant) else None
        is_known = type(exponent) is int and 0 <= exponent <= MOST_BITS
        match e.op:
            case ast.Mult():
                return left + right
            case ast.Add() | ast.Sub():
                return max(left, right) + 1
            case ast.LShift() if is_known:
                return left + exponent
            case ast.Pow() if is_known:
                return left * exponent
            case ast.FloorDiv() | ast.RShift():
                return left
            case ast.Mod():
                return right
        return max(left, right)
