"""Loops that are first tried as one compiled region.

    for i in range(n):          try:
        s = s + x[i]                _mk_given0 = i
                                except NameError:
                                    _mk_given0 = _mk_unbound
                                try:
                                    _mk_part0 = _mk_compiled0.tried(C, (n, s, x, _mk_given0))
                                except NameError:
                                    _mk_part0 = _mk_else
                                if _mk_part0 is _mk_else:
                                    for i in ...            in any other way
                                    _mk_compiled0.passed()
                                else:
                                    (i, s) = _mk_part0      what is read afterwards
                                del _mk_part0, _mk_given0

An unbound name is not an error of the trial, because the loop may never read it.
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from mooncake_py.compiler.reading.bound_names import bound_before
from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.frontend.spanning import ELSE
from mooncake_py.syntax.names import MISSING
from mooncake_py.syntax.nodes import (
    CONTEXT,
    PREFIX,
    Place,
    assign,
    forget,
    load,
    located,
    place_of,
    store,
    when,
)
from mooncake_py.syntax.trees import walk

__all__ = ["CompiledLoops"]

UNBOUND = f"{PREFIX}unbound"


class CompiledLoops:
    """The loops of one function.

    Parameters
    ----------
    code : CodeType
    root : FunctionDef
        The function.
    rewritten : FunctionDef
        What is rewritten of it, which has its loops in the same order.
    """

    def __init__(self, code: CodeType, root: Any, rewritten: Any) -> None:
        # Here, as only few programs need it.
        from mooncake_py.compiler.native.reading.loop_names import FunctionLoops

        self.code = code
        self.root = root
        self.loops = FunctionLoops(code, root)
        self.count = 0
        pairs = zip(loops_in(rewritten), loops_in(root), strict=True)
        self.original = {id(new): old for new, old in pairs}

    def tried(
        self, node: ast.For | ast.While, plain: list[ast.stmt], injected: dict[str, Any]
    ) -> list[ast.stmt]:
        """Return what tries a loop, and otherwise runs it as `plain` does."""
        from mooncake_py.compiler.native.loop_site import site_of_loop

        node = self.original.get(id(node), node)  # one of ours, round a body, is in neither
        loop = self.loops.of(node)
        compiled = site_of_loop(self.code, loop)
        if loop.shared:
            return plain
        place = place_of(node.iter if isinstance(node, ast.For) else node.test)
        number, self.count = self.count, self.count + 1
        site, part = f"{PREFIX}compiled{number}", f"{PREFIX}part{number}"
        injected |= {site: compiled, ELSE: Elsewhere, UNBOUND: MISSING}
        certain = bound_before(self.root, node)
        values: list[ast.expr] = []
        first: list[ast.stmt] = []
        temporaries = [part]
        for name in loop.given:
            if name in certain or name not in loop.bound:
                values.append(load(name, place))
                continue
            own = f"{PREFIX}given{number}_{len(temporaries)}"
            temporaries.append(own)
            value = store(own, place)
            first.append(attempted(value, load(name, place), load(UNBOUND, place), place))
            values.append(load(own, place))
        tried = located(ast.Attribute(load(site, place), "tried", ast.Load()), place)
        given = located(ast.Tuple(values, ast.Load()), place)
        call = located(ast.Call(tried, [load(CONTEXT, place), given], []), place)
        trial = attempted(store(part, place), call, load(ELSE, place), place)
        served = located(ast.Compare(load(part, place), [ast.Is()], [load(ELSE, place)]), place)
        targets: list[ast.expr] = [store(name, place) for name in loop.results]
        bound = assign(located(ast.Tuple(targets, ast.Store()), place), load(part, place), place)
        passed = located(ast.Attribute(load(site, place), "passed", ast.Load()), place)
        done = located(ast.Expr(located(ast.Call(passed, [], []), place)), place)
        otherwise = [*plain, done]
        return [*first, trial, when(served, otherwise, [bound], place), forget(temporaries, place)]


def loops_in(root: Any) -> list[ast.For | ast.While]:
    """Return the loops of a function."""
    return [node for node in walk(root) if isinstance(node, ast.For | ast.While)]


def attempted(target: ast.expr, value: ast.expr, otherwise: ast.expr, place: Place) -> ast.stmt:
    """Return what binds a value, or another one where a name in it is not bound."""
    body: list[ast.stmt] = [assign(target, value, place)]
    instead: list[ast.stmt] = [assign(target, otherwise, place)]
    handler = located(ast.ExceptHandler(load("NameError", place), None, instead), place)
    return located(ast.Try(body, [handler], [], []), place)
