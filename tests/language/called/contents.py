"""Methods of containers and texts, members of enumerations, comparisons, powers, managers."""

from __future__ import annotations

import abc
import copy
import enum
import numbers
from collections import defaultdict, deque, namedtuple
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tests.language.called.comparing import Programs

program = PROGRAMS = Programs()
LOG: list[Any] = [1.0]
TABLE: dict[Any, Any] = {"k": 2.0, 3: 4.0, (1, 2): 5.0}
POINT = namedtuple("POINT", "x y")


class State(NamedTuple):
    x: Any
    y: Any = 1.0

    def grown(self, by):
        return self._replace(x=self.x * by)


class Own(State):
    @classmethod
    def _make(cls, items):
        return super()._make([v * 2.0 for v in items])


class Colour(enum.Enum):
    RED = 1
    BLUE = 2.5
    CRIMSON = 1

    def scaled(self, x):
        return self.value * x

    @property
    def twice(self):
        return self.value * 2


class Planet(enum.Enum):
    EARTH = (5.0, 6.0)
    MARS = (0.6, 3.0)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Same:
    pass


class Equal:
    def __init__(self, v):
        self.v = v

    def __eq__(self, o):
        return isinstance(o, Equal) and self.v == o.v

    __hash__ = None  # type: ignore[assignment]


class Manager:
    def __init__(self, swallows=False):
        self.log = LOG
        self.swallows = swallows

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append(kind.__name__ if kind else "out")
        return self.swallows


@program
def lists(x):
    items = [x, 2.0, x * x]
    last, first = items.pop(), items.pop(0)
    items.insert(1, last * x)
    items.insert(-1, x)
    items.extend([x, 3.0])
    items += (v * x for v in items[:2])
    items.reverse()
    copied = items.copy()
    copied.clear()
    del items[1]
    return first + sum(v * (k + 1) for k, v in enumerate(items)) + len(copied)


@program.changes
def lists_of_outside(x):
    LOG.append(x)
    LOG.insert(0, x * x)
    LOG.extend([x, 2.0])
    LOG.pop(1)
    LOG.reverse()
    return sum(LOG) + LOG.pop() * x


@program
def pop_of_nothing(x):
    items = [x]
    items.pop()
    return items.pop() * x


@program
def pop_out_of_range(x):
    return [x, 2.0].pop(5)


@program
def pop_at_a_float(x):
    return [x, 2.0].pop(1.0)  # type: ignore[arg-type]


@program
def pop_with_too_much(x):
    return [x].pop(0, 1)  # type: ignore[call-arg]


@program
def positions_by_objects(x):
    class Index:
        def __index__(self):
            return 1

    items = [x, x * x, 3.0]
    items.insert(Index(), 2.0 * x)
    return items.pop(Index()) + items.pop(np.int64(0)) * items[Index()]


@program
def methods_that_are_bound_once(x):
    items: list[Any] = []
    add, taken = items.append, {"a": x, "b": 2.0}.pop
    for v in [x, 2.0, x * x]:
        add(v * x)
    get = TABLE.get
    return sum(items) + taken("a") * taken("b") + taken("c", x) + sum(map(get, ["k", 3])) * x


@program
def bound_methods_of_many_lists(x):
    rows: list[list[Any]] = [[], [], []]
    for n in range(12):
        add = rows[n % 3].append
        add(x * n)
    return sum(map(sum, rows)) + sum(row.pop() for row in rows)


@program
def dicts(x):
    d: dict[Any, Any] = {"a": x}
    d.setdefault("a", 5.0)
    d.setdefault("b", x * x)
    d.update(c=x, a=d["a"] * x)
    d.update({"e": 2.0 * x})
    d[1], d[1, 2], d[None] = x, x * 3.0, 2.0
    taken = d.pop("c") + d.pop("z", x) + d.get("y", x) + d.get((1, 2)) + d[1] * d[1, 2]
    d[1, 2] = d[1, 2] * d[None]
    item = d.popitem()
    return taken + sum(v for v in d.values()) + item[1] + ("a" in d) * x


