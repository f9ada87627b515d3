"""Calls that are not read: functions with derivatives of their own become nodes of the region.

    e, v = np.linalg.eigh(a)        header = node(a), e = take 0 of header, v = take 1 of header

Operands are numbers and arrays; all else that is passed must be known.  What decides is that the
function has a rule, or is one of a library that does nothing but compute: never that it could not
be read.  See `compiler.native.nodes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from mooncake_py.compiler.native.building import operations
from mooncake_py.compiler.native.building.arguments import Reader
from mooncake_py.compiler.native.building.deques import Deque
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.values import (
    KINDS,
    Array,
    Cells,
    Dictionary,
    Number,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.nodes.derivatives import Call, Function
from mooncake_py.compiler.native.nodes.node import COMPLEX, Leaf, Node
from mooncake_py.compiler.native.nodes.text import defined
from mooncake_py.compiler.native.reading.constants import UNKNOWN, python_of
from mooncake_py.compiler.native.reading.pure_calls import (
    Form,
    form_of_result,
    is_pure,
    name_of,
)
from mooncake_py.compiler.native.regions.linear import ONE, ZERO
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT
from mooncake_py.compiler.regions.ir import Apply, Check, Compare, Const, Expr, Load, Name

if TYPE_CHECKING:
    from mooncake_py.compiler.native.building.builder import Builder
    from mooncake_py.compiler.native.reading.calls import CallReader

__all__ = ["Before", "Operands", "called", "read_or_called", "require_calls", "results_of"]


@dataclass
class Operands:
    """What is passed to a node, and the text that makes the arguments of it.

    Attributes
    ----------
    arrays : list of str
    takes : list of Leaf
    shapes : list of tuple of Expr
        The lengths, as the function sees them.
    scope : dict of str to object
        What is known.
    """

    b: Builder
    arrays: list[str] = field(default_factory=list)
    takes: list[Leaf] = field(default_factory=list)
    shapes: list[tuple[Expr, ...]] = field(default_factory=list)
    scope: dict[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the operands in the text."""
        return [f"a{k}" for k in range(len(self.takes))]

    def known(self, value: Any) -> str:
        """Return the text of what is known."""
        name = f"k{len(self.scope)}"
        self.scope[name] = value
        return name

    def text_of(self, value: Value) -> str:
        """Return the text of an argument.

        Raises
        ------
        Unfit
        """
        found = python_of(value)
        if found is not UNKNOWN and not isinstance(value, Tuple | Dictionary):
            return self.known(found)
        match value:
            case Number(rank=None, narrow=False):
                return self.number(value)
            case Array():
                return self.array(value)
            case Cells(ranks=None):
                return f"{self.array(value.as_array)}.tolist()"
            case Tuple(items=items, is_list=is_list, cls=None) if not isinstance(value, Deque):
                inner = "".join([f"{self.text_of(item)}, " for item in items])
                return f"[{inner}]" if is_list else f"({inner})"
            case Tuple(items=items, cls=cls) if cls is not None:
                return f"{self.known(cls)}({', '.join(map(self.text_of, items))})"
            case Dictionary(keys=keys, items=items, cls=cls) if cls is dict:
                pairs = zip(keys, items, strict=True)
                return f"{{{', '.join([f'{self.known(k)}: {self.text_of(v)}' for k, v in pairs])}}}"
        raise Unfit(
            f"{said(value)} as an argument of a function that is called, not read: "
            "pass numbers and arrays",
            self.b.place,
        )

    def number(self, value: Number) -> str:
        """Take a number as an operand."""
        kind = KINDS[value.type]
        if kind == FLOAT32:
            raise Unfit("a number of float32 as an argument of a call", self.b.place)
        held = self.b.new((ONE,), kind)
        self.b.for_all((ONE,), lambda at: self.b.stored(held, at, value.e))
        return self.operand(held.base, Leaf(value.type, None), ())

    def array(self, value: Array) -> str:
        """Take an array as an operand."""
        if value.kind not in (FLOAT, INT, BOOL, COMPLEX) or not value.shape:
            raise Unfit(f"{said(value)} as an argument of a call", self.b.place)
        whole = value if value.whole else self.b.kept(value)
        return self.operand(whole.base, Leaf(value.kind, len(value.shape)), value.shape)

    def operand(self, array: str, leaf: Leaf, shape: tuple[Expr, ...]) -> str:
        """Take memory as an operand; return its name in the text."""
        self.arrays.append(array)
        self.takes.append(leaf)
        self.shapes.append(shape)
        return f"a{len(self.takes) - 1}"


def read_or_called(
    r: CallReader,
    read: Reader | None,
    f: Any,
    args: Sequence[Value],
    given: dict[str, Value],
) -> Value | None:
    """Return the result of a function that is no function of the user's, None for an unknown one.

    Parameters
    ----------
    read : callable or None
        Its reader, which may refuse these arguments.
    """
    may_call = r.may_call and is_pure(f)
    before = Before.of(r.b) if may_call else None
    try:
        if read is not None:
            found = read(r.b, args, given)
        else:
            found = None if given else operations.applied(r.b, f, args)
    except ValueError as error:  # of too few arguments, or too many
        raise Unfit("a call with arguments that do not fit", r.b.place) from error
    except Unfit:
        if before is None:
            raise
        before.restore(r.b)
        return called(r, f, args, given)
    return called(r, f, args, given) if found is None else found


