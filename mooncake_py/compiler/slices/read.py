"""Read a loop of which statements are on slices.

    b[i, j] += np.dot(a[i + 1:, i], b[i + 1:, j])

`statements.read` reads the statement, and the numbers of indices are read as those of any loop, so
that the way back computes them again.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from mooncake_py.compiler.forms.form import whole_name
from mooncake_py.compiler.reading.expressions import ARITHMETIC, Unfit
from mooncake_py.compiler.reading.loops import LoopReader
from mooncake_py.compiler.regions.ir import (
    Assign,
    Block,
    Const,
    Expr,
    For,
    Length,
    Lines,
    Load,
    Name,
    Op,
    Sliced,
    Statement,
    While,
)
from mooncake_py.compiler.regions.ir import walk as walk_expression
from mooncake_py.compiler.regions.region import Region
from mooncake_py.compiler.slices.alone import are_alone
from mooncake_py.compiler.slices.calls.reading import (
    NamedCalls,
    call_of_arrays,
    is_of_arrays,
    with_named_calls,
)
from mooncake_py.compiler.slices.index_texts import index_text, reads_of
from mooncake_py.compiler.slices.named_views import Substitution, names_of_views
from mooncake_py.compiler.slices.operands import OperandReader, takes
from mooncake_py.compiler.slices.renumbered import renumbered
from mooncake_py.compiler.statements.contractions import PRODUCTS
from mooncake_py.compiler.statements.methods import METHODS
from mooncake_py.compiler.statements.read import plain_index
from mooncake_py.compiler.statements.reductions import REDUCTIONS
from mooncake_py.compiler.statements.statement import is_operand
from mooncake_py.compiler.statements.views import VIEWS
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import Place, place_of, replaced
from mooncake_py.syntax.trees import walk

__all__ = ["SlicedLoopReader"]

ON_ARRAYS = tuple(map(id, (*PRODUCTS, *REDUCTIONS, *VIEWS, np.where)))
NOTHING = Const(None)
NUMBERS = frozenset({"abs", "float", "len", "max", "min", "round"})


class SlicedLoopReader(LoopReader):
    """Reads one loop; a statement on slices becomes a `Sliced`.

    Attributes
    ----------
    sliced : set of str
        The arrays of which slices are read or written.
    views : set of str
        The names of slices.
    in_parts : set of str
        The names that the loop binds and of which elements or slices are read or written.
    growing : set of str
        The names of lists to which the loop appends.
    depth : int
        How many loops are round a statement.
    own : dict of str to str
        For the names of factors, which no name of the user's can be, what they are called in IR.
    known : dict of str to expr
        What those stand for that are bound before a statement in the same pass.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.sliced: set[str] = set()
        self.views: set[str] = set()
        self.known: dict[str, ast.expr] = {}
        self.own: dict[str, str] = {}
        self.in_parts: set[str] = set()
        self.growing: set[str] = set()
        self.depth = 0

    @override
    def loop(self, node: ast.For) -> For:
        self.depth += 1
        found = super().loop(node)
        self.depth -= 1
        return found

    @override
    def as_long_as(self, node: ast.While) -> While:
        self.depth += 1
        found = super().as_long_as(node)
        self.depth -= 1
        return found

    @override
    def read(self) -> Region:
        region = super().read()
        if not are_alone(region.body, self.in_parts & region.written()):
            raise Unfit
        return replace(region, whole=region.whole | self.sliced, in_parts=frozenset(self.in_parts))

    @override
    def survey(self) -> None:
        super().survey()
        self.views = names_of_views(self.definition, self.original) & self.stored
        self.stored -= self.views
        calls = [part for part in walk(self.node) if isinstance(part, ast.Call)]
        bases = [call.func.value for call in calls if self.appends(call)]  # type: ignore[attr-defined]
        self.growing = {base.id for base in bases if isinstance(base, ast.Name)}

    @override
    def block(self, body: list[ast.stmt]) -> Block:
        before = self.known
        self.known = dict(before)
        result = super().block(body)
        self.known = before
        return result

    @override
    def name(self, name: str) -> str:
        if name in self.views:
            raise Unfit
        return super().name(name)

    @override
    def array(self, node: ast.expr) -> str:
        found = self.bound_array(node.id) if isinstance(node, ast.Name) else None
        if found is None:
            return super().array(node)
        self.in_parts.add(found)
        return found

    def bound_array(self, name: str) -> str | None:
        """Return what a name that the region binds is called in IR; None for others."""
        if self.frame is not None:
            is_own = name in self.stored & self.defined and name not in self.frame.passed
            return self.own_local(name) if is_own else None
        if name not in self.stored - self.only_changed:
            return None
        if name not in self.defined:
            self.given_name(name)
        return self.own_name(name)

    @override
    def length(self, node: ast.expr, axis: int) -> Length:
        found = super().length(node, axis)
        if found.array in self.in_parts:
            raise Unfit  # it may be bound to an array of another shape
        return found

    @override
    def element(self, array: str, index: tuple[Expr, ...], place: Place) -> Load:
        if array in self.in_parts:
            if self.depth > 1:
                raise Unfit  # an array of one element for each: the inner loop is faster alone
            return Load(array, index, place=place)
        if self.arrays.setdefault(array, len(index)) not in (0, len(index)):
            self.sliced.add(array)  # rows and elements
        return Load(array, index, place=place)

    @override
    def finish(self) -> dict[str, str]:
        for name in self.sliced:
            self.arrays.setdefault(name, 0)
        self.shaped |= self.sliced
        if self.data & self.in_parts:
            raise Unfit  # ints of what is bound anew
        return super().finish()

    @override
    def statement(self, node: ast.stmt, rest: list[ast.stmt]) -> list[Statement]:
        if self.known and isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            node = Substitution(self.known).visit(node)
        if self.frame is None and isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            node = with_named_calls(self, node)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as view) if (
                name in self.views
            ):
                return [self.named_view(name, view)]
            case ast.Assign(targets=[target], value=value) if self.is_on_slices(node):
                return [self.on_slices(node, target, None, value)]
            case ast.AugAssign(target=target, op=op, value=value) if self.is_on_slices(node):
                return [self.on_slices(node, target, op, value)]
        return super().statement(node, rest)

    @override
    def alone(self, node: ast.Call) -> list[Statement]:
        if self.frame is None and self.appends(node):
            value: Any = Substitution(self.known).visit(node.args[0])
            value = NamedCalls(self).visit(value)
            if any(map(self.makes_arrays, walk(value))):
                value = self.named_before(value)
            node = replaced(node, args=[value])
        return super().alone(node)

    def is_of_list(self, node: ast.expr) -> bool:
        """Return True for an item of a list that grows, or of one that is written down."""
        if self.frame is not None or not isinstance(node, ast.Subscript):
            return False
        base = node.value
        if not isinstance(base, ast.Name):
            return False
        values = self.found.own.get(base.id) or [None]
        written = all(isinstance(v, ast.List | ast.ListComp) for v in values)
        return written or base.id in self.growing

    def is_on_slices(self, node: ast.stmt) -> bool:
        """Return True for a statement in which something must be an array."""
        return self.frame is None and any(map(self.makes_arrays, walk(node)))

    def makes_arrays(self, part: Any) -> bool:
        """Return True for a slice, and for an operation on arrays."""
        if isinstance(part, ast.Call) and self.is_call_of_arrays(part):
            return True
        if isinstance(part, ast.BinOp):
            return isinstance(part.op, ast.MatMult)
        if isinstance(part, ast.Attribute):
            if self.copies(part):
                return True
            module = self.names.module(part.value)
            if module is None:
                return part.attr in METHODS
            f = None if module is None else module.__dict__.get(part.attr)
            return id(f) in ON_ARRAYS
        return isinstance(part, ast.Slice)

    def is_method(self, node: ast.expr) -> bool:
        """Return True for an attribute of something else than a module."""
        return isinstance(node, ast.Attribute) and self.names.module(node.value) is None

    def copies(self, node: ast.expr) -> bool:
        """Return True for ``x.copy`` and ``np.copy``."""
        if not isinstance(node, ast.Attribute) or node.attr != "copy":
            return False
        module = self.names.module(node.value)
        return module is None or module.__dict__.get("copy") is np.copy

    def on_slices(
        self, node: ast.AST, target: ast.expr, op: ast.operator | None, value: ast.expr
    ) -> Sliced:
        """Read ``target = value`` or ``target op= value``."""
        if op is not None and type(op) not in ARITHMETIC:
            raise Unfit
        if op is None and isinstance(target, ast.Name) and self.is_call_of_arrays(value):
            return call_of_arrays(self, value, target)
        reader = OperandReader(self)
        read = reader.value(value)
        place: tuple[int, int] | None = None
        if isinstance(target, ast.Subscript):
            index = reader.index(target.slice)
            if index is None or takes(index) or not isinstance(target.value, ast.Name):
                raise Unfit
            place = reader.add_base(target.value), reader.add_index(index)
            if op is not None:
                read = reader.changed(ARITHMETIC[type(op)], place, read)
        elif not isinstance(target, ast.Name) or self.is_count(target) or is_operand(read):
            raise Unfit
        elif op is not None:
            old = reader.name(target)
            read = Op(ARITHMETIC[type(op)], (old, read), place=read.place)
        statement = reader.statement(
            read,
            frozenset(p for p in reader.index_positions if not takes(reader.values[p])),
            target=place,
            augments=place is not None and op is not None,
        )
        bases = {base for base, _ in statement.pairs}
        values = tuple(
            self.base(part) if p in bases else self.given_value(part, p in reader.index_positions)
            for p, part in enumerate(reader.values)
        )
        numbers = [self.passed(f) for f in reader.functions]
        written = None if place is None else values[place[0]].name
        if written is not None:
            self.stores.add(written)
            if written in self.in_parts and self.depth > 1:
                raise Unfit  # the array is copied for each part
        noted = None if op is None else self.changed
        bound = self.bound_name(target, noted) if isinstance(target, ast.Name) else None
        statement = renumbered(statement, numbers)
        return Sliced(statement, values, bound, written, place=place_of(node))

    def bound_name(self, target: ast.Name, noted: set[str] | None = None) -> Name:
        """Return the name that a statement binds: see `target`."""
        if target.id in self.own:
            return Name(self.own[target.id], place=place_of(target))
        found = self.target(target, noted)
        assert isinstance(found, Name)
        return found

    # Calls of functions on whole arrays.

    def is_call_of_arrays(self, node: ast.expr) -> TypeGuard[ast.Call]:
        """Return True for the call of a function that is one operation on whole arrays."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        module = self.names.module(node.func.value)
        f = None if module is None else module.__dict__.get(node.func.attr)
        return f is not None and is_of_arrays(f, len(node.args) + len(node.keywords))

    def operand_of_call(self, node: ast.expr) -> Expr:
        """Read an argument of such a call: a name, an element, or the name that it gets."""
        if self.frame is None:
            node = NamedCalls(self).visit(node)
            if any(map(self.makes_arrays, walk(node))):
                node = self.named_before(node)
        found = self.value(node)
        if isinstance(found, Name | Load) and not self.is_of_list(node):
            return found
        name, place = self.own_factor(node), place_of(node)
        self.before.append(Assign(Name(self.own[name.id], place=place), found, place=place))
        return Name(self.own[name.id], place=place)

    @override
    def value(self, node: ast.expr) -> Expr:
        if self.frame is not None and self.is_call_of_arrays(node):
            name = self.own_factor(node)
            self.before.append(call_of_arrays(self, node, name))
            return Name(self.own[name.id], place=place_of(node))
        return super().value(node)

    def own_factor(self, node: ast.expr) -> ast.Name:
        """Return a new name for the value of an expression."""
        number = len(self.own)
        name = ast.Name(f"factor {number}", ast.Store())
        ast.copy_location(name, node)
        self.own[name.id] = f"p{number}"
        return name

    def named_before(self, node: ast.expr) -> ast.Name:
        """Return the name that a statement before this one binds."""
        name = self.own_factor(node)
        self.before.append(self.on_slices(node, name, None, node))
        return name

    def number_before(self, node: ast.expr) -> ast.Name:
        """Return the name that a number gets before this statement."""
        name, place = self.own_factor(node), place_of(node)
        value = self.value(node)
        self.before.append(Assign(Name(self.own[name.id], place=place), value, place=place))
        return name

    def is_of_numbers(self, node: ast.Call) -> bool:
        """Return True for the call of a function that takes numbers only."""
        if any(self.makes_arrays(part) for e in node.args for part in walk(e)):
            return False
        if isinstance(node.func, ast.Name):
            return self.names.builtin(node.func) in NUMBERS
        return isinstance(node.func, ast.Attribute) and not self.is_of_numpy(node.func)

    @override
    def number(self, name: str, place: Place) -> Expr:
        if name in self.own:
            return Name(self.own[name], place=place)
        return super().number(name, place)

    @override
    def given(self, node: ast.expr) -> str:
        if any(isinstance(part, ast.Name) and part.id in self.own for part in walk(node)):
            raise Unfit  # an attribute of what the region computes
        return super().given(node)

    def named_view(self, name: str, node: ast.Subscript) -> Lines:
        """Read what gives a slice a name."""
        if any(isinstance(part, ast.Name) and part.id in self.stored for part in walk(node)):
            raise Unfit  # an index that may change in the same pass
        place = place_of(node)
        array = self.base(node.value).name
        if array in self.in_parts:
            raise Unfit  # a view of what may be bound anew
        index = self.index_of(plain_index(node.slice, self.names) or node.slice)
        self.known[name] = node
        text = f"{whole_name(array)}[{index_text(index)}]"
        return Lines((text,), (Name(whole_name(array)), *reads_of(index)), place=place)

    def given_value(self, node: ast.expr, is_index: bool) -> Any:
        """Read an index or a number; attributes would be read before their turn."""
        if is_index:
            return self.index_of(node)
        if not isinstance(node, ast.Name):
            raise Unfit
        if node.id in self.own:
            return Name(self.own[node.id], place=place_of(node))
        if node.id in self.stored | self.counters | self.views:
            return self.number(node.id, place_of(node))
        return Name(self.given_name(node.id), place=place_of(node))

    def base(self, node: ast.expr) -> Name:
        """Read what is indexed."""
        if not isinstance(node, ast.Name):
            raise Unfit
        array = self.array(node)
        if array not in self.in_parts:
            self.sliced.add(array)
        return Name(array, place=place_of(node))

    def index_of(self, node: ast.expr) -> tuple[Expr, ...]:
        """Read an index, part by part."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        if isinstance(node, ast.Tuple) and any(map(takes, parts)):
            raise Unfit  # what is read is a copy
        return tuple(map(self.part, parts))

    def part(self, node: ast.expr) -> Expr:
        """Read a part of an index."""
        place = place_of(node)
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                ends = [NOTHING if e is None else self.end(e) for e in (lower, upper, step)]
                return Op("slice", tuple(ends), place=place)
            case ast.Constant(value=value) if value is Ellipsis:
                return Op("ellipsis", (), place=place)
            case ast.Subscript(slice=ast.Slice() as ends):
                return self.taken(node.value, ends, place)
        return self.end(node)

    def taken(self, node: ast.expr, ends: ast.Slice, place: Place) -> Op:
        """Read ints of an array as an index."""
        array = self.base(node)
        self.data.add(array.name)
        whole = Load(array.name, (), place=place)
        return Op("taken", (whole, *self.part(ends).args), place=place)  # type: ignore[union-attr]

    def end(self, node: ast.expr) -> Expr:
        """Read an int of an index."""
        if isinstance(node, ast.Constant) and node.value is None:
            return NOTHING
        if isinstance(node, ast.Constant) and type(node.value) is not int:
            raise Unfit
        found = self.steady_int(node)
        if any(isinstance(part, Op) and part.op == "not" for part in walk_expression(found)):
            raise Unfit  # a mask, to NumPy
        return found

    def passed(self, node: ast.expr) -> int:
        """Pass a function that a statement calls; return its number in the region."""
        assert isinstance(node, ast.Attribute)
        key = f"on slices {ast.unparse(node)}", 0
        if key not in self._numbers_of:
            self._numbers_of[key] = len(self.functions)
            self.functions.append(node)
        return self._numbers_of[key]
