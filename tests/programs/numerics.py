"""Statements from numerical codes: solves, windows, recurrences, selections, masks with nan."""

from __future__ import annotations

from tests.programs.buffers import vector
from tests.programs.scope import Name
from tests.programs.writer import Writer

__all__ = ["STATEMENTS"]


def square(w: Writer) -> Name | None:
    """Return a square matrix."""
    names = [n for n in w.scope.of("array") if len(n.shape) == 2 and n.shape[0] == n.shape[1]]
    return w.rng.choice(names) if names else None


def solve_between(w: Writer) -> bool:
    """Factorise or solve with a matrix that changes before and after."""
    t = vector(w)
    if t is None:
        return False
    n, m, v = t.shape[0], w.fresh("a"), t.text
    w.write(f"{m} = np.outer({v}, {v}) + 2.0 * np.eye({n})",
            w.pick(f"{v}[...] = np.linalg.solve({m}, {v})", f"{v}[...] = np.linalg.inv({m}) @ {v}",
                   f"{v} *= np.linalg.det(0.3 * {m})" if t.rebinds else f"{m} @= {m}",
                   f"{v}[...] = np.linalg.cholesky({m})[:, 0]",
                   f"{v}[1:] += np.linalg.slogdet({m})[1]",
                   f"{v}[...] = np.linalg.eigvalsh({m} + np.diag(np.arange({n}) * 1.0))"),
            w.pick(f"{m}[0] = {v}", f"{m} *= 0.5", f"{m}[:, 1] += {v}", f"{m}.T[0] -= {v}",
                   f"{m}[...] = {m} @ {m}", f"np.matmul({m}, {m}, out={m})",
                   f"np.einsum('ij,jk->ik', {m}, {m}.T.copy(), out={m})",
                   f"{m} @= {m}.T"))  # fmt: skip
    w.scope.add(m, "array", (n, n))
    return True


def windows(w: Writer) -> bool:
    """Bind something computed from overlapping or broadcast views, before and after changes."""
    t = vector(w)
    if t is None:
        return False
    n, v, name, s = t.shape[0], w.fresh("v"), w.fresh("s"), w.scalar(1)
    # fmt: off
    w.write(f"{v} = " + w.pick(
        f"np.broadcast_to({t.text}, (2, {n}))",
        f"np.lib.stride_tricks.sliding_window_view({t.text}, 2)",
        f"np.lib.stride_tricks.as_strided({t.text}, ({n - 1}, 2), ({t.text}.strides[0],) * 2)",
        f"np.broadcast_to({t.text}[:, None], ({n}, 2))", f"np.broadcast_arrays({t.text}, 1.0)[0]",
        f"np.meshgrid({t.text}, [0.3, 0.4], copy=False)[0]", f"np.ix_({t.text}, {t.text})[0]"),
        w.pick(f"{t.text}[0] = {s}", f"{t.text}[1:] *= {v}.ravel()[0]", f"{t.text}[...] = {s}",
               f"{t.text}[:2] += {v}.ravel()[1:3]"),
        f"{name} = " + w.pick(f"np.sum({v} * {v}[::-1])", f"np.sum(np.sin({v}))",
                              f"np.sum({v}.sum(axis=0) ** 2)", f"{v}.ravel()[1] * {v}.ravel()[-1]",
                              f"np.einsum('...i->...', {v}).sum()", f"np.sum({v}[..., :1] ** 2)"))
    # fmt: on
    w.scope.add(name, "float")
    return True


def diagonal(w: Writer) -> bool:
    """Change a matrix through its diagonal, or see it change there."""
    t = square(w)
    if t is None:
        return False
    v, m = w.fresh("v"), t.text
    n = t.shape[0]
    w.write(w.pick(f"{v} = np.einsum('ii->i', {m})", f"{v} = {m}.reshape(-1)[::{n + 1}]",
                   f"{v} = {m}.ravel()[::{n + 1}]"))  # fmt: skip
    w.write(w.pick(f"{v} *= {w.scalar(1)}", f"{v} += {m}[0]", f"{m}[1] = {v}",
                   f"{v}[1:] = {v}[:-1]", f"{v}[...] = {w.array((n,), 1)}"))  # fmt: skip
    w.scope.add(v, "array", (n,))
    return True


