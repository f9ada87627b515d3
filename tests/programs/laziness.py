"""Statements in which something is read later than it is written down: iterators, callbacks."""

from __future__ import annotations

from tests.programs.writer import Writer

__all__ = ["STATEMENTS"]


def vector(w: Writer) -> str | None:
    """Return the name of a vector of at least three elements."""
    names = [n.text for n in w.scope.of("array") if len(n.shape) == 1 and n.shape[0] >= 3]
    return w.rng.choice(names) if names else None


def change_under_iterator(w: Writer) -> bool:
    """Make an iterator, change what it runs over, and use it."""
    t, u = vector(w), vector(w)
    if t is None or u is None:
        return False
    it, name = w.fresh("it"), w.fresh("s")
    w.write(f"{it} = " + w.pick(f"iter({t})", f"map(lambda v: v * v, {t})", f"zip({t}, {u})",
                                f"enumerate({t})", f"{t}.flat", f"(v * {u}[0] for v in {t})",
                                f"iter([{t}[0], {u}])", f"reversed({t})"),
            w.pick(f"{t}[1:] *= {w.scalar(1)}", f"{t}[0] = {w.scalar(1)}",
                   f"{u}[...] += {w.array((1,), 1)}"),
            f"{name} = sum(np.sum(v) for v in {it})")  # fmt: skip
    w.scope.add(name, "float")
    return True


def change_while_iterating(w: Writer) -> bool:
    """Change the vector that a loop runs over."""
    t = vector(w)
    if t is None:
        return False
    value, total = w.fresh("e"), w.fresh("s")
    w.write(f"{total} = 0.0")
    with w.block(
        w.pick(
            f"for {value} in {t}:",
            f"for {value} in reversed({t}):",
            f"for _, {value} in enumerate({t}):",
            f"for {value} in {t}.flat:",
            f"for {value}, _ in zip({t}, {t}):",
            f"for {value} in iter({t}):",
        )
    ):
        # fmt: off
        w.write(f"{total} += {value} * {w.scalar(0)}",
                w.pick(f"{t}[1:] += 0.1 * {value}", f"{t}[-1] = {value} * {w.scalar(0)}",
                       f"{t}[0] *= {w.scalar(0)}", f"{t} *= 0.9" if w.within == "f" and
                       w.scope.of("array", rebinds=True) and t in
                       [n.text for n in w.scope.of("array", rebinds=True)] else "pass"))
        # fmt: on
    w.scope.add(total, "float")
    return True


def late_binding(w: Writer) -> bool:
    """Make functions that read arrays and numbers when they are called."""
    t = vector(w)
    if t is None:
        return False
    name, total, s = w.fresh("fs"), w.fresh("s"), w.scalar(1)
    w.write(f"{name} = " + w.pick(f"[lambda: {t}[k] * {s} for k in range(2)]",
                                  f"[lambda k=k: {t}[k] * {s} for k in range(2)]",
                                  f"[{t}.sum, lambda: {t}[0], {t}[1:].max]",
                                  f"[lambda b={t}[1:]: np.sum(b * b), lambda: {s}]"),
            f"{t}[...] = {t} * {w.scalar(1)}",
            f"{total} = sum(call() for call in {name})")  # fmt: skip
    w.scope.add(total, "float")
    return True


RAISING = """class Stop(Exception):
    pass


def raising(u, c):
    u[1:] *= c
    try:
        if c > 0.2:
            raise Stop(u[1] * c, u)
        u[0] = c
    finally:
        u[-1] += 0.3 * c
    return c"""


def catch_from_below(w: Writer) -> bool:
    """Call a function that changes an array and raises an exception with values in it."""
    t = vector(w)
    if t is None:
        return False
    if RAISING not in w.prelude:
        w.prelude.append(RAISING)
    name = w.fresh("s")
    with w.block("try:"):
        w.write(f"{name} = raising({t}, {w.scalar(1)})")
    with w.block("except Stop as stop:"):
        w.write(f"{name} = stop.args[0]", f"stop.args[1][0] *= {w.scalar(1)}")
    w.scope.add(name, "float")
    return True


def keep_generator(w: Writer) -> bool:
    """Advance a generator explicitly, with changes in between."""
    t = vector(w)
    if t is None:
        return False
    gen, total, s = w.fresh("gen"), w.fresh("s"), w.scalar(1)
    with w.block(f"def {gen}(b):"):
        w.write("total = b[0]")
        with w.block("try:"), w.block("while total is not None:"):
            w.write("b[1:] += 0.1 * total", "total = yield np.sum(b)")
        with w.block("finally:"):
            w.write("b[0] *= 0.5")
    it = gen + "it"
    # fmt: off
    w.write(f"{it} = {gen}({t})", f"{total} = next({it})", f"{t}[-1] = {s}",
            f"{total} += {it}.send({total})",
            w.pick(f"{it}.close()", f"next({it}, None)", f"{total} += next({it}, 0.3)"))
    # fmt: on
    w.scope.add(total, "float")
    return True


STATEMENTS = {
    change_under_iterator: 2,
    change_while_iterating: 3,
    late_binding: 2,
    catch_from_below: 2,
    keep_generator: 2,
}
