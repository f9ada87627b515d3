"""What is active in a loop, and of which types its numbers are, for given inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mooncake_py.forms.contractions import operands_of
from mooncake_py.forms.loops.program import (
    Assign,
    Block,
    Branch,
    Count,
    Item,
    Program,
    Repeat,
    While,
)
from mooncake_py.forms.number_functions import PAIRS

__all__ = ["FLOAT", "FLOAT64", "INT", "MIXED", "Kinds", "active_parts"]

INT, FLOAT, FLOAT64 = "int", "float", "float64"
MIXED = "mixed"  # it depends on how often a loop runs, or on the branch that was taken
Env = dict[str, str]


def active_parts(
    program: Program, active: set[str], groups: dict[str, Any]
) -> set[str]:
    """Return the names and arrays that are active somewhere in a loop.

    Parameters
    ----------
    active : set of str
        Inputs that are.
    groups : dict
        For each array what memory it is part of: what shares it is active together.
    """
    found = set(active)
    while True:
        shared = {groups[base] for base in groups if base in found}
        found |= {base for base in groups if groups[base] in shared}
        more = {
            part_of(a.target) for a in program.assignments()
            if any(part_of(a.operands[k]) in found for k in flowing(a))
        }
        if more <= found:
            return found
        found |= more


def part_of(operand: Any) -> str:
    """Return the name or the array that an operand belongs to."""
    return operand.base if isinstance(operand, Item) else operand


def flowing(a: Assign) -> set[int]:
    """Return the operands through which a derivative may flow: not those within ``int()``."""
    flows: list[set[int]] = []
    for step in a.steps:
        found: set[int] = set()
        for kind, which in () if step[0] == "int" else operands_of(step):
            if kind != "c":
                found |= flows[which] if kind == "t" else {which}
        flows.append(found)
    return flows[-1]


class Kinds:
    """The types of the numbers of a loop, found by going through it.

    Parameters
    ----------
    program : Program
    functions : sequence of callable
    kinds : dict of str to str
        Of the inputs that are numbers.

    Attributes
    ----------
    results : dict of int to str
        By position among the assignments: the type of the value.
    after : dict of str to str
        The types of what the loop binds, after it.
    makes_ints : bool
        Whether a function of NumPy may be called with ints alone, and make one.
    """

    makes_ints = False

    def __init__(self, program: Program, functions: Sequence[Any], kinds: Env) -> None:
        self.functions = functions
        self.positions = {id(a): k for k, a in enumerate(program.assignments())}
        self.results: dict[int, str] = {}
        while True:
            known = dict(self.results)
            if isinstance(program.loop, While):
                self.after = self.run([program.loop], dict(kinds))
            else:
                self.after = self.repeated(program.loop, dict(kinds))
            if self.results == known:
                break

    def run(self, block: Block, env: Env) -> Env:
        """Return the types after a block."""
        for item in block:
            if isinstance(item, Assign):
                result = self.result(item, env)
                position = self.positions[id(item)]
                self.results[position] = joined(self.results.get(position), result)
                if isinstance(item.target, str):
                    env[item.target] = result
            elif isinstance(item, Count):
                env[item.name] = INT
            elif isinstance(item, Branch):
                env = joined_all(self.run(item.body, dict(env)), self.run(item.orelse, dict(env)))
            elif isinstance(item, Repeat | While):
                env = joined_all(env, self.repeated(item, env))
        return env

    def repeated(self, loop: Repeat | While, env: Env) -> Env:
        """Return the types after a loop that runs at least once."""
        counter = {loop.name: INT} if isinstance(loop, Repeat) else {}
        while True:
            after = self.run(loop.body, {**env, **counter})
            again = joined_all(env, after)
            if again == env:
                return after
            env = again

    def result(self, a: Assign, env: Env) -> str:
        """Return the type of the value of an expression."""
        kinds: list[str] = []

        def kind_of(reference: Any) -> str:
            kind, which = reference
            if kind == "c":
                return FLOAT if type(which) is float else INT
            if kind == "t":
                return kinds[which]
            operand = a.operands[which]
            return FLOAT64 if isinstance(operand, Item) else env[operand]

        for name, *rest in a.steps:
            if name == "call":
                f = self.functions[rest[0]]
                kinds.append(FLOAT64 if type(f) is np.ufunc else FLOAT)
                if f in PAIRS and not {FLOAT, FLOAT64} & set(map(kind_of, rest[1:])):
                    self.makes_ints = True
            elif name == "int":
                kinds.append(INT)
            else:
                kinds.append(combined(name, [kind_of(reference) for reference in rest]))
        return kinds[-1]


def combined(name: str, kinds: list[str]) -> str:
    """Return the type of the result of an operator."""
    for kind in (FLOAT64, MIXED):
        if kind in kinds:
            return kind
    return FLOAT if name == "truediv" or FLOAT in kinds else INT


def joined(a: str | None, b: str) -> str:
    """Return what two types have in common, where either may be."""
    return b if a is None or a == b else MIXED


def joined_all(a: Env, b: Env) -> Env:
    """Return the types where either may be; a name that one side lacks is that of the other."""
    return {name: joined(a.get(name), b[name]) if name in b else a[name] for name in {**a, **b}}