def recurrence(w: Writer) -> bool:
    """Exchange numbers in a loop."""
    array = w.name("array")
    if array is None:
        return False
    p, q = w.fresh("p"), w.fresh("q")
    w.write(f"{p}, {q} = {w.scalar(1)}, {w.scalar(1)}")
    with w.block(f"for _ in range({w.pick('2', '3', '4')}):"):
        w.write(w.pick(f"{p}, {q} = {q}, 0.6 * {p} + 0.3 * {q}",
                       f"{p}, {q} = 0.5 * {p} * {q}, {p}",
                       f"{p}, {q}, {array.text}[0] = {q}, {p} * 0.4, {p}",
                       f"{p} = ({q} := 0.7 * {q} + 0.1) * {p}"))  # fmt: skip
    w.scope.add(p, "float")
    w.scope.add(q, "float")
    return True


def broadcast_in_place(w: Writer) -> bool:
    """Change an array by a part of itself that is stretched, or by nothing."""
    array = w.name("array")
    if array is None:
        return False
    t, s = array.text, w.scalar(1)
    # fmt: off
    rows = [f"{t}[...] += {t}[:1]", f"{t}[...] *= {t}[-1:]", f"{t}[...] -= 0.3 * {t}[1:2]",
            f"{t}[:0] += {s}", f"{t}[5:] = {s}", f"{t}[...] /= 1.2 + {t}[:1] ** 2",
            f"{t}[...] = {t}[:1]", f"{t}[:1] += {t}[-1:]",
            f"{t}[...] = np.concatenate([{t}[:0], {t}])", f"np.add({t}, {t}[:1], out={t})"]
    # fmt: on
    if len(array.shape) == 2:
        # fmt: off
        rows += [f"{t}[...] += {t}[:, :1]", f"{t}[...] *= {t}[:1, -1:]", f"{t}[...] -= {t}[0]",
                 f"{t}[1:] = {t}[0]", f"{t}[:, 1:] = {t}[:, :1]", f"{t}[:, 0] = {t}[0, 0]"] * 2
        # fmt: on
    w.write(w.rng.choice(rows))
    return True


def select(w: Writer) -> bool:
    """Bind an array selected from others."""
    array = w.name("array")
    if array is None:
        return False
    name, t, shape = w.fresh("a"), array.text, array.shape
    other = w.array(shape, 1)
    w.write(f"{name} = " + w.pick(
        f"np.select([{t} > 0.4, {t} < -0.2], [{other}, {t} * {t}], default={w.scalar(1)})",
        f"np.choose(({t} > 0.1).astype(int), [{other}, {t}])",
        f"np.piecewise({t}, [{t} < 0.1], [lambda b: b * b, lambda b: 0.5 * b])",
        f"np.where(np.isfinite({t}), {t}, {other})", f"np.fmax({t}, {other})",
        f"np.take_along_axis({t}, np.argsort({t}, axis=-1), axis=-1)",
        f"np.heaviside({t}, 0.5) * {other}", f"np.copysign({t}, {other})",
        f"np.interp({t}, [-1.0, 0.05, 1.0], [0.1, 0.4, 0.2])"))  # fmt: skip
    w.scope.add(name, "array", shape)
    return True


def not_a_number(w: Writer) -> bool:
    """Hold nan and infinity where nothing reads them."""
    t = vector(w)
    if t is None:
        return False
    name, v = w.fresh("a"), w.fresh("v")
    n = t.shape[0]
    # fmt: off
    w.write(f"{name} = {t.text} * 1.0", f"{name}[0] = {w.pick('np.nan', 'np.inf', '-np.inf')}",
            f"{v} = {name}[1:] * {w.scalar(1)}",
            w.pick(f"{name}[0] = {w.scalar(1)}", f"{name}[...] = np.where(np.isnan({name}) | "
                   f"np.isinf({name}), 0.2, {name})", f"np.copyto({name}, 0.4, where=~np.isfinite("
                   f"{name}))", f"{name} = {name}[::-1][:-1]", f"{name} = {name}[1:]",
                   f"np.nan_to_num({name}, copy=False, nan=0.2, posinf=0.3, neginf=0.1)"))
    # fmt: on
    w.scope.add(v, "array", (n - 1,))
    return True