@program.changes
def dicts_of_outside(x):
    TABLE["k"] = TABLE["k"] * x
    TABLE[3] += x
    TABLE[1, 2] *= x
    TABLE["new"] = x
    TABLE[7] = TABLE.pop(3) * x
    TABLE.setdefault("again", x)
    return sum(TABLE.values())


@program
def keys_that_are_equal(x):
    d: dict[Any, Any] = {1: x, "a": 2.0}
    d[True] = d[1] * x
    d[1.0] += x
    return d[1] + len(d)


@program
def keys_that_are_missing(x):
    return {"a": x}["b"]


@program
def keys_that_write(x):
    class Key:
        def __hash__(self):
            LOG.append(1)
            return 1

        def __eq__(self, o):
            return True

    return {Key(): x}.get(Key())


@program
def active_keys(x):
    d = {x: 2.0}
    return d.get(x, 1.0) * x + d.pop(x)


@program
def default_dicts(x):
    d: Any = defaultdict(list)
    total: Any = defaultdict(float)
    for k, v in enumerate([x, 2.0, x * x]):
        d[k % 2].append(v)
        total["ab"[k % 2]] += v * x
        total[k % 2] = total[k % 2] + v
    return sum(d[0]) * sum(d[1]) + total["a"] * total[1] + len(d[5]) + len(d)


@program
def sets_and_deques(x):
    s, q = {1, 2}, deque([x, 2.0], maxlen=3)
    s.add(3)
    s.discard(1)
    s.update([7])
    q.append(x * x)
    q.appendleft(x)
    q.rotate(1)
    q.insert(1, 5.0) if len(q) < 3 else None
    return q.popleft() + q.pop() * len(s) + (2 in s) * x + sum(s & {2, 3}) * x


@program
def texts(x):
    name = " a-b ".strip().upper().replace("A", "c")
    parts = ",".join(["x", "y"]).split(",")
    name += "{}{:>4}".format("z", 3) + "ab".center(6, "*") + f"{len(parts)}"
    return x * len(name) + ("c" in name) * x + name.count("*") + name.startswith(("c", "d")) * x


@program
def texts_of_numbers(x):
    return float(f"{x:.3f}") * x


@program
def texts_of_what_is_no_text(x):
    return ",".join(["a", x])


@program
def texts_with_too_much(x):
    return "a".upper(1) * x  # type: ignore[call-arg]


@program
def members_of_enumerations(x):
    total = 0.0
    for c in (Colour.RED, Colour.BLUE, Colour("".__len__() + 1), Colour["BLUE"]):
        if c is Colour.RED or c == Colour.CRIMSON:
            total = total + c.value * x
        elif c != Colour.RED and c in (Colour.BLUE,):
            total = total + c.scaled(x) + c.twice * x + len(c.name)
    for p in Planet:
        total = total + p.mass * x / p.radius * len(p.name)
    return total + Level.HIGH * x + (Level.LOW < Level.HIGH) * x + Planet.EARTH.value[0]


@program.changes
def members_that_change(x):
    total = 0.0
    for k in range(4):
        total = total + Planet.EARTH.mass * x
        Planet.EARTH.mass = 5.0 + k * x
    Planet.EARTH.mass = 5.0
    return total


@program
def attributes_of_classes(x):
    class Settings:
        rate = 2.0
        table = {"a": x}

    total = 0.0
    for k in range(4):
        total = total + Settings.rate * x + Settings.table["a"]
        Settings.rate = Settings.rate * x if k < 2 else 1.0
    del Settings.rate
    try:
        return total * Settings.rate
    except AttributeError:
        return total


@program
def attributes_that_metaclasses_find(x):
    class Meta(type):
        def __getattr__(cls, name):
            return x * len(name)

    class Found(metaclass=Meta):
        here = 2.0

    total = 0.0
    for _ in range(3):
        total = total + Found.here * x + Found.away
    del Found.here
    return total + Found.here


