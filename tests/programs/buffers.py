"""Statements with scratch memory of the function's own: buffers that are filled and used again.

What `np.zeros` and its like return is known to nobody else, so the engine need not log writes to
it until the tape refers to it.  Here it is referred to in every way, and written to afterwards.
"""

from __future__ import annotations

from tests.programs.scope import Name
from tests.programs.writer import Writer

__all__ = ["STATEMENTS", "vector"]


def vector(w: Writer, least: int = 3) -> Name | None:
    """Return a vector with enough elements."""
    names = [n for n in w.scope.of("array") if len(n.shape) == 1 and n.shape[0] >= least]
    return w.rng.choice(names) if names else None


def matrix(w: Writer) -> Name | None:
    """Return a matrix."""
    names = [n for n in w.scope.of("array") if len(n.shape) == 2]
    return w.rng.choice(names) if names else None


def new_index_buffer(w: Writer) -> None:
    """Bind an array of indices that is filled after it was made."""
    name, count = w.fresh("ix"), w.rng.choice((2, 3))
    values = [w.rng.randrange(3) for _ in range(count)]
    w.write(
        f"{name} = np.{w.pick('zeros', 'ones', 'empty')}({count}, dtype=int)",
        f"{name}[:] = {values}",
    )
    w.scope.add(name, "index", (count,))


def reuse_index_buffer(w: Writer) -> bool:
    """Read and write by indices, and fill the array of indices with others."""
    index, t = w.name("index"), w.name("array")
    if t is None or t.shape[0] < 3:
        return False
    if index is None or w.chance(0.5):
        new_index_buffer(w)
        index = w.scope.names[-1]
    i, a, count = index.text, t.text, index.shape[0]
    values = w.array((count, *t.shape[1:]), 1)
    name = w.fresh("a")
    # fmt: off
    w.write(w.pick(f"{name} = {a}[{i}]", f"{a}[{i}] *= {w.scalar(1)}", f"{a}[{i}] = {values}",
                   f"{a}[{i}] += {values}", f"np.add.at({a}, {i}, {values})",
                   f"np.subtract.at({a}, {i}, {w.scalar(1)})", f"{name} = np.take({a}, {i}, 0)"),
            w.pick(f"{i}[0] = 1", f"{i}[:] = 2", f"{i}[-1] = {i}[0]", f"{i}[:] = {i}[::-1]"))
    # fmt: on
    if w.lines[-2].strip().startswith(f"{name} ="):
        w.scope.add(name, "array", (count, *t.shape[1:]))
    return True


def new_mask_buffer(w: Writer) -> bool:
    """Bind a mask that is filled after it was made."""
    array = w.name("array")
    if array is None:
        return False
    name = w.fresh("k")
    w.write(f"{name} = np.zeros({array.shape}, dtype=bool)",
            w.pick(f"{name}[...] = {array.text} > 0.1", f"{name}[1:] = True",
                   f"np.greater({array.text}, 0.1, {name})",
                   f"np.less({array.text}, 0.3, out={name})"))  # fmt: skip
    w.scope.add(name, "mask", array.shape)
    return True


def new_constant_buffer(w: Writer) -> bool:
    """Bind an array of constants that is filled after it was made, and multiply by it."""
    array = w.name("array")
    if array is None:
        return False
    name, other, shape = w.fresh("w"), w.fresh("a"), array.shape
    size = 1
    for n in shape:
        size *= n
    w.write(f"{name} = np.{w.pick('zeros', 'ones', 'empty')}({shape})",
            f"{name}[...] = np.linspace(0.4, 1.2, {size}).reshape({shape})",
            f"{other} = " + w.pick(f"{name} * {array.text}", f"{array.text} / {name}",
                                   f"np.hypot({name}, {array.text})", f"{array.text} * {name}[0]",
                                   f"np.where({array.text} > 0.1, {array.text}, {name})"),
            w.pick(f"{name}[0] = 0.9", f"{name} *= 0.5", f"{name}[...] = {name}[::-1]",
                   f"{name}.fill(0.7)", f"np.sqrt({name}, {name})", f"{name} += {array.text}",
                   f"{name}[1:] = {array.text}[1:]"))  # fmt: skip
    w.scope.add(name, "array", shape)
    w.scope.add(other, "array", shape)
    return True


