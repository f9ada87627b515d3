"""Expressions given as text, as the operations of a statement whose functions are known."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from mooncake_py.compiler.regions.ir import Expr, Let
from mooncake_py.compiler.statements.array_text import ArrayText
from mooncake_py.compiler.statements.complexes import COMPLEX128
from mooncake_py.compiler.statements.core import Core
from mooncake_py.compiler.statements.kinds import ELEMENT, FULL, PART, Kinds
from mooncake_py.compiler.statements.plan import Plan
from mooncake_py.compiler.statements.read import StatementReader, read_expression
from mooncake_py.runtime.active import Active
from mooncake_py.syntax.names import Names

__all__ = ["core_of", "plan_of", "read", "text_of", "texts"]

SCOPE: dict[str, Any] = {"np": np}


def read(text: str, peeks: bool = False) -> tuple[StatementReader, Expr] | None:
    """Return the reader of an expression and its IR, None if it is refused."""
    node = ast.parse(text, mode="eval").body
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return read_expression(node, Names(SCOPE, names - {"np", "int", "max"}), peeks)


def core_of(text: str, target: str = "", out: bool = False) -> Core:
    """Return the operations of an expression; of a change like ``a += b`` if a target is given.

    Parameters
    ----------
    text : str
        Of an expression, or of the operator and the right operand, as in ``+= b``.
    target : str
        The name that is changed, or written by ``out=``; or what a mask picks, with ``=`` before
        the expression.
    out : bool
        Whether the value goes into the target.
    """
    operator = ""
    if target and not out:
        operator, _, text = text.partition("= ")
    found = read(text)
    assert found is not None
    reader, value = found
    rest: dict[str, Any] = {}
    if operator == "" and "[" in target:
        node: Any = ast.parse(target, mode="eval").body
        rest = {"target": (reader.add_base(node.value), reader.add_index(node.slice))}
    elif operator:
        position = reader.add_value(ast.parse(target, mode="eval").body)
        ops = {"+": "add", "-": "sub", "*": "mul", "/": "truediv"}
        value = reader.changed(ops[operator], position, value)
        rest = {"target": position, "augments": True}
    elif out:
        passed = [ast.unparse(v) for v in reader.values]
        augments = target in passed  # it is operand 0
        position = passed.index(target) if augments else reader.add_value(ast.Name(target))
        rest = {"target": position, "into": True, "augments": augments}
    statement = reader.statement(value, frozenset(), **rest)
    functions = tuple(eval(ast.unparse(f), SCOPE) for f in reader.functions)
    return Core(statement, functions)


def plan_of(
    core: Core, kinds: str, active: str, whole: bool | None = True, complexes: str | None = None
) -> Plan:
    """Return the plan for kinds of the operands, active and complex ones, separated by commas.

    The kinds ``float`` and ``Active`` are types; active are the numbers of operands that are
    arrays, as all active floats are.
    """
    types: dict[str, Any] = {t.__name__: t for t in (float, np.float64, int)}
    types |= {"Active": Active, PART: PART, ELEMENT: ELEMENT, FULL: FULL}  # found by identity
    operands = [types.get(kind.strip(), kind.strip()) for kind in kinds.split(",")]
    on = {int(k) for k in active.split(",") if k}
    positions: dict[int, bool] = {}
    for k, part in enumerate(core.statement.layout):
        position = part[0] if isinstance(part, tuple) else part
        if not isinstance(operands[k], type):
            positions[position] = positions.get(position, False) or k in on
    target = core.statement.target
    if core.statement.into and isinstance(target, int):
        positions.setdefault(target, True)
    written = core.statement.written
    gathers = frozenset() if written is None else core.statement.readings | {written[1]}
    same = gathers - {written[1]} if written is not None else gathers
    found = Kinds(tuple(operands), whole, gathers, same)
    if complexes is not None:
        parts = [core.statement.layout[int(k)] for k in complexes.split(",") if k]
        at = frozenset([part[0] if isinstance(part, tuple) else part for part in parts])
        found = found._replace(dtype=COMPLEX128, complexes=at)
    return Plan(core, found, positions)


def texts(lets: list[Let]) -> list[str]:
    """Return operations as text."""
    return [line for let in lets for line in ArrayText({}).lines(let)]


def text_of(e: Expr | None) -> str:
    """Return an expression as text."""
    return "None" if e is None else ArrayText({}).text(e)
