"""Expressions recorded as one entry: which ones can be, and how they look.

``s - 0.01 * math.sin(a)`` is three operations; recorded one by one each costs an object and a
tape entry.  The rewriter finds such expressions: arithmetic and elementwise functions over
names and numbers, whose evaluation has no effects, so that it may be done again.  What runs is
chosen by the kinds of the operands (see `fused_code`); where no quick form serves, the expression
runs operation by operation as everything else does.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from mooncake_py.diagnostics.places import GENERATED
from mooncake_py.forms.contractions import CALLS, PRODUCTS, is_contraction
from mooncake_py.forms.partials import SMALL, partials_of
from mooncake_py.syntax.names import Names
from mooncake_py.syntax.trees import walk

__all__ = [
    "Elsewhere", "Fused", "Parts", "Step", "TriedFused", "collect", "define", "dotted",
    "is_plain_index", "prepend", "swapped",
]  # fmt: skip

Step = tuple[Any, ...]
"""An operation: ``(name, operand, ...)``.  An operand is ``("v", i)`` for the value of a name,
``("c", number)``, or ``("t", k)`` for the result of step k; the operations ``call``, of an
elementwise function or a sum, and ``product``, of a product of vectors or matrices, have the
position of their function before the operands; ``int`` has no derivative."""

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
}


class Fused:
    """An expression of several operations, and its quick forms by the kinds of its operands.

    Attributes
    ----------
    steps : tuple of Step
        The operations in the order of evaluation; the last one is the value.
    count : int
        Number of operands.
    inplace : str or None
        For an augmented assignment ``x op= e``, the method of the context that runs it in place
        where x is not a number; x is operand 0.
    rest : Fused or None
        For an augmented assignment, the expression `e` alone.
    run : callable
        ``run(C, F, V)`` with context, functions and operands: the quick form used last, which
        hands over to :meth:`dispatch` where it does not fit.
    """

    __slots__ = ("_forms", "count", "inplace", "plainly", "rest", "run", "steps")

    def __init__(
        self,
        steps: tuple[Step, ...],
        count: int,
        inplace: str | None = None,
        rest: Fused | None = None,
    ) -> None:
        self.steps = steps
        self.count = count
        self.inplace = inplace
        self.rest = rest
        self._forms: dict[Any, Any] = {}
        self.run: Callable[..., Any] = self.dispatch
        self.plainly: Callable[..., Any] = self.unrolled

    def dispatch(self, ctx: Any, functions: Any, values: Any) -> Any:
        """Run by the form for these kinds of operands, made when they are first met."""
        if not ctx.fuses:
            return self.general(ctx, functions, values)
        key = functions, tuple(map(type, values))
        try:
            form = self._forms[key]
        except KeyError:
            form = self._forms[key] = ctx.specialise(self, *key)
        except TypeError:  # a function that cannot be a key
            form = None
        if form is None:
            return self.general(ctx, functions, values)
        if type(form) is not FunctionType:  # arrays: more than the kinds decides
            form = form.find(ctx, functions, values)
            if form is None or form is self.run:
                return self.general(ctx, functions, values)
        self.run = form
        return form(ctx, functions, values)

    def forms(self) -> Iterator[tuple[tuple[Any, list[str]], str]]:
        """Yield the quick forms made so far: functions, kinds of operands, and text."""
        for (functions, kinds), form in self._forms.items():
            if type(form) is FunctionType:
                yield (functions, list(map(kind_name, kinds))), form.text  # type: ignore[attr-defined]
            elif form is not None:
                yield from form.texts()

    def general(self, ctx: Any, functions: Any, values: Any) -> Any:
        """Send each operation to the context; the reference for all quick forms."""
        if self.inplace is not None and type(values[0]) not in ctx.numbers:
            assert self.rest is not None
            value = self.rest.run(ctx, functions, values[1:])
            return getattr(ctx, self.inplace)(values[0], value)
        return self.plainly(ctx, functions, values)

    def unrolled(self, ctx: Any, functions: Any, values: Any) -> Any:
        """Generate the function that sends each operation to the context, and run it.

        Measured on loops over the items of a list: 27 -> 11 us for each pass.
        """
        text = f"def run(C, F, V):\n    return {self.text_of(('t', len(self.steps) - 1))}\n"
        self.plainly = define(text, {"inf": math.inf})["run"]
        return self.plainly(ctx, functions, values)

    def text_of(self, reference: Any) -> str:
        """Return the text of calls of the context that compute a value."""
        kind, which = reference
        if kind != "t":
            return f"V[{which}]" if kind == "v" else repr(which)
        name, *references = self.steps[which]
        if name in CALLS:
            which, *operands = references
            method = "call_one" if len(operands) == 1 else "call"
            return f"C.{method}(F[{which}], {', '.join(map(self.text_of, operands))})"
        if name == "int":
            return f"C.call_one(int, {self.text_of(references[0])})"
        method = "getitem" if name == "item" else name
        return f"C.{method}({', '.join(map(self.text_of, references))})"

    def __repr__(self) -> str:
        return f"Fused({self.steps!r})"


class Elsewhere:
    """What comes out where no quick form serves, in place of a value."""


class TriedFused(Fused):
    """An expression that is only tried: where no quick form serves, `Elsewhere` comes out."""

    __slots__ = ()

    def general(self, ctx: Any, functions: Any, values: Any) -> Any:
        """Do nothing, and say so."""
        return Elsewhere


def kind_name(kind: type) -> str:
    """Return how the type of an operand is named beside a form."""
    active = kind is not float and kind.__name__ == "float"  # as `Active` calls itself
    return "active float" if active else kind.__name__


def define(text: str, scope: dict[str, Any]) -> dict[str, Any]:
    """Run generated definitions in a scope; equal texts are compiled once."""
    exec(_compiled(text), scope)
    return scope


@lru_cache(maxsize=2048)
def _compiled(text: str) -> CodeType:
    return compile(text, f"{GENERATED}fused expression>", "exec")


class Parts:
    """What an expression consists of.

    Attributes
    ----------
    steps : list of Step
        Operations over the operands of the core.
    order : list of Step
        Operations with reads of elements, over the values that are passed.
    values : list of expr
        What is passed: names, and for each read the name and its index.
    layout : list
        For each operand of the core the position of its value among those passed, or the
        positions of what is indexed and of the index.
    functions : list of expr
    bases : dict of str to int
        Positions of the values that are indexed, by name.
    indices : dict of int to int
        For the position of each index that may be of one element, how many ints it has.
    index_positions : list of int
        Of all indices.
    root, ordered_root : tuple
        References of the value of the expression, over the core's operands and in order.
    """

    root: Any
    ordered_root: Any

    def __init__(self) -> None:
        self.bases: dict[str, int] = {}
        self.indices: dict[int, int] = {}
        self.index_positions: list[int] = []
        self.steps: list[Step] = []
        self.order: list[Step] = []
        self.values: list[ast.expr] = []
        self.layout: list[Any] = []
        self.functions: list[ast.expr] = []

    @property
    def has_items(self) -> bool:
        """Whether an operand is an element or a slice."""
        return any(type(part) is tuple for part in self.layout)

    def add_value(self, node: ast.expr) -> int:
        """Pass one more value; return its position."""
        self.values.append(node)
        return len(self.values) - 1

    def add_base(self, node: ast.Name | ast.Attribute) -> int:
        """Pass what is indexed, once; return its position."""
        text = dotted(node)
        if text not in self.bases:
            self.bases[text] = self.add_value(node)
        return self.bases[text]

    def add_index(self, node: ast.expr) -> int:
        """Pass an index; return its position."""
        position = self.add_value(node)
        self.index_positions.append(position)
        ints = len(node.elts) if isinstance(node, ast.Tuple) else 1
        if not any(isinstance(part, ast.Slice) for part in walk(node)) and (
            ints > 1 or not isinstance(node, ast.Tuple)
        ):
            self.indices[position] = ints
        return position


class _Collector:
    """Walks an expression; a reference is a pair: over the core's operands, and in order."""

    def __init__(self, names: Names, spans: bool) -> None:
        self.names = names
        self.spans = spans
        self.parts = Parts()
        self._known: dict[str, Any] = {}

    def visit(self, node: ast.expr) -> Any:
        """Return the references of a subexpression, or None if it cannot be part."""
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.Constant):
            number = ("c", node.value)
            return (number, number) if type(node.value) in (int, float) else None
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            left = self.visit(node.left)
            right = None if left is None else self.visit(node.right)
            return None if right is None else self.add(OPERATORS[type(node.op)], (), left, right)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return self.power(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return self.contraction(None, node.left, node.right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            operand = self.visit(node.operand)
            return None if operand is None else self.add("neg", (), operand)
        if isinstance(node, ast.Subscript):
            return self.item(node)
        if isinstance(node, ast.Attribute):
            return self.name(node) if self.is_steady(node) else None
        return self.call(node)

    def is_steady(self, node: ast.expr) -> bool:
        """Tell whether a name or an attribute may be read at any time: what is tried may be."""
        if not isinstance(node, ast.Attribute):
            return isinstance(node, ast.Name)
        of_module = self.names.module(node.value) is not None
        return of_module or (self.spans and isinstance(node.value, ast.Name))

    def name(self, node: ast.Name | ast.Attribute) -> Any:
        text = dotted(node)
        known = self._known.get(text)
        if known is None:
            position = self.parts.add_value(node)
            known = self._known[text] = self.operand(position), ("v", position)
        return known

    def operand(self, part: Any) -> Any:
        self.parts.layout.append(part)
        return ("v", len(self.parts.layout) - 1)

    def item(self, node: ast.Subscript) -> Any:
        """An element or slice of what a name is bound to, by an index without effects."""
        if not self.is_steady(node.value) or not is_plain_index(node.slice):
            return None
        assert isinstance(node.value, ast.Name | ast.Attribute)
        base, index = self.parts.add_base(node.value), self.parts.add_index(node.slice)
        core = self.operand((base, index))
        self.parts.order.append(("item", ("v", base), ("v", index)))
        return core, ("t", len(self.parts.order) - 1)

    def power(self, node: ast.BinOp) -> Any:
        """A power with a small exponent that is written down, such as ``x ** 2``."""
        match node.right:
            case ast.Constant(value=int(n)) if type(n) is int and n in SMALL:
                base = self.visit(node.left)
                return None if base is None else self.add("pow", (), base, (("c", n),) * 2)
        return None

    def call(self, node: ast.expr) -> Any:
        """A call of a module's function, such as ``np.hypot(x, y)``, or of `int`."""
        if self.names.calls_builtin(node, "int"):
            return self.whole_number(node)
        if (
            not isinstance(node, ast.Call)
            or not isinstance(node.func, ast.Attribute)
            or node.keywords
        ):
            return None
        f, count = self.function(node.func), len(node.args)
        if count == 2 and any(f is product for product in PRODUCTS):
            return self.contraction(node.func, *node.args)
        is_sum = f is np.sum and count == 1
        if not (is_sum or (1 <= count <= 2 and partials_of(f, count) is not None)):
            return None
        operands = []
        for argument in node.args:
            operands.append(self.visit(argument))
            if operands[-1] is None:
                return None
        self.parts.functions.append(node.func)
        return self.add("call", (len(self.parts.functions) - 1,), *operands)

    def whole_number(self, node: Any) -> Any:
        """``int(x)``, which has no derivative: what it reads leaves no entry."""
        plain = len(node.args) == 1 and not node.keywords
        operand = self.visit(node.args[0]) if plain else None
        return None if operand is None else self.add("int", (), operand)

    def function(self, function: ast.Attribute) -> Any:
        """Return the function of a module as it is now; None if it is none."""
        module = self.names.module(function.value)
        return None if module is None else module.__dict__.get(function.attr)

    def contraction(self, function: Any, a: ast.expr, b: ast.expr) -> Any:
        """A product of vectors and matrices, which are names, slices, or such products."""
        operands = []
        for node in (a, b):
            found = self.visit(node)
            if found is None or not self.is_factor(found[0]):
                return None
            operands.append(found)
        if function is None:
            return self.add("matmul", (), *operands)
        self.parts.functions.append(function)
        return self.add("product", (len(self.parts.functions) - 1,), *operands)

    def is_factor(self, reference: Any) -> bool:
        kind, which = reference
        return kind == "v" or (kind == "t" and is_contraction(self.parts.steps[which]))

    def add(self, name: str, which: tuple[int, ...], *operands: Any) -> Any:
        parts = self.parts
        parts.steps.append((name, *which, *(core for core, _ in operands)))
        parts.order.append((name, *which, *(ordered for _, ordered in operands)))
        return ("t", len(parts.steps) - 1), ("t", len(parts.order) - 1)


def dotted(node: Any) -> str:
    """Return the text of a name or of an attribute of names."""
    return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else node.id


def is_plain_index(node: ast.expr) -> bool:
    """Tell whether an index is made of names, numbers and arithmetic on them, and slices."""
    return _PLAIN.issuperset([part.__class__ for part in walk(node)])


_PLAIN = frozenset({ast.Name, ast.Constant, ast.Slice, ast.Tuple, ast.BinOp, ast.UnaryOp})


def collect(node: ast.expr, names: Names, spans: bool = False) -> Parts | None:
    """Return the parts of an expression, or None if it cannot be fused."""
    if node.lineno != node.end_lineno and not spans:
        return None  # a traceback could not tell the line of the operation
    collector = _Collector(names, spans)
    references = collector.visit(node)
    if references is None:
        return None
    parts = collector.parts
    parts.root, parts.ordered_root = references
    return parts


def prepend(operation: str, parts: Parts) -> tuple[Step, ...]:
    """Return the steps of ``x op (...)``, with x as operand 0 before the others."""

    def shift(ref: Any) -> Any:
        return ("v", ref[1] + 1) if type(ref) is tuple and ref[0] == "v" else ref

    shifted = tuple(tuple(map(shift, step)) for step in parts.steps)
    return (*shifted, (operation, ("v", 0), shift(parts.root)))


def swapped(steps: tuple[Step, ...], first: int) -> tuple[Step, ...]:
    """Return steps with an operand in the place of the first, and that one in its place."""
    places = {("v", 0): ("v", first), ("v", first): ("v", 0)}
    return tuple(tuple(places.get(part, part) for part in step) for step in steps)
