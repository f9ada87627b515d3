"""Loops that are first tried as one region, compiled or as text of NumPy.

    for i in range(n):          _mk_steps0 = range(n)
        s = s + x[i]            try:
                                    _mk_given0 = i
                                except NameError:
                                    _mk_given0 = _mk_unbound
                                try:
                                    _mk_part0 = _mk_whole0.tried(C, _mk_steps0, (n, s, _mk_given0))
                                except NameError:
                                    _mk_part0 = _mk_else
                                if _mk_part0.__class__ is not _mk_tuple:
                                    for i in _mk_steps0: ...    in any other way
                                    if _mk_part0 is not _mk_else:
                                        _mk_part0.compare((i, s))   in debug mode
                                else:
                                    (i, s) = _mk_part0          what is read afterwards
                                    t = _mk_lost0               what it binds else
                                del _mk_part0, _mk_given0, _mk_steps0

An unbound name is not an error of the trial, because the loop may never read it.  Compiled loops
are not given what they run over, and are told when the loop has run in another way.
"""

from __future__ import annotations

import ast
from functools import cached_property
from types import CodeType
from typing import TYPE_CHECKING, Any

from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.sites.left_out import LeftOut, last_of
from mooncake_py.errors import Location
from mooncake_py.frontend.bound_names import bound_before
from mooncake_py.frontend.spanning import ELSE
from mooncake_py.syntax.comprehensions import MADE
from mooncake_py.syntax.names import MISSING
from mooncake_py.syntax.nodes import (
    CONTEXT,
    PREFIX,
    Place,
    assign,
    constant,
    forget,
    load,
    located,
    place_of,
    store,
    when,
)
from mooncake_py.syntax.private_names import spelled_out
from mooncake_py.syntax.trees import walk

if TYPE_CHECKING:
    from mooncake_py.compiler.native.reading.loop_names import FunctionLoops, Loop

__all__ = ["CompiledLoops", "PrintedLoops", "compared", "is_range"]

UNBOUND = f"{PREFIX}unbound"
LAST = f"{PREFIX}last"
BOUND = f"{PREFIX}tuple"
"""Name of the type of what a loop that ran as one region returns."""


