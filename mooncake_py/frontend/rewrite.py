"""Rewrite a function so that each operation that could touch active data goes to a context.

Grammar taken: any function or lambda of Python 3.11 to 3.13, except what is refused below.
The context, written ``C`` here, is the keyword-only parameter ``_mk_ctx`` of the new function.

Grammar left, by what is taken (operands are rewritten in turn; ``v'`` is a rewritten ``v``)::

    a + b    -a                 C.add(a, b)    C.neg(a)            names as in `operator`
    o[i]     o.name             C.getitem(o, i)    C.getattr(o, "name")
    f(x, *y, k=z, **m)          C.call(f, x, *C.iter(y), k=z, **C.mapping(m))
    o.m(x)                      C.method(o, "m", x)   or, where x may have effects or raise:
                                C.method(C.looked_up(o, "m"), "m", x)
    x op= v                     x = C.iadd(x, v)
    o[i] op= v                  C.augitem("iadd", o, i, v)   or, where v may have effects:
                                t0 = o; t1 = i; t2 = C.getitem(t0, t1); t2 = C.iadd(t2, v')
                                C.storeback(t0, t1, t2)
    o.name op= v                C.augattr("iadd", o, "name", v)    or also with C.setattr
    o[i] = v    o.name = v      C.setitem(o, i, v)    C.setattr(o, "name", v)
    del o[i]    del o.name      C.delitem(o, i)    C.delattr(o, "name")
    a, (b, *c) = v              a, (b, *c) = C.unpack(v, (None, (None, "*")))
    a, b = v, w                 a, b = v', w'
    np.add(a, b, out=c)         as f(x), after a trial: see `outputs`
    for t in checkpointed(e): ...   the body as a function: see `loops`
    for u, v in zip(x[1:], y): ...  w = C.getitem(x, ...); for u, v in zip(w, y), where this can be:
    for t in range(n): x[t] = ...   tried as a whole, if there is nothing but arithmetic: see
    while s > e: s = ...            `tried_loops`
    for t in e                  for t in C.iter(e)    or C.iter(e, pattern) for a tuple of targets
    a < b    a in b    a < b < c    C.lt(a, b)    C.contained(a, b)    C.lt(a, b) and C.lt(b, c)
    if a    while a    not a    assert a    b if a else c    ... if C.truth(a) ...
    a or b                      C.chosen if C.choose(a) else b
    len(x)    f"{x!r:>9}"       C.len(x)    f"{C.format(x, 'r', '>9')}"
    {k: v}    {k}    {**d}      {C.key(k): v}    {C.key(k)}    {**C.mapping(d)}
    match s: case P if a: ...   m0 = C.matching(s); if <calls of m0> and C.truth(a): ...
    with e as t                 with C.manager(e) as t
    from a.b import c as d      t = C.module_with_code(globals(), ("a.b", 0), ("c",)); if t is None:
                                with C.importing: from a.b import c as d; else:
                                d = C.imported(t, "c")
    raise e    raise e from c   raise C.raised(e)    raise C.raised(e, c)
    yield from e                yield from C.delegate(e)
    @d def g(x: t = e): ...     @C.decorator(d) def g(x: t' = e'): ...
                                body left: derived when called
    class A(B): ...             class A(metaclass=C.class_statement(B)): ...
                                body rewritten in place, methods as nested functions

Native, because they carry no data or leave its meaning to the values: ``is``, displays,
assignment to names, ``try``, ``return``, ``yield``, ``import``, ``range()`` of names that are ints
for certain (:mod:`~mooncake_py.syntax.static_integers`), loops over it, ``globals()``,
``breakpoint()`` and ``super()`` where these are the builtins, arithmetic, comparison and truth of
literals and of such names, and dotted global names as deep as modules go.

``locals()``, ``vars()`` and ``dir()`` are native, without the names that rewriting added.

Refused, all places at once: ``await`` and other asynchronous syntax, ``eval``, ``exec``,
``locals()`` and similar in classes, comprehensions that store in elements, names that begin with
``_mk_``.

Order of evaluation is Python's.  Constant slices and the builtin ``slice`` are free variables of
the new function.
"""

from __future__ import annotations
import __future__

import ast
import sys
from types import CodeType
from typing import Any, NamedTuple