@program.changes
def property_that_becomes_a_descriptor(x):
    class Loud:
        def __get__(self, o, t=None):
            if o is None:
                LOG.append("read")
            return 3.0 * x

    class A:
        @property
        def p(self):
            return x * x

    o, total = A(), 0.0
    for k in range(5):
        total = total + o.p
        if k == 2:
            type.__setattr__(A, "p", Loud())
    return total + len(LOG) * x


@program
def operator_that_becomes_another(x):
    class A:
        def __add__(self, o):
            return x

        def __radd__(self, o):
            return x * 2

        def __len__(self):
            return 1

    a, total = A(), 0.0
    for k in range(6):
        total = total + (a + 1.0) + (2.0 + a) + len(a)
        if k == 2:
            A.__add__ = lambda self, o: x * o * 5  # type: ignore[method-assign]
            A.__len__ = lambda self: 4  # type: ignore[method-assign]
        if k == 4:
            A.__radd__ = A.__add__  # type: ignore[method-assign]
    return total


@program
def comparisons(x):
    a, b = Same(), Same()
    total = (a == b) + (a != b) * 2 + (a == a) * 4 + (a == None) * 8 + (None == None) * 16  # noqa: E711, PLR0124
    total += ((1, "a") == (1, "a")) * 32 + ([1, 2] < [1, 3]) * 64 + ((1, x) == (1, x)) * 128
    total += (Equal(x) == Equal(x)) * 256 + (Equal(1) != Equal(2)) * 512 + (a == Equal(1)) * 1024
    total += ((1, (2, x)) < (1, (2, x + 1))) * 2048 + ([Same] == [Same]) * 4096
    return total * x


@program
def comparisons_without_order(x):
    return ((1, "a") < (1, 2)) * x


@program
def comparison_by_a_class_whose_equality_comes_later(x):
    a, b, total = Same(), Same(), 0.0
    for k in range(4):
        total = total + (a == b) * x
        if k == 1:
            Same.__eq__ = lambda self, o: True  # type: ignore[method-assign,assignment]
    del Same.__eq__
    return total + x


@program
def powers(x):
    total = x**2 + x**3.0 + x**-1 + x**0 + x**1 + x**0.5 + 2.0**x + x**x + (-x) ** 3 + (x - 3) ** 2
    y = np.array([x, -x])
    return total + y[1] ** 2 + y[0] ** -1.5 + (x * 0.0) ** 2 + (x * 0.0) ** 1 + x**True


@program
def powers_without_a_real_value(x):
    return ((-x) ** 0.5).real


@program
def powers_that_overflow(x):
    return (x * 1e300) ** 2


@program
def powers_of_zero(x):
    return (x - x) ** -1


@program
def named_tuples(x):
    p = POINT(x, 2.0)
    s = State(x)
    for k in range(4):
        p = p._replace(y=p.y * x + k)
        s = s._replace(x=s.x * p.x, y=s.y + k).grown(x)
    a, b = s
    return p.x * p.y + a + b + Own(x, 2.0)._replace(x=x).y


@program
def named_tuple_without_such_a_field(x):
    return POINT(x, 1.0)._replace(z=x + 1.0).x


@program
def named_tuple_whose_method_is_replaced(x):
    class Own2(NamedTuple):
        x: Any

    p, total = Own2(x), 0.0
    for k in range(4):
        total = total + p._replace(x=p.x * x).x
        if k == 1:
            Own2._replace = lambda self, x: Own2(x * 10.0)  # type: ignore[method-assign,assignment]
    return total


@program.changes
def managers(x):
    total = 0.0
    for k in range(4):
        with Manager() as m:
            total = total + x * len(m.log)
        with Manager(swallows=k > 1):
            total = total + x
            if k > 1:
                raise ValueError(k)
    return total + len(LOG) * x


@program.changes
def manager_that_lets_errors_through(x):
    total = x
    for k in range(3):
        try:
            with Manager():
                total = total * x
                if k:
                    raise KeyError("a")
        except KeyError:
            total = total + LOG.count("KeyError") * x
    return total