def pass_buffers_by_keyword(w: Writer) -> bool:
    """Call with a mask or indices given by keyword."""
    array = w.name("array")
    if array is None or array.shape[0] < 3:
        return False
    name, t = w.fresh("s"), array.text
    index, mask = w.name("index"), w.name("mask", shape=array.shape)
    rows = [f"np.trapezoid({t}, x=np.arange({array.shape[-1]}) * 0.3).sum()"]
    if mask is not None:
        rows += [f"np.{f}({t}, where={mask.text}{extra})" for f, extra in (
            ("sum", ""), ("prod", ""), ("max", ", initial=-2.0"), ("add.reduce", ", axis=None"),
            ("min", ", initial=2.0"))] * 2  # fmt: skip
    if index is not None:
        rows += [
            f"np.sum(np.take({t}, indices={index.text}) ** 2)",
            f"np.sum({t}.take(axis=0, indices={index.text}) ** 2)",
            f"np.sum(np.repeat({t}.ravel()[:2], {index.text}[:2]) ** 2)",
            f"np.sum(np.repeat({t}.ravel()[:2], repeats={index.text}[:2]) ** 2)",
        ] * 2
    w.write(f"{name} = {w.rng.choice(rows)}")
    w.scope.add(name, "float")
    return True


def out_by_position(w: Writer) -> bool:
    """Call with ``out`` given by position."""
    array = w.name("array")
    if array is None or array.shape[0] < 3:
        return False
    t, n = array.text, array.shape[0]
    target = w.rng.choice([a.text for a in w.scope.of("array", shape=array.shape)])
    rows = [f"np.{w.pick('sin', 'square', 'negative')}({w.array(array.shape, 1)}, {target})",
            f"np.{w.pick('add', 'maximum')}({t}, {w.operand(array.shape, 1)}, {target})",
            f"np.clip({t}, -0.5, 0.7, {target})", f"{t}.clip(-0.5, 0.7, {target})",
            f"np.cumsum({w.array(array.shape, 1)}, 0, None, {target})",
            f"np.sum({w.array((2, *array.shape), 1)}, 0, None, {target})",
            f"np.add.accumulate({w.array(array.shape, 1)}, 0, None, {target})",
            f"np.round({t}, 1, {target})" if w.chance(0.2) else
            f"np.mean({w.array((2, *array.shape), 1)}, 0, None, {target})"]  # fmt: skip
    if len(array.shape) == 1:
        rows += [
            f"np.dot({w.array((n, 2), 1)}, {w.array((2,), 1)}, {target})" * (target != t),
            f"np.matmul({w.array((n, 2), 1)}, {w.array((2,), 1)}, {target})",
            f"np.take({w.array((3,), 1)}, {[w.rng.randrange(3) for _ in range(n)]}, 0, "
            f"{target})" * (target != t),
        ]
    w.write(w.rng.choice([row for row in rows if row]))
    return True


def bound_of_a_slice(w: Writer) -> bool:
    """Slice by an array of no dimensions that changes afterwards."""
    t = vector(w, 4)
    if t is None:
        return False
    k, v = w.fresh("k"), w.fresh("v")
    # fmt: off
    w.write(f"{k} = np.array(1)", f"{v} = {t.text}[{k}:{k} + 2]", f"{k} += 1",
            w.pick(f"{v} *= {w.scalar(1)}", f"{v}[0] = {w.scalar(1)}",
                   f"{t.text}[{k}] *= {w.scalar(1)}", f"{v}[...] = {t.text}[{k} - 1:{k} + 1]"))
    # fmt: on
    w.scope.add(v, "array", (2,))
    return True


def double_buffering(w: Writer) -> bool:
    """Sweep between two buffers that are exchanged, as names, in a list, a dict or an object."""
    array = w.name("array")
    if array is None or array.shape[0] < 3:
        return False
    t, shape = array.text, array.shape
    u, v, k = w.fresh("u"), w.fresh("v"), w.fresh("k")
    start = w.pick(t, f"{t}.copy()", f"{t} * 1.0")
    spare = w.pick(
        f"np.zeros({shape})", f"np.zeros_like({t})", f"{t}.copy()", f"np.full({shape}, 0.3)"
    )
    form = w.pick("names", "list", "dict")
    now, new = {
        "names": (u, v),
        "list": (f"{u}[0]", f"{u}[1]"),
        "dict": (f"{u}['now']", f"{u}['new']"),
    }[form]
    w.write({"names": f"{u}, {v} = {start}, {spare}", "list": f"{u} = [{start}, {spare}]",
             "dict": f"{u} = {{'now': {start}, 'new': {spare}}}"}[form])  # fmt: skip
    with w.block(f"for {k} in range({w.pick('2', '3')}):"):
        w.write(w.pick(f"{new}[1:-1] = {now}[1:-1] + 0.2 * ({now}[2:] - {now}[:-2])",
                       f"np.multiply({now}, {now}[::-1], out={new})",
                       f"np.add({now}, {w.scalar(1)}, {new})", f"{new}[...] = np.sin({now})",
                       f"{new} += 0.5 * {now}" if form == "names" else f"{new}[1:] = {now}[:-1]",
                       f"np.cumsum({now}, axis=0, out={new})"))  # fmt: skip
        if form == "list" and w.chance(0.5):
            w.write(w.pick(f"{u}.append({u}.pop(0))", f"{u}.reverse()", f"{u}[:] = {u}[::-1]"))
        else:
            w.write(f"{now}, {new} = {new}, {now}")
    name = w.fresh("a")
    w.write(f"{name} = {now}")
    w.scope.add(name, "array", shape)
    return True