def reinterpret(w: Writer) -> bool:
    """Change pairs of floats as complex numbers, and complex numbers as pairs of floats."""
    t = vector(w)
    if t is None:
        return False
    z, v, n = w.fresh("z"), w.fresh("v"), t.shape[0]
    if w.chance(0.5):
        w.write(
            f"{v} = np.zeros(({n}, 2))", f"{v}[:, 0] = {t.text}", f"{z} = {v}.view(complex)[:, 0]"
        )
        shape: tuple[int, ...] = (n, 2)
    else:
        w.write(f"{z} = {t.text} + 0.4j", f"{v} = {z}.view(float)")
        shape = (2 * n,)
    # fmt: off
    w.write(w.pick(f"{z} *= 0.6j", f"{z}[1:] += {t.text}[:-1]", f"{v} *= {w.scalar(1)}",
                   f"{z}.imag += {t.text}", f"{v}[1:] += {v}[:-1]", f"{z}[0] = 1j * {w.scalar(1)}"),
            w.pick(f"{z} *= {z}", f"{v}[0] = {w.scalar(1)}", f"{z}.real[...] = {t.text}"))
    # fmt: on
    w.scope.add(z, "complex", (n,))
    w.scope.add(v, "array", shape)
    return True


def permute(w: Writer) -> bool:
    """Shuffle or reorder in place."""
    array = w.name("array")
    if array is None or array.shape[0] < 3:
        return False
    t, rng = array.text, f"np.random.default_rng({w.rng.randrange(9)})"
    # fmt: off
    w.write(w.pick(f"{rng}.shuffle({t})", f"{t}[...] = {rng}.permutation({t})",
                   f"{rng}.permuted({t}, axis=0, out={t})", f"{t}[...] = np.roll({t}, 1, axis=0)",
                   f"{t}[:2], {t}[-2:] = {t}[-2:].copy(), {t}[:2].copy()",
                   f"{t}[[0, 1, 2]] = {t}[[1, 2, 0]]", f"{t}[np.argsort({t}, axis=0).ravel()[:3] "
                   f"% {array.shape[0]}] *= 0.9", f"np.flip({t}, 0)[:2] *= {w.scalar(1)}"))
    # fmt: on
    return True


def through_operator(w: Writer) -> bool:
    """Change arrays through functions and methods that stand for operators."""
    array = w.name("array")
    if array is None:
        return False
    if "import functools" not in w.prelude:
        w.prelude[:0] = ["import functools", "import operator"]
    t, s = array.text, w.scalar(1)
    w.write(w.pick(f"operator.setitem({t}, 0, {s})", f"operator.iadd({t}, {s})",
                   f"{t}.__setitem__(0, {s})", f"{t}.__imul__({s})", f"np.ndarray.fill({t}, {s})",
                   f"functools.partial(np.add, {t}, out={t})({s})",
                   f"setattr({t}, 'real', {t} * 0.8)", f"{t}.real = {t} * 0.8",
                   f"list(map({t}.__setitem__, (0, 1), ({t}[1] * 1.0, {t}[0] * {s})))",
                   f"np.add.at({t}, slice(0, 2), {s})", f"np.multiply.at({t}, [0, 0, 1], {s})",
                   f"np.maximum.at({t}, [0, 1, 0], {s})", f"np.negative.at({t}, [0, 1])",
                   f"np.put({t}, [0, -1], [{s}, {w.scalar(0)}])",
                   f"np.copyto({t}, {s}, where={t} > 0.2)"))  # fmt: skip
    return True


def accumulate(w: Writer) -> bool:
    """Reduce or accumulate by segments, also into the array that is read."""
    t = vector(w)
    if t is None:
        return False
    n, v = t.shape[0], t.text
    w.write(w.pick(f"np.add.reduceat({v}, [0, 2], out={v}[:2])", f"{v}[:2] = np.add.reduceat({v}, "
                   "[0, 1])", f"np.add.accumulate({v}[:-1], out={v}[1:])",
                   f"np.cumsum({v}[1:], out={v}[:-1])", f"np.cumsum({v}, out={v}[::-1])",
                   f"np.multiply.accumulate(0.9 * {v}, out={v})",
                   f"np.maximum.accumulate({v}, out={v})", f"{v}[1:] = np.diff({v})",
                   f"{v}[...] = np.convolve({v}, [0.2, 0.5, 0.3], 'same')",
                   f"{v}[:] = np.interp(np.arange({n}) * 0.4, np.arange({n}), {v})",
                   f"np.add({v}[:-1], {v}[1:], out={v}[1:])",
                   f"np.add({v}[1:], {v}[:-1], out={v}[:-1], where={v}[1:] > 0.1)"))  # fmt: skip
    return True