from mooncake_py.frontend.assignments import Temporaries
from mooncake_py.frontend.compiled_loops import CompiledLoops, PrintedLoops
from mooncake_py.frontend.loops import CheckpointedLoop, is_checkpointed
from mooncake_py.frontend.passes import BOUNDS, ITEMS, LoopInPasses
from mooncake_py.frontend.patterns import case_test, chained, conjunction
from mooncake_py.frontend.tried_comprehensions import ComprehensionRewriter
from mooncake_py.rooms import PACKAGE
from mooncake_py.runtime.allowance import LoopForm
from mooncake_py.syntax import unsupported
from mooncake_py.syntax.cleanup import cleans_up
from mooncake_py.syntax.compiled import FunctionNode, walk_code
from mooncake_py.syntax.imported import (
    may_import,
    with_functions_as_attributes,
    with_functions_by_name,
)
from mooncake_py.syntax.local_modules import local_modules
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.nodes import (
    CONTEXT,
    PREFIX,
    Place,
    assign,
    constant,
    context_attribute,
    context_call,
    forget,
    load,
    located,
    place_of,
    replaced,
    store,
    when,
)
from mooncake_py.syntax.source import SourceNode
from mooncake_py.syntax.static_integers import Bindings, StaticInts, bindings
from mooncake_py.syntax.unsupported import Unsupported

__all__ = ["Rewritten", "rewrite"]

AS_TEXT = __future__.annotations.compiler_flag
EVALUATED_LATER = sys.version_info >= (3, 14)
"""Whether annotations are evaluated where somebody asks for them."""


class Rewritten(NamedTuple):
    """A rewritten function, not yet compiled."""

    node: FunctionNode
    injected: dict[str, Any]  # name to constant, for the free variables that rewriting added
    assumed: dict[str, object]  # global name to its module, or name of a builtin to that
    stored_globals: frozenset[str]  # that the function itself binds or deletes
    stored_free: frozenset[str]


def rewrite(
    source: SourceNode,
    code: CodeType,
    globals_: dict[str, Any],
    in_parts: bool = False,
    loops: LoopForm = "plain",
) -> Rewritten:
    """Rewrite one function; its globals are read to recognise modules and builtins.

    Loops of which the steps are counted run one by one; those in passes are functions, see
    `passes`.

    If it is to be compiled in parts, each loop is tried first: see `compiled_loops`.  That binds
    only what is read afterwards, by its name.
    Where it reaches what cannot be rewritten it asks the context to refuse that.  Raise an
    `UnsupportedSyntaxError` if nothing of it can be.
    """
    node = plain = source.node
    assert not isinstance(node, ast.GeneratorExp)
    found = bindings(node)
    modules = local_modules(source, code, found)
    own = (*code.co_freevars, ITEMS, *BOUNDS)
    names = Names(globals_, found.bound().union(own), modules=modules)
    if may_import(globals_, code.co_names):
        node = with_functions_as_attributes(node, names)
        found = bindings(node)
    statics = StaticInts.of(found, names)
    refused = Unsupported(code)
    refused.add_reserved_names(node)
    rewriter = FunctionRewriter(names, statics, found.steady(), source, refused)
    rewriter.found = found
    rewriter.evaluates_annotations = not (AS_TEXT & code.co_flags or EVALUATED_LATER)
    if isinstance(node, ast.FunctionDef) and not reads_by_name(code):
        rewriter.in_passes = loops == "passes"
        if in_parts:
            rewriter.compiled = CompiledLoops(code, plain, node, source.class_name)
        elif loops == "plain" and not code.co_filename.startswith(PACKAGE):
            rewriter.printed = PrintedLoops(code, plain, node, source.class_name)
    new = rewriter.function(node)
    refused.raise_at_once()
    if names.functions.__dict__.keys() & names.assumed.keys():  # of a nested function too
        new = with_functions_by_name(new)
    return Rewritten(
        new,
        dict(sorted(rewriter.injected.items())),
        names.assumed,
        _stored(found, found.global_names),
        _stored(found, found.nonlocal_names),
    )


def reads_by_name(code: CodeType) -> bool:
    """Return whether a function may read variables that its text does not name."""
    names = {name for part in walk_code(code) for name in part.co_names}
    return not names.isdisjoint(("locals", "vars", "dir"))


def _stored(found: Bindings, declared: set[str]) -> frozenset[str]:
    return frozenset(declared & found.bound())