class WholeLoops:
    """The loops of one function.

    Parameters
    ----------
    code : CodeType
    root : FunctionDef
        The function.
    rewritten : FunctionDef
        What is rewritten of it, which has its loops in the same order.
    class_name : str or None
        The class that it is in.
    """

    def __init__(self, code: CodeType, root: Any, rewritten: Any, class_name: str | None) -> None:
        self.code = code
        self.class_name = class_name
        self.root = root
        self.rewritten = rewritten
        self.count = 0

    @cached_property
    def loops(self) -> FunctionLoops:
        """The inputs and outputs of its loops."""
        # Here, as functions without loops do not need it.
        from mooncake_py.compiler.native.reading.loop_names import FunctionLoops

        return FunctionLoops(self.code, self.root)

    @cached_property
    def original(self) -> dict[int, ast.For | ast.While]:
        """The loops of the function by the ids of those that are rewritten."""
        pairs = zip(loops_in(self.rewritten), loops_in(self.root), strict=True)
        return {id(new): old for new, old in pairs}

    def of(self, node: ast.For | ast.While) -> Loop:
        """Return a loop; one of ours, round a body, is in neither function."""
        loop = self.loops.of(self.original.get(id(node), node))
        functions = tuple([spelled_out(f, self.class_name) for f in loop.functions])
        return loop._replace(node=spelled_out(loop.node, self.class_name), functions=functions)

    def trial(
        self,
        loop: Loop,
        site: Any,
        arguments: list[ast.expr],
        otherwise: list[ast.stmt],
        injected: dict[str, Any],
        steps: str = "",
    ) -> list[ast.stmt]:
        """Return code that tries a loop, and runs it in another way if that fails.

        Parameters
        ----------
        site
            Where it is tried.
        arguments : list of expr
            What that is given besides the context and the variables.
        otherwise : list of stmt
        injected : dict of str to object
            The constants of the text, to which those of the trial are added.
        steps : str, optional
            The name of the range that it runs over.
        """
        node = loop.node
        place = place_of(node.iter if isinstance(node, ast.For) else node.test)
        number, self.count = self.count, self.count + 1
        own, part = f"{PREFIX}whole{number}", f"{PREFIX}part{number}"
        injected |= {own: site, ELSE: Elsewhere, UNBOUND: MISSING, BOUND: tuple}
        certain = bound_before(self.root, node)
        values: list[ast.expr] = []
        first: list[ast.stmt] = []
        temporaries = [part]
        for name in loop.given:
            if name in certain or name not in loop.bound:
                values.append(load(name, place))
                continue
            given = f"{PREFIX}given{number}_{len(temporaries)}"
            temporaries.append(given)
            value = store(given, place)
            first.append(attempted(value, load(name, place), load(UNBOUND, place), place))
            values.append(load(given, place))
        tried = located(ast.Attribute(load(own, place), "tried", ast.Load()), place)
        every = located(ast.Tuple(values, ast.Load()), place)
        call = located(ast.Call(tried, [load(CONTEXT, place), *arguments, every], []), place)
        trial = attempted(store(part, place), call, load(ELSE, place), place)
        kind = located(ast.Attribute(load(part, place), "__class__", ast.Load()), place)
        unserved = located(ast.Compare(kind, [ast.IsNot()], [load(BOUND, place)]), place)
        targets: list[ast.expr] = [store(name, place) for name in loop.results]
        bound = assign(located(ast.Tuple(targets, ast.Store()), place), load(part, place), place)
        results: list[ast.expr] = [load(name, place) for name in loop.results]
        found = located(ast.Tuple(results, ast.Load()), place)
        plain = [*otherwise, compared(load(part, place), [found], place)]
        done = [bound, *self.left_out(loop, f"{PREFIX}lost{number}", steps, injected)]
        return [*first, trial, when(unserved, plain, done, place), forget(temporaries, place)]

    def left_out(
        self, loop: Loop, lost: str, steps: str, injected: dict[str, Any]
    ) -> list[ast.stmt]:
        """Return code that binds variables that a loop binds and does not give back.

        Parameters
        ----------
        lost : str
            The name of what they are bound to; the target of the loop to the last of its steps.
        """
        names = sorted(loop.bound.difference(loop.results))
        if not names:
            return []
        node = loop.node
        place = place_of(node.iter if isinstance(node, ast.For) else node.test)
        injected[lost] = LeftOut(
            Location(self.code.co_filename, node.lineno, self.code.co_qualname)
        )
        made: list[ast.stmt] = []
        name = counter_of(node) if steps else None
        if name in names:
            names.remove(name)
            injected[LAST] = last_of
            last = located(
                ast.Call(load(LAST, place), [load(steps, place), load(lost, place)], []), place
            )
            bound = assign(store(name, place), last, place)
            made.append(when(load(steps, place), [bound], [], place))
        if names:
            targets: list[ast.expr] = [store(name, place) for name in names]
            made.append(located(ast.Assign(targets, load(lost, place)), place))
        return made


class CompiledLoops(WholeLoops):
    """The loops of one function that is compiled in parts."""

    def tried(
        self, node: ast.For | ast.While, plain: list[ast.stmt], injected: dict[str, Any]
    ) -> list[ast.stmt]:
        """Return code that tries a loop, and otherwise runs it as `plain` does."""
        from mooncake_py.compiler.native.loop_site import site_of_loop

        loop = self.of(node)
        site = site_of_loop(self.code, loop)
        if loop.shared:
            return plain
        name = f"{PREFIX}whole{self.count}"
        place = place_of(node)
        passed = located(ast.Attribute(load(name, place), "passed", ast.Load()), place)
        done = located(ast.Expr(located(ast.Call(passed, [], []), place)), place)
        return self.trial(loop, site, [], [*plain, done], injected)