@program.changes
def manager_whose_end_is_replaced(x):
    class Own(Manager):
        pass

    total = 0.0
    for k in range(4):
        with Own() as m:
            total = total + x * len(m.log)
            if k == 1:
                Own.__exit__ = lambda self, *details: LOG.extend([1, 2, 3])  # type: ignore[method-assign]
    return total + x * len(LOG)


@program
def managers_without_an_end(x):
    class Half:
        def __enter__(self):
            return x

    with Half() as y:  # type: ignore[attr-defined]
        return y


@program
def errors(x):
    class Own(ValueError):
        pass

    total = 0.0
    for k in range(6):
        try:
            if k % 3 == 0:
                raise Own(x * k)
            raise ValueError if k % 3 == 1 else KeyError("k", x)
        except Own as error:
            total = total + error.args[0]
        except ValueError as error:
            total = total + x + len(error.args)
        except KeyError as error:
            total = total + error.args[1] * x
    return total


@program
def counters(x):
    n, total = 0, 0.0

    def step(v):
        nonlocal n, total
        n += 1
        total = total + v * n
        return total

    for v in [x, 2.0, x]:
        step(v)
    return total * n


class Measured:
    """Has a number, so that operands of NumPy are looked at from now on."""

    def __init__(self, v):
        self.v = v

    def __float__(self):
        return float(self.v)


@program
def objects_that_are_numbers(x):
    items = [Measured(x), Measured(2.0 * x)]
    total = sum(float(m) for m in items) + sum(m.v for m in items) * len(list(zip(items, items)))  # noqa: B905
    return total + abs(-x) * isinstance(items[0], Measured) + np.sin(items[0].v) + max(x, 2.0)


class Base(abc.ABC):
    def __init__(self, x):
        self.x = x


class Node(Base):
    other: Any = None


class Hooked(Node):
    def __copy__(self):
        return Hooked(self.x * 2.0)

    def __deepcopy__(self, memo):
        return Hooked(self.x * 3.0)


class Stateful(Node):
    def __getstate__(self):
        return {"x": self.x * 2.0}


class Setting(Node):
    def __setstate__(self, state):
        self.x = state["x"] * 5.0


class Reduced(Node):
    def __reduce__(self):
        return Reduced, (self.x * 7.0,)


class Slots(Node):
    __slots__ = ("y",)


class Listed(list):  # type: ignore[type-arg]
    pass


for made in (*(cls(1.0) for cls in (Node, Setting, Slots)), Listed()):
    made.__reduce_ex__(4)  # after which the class knows its slots


@dataclass(frozen=True)
class Rates:
    a: Any
    b: Any = 2.0
    c: Any = field(default_factory=list)


@dataclass
class Partly:
    a: Any
    b: Any = field(init=False, default=3.0)

    def __post_init__(self):
        self.b = self.a * 2.0


@dataclass
class Given:
    a: Any
    by: InitVar[Any] = 1.0

    def __post_init__(self, by):
        self.a = self.a * by


@program
def copies_of_objects(x):
    a, b = Node(x), Node(x * x)
    a.other = b.other = [a, b, x]
    c, d = copy.copy(a), copy.deepcopy(a)
    c.x = c.x * 3.0
    d.x = d.x * 5.0
    d.other[1].x = d.other[1].x * 7.0
    assert c.other is a.other
    assert d.other[0] is d
    return a.x + c.x + d.x + b.x + d.other[1].x + sum(v for v in d.other[2:])


@program
def copies_by_hooks(x):
    kinds = (Hooked, Stateful, Setting, Reduced, Node)
    total = sum(copy.copy(cls(x)).x + copy.deepcopy(cls(x)).x for cls in kinds)
    slots, items = Slots(x), Listed([x, [x]])
    slots.y = x * x
    items.z = x  # type: ignore[attr-defined]
    deep = copy.deepcopy(items)
    deep[1][0] = x * 2.0
    return total + copy.copy(slots).y * copy.deepcopy(slots).y + deep[1][0] + items[1][0] + deep.z