DEFAULT = """def collected(u, store=np.zeros(3), seen=[]):
    store[0] += u[0] * u[-1]
    store[1:] *= 0.5 + store[0]
    seen.append(u[0])
    total = np.sum(store) + sum(seen)
    if len(seen) > 1:
        seen.clear()
        store[...] = 0.25
    return total"""

SHARED = """class Shared:
    work = np.linspace(0.1, 0.6, 3)
    count = 0

    @classmethod
    def mix(cls, u):
        cls.work[1:] = cls.work[:-1] * 0.5 + u[:1]
        cls.count = cls.count + u[0]
        total = np.sum(cls.work ** 2) + cls.count
        cls.work[...] = (0.1, 0.35, 0.6)
        cls.count = 0
        return total"""


def hidden_buffers(w: Writer) -> bool:
    """Call a function that keeps arrays in its defaults, or a class that keeps them itself."""
    t = vector(w)
    if t is None:
        return False
    name = w.fresh("s")
    if w.chance(0.5):
        prelude, call = SHARED, f"Shared.mix({t.text})"
    else:
        prelude, call = DEFAULT, f"collected({t.text}) + collected({t.text}[1:])"
        w.prelude[:] = [p for p in w.prelude if p != DEFAULT]
    if prelude not in w.prelude:
        w.prelude.append(prelude)
    w.write(f"{name} = {call}")
    w.scope.add(name, "float")
    return True


def records(w: Writer) -> bool:
    """Write and read a structured array through its fields and through records of it."""
    t = vector(w)
    if t is None:
        return False
    p, first, cell, name, a = *(w.fresh(n) for n in "prcs"), t.text
    count = w.pick("int", "np.int8")  # packed, the floats are not aligned
    w.write(f"{p} = np.zeros(3, dtype=[('m', float), ('n', {count}), ('z', complex)])",
            f"{first} = {p}[{w.rng.randrange(3)}]")  # fmt: skip
    for _ in range(w.rng.choice((2, 3, 4))):
        w.write(w.pick(f"{p}['m'] = {a}[:3]", f"{p}['m'][1:] += {a}[:2]",
                       f"{p}['z'] = {a}[:3] * 1j",
                       f"{first}['m'] = {w.scalar(1)}", f"{first}['z'] += {a}[0] * (1 + 2j)",
                       f"{p}[1] = ({a}[1], 2, 1j)", f"{p}[[0, 2]] = {p}[[2, 0]]",
                       f"{p}[1:] = {p}[:-1]", f"{p}[0] = {first}", f"{p} = {p}[[1, 2, 0]]",
                       f"for {cell} in {p}: {cell}['m'] *= {cell}['n'] + {a}[0]",
                       f"{p}[:2] = ({p}['m'][2], 3, {p}['m'][0] * 1j)",
                       f"{p}['m'][::-1] = {p}['m']", f"{p}[['m', 'z']] = {p}[['m', 'z']][::-1]",
                       f"{p}[['z', 'm']] = (1j * {a}[0], {p}['m'][1])",
                       f"{first}['n'] += 1", f"{first}['m'] = 0.7"))  # fmt: skip
    w.write(f"{name} = " + w.pick(f"np.sum({p}['m'] * {p}['n']) + {first}['m']",
                                  f"sum(c['m'] for c in {p}) + {first}['z'].real",
                                  f"max(c['m'] for c in {p}) * {p}[1]['z'].imag",
                                  f"np.sum({p}['z'].imag) + tuple({first})[0]"))  # fmt: skip
    w.scope.add(name, "float")
    return True


STATEMENTS = {
    new_index_buffer: 2, reuse_index_buffer: 5, new_mask_buffer: 3, new_constant_buffer: 5,
    pass_buffers_by_keyword: 5, out_by_position: 5, bound_of_a_slice: 1, double_buffering: 5,
    hidden_buffers: 2, records: 1,
}  # fmt: skip