class FunctionRewriter(ComprehensionRewriter):
    """Statements, and the function as a whole."""

    depth = 0  # of match statements
    loops = 0  # whose bodies have become functions
    in_passes = False  # whether a loop becomes a function that runs some of its passes
    compiled: CompiledLoops | None = None

    def function(self, node: FunctionNode) -> FunctionNode:
        """Rewrite the function itself; functions nested in it are visited as statements."""
        if isinstance(node, ast.AsyncFunctionDef):
            self.refused.add(node, unsupported.ASYNCHRONOUS)
            return node
        self.root = node
        args = node.args
        context = located(ast.arg(CONTEXT), place_of(node))
        args = replaced(
            args, kwonlyargs=[*args.kwonlyargs, context], kw_defaults=[*args.kw_defaults, None]
        )
        if isinstance(node, ast.Lambda):
            return replaced(node, args=args, body=self.visit(node.body))
        body = self.visit_all(node.body)
        if cleans_up(node):
            place = place_of(node)
            block = ast.withitem(context_call("cleaning", [], place), None)
            body = [located(ast.With([block], body), place)]
        return replaced(node, args=args, body=body)

    # loops and managers

    def visit_For(self, node: ast.For) -> Any:
        """Rewrite ``for t in e`` to ``for t in C.iter(e)``."""
        if self.in_class:
            return self._for(node)
        if is_checkpointed(node, self.names):
            return self._checkpointed(node)
        if self.in_passes:
            return self._in_passes(node)
        return self._one_by_one(node)

    def _one_by_one(self, node: ast.For | ast.While) -> Any:
        """Rewrite a loop that stays one."""
        plain = self.visit_If(node) if isinstance(node, ast.While) else self._for(node)
        return self._loop(node, self.tried_loop(node, plain))

    def _for(self, node: ast.For) -> Any:
        iterable = self.iterable(node)
        target, stores = self.bind_loop(node.target)
        body = [*stores, *self.visit_all(node.body)]
        return replaced(
            node, target=target, iter=iterable, body=body, orelse=self.visit_all(node.orelse)
        )

    def _loop(self, node: ast.For | ast.While, tried: Any) -> Any:
        """Return code that runs a loop compiled, if loops are; else code that tries other ways."""
        if self.compiled is None:
            return tried
        tried = tried if isinstance(tried, list) else [tried]
        return self.compiled.tried(node, tried, self.injected)

    def _checkpointed(self, node: ast.For) -> Any:
        """Make the body of a loop a function: see :mod:`~.loops`."""
        assert isinstance(node.iter, ast.Call)
        loop = CheckpointedLoop(node, self.loops, self.found)
        self.loops += 1
        refused = loop.reason_to_refuse()
        if refused is not None:
            refusal = self.refusal(refused, unsupported.RUNS_AGAIN)
            return [located(ast.Expr(refusal), place_of(node)), self._for(node)]
        positional = self.visit_all(node.iter.args)
        keywords = self.visit_all(node.iter.keywords)
        body = self.visit_all(loop.body())
        return loop.statements(body, [positional, keywords], self.visit_all(node.orelse))

    def _in_passes(self, node: ast.For | ast.While) -> Any:
        """Make a loop a function that runs some of its passes: see :mod:`~.passes`."""
        is_range = isinstance(node, ast.For) and self.names.calls_builtin(node.iter, "range")
        loop = LoopInPasses(node, self.loops, self.found, is_range=is_range)
        self.loops += 1
        if loop.reason_to_refuse() is not None:
            return self._one_by_one(node)
        over = self.visit(node.iter) if isinstance(node, ast.For) else constant(None, loop.place)
        lines = self._one_by_one(loop.loop())
        body = [*(lines if isinstance(lines, list) else [lines]), *loop.left()]
        positional = [constant(loop.kind, loop.place), over]
        return loop.statements(body, [positional, []], self.visit_all(node.orelse))

    def visit_With(self, node: ast.With) -> Any:
        """Rewrite ``with e as t`` to ``with C.manager(e) as t``."""
        return self._with(node, node.items)

    def _with(self, node: ast.With, items: list[ast.withitem]) -> Any:
        """Rewrite the items from left to right, with a nested statement where one stores."""
        new_items: list[ast.withitem] = []
        for position, item in enumerate(items):
            manager = self.visit(item.context_expr)
            manager = context_call("manager", [manager], place_of(item.context_expr))
            if item.optional_vars is None:
                new_items.append(ast.withitem(manager, None))
                continue
            target, stores = self.bind_manager(item.optional_vars)
            new_items.append(ast.withitem(manager, target))
            rest = items[position + 1 :]
            if stores and rest:
                # The next manager may read what this one's target stores.
                return replaced(node, items=new_items, body=[*stores, self._with(node, rest)])
            if stores:
                body = [*stores, *self.visit_all(node.body)]
                return replaced(node, items=new_items, body=body)
        return replaced(node, items=new_items, body=self.visit_all(node.body))

    def visit_Match(self, node: ast.Match) -> Any:
        """Rewrite ``match`` to ``m0 = C.matching(subject)`` and a chain of ``if``."""
        place = place_of(node.subject)
        name = f"{PREFIX}m{self.depth}"
        self.depth += 1
        subject = context_call("matching", [self.visit(node.subject)], place)
        cases: list[tuple[ast.expr | None, list[ast.stmt], Place]] = []
        for case in node.cases:
            where = place_of(case.pattern)
            test = case_test(case, name, self.visit)
            if case.guard is not None:
                parts = [self.test(case.guard)] if test is None else [test, self.test(case.guard)]
                test = conjunction(parts, where)
            cases.append((test, self.visit_all(case.body), where))
        self.depth -= 1
        bound = assign(store(name, place), subject, place)
        done = located(ast.Try(chained(cases), [], [], [forget([name], place)]), place)
        return [bound, done]

    def visit_If(self, node: Any) -> Any:
        """Rewrite ``if a`` to ``if C.truth(a)``."""
        test = self.test(node.test)
        body, orelse = self.visit_all(node.body), self.visit_all(node.orelse)
        return replaced(node, test=test, body=body, orelse=orelse)

    def visit_While(self, node: ast.While) -> Any:
        """Rewrite ``while a`` to ``while C.truth(a)``."""
        if self.in_class:
            return self.visit_If(node)
        return self._in_passes(node) if self.in_passes else self._one_by_one(node)

    def visit_Raise(self, node: ast.Raise) -> Any:
        """Rewrite ``raise e from c`` to ``raise C.raised(e, c)``, which makes instances."""
        if node.exc is None:
            return node
        parts = [node.exc] if node.cause is None else [node.exc, node.cause]
        raised = context_call("raised", self.visit_all(parts), place_of(node.exc))
        return replaced(node, exc=raised, cause=None)

    def visit_TryStar(self, node: ast.TryStar) -> Any:
        """Rewrite ``except* T`` to ``except* C.splitting(T)``: Python is about to split a group."""
        new = self.rebuild(node)
        handlers = []
        for handler in new.handlers:
            types = context_call("splitting", [handler.type], place_of(handler.type))
            handlers.append(replaced(handler, type=types))
        return replaced(new, handlers=handlers)

    def visit_Assert(self, node: ast.Assert) -> Any:
        """Rewrite ``assert a`` to ``assert C.truth(a)``."""
        message = None if node.msg is None else self.visit(node.msg)
        return replaced(node, test=self.test(node.test), msg=message)

    def visit_Import(self, node: Any) -> Any:
        """Rewrite ``import a`` to ``with C.importing: import a``."""
        place = place_of(node)
        return located(
            ast.With([ast.withitem(context_attribute("importing", place))], [node]), place
        )

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """Rewrite as an import; names that code of a module makes are attributes of it."""
        place, used = place_of(node), Temporaries()
        module = used.new()
        own = located(ast.Call(self._inject(globals, node), [], []), place)
        what = constant((node.module or "", node.level), place)
        names = constant(tuple(alias.name for alias in node.names), place)
        found = context_call("module_with_code", [own, what, names], place)
        is_plain = located(
            ast.Compare(load(module, place), [ast.Is()], [constant(None, place)]), place
        )
        bound: list[ast.stmt] = [
            assign(
                store(alias.asname or alias.name, place),
                context_call("imported", [load(module, place), constant(alias.name, place)], place),
                place,
            )
            for alias in node.names
        ]
        return [
            assign(store(module, place), found, place),
            when(is_plain, [self.visit_Import(node)], bound, place),
            *used.delete(place),
        ]

    # definitions

    def visit_FunctionDef(self, node: Any) -> Any:
        """Rewrite decorators, defaults and annotations only."""
        decorators = self._decorators(node.decorator_list)
        args = self.parameters(node.args)
        returns = None if node.returns is None else self.annotation(node.returns)
        return replaced(node, decorator_list=decorators, args=args, returns=returns)

    visit_AsyncFunctionDef = visit_FunctionDef

    def _decorators(self, nodes: list[ast.expr]) -> list[ast.expr]:
        return [context_call("decorator", [self.visit(node)], place_of(node)) for node in nodes]

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """Rewrite the body in place."""
        place = place_of(node)
        bases, keywords = self.visit_all(node.bases), self.visit_all(node.keywords)
        makes = context_call("class_statement", bases, place, keywords)
        changes: dict[str, Any] = {
            "decorator_list": self._decorators(node.decorator_list),
            "bases": [],
            "keywords": [located(ast.keyword("metaclass", makes), place)],
        }
        outer = self.class_name, self.statics, self.in_class
        self.class_name, self.statics, self.in_class = node.name, self.statics.nowhere(), True
        changes["body"] = self.visit_all(node.body)
        self.class_name, self.statics, self.in_class = outer
        return replaced(node, **changes)

    # refused, or left

    visit_AsyncFor = visit_AsyncWith = ComprehensionRewriter.visit_Await

    def visit_TypeAlias(self, node: Any) -> Any:
        """Return the node unchanged."""
        return node