@program
def copies_whose_class_gets_a_hook(x):
    total = 0.0
    for k in range(4):
        total = total + copy.copy(Node(x)).x + copy.deepcopy(Node(x)).x
        if k == 1:
            Node.__copy__ = lambda self: Node(self.x * 10.0)  # type: ignore[attr-defined]
        if k == 2:
            Node.__deepcopy__ = lambda self, memo: Node(self.x * 9.0)  # type: ignore[attr-defined]
    del Node.__copy__, Node.__deepcopy__  # type: ignore[attr-defined]
    return total


@program
def replaced_fields(x):
    r = Rates(x)
    for k in range(4):
        r = replace(r, a=r.a * x, b=r.b + k)
    p = replace(Partly(x), a=x * x)
    return r.a * r.b + len(r.c) + p.b + replace(Given(x), by=x).a


@program
def replaced_field_that_is_none(x):
    return replace(Rates(x), z=1.0).a  # type: ignore[call-arg]


@program
def replaced_field_that_is_not_given(x):
    return replace(Partly(x), b=x).a


@program
def replaced_fields_of_no_dataclass(x):
    return replace(Node(x), x=1.0).x  # type: ignore[type-var]


@program
def sorted_in_place(x):
    a, b, c = [x * x, x, 0.5], [("b", x), ("a", x * x)], [3, 1, 2]
    a.sort()
    b.sort(key=lambda p: p[0])
    c.sort(reverse=True)
    a.sort(key=lambda v: -v, reverse=True)
    return sum(v * k for k, v in enumerate(a)) + b[0][1] * 2 + b[1][1] + c[0] * x


@program
def sorted_in_place_with_an_error(x):
    a = [x, 0.5, "a", 0.1]
    try:
        a.sort()
    except TypeError:
        return a[0] * x + a[1]


@program
def sorted_in_place_while_the_key_looks(x):
    a = [x * x, x]
    sizes = []
    a.sort(key=lambda v: sizes.append(len(a)) or v)
    return a[0] + sum(sizes) * x + len(sizes) * a[1]


@program
def kinds_of_values(x):
    class Meta(type):
        def __instancecheck__(cls, o):
            return True

    class Any_(metaclass=Meta):
        pass

    total = isinstance(x, float) + 2 * isinstance(x, (int, str)) + 4 * isinstance(x, (int, float))
    total += 8 * isinstance(x, Any_) + 16 * isinstance(x, (int, Any_)) + 32 * isinstance("a", str)
    total += 64 * isinstance(x, numbers.Real) + 128 * isinstance(Node(x), (str, Base))
    total += 256 * isinstance(x, (int, (str, float))) + 512 * issubclass(bool, (str, int))
    return total * x + isinstance(x * x, float | int) * x


@program
def kinds_that_are_none(x):
    return isinstance(x, (float, 3)) * x + isinstance(x, (3, float)) * x  # type: ignore[arg-type]


@program
def builtins_in_turn(x):
    total = 0.0
    for k in range(4):
        for f in (list, tuple, sorted, sum, max, len, type, callable, iter, reversed, id, repr):
            y = f([x, 2.0])
            total = total + (y if isinstance(y, float) else k * x)
        total = total + [isinstance, issubclass][k % 2]([x, int][k % 2], object) * x
    return total


@program
def builtins_given_too_much(x):
    total = 0.0
    for k in range(4):
        for f in (isinstance, getattr, type, zip, sorted, iter, dict, enumerate):
            try:
                f(*[x] * (k * 2))
            except (TypeError, ValueError) as error:
                total = total + len(str(error)) * x
    return total


@program
def builtins_that_are_shadowed(x):
    isinstance, total = type(x).__instancecheck__ if False else (lambda a, b: x), 0.0  # noqa: A001
    for k in range(4):
        total = total + isinstance(x, k)
        if k == 1:
            isinstance = __builtins__["isinstance"] if type(__builtins__) is dict else None  # noqa: A001
            return total + isinstance(x, float)
    return total
