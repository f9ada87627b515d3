"""From a function and the types of its arguments to a region."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from mooncake_py.compiler.native.building.builder import Builder
from mooncake_py.compiler.native.building.findings import Findings, reread
from mooncake_py.compiler.native.building.looked import looked_at
from mooncake_py.compiler.native.building.types import (
    COMPLEX_TYPES,
    ArrayType,
    BoundType,
    DictType,
    KnownType,
    ListType,
    Met,
    NumberType,
    ObjectType,
    Path,
    RowsType,
    SameType,
    TupleType,
    Type,
    UnservedType,
    itemized,
    type_of,
)
from mooncake_py.compiler.native.building.values import (
    KINDS,
    PARTS,
    Array,
    Cells,
    ComplexNumber,
    Dictionary,
    Function,
    Known,
    Number,
    Object,
    Tuple,
    Unfit,
    Unread,
    Value,
    lengths,
    stored,
    stored_complex,
)
from mooncake_py.compiler.native.reading import explicit_solvers, growing
from mooncake_py.compiler.native.reading.aliases import Aliases
from mooncake_py.compiler.native.reading.captured import Captured, as_looked
from mooncake_py.compiler.native.reading.made import Made
from mooncake_py.compiler.native.reading.outputs import Output, as_python, leaves_of, names_in
from mooncake_py.compiler.native.reading.parameters import defaults_of, parameters_of
from mooncake_py.compiler.native.reading.pinned import with_pinned
from mooncake_py.compiler.native.reading.prepared import prepared, source_of
from mooncake_py.compiler.native.reading.results import ResultReader
from mooncake_py.compiler.native.reading.scope import Scope, is_input, known
from mooncake_py.compiler.native.reading.stops import require_hope
from mooncake_py.compiler.native.reading.store import Store
from mooncake_py.compiler.native.regions.linear import LARGE
from mooncake_py.compiler.native.regions.region import FLOAT, INT, NativeRegion
from mooncake_py.compiler.regions.ir import Length, Name
from mooncake_py.compiler.sites.callees import YIELDING, Callee, Callees, is_own
from mooncake_py.errors import MooncakeError
from mooncake_py.jitted import python_function
from mooncake_py.overriding import override

__all__ = ["Reading", "read_function", "reread"]


class Reading(NamedTuple):
    """A function as a region.

    Attributes
    ----------
    region : NativeRegion
    callees : Callees
        The function and those that it calls, and what was assumed of them.
    types : tuple of Type
        Of the arguments, of which it knows what was looked at.
    captured : list of Captured
        Globals and captured variables that are passed after the arguments.
    places : list of Path
        Where the inputs are in all these.
    output : Output
    set_after : list of (path, object, Output)
        The attributes and items that are assigned: where the object, the list or the dict is, the
        name, the position or the key, and the value.
    grown : list of (Output, str)
        Lists that are inputs, as they are afterwards, and their names.
    made : Made or None
        The last inputs, which are made before the region runs.
    """

    region: NativeRegion
    callees: Callees
    types: tuple[Type, ...]
    captured: list[Captured]
    places: list[Path]
    output: Output
    set_after: list[tuple[Path, Any, Output]]
    grown: list[tuple[Output, str]]
    made: Made | None = None


def read_function(
    f: FunctionType,
    types: Sequence[Type],
    met: Met | None = None,
    given: Sequence[Any] | None = None,
    calls: bool = True,
) -> Reading:
    """Read a function for arguments of some types.

    Parameters
    ----------
    met : dict of int to Path, optional
        Where the structures among the arguments are: global names may stand for them too.
    given : sequence, optional
        The arguments, of which ints may decide structure; `calls`: see `call_nodes`.

    Raises
    ------
    Unfit
        What cannot be compiled, and where.
    """

    def read(findings: Findings) -> Reading:
        reader = FunctionReader(findings, met)
        reader.may_call = calls
        with reader.telling():
            return reader.whole(f, types, given)

    return reread(read)


class FunctionReader(ResultReader):
    """Reads one function, and those that it calls."""

    def __init__(self, findings: Findings, met: Met | None = None) -> None:
        self.b = Builder(self.require_memory)
        self.findings = findings
        self.types = {}
        self.guarded = set()
        self.inputs = set()
        self.order = []
        self.result = None
        self.loops_outside = 0
        self.few, self.buffers = {}, {}
        self.aliases = Aliases()
        self.holds_input = {}
        self.from_input: set[str] = set()
        self.private = set()
        self.is_straight = True
        self.around = []
        self.jumps = []
        self.short, self.may_peel = {}, set()
        self.counted = {}
        self.passes = {}
        self.of_ints = set()
        self.iterating = []
        self.made = Made()
        self.rebound = set()
        self.callees = Callees()
        self.captures: list[Captured] = []
        self.passed_first = 0
        self.passed_values: Sequence[Any] | None = None
        self.places: dict[str, Path] = {}
        self.met: Met = {**(met or {})}
        self.looked = {}
        self.initial = {}
        self.results = {}
        self.lost, self.in_lists = set(), set()
        self.pending = []
        self.own_attributes = set()
        self.bound_at = {}
        self.of_classes = set()
        self.asked, self.of_functions = set(), {}
        self.holders = {}
        self.moved_to = {}
        self.running = []
        self.slots = Store()
        self.row_loops, self.rows, self.homes, self.copied, self.fallen = [], {}, {}, {}, {}
        self.structures = {}
        self.grown: dict[str, Cells] = {}
        self.given = set()
        self.known_as: dict[tuple[Callee | int, str, bool], Value] = {}
        self.scopes = []
        self.entered = Counter()
        self.born = {}
        self.stepping = {}
        self.of_generators = set()
        self.recursive = 0
        self.implied, self.lost_choices, self.made_here = {}, {}, {}

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Let an error tell which function was being read."""
        try:
            yield
        except Unfit as error:
            if self.scopes:
                error.within = self.scopes[-1].function.__code__
            raise

    def whole(self, f: FunctionType, types: Sequence[Type], given: Any = None) -> Reading:
        """Read the function that is called."""
        types = with_pinned(types, self.findings, given)
        self.passed_first, self.passed_values = len(types), given
        if f.__code__.co_flags & GENERATOR:
            raise Unfit("a generator: return a list")
        scope = self.enter(f)
        names = parameters_of(f.__code__).names
        self.scope = scope
        for k, (name, type_) in enumerate(zip(names, types, strict=True)):
            scope.env[name] = self.parameter(name, type_, (k,))
        for name, value in list(scope.env.items()):
            if isinstance(value, Tuple):
                self.bind(name, value)
        self.bind_assigned()
        self.body(scope)
        return self.finished(NOTHING if self.result is None else self.result, types)

    def finished(self, value: Value, types: Sequence[Type]) -> Reading:
        """Return the reading as a region that returns a value."""
        grown = [(self.output(cells, ""), name) for name, cells in self.grown.items()]
        output = self.output(value, "r")
        self.require_first_keys()
        set_after = [
            (path, step, self.output(value, f"r{k}"))
            for k, (path, step, value) in enumerate(self.assigned_slots())
        ]
        outputs = [output, *(o for *_, o in set_after), *(o for o, _ in grown)]
        lists = {o.name for top in outputs for o in leaves_of(top) if o.kind == "floats"}
        region = NativeRegion(
            (*self.b.first, *self.b.block),
            (*self.order, *self.made.names),
            self.b.kinds,
            self.b.arrays,
            tuple(dict.fromkeys(n for o in outputs for n in names_in(o))),
            frozenset(self.b.complexes),
            frozenset(self.b.lists | lists),
            frozenset(self.private),
            frozenset(self.b.contiguous),
            self.b.is_exact and not self.b.layouts.is_open,
        )
        passed = tuple([looked_at(t, self.looked, (k,)) for k, t in enumerate(types)])
        captures = as_looked(self.captures, self.looked, self.passed_first)
        places = [self.places[name] for name in self.order]
        made = self.made if self.made.names else None
        return Reading(
            region, self.callees, passed, captures, places, output, set_after, grown, made
        )

    def enter(self, named: Any) -> Scope:
        """Return a scope for the body of a function, or of the one that Numba compiled."""
        f = python_function(named)
        assert f is not None
        self.require_shallow(f.__code__)
        require_hope(f.__code__)
        if not self.is_readable(named):
            raise Unfit(f"a call of {f.__qualname__}", self.b.place)
        try:
            body = prepared(f.__code__, lambda: source_of(f))
        except MooncakeError as error:
            raise Unfit(f"no source of {f.__qualname__}", self.b.place) from error
        if body is None:
            raise Unfit("a coroutine", self.b.place)
        return Scope(self.callees.met(named), f, body, self.scope_name(f.__code__), self.slots)

    def is_readable(self, named: Any) -> bool:
        """Return True for a function that is read, not called."""
        return is_own(named, YIELDING & ~GENERATOR) or explicit_solvers.is_text(named)

    def body(self, scope: Scope) -> None:
        """Read the body of a function."""
        self.scope = scope
        self.scopes.append(scope)
        self.read(scope.body)
        self.scopes.pop()

    # Inputs.

    def parameter(self, name: str, type_: Type, path: Path) -> Value:
        """Return the value of a variable that is passed; it may be bound again."""
        own, steady = self.scope.named(name), self.scope.bindings[name] == 1
        findings = self.findings
        others = findings.varied | findings.widened | findings.reused
        if steady or not (isinstance(type_, KnownType) or own in others):
            return self.argument(own, type_, steady, path)
        value = self.argument(f"{own}.before", type_, True, path)
        return self.bind_number(name, value) if isinstance(value, Number) else value

    @override
    def argument(self, name: str, type_: Type, steady: bool, path: Path) -> Value:
        match type_:
            case KnownType(type=t, value=value):
                return Known(set(value)) if t is set else known(value)
            case UnservedType(why=why):
                return Unread(why)
            case SameType(path=first):
                return self.at(first)
            case BoundType():
                return self.passed_method(name, type_, path)
            case TupleType(items=items, is_list=is_list, cls=cls):
                own = name if is_list and path[0] < self.passed_first else ""
                values = [
                    self.passed_item(f"{name}.{k}", t, (*path, k)) for k, t in enumerate(items)
                ]
                found = Tuple(
                    tuple(values), is_list, is_passed=is_list, cls=cls and cls(), name=own
                )
                return self.kept_at(path, self.maybe_changing(found, path))
            case ListType(item=item):
                self.places[name] = path
                self.inputs.add(name)
                self.order.append(name)
                self.b.lists.add(name)
                kind = KINDS.get(item.name, FLOAT)
                self.b.kinds[name], self.b.arrays[name] = kind, 1
                cells = Cells(stored(name, (Length(name, 0),), kind), item.name)
                if name not in self.findings.grown:
                    return cells
                first = self.findings.grown[name]
                with self.b.beginning():  # it may be met in a loop first
                    self.grown[name] = growing.started(self.b, cells, first, self.findings.mixed)
                return self.grown[name]
            case RowsType():
                return self.kept_at(path, self.long_list(name, type_, path))
            case DictType(keys=keys, items=items):
                pairs = zip(keys, items, strict=True)
                values = [
                    self.passed_item(f"{name}.{k}", t, (*path, key))
                    for k, (key, t) in enumerate(pairs)
                ]
                own = name if path[0] < self.passed_first else ""
                found = Dictionary(keys, tuple(values), name=own)
                return self.kept_at(path, self.maybe_changing(found, path))
            case ObjectType():
                cls = type_.cls()
                assert cls is not None
                return self.kept_at(path, Object(name, cls, type_, path))
            case NumberType(name=number):
                if number in COMPLEX_TYPES:
                    made = NumberType(COMPLEX_TYPES[number])
                    parts = [
                        self.argument(f"{name}.{short}", made, steady, (*path, part))
                        for short, part in (("re", "real"), ("im", "imag"))
                    ]
                    return ComplexNumber(*parts)  # type: ignore[arg-type]
                self.places[name] = path
                found = Number(Name(name), number)
                self.b.kinds[name] = found.kind
                if found.kind == INT and steady:
                    self.b.stable.add(name)
                    self.b.ranges.sizes[name] = LARGE
                if found.kind != FLOAT or not steady:
                    self.types[name] = number
                self.order.append(name)
                return found
            case ArrayType(kind=kind, ones=ones, pinned=pinned):
                self.places[name] = path
                self.inputs.add(name)
                self.order.append(name)
                if kind in PARTS:
                    self.b.kinds[name], self.b.arrays[name] = PARTS[kind], len(ones) + 1
                    self.b.complexes.add(name)
                    return stored_complex(name, lengths(name, ones, pinned), PARTS[kind])
                self.b.kinds[name], self.b.arrays[name] = kind, len(ones)
                return stored(name, lengths(name, ones, pinned), kind)
        raise TypeError(type_)

    def passed_item(self, own: str, type_: Type, path: Path) -> Value:
        """Return the value on entry of an item of a list or a dict; it may be bound again."""
        assigned, findings = self.findings.assigned, self.findings
        if own not in assigned or own not in findings.varied | findings.widened:
            return self.argument(own, type_, own not in assigned, path)
        value = self.argument(f"{own}.before", type_, True, path)
        slot = assigned[own][1]
        return self.bind_number(slot, value) if isinstance(value, Number) else value

    @override
    def captured(
        self,
        scope: Scope,
        name: str,
        value: Any,
        owner: type | ModuleType | None = None,
        is_default: bool = False,
    ) -> Value:
        key = scope.callee if owner is None else id(owner), name, is_default
        if key not in self.known_as:
            path = (self.passed_first + len(self.captures),)
            type_ = type_of(value, self.met, path)
            if isinstance(type_, ListType) and self.findings.itemizes:
                type_ = itemized(value, type_) or UnservedType("a long list")
            if isinstance(type_, UnservedType):
                raise Unfit(f"{name}, {type_.why}", self.b.place)
            self.findings.has_lists |= isinstance(type_, ListType)
            is_own = owner is None and not is_default
            own = f"{scope.prefix}.{name}" if is_own else self.b.fresh(f"{name}.")
            held = None if owner is None else weakref.ref(owner)
            self.captures.append(Captured(scope.callee, name, type_, held, is_default))
            self.known_as[key] = self.argument(own, type_, True, path)
        return self.known_as[key]

    # Calls.

    @override
    def inlined(self, f: Any, args: Sequence[Value], given: dict[str, Value]) -> Value:
        outer, place = self.scope, self.b.place
        inner = self.scope_of(f) if isinstance(f, Function) else self.enter(f)
        arguments = self.bound_arguments(inner, f, args, given)
        if inner.function.__code__.co_flags & GENERATOR:
            return self.begun(inner, arguments)
        ints = [n for n, v in arguments.items() if isinstance(v, Number) and v.kind == INT]
        if inner.callee.may_overflow(frozenset(ints)):
            raise Unfit("ints that wrap around in code compiled by Numba", place)
        for name, value in arguments.items():
            self.scope = inner
            if isinstance(value, Tuple) or (isinstance(value, Array) and not value.base):
                value = self.kept_apart(value)
            if isinstance(value, ComplexNumber):
                inner.env[name] = self.bind_complex(name, value)
            elif isinstance(value, Number) and (
                inner.bindings[name] > 1
                or not isinstance(value.e, Name)
                or value.e.name in self.findings.assigned
                or self.slots.may_change(value.e.name)
                or name in inner.function.__code__.co_cellvars  # functions may outlast the call
            ):
                inner.env[name] = self.bind_number(name, value)
            elif isinstance(value, Tuple):
                self.bind(name, value)
            else:
                inner.env[name] = value
        is_once = self.b.loops == self.loops_outside and not outer.repeats
        outer.calls_at = place if is_once else None
        before = self.result, self.loops_outside, self.rebound, self.jumps, self.consumer
        self.result, self.loops_outside, self.jumps = None, self.b.loops, []
        self.consumer = None
        self.body(inner)
        if not inner.makes_functions:
            self.slots.drop(inner.owner)
        found = NOTHING if self.result is None else self.result
        self.result, self.loops_outside, self.rebound, self.jumps, self.consumer = before
        self.scope, self.b.place = outer, place
        return as_python(found) if inner.callee.is_jitted else found

    def begun(self, inner: Scope, arguments: dict[str, Value]) -> Value:
        """Return the generator that a call makes, with its arguments as they are now."""
        if inner.callee.is_jitted:
            raise Unfit("a generator that Numba compiled", self.b.place)
        outer, self.scope = self.scope, inner
        for name, value in arguments.items():
            self.bind(name, self.kept_apart(value))
        self.scope = outer
        return self.made_generator(inner, inner.body)

    def bound_arguments(
        self, scope: Scope, f: Any, args: Sequence[Value], given: dict[str, Value]
    ) -> dict[str, Value]:
        """Return the arguments of a call by the names of the parameters."""
        parameters = parameters_of(scope.function.__code__)
        try:
            found = parameters.bound(args, given)
        except Unfit as error:
            raise Unfit(error.why, self.b.place) from None
        if parameters.keywords:
            rest = found[parameters.keywords]
            assert isinstance(rest, Dictionary)
            items = tuple(map(self.kept_apart, rest.items))
            found[parameters.keywords] = Dictionary(rest.keys, items)
        missing = [name for name in parameters.names if name not in found]
        if missing and isinstance(f, Function):
            found |= {name: f.defaults[name] for name in missing if name in f.defaults}
        elif missing:
            defaults = defaults_of(scope.function)
            found |= {n: self.default(scope, n, defaults[n]) for n in missing if n in defaults}
        if len(found) < len(parameters.names):
            raise Unfit("a call with too few arguments", self.b.place)
        return {name: found[name] for name in parameters.names}

    def default(self, scope: Scope, name: str, value: Any) -> Value:
        """Return the value of a parameter's default: arrays and such lists are inputs."""
        if is_input(value) and not isinstance(value, float):
            return self.captured(scope, name, value, is_default=True)
        return known(value)


NOTHING = Known(None)
GENERATOR = 0x20  # a flag of code
