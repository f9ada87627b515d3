"""Values of many kinds that carry a number where walks must look for it."""

from __future__ import annotations

import collections
import dataclasses
import functools
import operator
import types
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

__all__ = ["CARRIERS", "Carrier", "read_from"]

Carrier = tuple[Callable[[Any], Any], Callable[[Any], Any]]
"""Makes a value from a number, and reads the number from it."""


class Kept:
    def get(self) -> Any:
        return self.v  # type: ignore[attr-defined]


class Attributed(np.ndarray):
    w: Any


def structured(v: Any) -> Any:
    a = np.zeros(2, dtype=[("mass", float), ("count", int)])
    a["mass"][0] = v
    return a


def nested_records(v: Any) -> Any:
    a = np.zeros(2, dtype=[("at", [("x", float), ("n", int)]), ("axes", float, (2,))])
    a["at"]["x"][0] = v
    a["axes"][1, 1] = v
    return a


def record_array(v: Any) -> Any:
    a = np.zeros(2, dtype=[("mass", float)]).view(np.recarray)
    a.mass[0] = v
    return a


def own_class(v: Any) -> Any:
    class Model:
        rate = v

    return Model


def closing_class(v: Any) -> Any:
    class Model:
        @property
        def rate(self) -> Any:
            return v

    return Model()


def closing_method(v: Any) -> Any:
    class Model:
        def get(self) -> Any:
            return v

    return Model


def derived_class(v: Any) -> Any:
    class Base:
        rate = v

    class Derived(Base):
        pass

    return Derived()


def class_with_metaclass(v: Any) -> Any:
    class Meta(type):
        pass

    class Model(metaclass=Meta):
        rate = v

    return Model


def changed_later(v: Any) -> Any:
    made = type("T", (), {})
    made.a = v  # type: ignore[attr-defined]
    return made()


def module(v: Any) -> Any:
    made = types.ModuleType("made")
    made.rate = v  # type: ignore[attr-defined]
    return made


def member(v: Any) -> Any:
    class Choice(Enum):
        A = 1

    Choice.A.w = v  # type: ignore[attr-defined]
    return Choice.A


def bound_super(v: Any) -> Any:
    class Derived(Kept):
        pass

    o = Derived()
    o.v = v  # type: ignore[attr-defined]
    return super(Derived, o)


def caused(v: Any) -> Any:
    try:
        try:
            raise KeyError(v)
        except KeyError as cause:
            raise ValueError(1) from cause
    except ValueError as error:
        return error


def with_attribute(v: Any) -> Any:
    a = np.ones(2).view(Attributed)
    a.w = v
    return a


def records_with_objects(v: Any) -> Any:
    a = np.zeros(2, dtype=[("label", object), ("inner", [("what", object), ("n", int)])])
    a["label"][0] = [v]
    a["inner"]["what"][1] = v
    return a


def masked_objects(v: Any) -> Any:
    a = np.ma.array([1.0, 2.0], dtype=object, mask=[False, True])
    a[0] = v
    return a


def masked(v: Any) -> Any:
    return np.ma.array([v, v, 1.0], mask=[False, True, False])


def objects(v: Any) -> Any:
    a = np.empty(2, object)
    a[0], a[1] = [v], np.array([v, 1.0])
    return a


CARRIERS: dict[str, Carrier] = {
    "structured array": (structured, lambda o: o["mass"][0]),
    "records in records": (nested_records, lambda o: 0.5 * (o["at"]["x"][0] + o["axes"][1, 1])),
    "recarray": (record_array, lambda o: o.mass[0]),
    "record": (lambda v: structured(v)[0], lambda o: o["mass"]),
    "array of objects": (objects, lambda o: 0.5 * (o[0][0] + o[1][0])),
    "records with objects": (
        records_with_objects,
        lambda o: 0.5 * (o["label"][0][0] + o["inner"]["what"][1]),
    ),
    "masked objects": (masked_objects, lambda o: o[0]),
    "masked array": (masked, lambda o: o.sum() - 1.0),
    "attribute of an array": (with_attribute, lambda o: o.w),
    "array of a subclass": (lambda v: np.array([v]).view(Attributed), lambda o: np.asarray(o)[0]),
    "poly1d": (lambda v: np.poly1d([1.0, v]), lambda o: o.c[1]),
    "class": (own_class, lambda o: o.rate),
    "instance": (closing_class, lambda o: o.rate),
    "instance of a derived class": (derived_class, lambda o: o.rate),
    "method of an instance": (lambda v: closing_method(v)().get, lambda o: o()),
    "class with a metaclass": (class_with_metaclass, lambda o: o.rate),
    "class by type": (lambda v: type("T", (), {"a": [v]}), lambda o: o.a[0]),
    "class that is changed": (changed_later, lambda o: o.a),
    "named tuple": (lambda v: collections.namedtuple("T", "a")(v), lambda o: o.a),
    "default of one": (lambda v: collections.namedtuple("T", "a", defaults=[v]), lambda o: o().a),
    "made dataclass": (lambda v: dataclasses.make_dataclass("D", ["a"])(v), lambda o: o.a),
    "module": (module, lambda o: o.rate),
    "member of an enum": (member, lambda o: o.w),
    "property": (lambda v: property(lambda s: v), lambda o: o.fget(0)),
    "staticmethod": (lambda v: staticmethod(lambda: v), lambda o: o.__func__()),
    "classmethod": (lambda v: classmethod(lambda c: v), lambda o: o.__func__(0)),
    "cached_property": (lambda v: functools.cached_property(lambda s: v), lambda o: o.func(0)),
    "slice": (lambda v: [slice(1, v)], lambda o: o[0].stop),
    "methodcaller": (lambda v: operator.methodcaller("__mul__", v), lambda o: o(1.0)),
    "partial": (lambda v: functools.partial(operator.mul, v), lambda o: o(1.0)),
    "super": (bound_super, lambda o: o.get()),
    "exception": (caused, lambda o: o.__cause__.args[0]),
    "mapping proxy": (lambda v: types.MappingProxyType({"a": v}), lambda o: o["a"]),
    "cell": (lambda v: (lambda: v).__closure__[0], lambda o: o.cell_contents),  # type: ignore[index]
    "method of a list": (lambda v: [v].__getitem__, lambda o: o(0)),
}


def read_from(name: str, way: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return a function whose gradient at (2, 3) is (12, 4) if the carrier keeps it, else (0, 4).

    The way gets what makes the carrier, and its argument.
    """
    make, read = CARRIERS[name]
    return lambda x: read(way(make, x[0] * x[0])) * x[1]
