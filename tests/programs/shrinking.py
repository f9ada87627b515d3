"""Make a program that shows a defect smaller, while it shows the same kind of defect."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.programs.checking import Finding, check
from tests.programs.program import Program
from tests.support.limited import TimedOut, limited

__all__ = ["shrink"]

Trial = Callable[[Program], bool]
Check = Callable[[Program], Finding | None]
SECONDS = 1.0  # a smaller program may lack what ends a loop


def shrink(finding: Finding, attempts: int = 2000, check: Check = check) -> Finding:
    """Return a small program that shows the same kind of defect.

    Parameters
    ----------
    finding : Finding
        The defect, with the program that shows it.
    attempts : int
        How many smaller programs to try at most.
    check : callable
        Returns an error of a program.
    """
    smallest = finding

    def still_fails(program: Program) -> bool:
        nonlocal smallest
        found = _finding(program, check)
        if found is None or _defect(found) != _defect(finding):
            return False
        smallest = found
        return True

    _shrink(finding.program, still_fails, attempts)
    return smallest


def _defect(finding: Finding) -> str:
    """Return a key that two findings share if they show the same defect."""
    if finding.kind not in ("refused", "spurious error"):
        return finding.kind
    return finding.kind + re.sub(r"[0-9]+", "0", finding.got.partition("\n")[0])


def _finding(program: Program, check: Check) -> Finding | None:
    try:
        with limited(SECONDS):
            return check(program)
    except (Exception, TimedOut):  # a smaller program may not even be defined
        return None


def _shrink(program: Program, still_fails: Trial, attempts: int) -> Program:
    """Return a small program for which `still_fails` holds."""
    changed = True
    while changed and attempts > 0:
        changed = False
        for smaller in _smaller(program):
            attempts -= 1
            if attempts <= 0:
                break
            if len(smaller.source) < len(program.source) and still_fails(smaller):
                program, changed = smaller, True
                break
    return _with_fewer_arguments(program, still_fails)


def _with_fewer_arguments(program: Program, still_fails: Trial) -> Program:
    """Differentiate with respect to one argument alone, if that suffices."""
    for i in program.argnums if len(program.argnums) > 1 else ():
        fewer = Program(program.source, program.bases, program.arguments, (i,))
        if still_fails(fewer):
            return fewer
    return program


def _smaller(program: Program) -> Iterator[Program]:
    """Yield programs that lack something, those that lack much first."""
    tree = ast.parse(program.source)
    for edit in [*_statement_edits(tree), *_expression_edits(tree)]:
        changed = copy.deepcopy(tree)
        edit(changed)
        try:
            source = ast.unparse(ast.fix_missing_locations(changed)) + "\n"
        except (ValueError, AttributeError):
            continue
        if "def f(" in source:
            yield program.with_source(source)


Edit = Callable[[ast.Module], None]


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    """Return every list of statements, in a fixed order."""
    found = []
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                found.append(body)
    return found


def _statement_edits(tree: ast.Module) -> Iterator[Edit]:
    """Yield edits that remove a statement, or put the body of a compound one in its place."""
    for b, body in enumerate(_bodies(tree)):
        for s in reversed(range(len(body))):
            yield _replace_statement(b, s, None)
            for part in ("body", "orelse"):
                inner = getattr(body[s], part, None)
                if inner and not isinstance(body[s], ast.FunctionDef | ast.ClassDef):
                    yield _replace_statement(b, s, part)


def _replace_statement(b: int, s: int, part: str | None) -> Edit:
    def edit(tree: ast.Module) -> None:
        body = _bodies(tree)[b]
        body[s : s + 1] = getattr(body[s], part) if part else []
        if not body and b:
            body.append(ast.Pass())

    return edit


def _expressions(tree: ast.AST) -> list[tuple[ast.AST, str, int | None, ast.expr]]:
    """Return every expression with the place where it stands."""
    found: list[tuple[ast.AST, str, int | None, ast.expr]] = []
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                found.append((node, name, None, value))
            elif isinstance(value, list):
                found.extend(
                    (node, name, i, v) for i, v in enumerate(value) if isinstance(v, ast.expr)
                )
    return found


def _expression_edits(tree: ast.Module) -> Iterator[Edit]:
    """Yield edits that put an operand, or a constant, in the place of an expression."""
    for e, (_, _, _, value) in enumerate(_expressions(tree)):
        inner = [v for _, _, _, v in _expressions(value)]
        if isinstance(getattr(value, "ctx", None), ast.Store):
            continue
        for k in range(min(len(inner), 8)):
            yield _replace_expression(e, k)
        if not isinstance(value, ast.Constant):
            yield _replace_expression(e, None)


def _replace_expression(e: int, k: int | None) -> Edit:
    def edit(tree: ast.Module) -> None:
        node, name, i, value = _expressions(tree)[e]
        new: Any = ast.Constant(1.0) if k is None else _expressions(value)[k][3]
        if i is None:
            setattr(node, name, new)
        else:
            getattr(node, name)[i] = new

    return edit