def formula(w: Writer) -> bool:
    """Compute with names and slices alone, as one expression, and change the operands."""
    array = w.name("array")
    if array is None:
        return False
    a, name = array.text, w.fresh("a")
    b = w.rng.choice([n.text for n in w.scope.of("array", shape=array.shape)])
    s = w.fresh("s")
    w.write(f"{s} = {w.scalar(1)}")
    rows = [f"{name} = {s} * {a} - {b} * {a}", f"{name} = {a} * {b} / (1.3 + {s} * {s})",
            f"{name} = np.sin({a}) * {s} + {b} * {b}", f"{name} = {a} / (1.2 + {b} * {b}) - {s}",
            f"{name} = ({a} - {s}) * ({b} + {s}) * 0.5", f"{name} = {s} * np.exp(-{a} * {a}) + {b}",
            f"{name} = -{a} * {b} + 0.3 * {a}"]  # fmt: skip
    change = w.pick(f"{a}[0] = {s}", f"{b}[...] = {b} * {s}", f"{a}[1:] *= 0.5",
                    f"{b}[...] -= {s} * {a}", f"{a}[...] = {name}")  # fmt: skip
    if array.shape[0] >= 3 and w.chance(0.4):
        w.write(
            f"{a}[1:-1] = {s} * ({b}[2:] - 2.0 * {b}[1:-1] + {b}[:-2])",
            f"{a}[1:] += {s} * {b}[:-1] * {a}[1:]",
        )
        return True
    w.write(w.rng.choice(rows), change)
    w.scope.add(name, "array", array.shape)
    return True


def eliminate(w: Writer) -> bool:
    """Sweep over a matrix of which each row is read while all are rewritten again and again."""
    t = vector(w)
    if t is None:
        return False
    m, k = w.fresh("a"), w.fresh("k")
    n = t.shape[0]
    w.write(f"{m} = np.outer(np.linspace(0.2, 1.0, 9), {t.text})")
    with w.block(f"for {k} in range({w.pick('3', '4')}):"):
        w.write(w.pick(f"{m}[{k} + 1:] -= 0.3 * np.outer({m}[{k} + 1:, 0], {m}[{k}])",
                       f"{m}[...] = {m} * {m}[{k}] + 0.2", f"{m} -= 0.2 * {m} * {m}[{k}]",
                       f"{m}[{k}] /= 1.1 + {m}[{k}, 0] ** 2\n"
                       f"{'    ' * w.depth}{m}[...] += 0.1 * {m}[{k}] * {m}"))  # fmt: skip
    w.scope.add(m, "array", (9, n))
    return True


GENERATOR = """def pieces(u):
    for k in range(len(u) - 1):
        yield u[k:k + 2]
        u[k] *= 0.8"""


def generate_views(w: Writer) -> bool:
    """Change views that a generator yields and changes in its turn."""
    t = vector(w)
    if t is None:
        return False
    if GENERATOR not in w.prelude:
        w.prelude.append(GENERATOR)
    piece = w.fresh("v")
    with w.block(f"for {piece} in pieces({t.text}):"):
        # fmt: off
        w.write(w.pick(f"{piece} *= {w.scalar(1)}", f"{piece}[0] = {piece}[1] * 0.5",
                       f"{piece}[1] += {w.scalar(1)}", f"{piece}[...] = {piece}[::-1]"))
        # fmt: on
    return True


STATEMENTS = {
    solve_between: 3, windows: 4, diagonal: 3, recurrence: 2, broadcast_in_place: 4, select: 3,
    not_a_number: 2, reinterpret: 3, permute: 3, through_operator: 4, accumulate: 4,
    generate_views: 2, formula: 8, eliminate: 2,
}  # fmt: skip