class Before(NamedTuple):
    """What a builder knew before a call was read."""

    statements: int
    required: set[Check]
    frozen: dict[Expr, Name]
    natural: set[str]

    @classmethod
    def of(cls, b: Builder) -> Before:
        """Return it."""
        return cls(len(b.block), {*b.required}, dict(b.frozen), {*b.ranges.natural})

    def restore(self, b: Builder) -> None:
        """Drop the statements since then, and what is known by them."""
        del b.block[self.statements :]
        b.required, b.frozen = {*self.required}, dict(self.frozen)
        b.ranges.natural = {*self.natural}


def require_calls(r: CallReader) -> None:
    """Raise where functions that are not read are not called; no one asks for the place."""
    if not r.may_call:
        raise Unfit("a call that only compiled code makes")


def called(
    r: CallReader, f: Any, args: Sequence[Value], given: Mapping[str, Value]
) -> Value | None:
    """Return the result of a call as a node, None for a function that may do more than compute.

    Raises
    ------
    Unfit
        Its arguments, or what it returns, are not numbers and arrays.
    """
    from mooncake_py.compiler.native.reading import solver_nodes  # which is made of this

    found = solver_nodes.called(r, f, args, given)
    if found is not None:
        return found
    if not is_pure(f):
        return None
    require_calls(r)
    if "where" in given:  # elements that are left out have no value
        raise Unfit(f"`where=` in a call of {name_of(f)}: use np.where", r.b.place)
    operands = Operands(r.b)
    texts = [operands.text_of(v) for v in args]
    named = {name: operands.text_of(v) for name, v in given.items()}
    if not operands.takes:
        return None
    passed = ", ".join([*texts, *[f"{name}={text}" for name, text in named.items()]])
    form = form_of_result(r, f, operands, passed)
    body = [f"r = f({passed})", f"return {form.returned}"]
    function = defined(operands.names, body, {**operands.scope, "f": f})
    is_whole = not form.unread
    call = direct_call(f, operands, texts, named, is_tuple=form.is_tuple) if is_whole else None
    node = Node(Function(function, call), operands.takes, form.leaves)
    found = results_of(r.b, node, operands, form)
    return form.made(found)


def direct_call(
    f: Any,
    operands: Operands,
    args: Sequence[str],
    given: Mapping[str, str],
    *,
    is_tuple: bool,
) -> Call | None:
    """Return the call as one by position, None if operands are elsewhere or within others."""
    names = {name: k for k, name in enumerate(operands.names)}
    scope = operands.scope
    if any(text not in names and text not in scope for text in args):
        return None
    if any(text not in scope for text in given.values()):
        return None
    placed = [(True, names[t]) if t in names else (False, scope[t]) for t in args]
    return Call(f, placed, {name: scope[t] for name, t in given.items()}, is_tuple=is_tuple)


def results_of(b: Builder, node: Node, operands: Operands, form: Form) -> list[Value]:
    """Add a node and what takes its results; return these."""
    b.is_exact = False  # no text of NumPy calls it
    header = b.new((Const(1 + node.lengths),), INT)
    b.add(Apply(node, header.base, tuple(operands.arrays), place=b.place))
    found: list[Value] = []
    place = 1
    for k, leaf in enumerate(node.gives):
        axes = leaf.axes or 0
        shape = [length(b, header, place + axis, form.shapes[k][axis]) for axis in range(axes)]
        place += axes
        found.append(taken(b, node, k, leaf, shape, (header.base, *operands.arrays)))
        own = found[-1]
        if isinstance(own, Array) and form.in_order[k]:
            b.layouts.certain(own)
    return found


def length(b: Builder, header: Array, place: int, known: Expr | None) -> Expr:
    """Return a length of a result, which it must have if it is known."""
    found = b.counted(Load(header.base, (Const(place),)))
    if known is not None:
        b.check("eq", found, known)
        return known
    b.ranges.natural.add(found.name)
    return found


def taken(
    b: Builder,
    node: Node,
    k: int,
    leaf: Leaf,
    shape: Sequence[Expr],
    operands: tuple[str, ...],
) -> Value:
    """Return a result of a node."""
    if leaf.axes is None:
        own = b.new((ONE,), leaf.kind)
    elif leaf.type == COMPLEX:
        own = b.new_complex(shape, FLOAT)
    else:
        own = b.new(shape, leaf.kind)
    b.add(Apply(node.take(k), own.base, operands, place=b.place))
    if leaf.axes is not None:
        return own
    e = Load(own.base, (ZERO,))
    if leaf.kind == FLOAT:
        return Number(b.number(e), leaf.type)
    if leaf.kind == INT:
        return Number(b.counted(e), leaf.type)
    return Number(Compare(("ne",), (b.counted(e), ZERO)), leaf.type)
