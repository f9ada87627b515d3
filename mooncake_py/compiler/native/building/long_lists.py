"""Long lists of arrays, of numbers, or of tuples of these, some items of which may be None.

    zs = [a, None, b, ...]              rows = [a, 0, b, ...], there = [1, 0, 1, ...]
    events = [(0.5, 100.0), ...]        times = [0.5, ...], doses = [100.0, ...], there = [1, ...]

All of them are of one form, and each part of it is passed as one array.  These are made in each
call, as copies: nothing may write the items meanwhile, and no derivative is taken with respect to
them.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.native.regions.linear import LARGE
from mooncake_py.compiler.native.regions.region import FLOAT, INT
from mooncake_py.runtime.attribute_lookup import MISSING, in_class

__all__ = [
    "Form",
    "are_apart",
    "is_plain_tuple",
    "leaves_in",
    "long_form",
    "rows_of",
    "stack_form",
]

Form = tuple[Any, ...]
"""``("array", kind, shape)``, ``("number", type)`` or ``("tuple", class, forms)``."""
SHAPE = attrgetter("shape", "dtype")
KINDS = {np.dtype("d"): FLOAT, np.dtype("l"): INT}
NUMBERS = {float: "float", np.float64: "float64", int: "int"}
OF_TUPLES = {
    name: vars(tuple)[name] for name in ("__iter__", "__len__", "__getitem__", "__getattribute__")
}


def is_plain_tuple(t: type) -> bool:
    """Return True for the class of tuples, and those of named ones with none of their methods."""
    return t is tuple or (
        in_class(t, "_fields") is not MISSING
        and all(in_class(t, name) is own for name, own in OF_TUPLES.items())
    )


def long_form(items: list[Any]) -> tuple[Form, bool] | None:
    """Return the form of the items of a list, and whether there is None; None for others."""
    there = [v for v in items if v is not None]
    form = form_of(there) if there and len(items) < LARGE else None
    return None if form is None else (form, len(there) < len(items))


def form_of(items: Sequence[Any]) -> Form | None:
    """Return the form that all of some items have, None if they have none."""
    types = set(map(type, items))
    if len(types) > 1:
        return None
    (t,) = types
    if t is ndarray:
        found = set(map(SHAPE, items))
        if len(found) > 1:
            return None
        ((shape, dtype),) = found
        kind = KINDS.get(dtype)
        return None if kind is None or 0 in shape else ("array", kind, shape)
    if t in NUMBERS:
        is_large = t is int and not (min(items) > -LARGE and max(items) < LARGE)
        return None if is_large else ("number", NUMBERS[t])
    if not issubclass(t, tuple) or not is_plain_tuple(t) or len(set(map(len, items))) > 1:
        return None
    parts = [form_of(column) for column in zip(*items, strict=True)]
    if not parts or None in parts:
        return None
    return "tuple", None if t is tuple else weakref.ref(t), tuple(parts)


def leaves_in(form: Form) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the kinds and the shapes of the parts of an item."""
    if form[0] == "tuple":
        for part in form[2]:
            yield from leaves_in(part)
    elif form[0] == "array":
        yield form[1], form[2]
    else:
        yield INT if form[1] == "int" else FLOAT, ()


def stack_form(form: Form) -> Form:
    """Return the form of the items as lists that loops make have it: see `Stack`."""
    if form[0] == "tuple":
        cls = None if form[1] is None else form[1]()
        return "tuple", cls, tuple(map(stack_form, form[2]))
    return ("array", form[1], len(form[2])) if form[0] == "array" else form


def rows_of(items: list[Any], form: Form, has_none: bool) -> list[ndarray] | None:
    """Return the parts of items one after another, and last which of the items there are.

    None for a list of another form; one that may have None need not.
    """
    found = long_form(items)
    if found is None or found[0] != form or found[1] > has_none:
        return None
    if not found[1]:
        return [*columns(items, form), np.ones(len(items), int)]
    there = np.array([v is not None for v in items])
    parts = columns([v for v in items if v is not None], form)
    return [*[spread(part, there) for part in parts], there.astype(int)]


def columns(items: Sequence[Any], form: Form) -> Iterator[ndarray]:
    """Yield the parts of items one after another."""
    if form[0] == "tuple":
        for k, part in enumerate(form[2]):
            yield from columns([item[k] for item in items], part)
    elif form[0] == "array":
        yield np.array(items).reshape(-1)
    else:
        yield np.array(items, int if form[1] == "int" else float)


def spread(part: ndarray, there: ndarray) -> ndarray:
    """Return parts of the items that there are, with zeros between them."""
    rows = part.reshape(np.count_nonzero(there), -1)
    found = np.zeros((len(there), rows.shape[1]), part.dtype)
    found[there] = rows
    return found.reshape(-1)


def are_apart(items: list[Any], arrays: Iterable[Any]) -> bool:
    """Return True for a list of which no array is in the memory of others, for certain."""
    owners = {id(owner_of(a)) for a in arrays_in(items)}
    return owners.isdisjoint([id(owner_of(a)) for a in arrays if type(a) is ndarray])


def arrays_in(items: Iterable[Any]) -> Iterator[ndarray]:
    """Yield the arrays in items."""
    for item in items:
        if type(item) is ndarray:
            yield item
        elif isinstance(item, tuple):
            yield from arrays_in(item)


def owner_of(a: ndarray) -> Any:
    """Return the object that has the memory of an array."""
    found: Any = a
    while type(found) is ndarray and found.base is not None:
        found = found.base
    return found
