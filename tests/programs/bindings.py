"""Statements that bind names: new arrays, views, copies, numbers, exchanged buffers."""

from __future__ import annotations

from tests.programs.scope import Shape
from tests.programs.views import random_view
from tests.programs.writer import Writer

__all__ = ["STATEMENTS"]


def new_array(w: Writer) -> None:
    """Bind a new local array."""
    shape = some_shape(w)
    name = w.fresh("a")
    creator = w.pick("zeros", "empty", "ones", "full", "expression", "copy", "like", "constant")
    if creator == "empty":
        value = w.array(shape)
        w.write(f"{name} = np.empty({shape})", f"{name}[...] = {value}")
    elif creator in ("zeros", "ones"):
        w.write(f"{name} = np.{creator}({shape})")
    elif creator == "full":
        w.write(f"{name} = np.full({shape}, {w.scalar(1)})")
    elif creator == "copy":
        leaf = w.array_leaf(shape)
        copied = w.pick(
            "{0}.copy()",
            "np.array({0})",
            "np.copy({0})",
            "{0} + 0",
            "+{0}",
            "{0}.astype(float)",
            "np.asfortranarray({0})",
            "{0}.copy('F')",
            "np.ascontiguousarray({0})",
            "{0} * 1.0",
        )
        w.write(f"{name} = {copied.format(leaf)}")
    elif creator == "like":
        leaf = w.array_leaf(shape)
        kind = w.pick("zeros", "ones")
        w.write(f"{name} = np.{kind}_like({leaf})")
    elif creator == "constant":
        size = len(range(1))
        for n in shape:
            size *= n
        w.write(f"{name} = np.linspace({w.pick('0.2', '-0.4')}, 0.9, {size}).reshape({shape})")
    else:
        w.write(f"{name} = {w.array(shape)}")
    w.scope.add(name, "array", shape)


def some_shape(w: Writer) -> Shape:
    """Return the shape of an array that is there, or a vector's."""
    known = w.name("array")
    if known is not None and w.chance(0.8):
        return known.shape
    return w.rng.choice(((3,), (4,), (3, 4), (3, 3)))


def bind_view(w: Writer) -> bool:
    """Bind a view of an array to a name."""
    array = w.name("array")
    if array is None:
        return False
    view, shape = random_view(w.rng, array.text, array.shape, w.rng.choice((1, 1, 2)))
    name = w.fresh("v")
    w.write(f"{name} = {view}")
    w.scope.add(name, "array", shape)
    return True


def rebind_array(w: Writer) -> bool:
    """Assign another array of the same shape to a name."""
    name = w.name("array", rebinds=True)
    if name is None or "." in name.text or "[" in name.text:
        return False
    w.write(f"{name.text} = {w.array(name.shape)}")
    return True


def bind_number(w: Writer) -> None:
    """Bind a new name to a number."""
    name = w.fresh("s")
    w.write(f"{name} = {w.scalar(2)}")
    w.scope.add(name, "float")


def change_number(w: Writer) -> bool:
    """Change a number."""
    name = w.name("float", rebinds=True)
    if name is None:
        return False
    op = w.pick("=", "=", "+=", "-=", "*=")
    w.write(f"{name.text} {op} {w.scalar(2)}")
    return True


def exchange(w: Writer) -> bool:
    """Exchange two buffers, or turn three."""
    first = w.name("array", rebinds=True)
    if first is None:
        return False
    partners = [
        n.text for n in w.scope.of("array", shape=first.shape, rebinds=True) if n.text != first.text
    ]
    if not partners:
        return False
    w.rng.shuffle(partners)
    names = [first.text, *partners[: w.rng.choice((1, 1, 2))]]
    w.write(f"{', '.join(names)} = {', '.join(names[1:] + names[:1])}")
    return True


def exchange_elements(w: Writer) -> bool:
    """Exchange elements, rows or slices through a tuple."""
    array = w.name("array")
    if array is None or array.shape[0] < 3:
        return False
    t = array.text
    w.write(
        w.pick(
            f"{t}[0], {t}[1] = {t}[1], {t}[0]",
            f"{t}[[0, 2]] = {t}[[2, 0]]",
            f"{t}[:2], {t}[-2:] = {t}[-2:].copy(), {t}[:2] * 0.5",
            f"{t}[:] = {t}[::-1]",
            f"{t}[0], {t}[-1] = {t}[-1] * 0.8, {t}[0] + {t}[1]",
        )
    )
    return True


def unpack(w: Writer) -> bool:
    """Unpack an array into numbers or rows."""
    array = w.name("array")
    if array is None or array.shape[0] not in (3, 4):
        return False
    letter = "r" if len(array.shape) == 2 else "p"
    first = w.fresh(letter)
    second = first + "b"
    w.write(f"{first}, *_, {second} = {array.text}")
    kind = "array" if len(array.shape) == 2 else "float"
    for name in (first, second):
        if array.shape[1:] or kind == "float":
            w.scope.add(name, kind, array.shape[1:])
    return len(array.shape) <= 2


def forget(w: Writer) -> bool:
    """Delete a name, so that memory and ids may be used again."""
    name = w.name("array", rebinds=True)
    if name is None or w.depth > 1 or not name.text.isidentifier():
        return False
    if len(w.scope.of("array")) < 3 or not name.text.startswith("a"):
        return False
    w.write(f"del {name.text}")
    w.scope.names = [n for n in w.scope.names if n.text != name.text]
    return True


STATEMENTS = {
    new_array: 8, bind_view: 7, rebind_array: 4, bind_number: 4, change_number: 4, exchange: 4,
    exchange_elements: 2, unpack: 1, forget: 1,
}  # fmt: skip
