"""From calls in the source to what functions, methods and classes give back."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from mooncake_py.by_identity import answers_itself
from mooncake_py.compiler.native.building.findings import Again
from mooncake_py.compiler.native.building.in_words import said
from mooncake_py.compiler.native.building.types import Path, Type
from mooncake_py.compiler.native.building.values import (
    Array,
    Cells,
    Choice,
    ComplexNumber,
    Dictionary,
    Drawer,
    Function,
    Known,
    Number,
    Object,
    Partial,
    Stack,
    Tuple,
    Unfit,
    Value,
)
from mooncake_py.compiler.native.functions import of_numpy
from mooncake_py.compiler.native.reading import (
    call_nodes,
    constant_calls,
    dicts,
    drawing,
    growing,
    named_operators,
    no_axes,
    of_choices,
    picked,
    pinned,
    slices,
    stacks,
)
from mooncake_py.compiler.native.reading.blocks import BLOCKS
from mooncake_py.compiler.native.reading.expressions import ExpressionReader, is_list
from mooncake_py.compiler.native.reading.inspecting import INSPECTING
from mooncake_py.compiler.native.reading.made import Made
from mooncake_py.compiler.native.reading.merging import Around, Before, bases_in
from mooncake_py.compiler.native.reading.store import Slot, slots_called
from mooncake_py.compiler.native.regions.mentions import bound_by
from mooncake_py.compiler.regions.ir import Expr, Statement, statements
from mooncake_py.jitted import python_function
from mooncake_py.overriding import override
from mooncake_py.syntax.nodes import Place, located, place_of

__all__ = ["CallReader"]


class CallReader(ExpressionReader):
    """Reads calls.

    Attributes
    ----------
    around : list of Around
        What holds around each loop that is being read.
    running : list of Running
        The loops over ranges in which the statement is.
    order : list of str
        The inputs.
    made : Made
        Those that are made before the region runs.
    places : dict of str to Path
        Where the others are in the arguments.
    passed_first : int
        How many arguments there are.
    passed_values : sequence or None
        The arguments, if they are given.
    passes : dict of Place to Expr
        Of loops, and comprehensions, how often they run, where that is known only when it runs.
    of_ints : set of Place or None
        Loops, and comprehensions, that make lists of ints or of tuples of ints.
    types : dict of str to str
        Of the variables of numbers in the region their types.
    in_lists : set of str
        Memory of arrays of which lists hold copies.
    of_generators : set of str
        Owners, and slots by their names, that only generators read.
    may_call : bool
        Whether functions that are not read may be called.
    """

    may_call = True
    around: list[Around]
    running: list[drawing.Running]
    order: list[str]
    made: Made
    places: dict[str, Path]
    passed_first: int
    passed_values: Sequence[Any] | None
    passes: dict[Place | None, Expr]
    of_ints: set[Place | None]
    types: dict[str, str]
    in_lists: set[str]
    of_generators: set[str]

    @override
    def call(self, node: ast.Call) -> Value:
        """Read a call."""
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in ("append", "extend"):
                base = self.read_value(node.func.value)
                if is_list(base):
                    return self.append(base, node.func.attr, node)
            base = self.value(node.func.value)
            if isinstance(base, Choice):
                return of_choices.method(self, base, node.func.attr, node)
            if isinstance(base, Array | ComplexNumber):
                if isinstance(base, Array) and not base.shape:
                    args, given = self.arguments(node), self.keywords(node)
                    return no_axes.method(self, base, node.func.attr, args, given)
                method = of_numpy.method_of(base, node.func.attr)
                if method is None:
                    raise Unfit(f"the method {node.func.attr} of an array", place_of(node))
                return method(self.b, (base, *self.arguments(node)), self.keywords(node))
            if isinstance(base, Number) and node.func.attr == "conjugate" and not node.args:
                return self.prefixed(ast.UAdd(), base)
            if isinstance(base, Dictionary) or is_list(base):
                return self.method_of_structure(base, node)
            if isinstance(base, Drawer):
                args, given = self.arguments(node), self.keywords(node)
                return drawing.drawn(self, base, node.func.attr, args, given)
            known = self.known_method(base, node)
            if known is not None:
                return known
            f = self.attribute(base, node.func.attr)
        else:
            f = self.value(node.func)
        if isinstance(f, Known):
            refuse_answering(f.value, node)
        args = self.arguments(node, f.value if isinstance(f, Known) else None)
        given = self.keywords(node)
        return self.contained(lambda: self.applied(f, args, given, node))

    def applied(
        self, f: Value, args: Sequence[Value], given: dict[str, Value], node: ast.Call
    ) -> Value:
        """Return the result of a call of a value."""
        if isinstance(f, Choice):
            return self.but_none(f, lambda v: self.applied(v, args, dict(given), node))
        if isinstance(f, Partial):
            named = dict(zip(f.given.keys, f.given.items, strict=True))
            return self.applied(f.function, [*f.args, *args], named | given, node)
        if isinstance(f, Object):
            method = self.special_method(f, "__call__")
            if method is None:
                raise Unfit(f"a call of {said(f)}, whose class has no __call__", place_of(node))
            return self.applied(method, args, given, node)
        if not isinstance(f, Known | Function):
            raise Unfit(f"a call of {said(f)}: use a function", place_of(node))
        args = [self.current(a) for a in args]
        return self.elementwise(f.value if isinstance(f, Known) else f, args, given, node)

    @override
    def special_call(self, o: Value, name: str, args: Sequence[Value]) -> Value | None:
        method = self.special_method(o, name)
        if method is None:
            return None
        return self.contained(lambda: self.applied(method, args, {}, self.call_here()))

    def call_here(self) -> ast.Call:
        """Return a call for what no call in the source stands for, such as an operator."""
        call = ast.Call(ast.Constant(None), [], [])
        return call if self.b.place is None else located(call, self.b.place)

    def special_method(self, o: Value, name: str) -> Value | None:
        """Return a special method that the class of an object defines, None if it has none."""
        raise NotImplementedError

    def known_method(self, base: Value, node: ast.Call) -> Value | None:
        """Read a call of a method of what is known, such as a text; None for others."""
        assert isinstance(node.func, ast.Attribute)
        if not constant_calls.may_have(base, node.func.attr):
            return None
        args = self.arguments(node, tuple)
        found = constant_calls.method(self, base, node.func.attr, args, self.keywords(node))
        if found is None:
            raise Unfit(
                f"the method {node.func.attr} of {said(base)} with arguments known only when "
                "it runs",
                place_of(node),
            )
        return found

    def argument(self, name: str, type_: Type, steady: bool, path: Path) -> Value:
        """Return the value on entry of an argument, or of an attribute of one."""
        raise NotImplementedError

    @override
    def pin(self, e: Expr, most: int = pinned.MOST) -> None:
        pinned.pin(self, e, most)

    def is_readable(self, named: Any) -> bool:
        """Return True for a function that is read, not called."""
        raise NotImplementedError

    def append(self, made: Value, method: str, node: ast.Call) -> Value:
        """Read a statement that appends numbers to a list."""
        if self.nested > 1 or self.exclusive or len(node.args) != 1 or node.keywords:
            raise Unfit("a list that grows within an expression", place_of(node))
        value = self.value(node.args[0])
        self.gains(made, Tuple((value,), is_list=True) if method == "append" else value)
        return Known(None)

    def method_of_structure(self, made: Value, node: ast.Call) -> Value:
        """Read a call of a method of a list or a dict."""
        raise NotImplementedError

    def gains(self, made: Value, more: Value) -> None:
        """Append numbers that are written down to a list."""
        assert isinstance(made, Tuple | Cells | Stack)
        if not isinstance(more, Tuple):
            raise Unfit("a list that grows by other than numbers", self.b.place)
        if not isinstance(made, Tuple):
            self.require_no_loop_over(made)
        for value in more.items:
            if self.around:
                pinned.note_ints(self, value, self.around[-1].place)
            if isinstance(made, Stack):
                self.stacked_up(made, value)
                continue
            if self.b.loops and not isinstance(value, Number):
                self.find_stack(made, value)
            growing.appended(self.b, made, value, self.findings)

    def require_no_loop_over(self, made: Cells | Stack) -> None:
        """Raise for a list that grows while a loop runs over it."""
        memory = set(bases_in([made]))
        if any(not memory.isdisjoint(around.over) for around in self.around):
            raise Unfit("a list that grows while a loop runs over it", self.b.place)

    def find_stack(self, made: Tuple | Cells, value: Value, is_turned: bool = False) -> None:
        """Find out that a list must hold its items part by part, as a loop appends them.

        Parameters
        ----------
        is_turned : bool
            Whether the loop puts them before the first one.
        """
        if made.place is not None and made.place not in self.findings.stacked:
            around = self.around[-1].place if self.around else None
            try:
                form = stacks.form_of(self.b, value)
            except Unfit:  # of dicts or objects, say, which few passes append one by one
                self.unroll_at(around)
                raise
            if stacks.has_lists(form):  # those of few passes may be written
                self.unroll_at(around, pins=False)
            self.findings.stacked[made.place] = form
            if is_turned:
                self.findings.turned.add(made.place)
            raise Again

    @override
    def know_ints(self) -> None:
        pinned.know_ints(self)

    def unroll_at(self, place: Place | None, pins: bool = True) -> None:
        """Find out that a loop must be read once for each pass, if it has few.

        Parameters
        ----------
        pins : bool
            Whether lengths and ints of arguments that tell how many are to be known.
        """
        raise NotImplementedError

    def stacked_up(self, made: Stack, value: Value, is_turned: bool = False) -> None:
        """Put an array, or a tuple, at the end of a list, or at its beginning."""
        if not made.count:
            raise Unfit(
                "a list that a comprehension or a slice makes, and that grows", self.b.place
            )
        if made.is_turned != is_turned:
            raise Unfit("a list that grows at both ends in loops: use two lists", self.b.place)
        value = self.kept_apart(value)
        self.keep_in_list(value)
        is_within = self.b.loops > made.loops
        before = self.around[made.loops].before if is_within else Before.of(self.b)
        stacks.appended(self.b, made, value, before)

    def keep_in_list(self, value: Value) -> None:
        """Note that a list holds a copy of an array, which must not be written any more.

        Nor before that, in a loop which does not rebind it: that is known when it is read again.
        """
        bases = set(bases_in([value])) - {""}
        self.in_lists |= bases
        if not self.b.loops:
            return
        owners = {
            slot.own
            for slot, held in self.slots.values.items()
            if not isinstance(held, Stack) and not bases.isdisjoint(bases_in([held]))
        }
        if not owners <= self.findings.listed:
            self.findings.listed |= owners
            raise Again

    def contained(self, run: Callable[[], Value]) -> Value:
        """Return the result of a function of the user's.

        If it writes, and is part of an expression, this is read again, with each part as it is
        when it is read.
        """
        depth, exclusive = self.nested, self.exclusive
        if depth <= 1 and not exclusive:
            picks, self.picks, self.nested = self.picks, False, 0
            found = run()
            self.nested, self.picks = depth, picks
            return found
        count, start = len(self.b.arrays), len(self.b.block)
        before, place = self.slots.apart_from(self.of_generators), self.b.place
        self.nested, self.exclusive, picks, self.picks = 0, 0, self.picks, False
        within, self.comprehending = self.comprehending, ()
        found = run()
        self.nested, self.exclusive, self.picks = depth, exclusive, picks
        self.comprehending = within
        made = tuple(self.b.block[start:])
        if not before.items() <= self.slots.values.items() or self.writes(made, before, count):
            if exclusive or self.has_picked:
                self.run_comprehension()
                raise Unfit("a write within an expression, parts of which are read later", place)
            if place not in self.findings.written:
                self.findings.written.add(place)
                raise Again
        return found

    def writes(self, made: tuple[Statement, ...], before: Mapping[Slot, Value], count: int) -> bool:
        """Return whether statements bind or write what was there before them.

        Parameters
        ----------
        before : dict of Slot to Value
        count : int
            How many arrays there were.
        """
        written = {name for s in statements(made) for name in bound_by(s)}
        arrays = written & self.b.arrays.keys()
        if arrays and not arrays <= {*islice(self.b.arrays, count, None)}:
            return True
        return any(slot in before for name in written for slot in slots_called(name))

    def arguments(self, node: ast.Call, f: Any = None) -> list[Value]:
        """Read the arguments that are given by position."""
        found: list[Value] = []
        for part in node.args:
            if isinstance(part, ast.Starred):
                found += self.starred(part.value)
            else:
                found.append(self.passed(part, f))
        return found

    @override
    def displayed(self, elts: Sequence[ast.expr]) -> tuple[Value, ...]:
        found: list[Value] = []
        for part in elts:
            if isinstance(part, ast.Starred):
                found += self.starred(part.value)
            else:
                found.append(self.value(part))
        return tuple(found)

    def starred(self, node: ast.expr) -> Sequence[Value]:
        """Read what stands behind a star, item by item."""
        return self.starred_items(self.passed(node, tuple), node)

    def starred_items(self, value: Value, node: ast.expr) -> Sequence[Value]:
        """Return the items of a starred argument, one by one."""
        if isinstance(value, Dictionary):
            return [*map(Known, value.keys)]
        if not isinstance(value, Tuple):
            raise Unfit(
                f"* before {said(value)}: use a tuple or a list of known items", place_of(node)
            )
        return value.items

    def passed(self, node: ast.expr, f: Any) -> Value:
        """Read an argument of a function."""
        return self.value(node)

    def elementwise(
        self, f: Any, args: Sequence[Value], given: dict[str, Value], node: ast.Call
    ) -> Value:
        """Return the result of a function, of elements that a mask picks too."""
        if not picked.are_picked((*args, *given.values())):
            return self.called(f, args, given, node)
        if not issubclass(type(f), np.ufunc) or given:
            raise Unfit("elements that a mask picks as an argument", place_of(node))
        return picked.operated(self.b, lambda *a: self.called(f, a, {}, node), tuple(args))

    def keywords(self, node: ast.Call) -> dict[str, Value]:
        """Read the arguments that are given by name."""
        found: dict[str, Value] = {}
        for k in node.keywords:
            value = self.value(k.value)
            if k.arg is not None:
                more = {k.arg: value}
            elif isinstance(value, Dictionary):
                more = dict(zip(value.keys, value.items, strict=True))
            else:
                raise Unfit(f"** before {said(value)}: use a dict of known keys", place_of(node))
            if found.keys() & more.keys() or not all(type(key) is str for key in more):
                raise Unfit("a call with arguments that do not fit", place_of(node))
            found |= more
        return found

    def called(
        self, f: Any, args: Sequence[Value], given: dict[str, Value], node: ast.Call
    ) -> Value:
        """Return the result of a function."""
        refuse_answering(f, node)
        found = of_choices.called(self, f, args, given, node)
        if found is not None:
            return found
        known = self.class_call(f, args, given) or self.known_call(f, args, given)
        if known is not None:
            return known
        if no_axes.takes_numbers(f):
            args = [*args]
            if (one := no_axes.called(self, f, args, given)) is not None:
                return one
        try:
            reader = of_numpy.reader_of(f, args)
        except TypeError:
            reader = None
        if isinstance(f, Function) or (reader is None and python_function(f) is not None):
            outside = None if self.is_readable(f) else call_nodes.called(self, f, args, given)
            return self.inlined(f, args, given) if outside is None else outside
        if f is slice:
            return slices.called(self, args, given)
        if (container := self.made_container(f, args, given)) is not None:
            return container
        if f is list or f is tuple:
            args = [*map(dicts.iterated, args)]
        if reader is None and issubclass(type(f), type):
            return self.constructed(f, args, given)
        out = given.pop("out", None) if issubclass(type(f), np.ufunc) or f is np.dot else None
        if f is np.dot and isinstance(out, Array):
            refuse_unfit_output(out, [*args, *given.values()], node)
        found = call_nodes.read_or_called(self, reader, f, args, given)
        if f is list and found is not None:
            found = self.list_made(found, self.b.place)
        if found is None:
            name = getattr(f, "__name__", type(f).__name__)
            raise Unfit(f"the function {name}", place_of(node))
        return found if out is None else self.written_to(out, found)

    def known_call(self, f: Any, args: Sequence[Value], given: dict[str, Value]) -> Value | None:
        """Return the result of a call that depends on structure or known values, else None."""
        try:
            read = INSPECTING.get(f) or BLOCKS.get(f)
        except TypeError:  # what cannot be hashed
            return None
        if read is not None:
            return read(self, args, given)
        known = constant_calls.called(self, f, args, given)
        if known is not None:
            is_new = isinstance(known, Dictionary) or f is list
            return self.list_made(known, self.b.place) if is_new else known
        known = named_operators.called(self, f, args, given)
        return known or drawing.made_before(self, f, args, given)


def refuse_answering(f: Any, node: ast.Call) -> None:
    """Raise for what would run code of the program's to be looked up in tables of functions."""
    if type(f) is not Function and answers_itself(f, *ASKED):
        raise Unfit(f"the function {type(f).__name__}", place_of(node))


ASKED = "__getattribute__", "__getattr__", "__hash__", "__eq__"


def refuse_unfit_output(out: Array, operands: Sequence[Value], node: ast.Call) -> None:
    """Raise for what `np.dot` may not accept as its output: it converts nothing.

    Raises
    ------
    Unfit
    """
    if not out.whole:
        raise Unfit("np.dot into a view", place_of(node))
    if not out.shape:
        raise Unfit("np.dot into an array without axes, which returns a number", place_of(node))
    if any(isinstance(a, Array) and a.kind != out.kind for a in operands):
        raise Unfit("np.dot into an array of another dtype", place_of(node))