class PrintedLoops(WholeLoops):
    """The loops of one function that are tried as text of NumPy."""

    def loop(self, node: ast.For | ast.While) -> Loop | None:
        """Return a loop that may be tried, else None."""
        from mooncake_py.compiler.native.printed_loop import may_be_one

        loop = self.of(node) if may_be_one(node) else None
        return None if loop is None or loop.shared else loop

    def tried(
        self,
        loop: Loop,
        node: ast.For | ast.While,
        otherwise: list[ast.stmt],
        steps: str,
        injected: dict[str, Any],
        counted: bool = False,
    ) -> list[ast.stmt]:
        """Return code that tries a loop, and runs it in another way if that fails.

        Parameters
        ----------
        loop : Loop
        node : For or While
            As it is in the function.
        otherwise : list of stmt
        steps : str
            The name of what it runs over, if that has one.
        counted : bool, optional
            Whether that is a range.
        """
        from mooncake_py.compiler.native.printed_loop import PrintedLoop

        if steps or not isinstance(node, ast.For) or not isinstance(node.iter, ast.Name):
            place = place_of(node)
            known = load(steps, place) if steps else constant(None, place)
        else:
            known = load(node.iter.id, place_of(node.iter))
        site = PrintedLoop(loop, self.code, node)
        return self.trial(loop, site, [known], otherwise, injected, steps if counted else "")

    def expression(self, value: ast.expr, around: set[str]) -> Loop | None:
        """Return a comprehension, or what is made of one, as what may be tried, else None.

        Parameters
        ----------
        value : expr
        around : set of str
            The variables of the comprehensions that it is in.
        """
        from mooncake_py.compiler.native.printed_loop import may_be_one
        from mooncake_py.compiler.native.reading.loop_names import Loop, names_outside

        if self.rewritten is not self.root or not may_be_one(value):
            return None
        place = place_of(value)
        local = self.loops.local | around
        given = tuple(sorted(local.intersection(names_outside(value))))
        made = frozenset((MADE,))
        value = spelled_out(value, self.class_name)
        node: Any = assign(store(MADE, place), value, place)
        return Loop(node, local | made, given, made, (MADE,), frozenset())


def is_range(node: ast.expr) -> bool:
    """Return True for a call of what is named ``range``, which is evaluated once either way."""
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    )


def counter_of(node: ast.For | ast.While) -> str | None:
    """Return the variable that is the last step of a loop afterwards, if there is one."""
    if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
        return None
    name = node.target.id
    for part in [part for statement in node.body for part in walk(statement)]:
        if isinstance(part, ast.Break):
            return None
        if isinstance(part, ast.Name) and part.id == name and not isinstance(part.ctx, ast.Load):
            return None
    return name


def loops_in(root: Any) -> list[ast.For | ast.While]:
    """Return the loops of a function."""
    return [node for node in walk(root) if isinstance(node, ast.For | ast.While)]


def compared(part: ast.expr, values: list[ast.expr], place: Place) -> ast.stmt:
    """Return code that compares values with those that debug mode has computed, if any."""
    compare = located(ast.Attribute(part, "compare", ast.Load()), place)
    call = located(ast.Expr(located(ast.Call(compare, values, []), place)), place)
    test = located(ast.Compare(part, [ast.IsNot()], [load(ELSE, place)]), place)
    return when(test, [call], [], place)


def attempted(target: ast.expr, value: ast.expr, otherwise: ast.expr, place: Place) -> ast.stmt:
    """Return code that binds a value, or another one if a name in it is not bound."""
    body: list[ast.stmt] = [assign(target, value, place)]
    instead: list[ast.stmt] = [assign(target, otherwise, place)]
    handler = located(ast.ExceptHandler(load("NameError", place), None, instead), place)
    return located(ast.Try(body, [handler], [], []), place)
