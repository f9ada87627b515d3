"""Statements that change arrays in place."""

from __future__ import annotations

from tests.programs.scope import Shape
from tests.programs.writer import UNARY, Writer

__all__ = ["STATEMENTS"]

UFUNCS = ("add", "subtract", "multiply", "maximum", "minimum", "hypot", "arctan2", "logaddexp")
UNARY_UFUNCS = ("sin", "cos", "tanh", "square", "negative", "arctan", "absolute", "positive",
                "expm1", "sinh")  # fmt: skip


def assign_slice(w: Writer) -> bool:
    """Overwrite a view with an array, a number or a constant."""
    target = w.target()
    if target is None:
        return False
    text, shape, _ = target
    value = w.constant() if w.chance(0.15) else w.operand(shape, 2)
    if w.chance(0.1):
        value = f"np.linspace({w.constant()}, 0.4, {shape[-1]})"
    w.write(f"{item(text)} = {value}")
    return True


def item(text: str) -> str:
    """Return a target that stores into the memory of a view, not to a name."""
    return text if text.endswith("]") else text + "[...]"


def augment_slice(w: Writer) -> bool:
    """Change a view by an operator."""
    target = w.target()
    if target is None:
        return False
    text, shape, _ = target
    op, value = augmentation(w, shape)
    w.write(f"{item(text)} {op} {value}")
    return True


def augmentation(w: Writer, shape: Shape) -> tuple[str, str]:
    """Return an augmented operator with a value that it bears."""
    op = w.pick("+=", "+=", "-=", "*=", "*=", "/=", "**=")
    if op == "**=":
        return op, w.pick("2", "1", "3", "2.0")
    value = w.operand(shape, 2)
    return op, f"1.5 + ({value}) ** 2" if op == "/=" else value


def augment_name(w: Writer) -> bool:
    """Change the array behind a name by an operator."""
    name = w.name("array", rebinds=True)
    if name is None:
        return False
    op, value = augmentation(w, name.shape)
    w.write(f"{name.text} {op} {value}")
    return True


def overlap(w: Writer) -> bool:
    """Write to a part of an array from another part of the same memory."""
    array = w.name("array")
    if array is None or array.shape[0] < 3:
        return False
    t = array.text
    s = w.scalar(1)
    w.write(
        w.pick(
            f"{t}[1:] += {t}[:-1]",
            f"{t}[:-1] *= {t}[1:]",
            f"{t}[1:] = {t}[:-1]",
            f"{t}[:-1] = {t}[1:] * {s}",
            f"{t}[::-1] -= 0.4 * {t}",
            f"{t}[...] = {t}[::-1] + {s}",
            f"{t} += {t}[::-1]" if array.rebinds else f"{t}[...] += {t}[::-1]",
            f"{t}[1:-1] += 0.3 * ({t}[2:] - 2 * {t}[1:-1] + {t}[:-2])",
            f"np.multiply({t}[1:], {t}[:-1], out={t}[1:])",
            f"np.add({t}[:-1], {t}[1:], out={t}[:-1])",
            f"np.subtract({t}, {t}[::-1], {t})",
            f"np.copyto({t}[1:], {t}[:-1])",
            f"{t}[1:] /= 1.5 + {t}[:-1] ** 2",
            f"np.cumsum({t}, axis=0, out={t})",
            f"np.add.accumulate({t}, axis=0, out={t})",
            f"{t}[1:], {t}[:-1] = {t}[:-1] * 0.5, {t}[1:]",
            f"{t}[0] = {t}[-1] + {t}[0]",
            f"{t} *= {t}" if array.rebinds else f"{t}[...] *= {t}",
            f"np.square({t}, out={t})",
            f"np.hypot({t}, {t}[::-1] + 1.0, out={t})",
        )
    )
    return True


def write_element(w: Writer) -> bool:
    """Write or change one element."""
    array = w.name("array")
    if array is None:
        return False
    op = w.pick("=", "=", "+=", "-=", "*=")
    w.write(f"{array.text}[{w.position(array.shape)}] {op} {w.scalar(2)}")
    return True


def write_fancy(w: Writer) -> bool:
    """Write through an index array or a mask."""
    array = w.name("array")
    if array is None or array.shape[0] < 3:
        return False
    t, rest = array.text, array.shape[1:]
    index = w.name("index")
    if index is not None and w.chance(0.6):
        text, count = index.text, index.shape[0]
    else:
        count = w.rng.choice((2, 3))
        text = str([w.rng.randrange(-3, 3) for _ in range(count)])
    value = w.operand((count, *rest), 1)
    single = w.operand((count,), 1)
    mask = w.name("mask", shape=array.shape)
    condition = mask.text if mask and w.chance(0.6) else f"{t} > {w.pick('0.1', '-0.2')}"
    rows = [f"{t}[{text}] = {value}", f"{t}[{text}] += {value}", f"{t}[{text}] *= {value}",
            f"np.add.at({t}, {text}, {value})", f"np.subtract.at({t}, {text}, {value})",
            f"{t}[{condition}] = {w.scalar(1)}", f"{t}[{condition}] *= {w.scalar(1)}",
            f"{t}[{condition}] += {t}[{condition}] * {w.scalar(1)}",
            f"{t}[{condition}] -= {w.array(array.shape, 1)}[{condition}]",
            f"np.multiply.at({t}, {text}, {w.scalar(1)})"]  # fmt: skip
    if rest:
        rows += [f"{t}[{text}, 0] = {single}", f"{t}[{text}, {text}] += {single}",
                 f"{t}[0, {text}] -= {single}", f"{t}[:, {text}] *= 0.5"]  # fmt: skip
    w.write(w.rng.choice(rows))
    return True


def ufunc_out(w: Writer) -> bool:
    """Call a ufunc with ``out=`` and perhaps ``where=``."""
    target = w.target()
    if target is None:
        return False
    text, shape, _ = target
    where = ""
    if w.chance(0.3):
        mask = w.name("mask", shape=shape)
        where = f", where={mask.text if mask else w.array_leaf(shape) + ' > 0.1'}"
    out = f"out={text}" if w.chance(0.7) else f"out=({text},)"
    if w.chance(0.4):
        w.write(f"np.{w.rng.choice(UNARY_UFUNCS)}({w.operand(shape, 1)}, {out}{where})")
    elif w.chance(0.15):
        w.write(f"np.divide({w.operand(shape, 1)}, 1.3 + ({w.operand(shape, 1)}) ** 2, {out})")
    else:
        first, second = w.operand(shape, 1), w.operand(shape, 1)
        w.write(f"np.{w.rng.choice(UFUNCS)}({first}, {second}, {out}{where})")
    return True


def function_out(w: Writer) -> bool:
    """Call a function of NumPy that is no ufunc with ``out=``."""
    target = w.target()
    if target is None:
        return False
    text, shape, _ = target
    rows = [
        f"np.clip({w.array(shape, 1)}, -0.5, 0.8, out={text})",
        f"np.cumsum({w.array(shape, 1)}, axis=0, out={text})",
        f"np.sum({w.array((2, *shape), 1)}, axis=0, out={text})" if len(shape) < 3 else "pass",
        f"np.mean({w.array((3, *shape), 1)}, axis=0, out={text})" if len(shape) < 3 else "pass",
        f"np.multiply.reduce({w.array((2, *shape), 1)}, axis=0, out={text})"
        if len(shape) < 3
        else "pass",
    ]
    if len(shape) == 1:
        n = shape[0]
        rows += [f"np.matmul({w.array((n, 2), 1)}, {w.array((2,), 1)}, out={text})",
                 f"np.concatenate([{w.array((1,), 1)}, "
                 f"{w.array((n - 1,), 1)}], out={text})"
                 if n > 1 else "pass",
                 (f"np.take({w.array((3,), 1)}, {[w.rng.randrange(3) for _ in range(n)]}, "
                  f"out={text}, mode='clip')")]  # fmt: skip
    w.write(w.rng.choice(rows))
    return True


def function_in_place(w: Writer) -> bool:
    """Call a function or method that changes its argument."""
    target = w.target()
    if target is None:
        return False
    text, shape, _ = target
    n = shape[0]
    rows = [f"{text}.fill({w.scalar(1)})", f"np.copyto({text}, {w.operand(shape, 1)})",
            f"np.copyto({text}, {w.operand(shape, 1)}, where={w.array_leaf(shape)} > 0.15)",
            f"{text}.sort()", f"{text}.sort(axis=0)",
            f"np.put({text}, [0, -1], {w.scalar(1)})", f"{text}.put([0], {w.scalar(1)})",
            f"np.place({text}, {w.array_leaf(shape)} > 0.1, [{w.scalar(1)}, {w.scalar(0)}])",
            f"np.putmask({text}, {w.array_leaf(shape)} > 0.0, {w.array(shape, 1)})",
            f"{text}.flat[{w.rng.randrange(n)}] = {w.scalar(1)}", f"{text}.flat[0] += 0.3",
            f"{text}.flat = {w.scalar(1)}", f"{text}.real[...] *= 0.7",
            f"np.put_along_axis({text}, np.argsort({text}, axis=0)[:1], {w.scalar(1)}, axis=0)",
            f"{text}.partition({w.rng.randrange(shape[-1])})",
            f"{text}.flat[1:] = {w.scalar(1)}"]  # fmt: skip
    if len(shape) == 2:
        rows += [
            f"np.fill_diagonal({text}, {w.scalar(1)})",
            f"{text}[np.diag_indices({min(shape)})] *= {w.scalar(1)}",
            f"{text}[np.triu_indices({min(shape)}, 1)] += {w.scalar(1)}",
            f"{text}[np.ix_([0], [0])] = {w.scalar(1)}",
        ]
    w.write(w.rng.choice(rows))
    return True


def sweep_rows(w: Writer) -> bool:
    """Loop over the rows or columns of a matrix and change each."""
    matrices = [n for n in w.scope.of("array") if len(n.shape) == 2]
    if not matrices:
        return False
    matrix = w.rng.choice(matrices)
    t, (m, n) = matrix.text, matrix.shape
    row = w.fresh("row")
    head = w.pick(f"for {row} in {t}:", f"for _, {row} in enumerate({t}):",
                  f"for {row}, _ in zip({t}, range({m})):", f"for {row} in {t}[::-1]:",
                  f"for {row} in reversed({t}):", f"for {row} in list({t}):")  # fmt: skip
    with w.block(head):
        w.scope.add(row, "array", (n,))
        w.write(w.pick(f"{row} *= {w.scalar(1)}", f"{row}[1:] += {row}[:-1]",
                       f"{row} += {w.array((n,), 1)}", f"{row}[0] = {w.scalar(1)}",
                       f"{row}[:] = {w.rng.choice(UNARY).format(row)}"))  # fmt: skip
    return True


STATEMENTS = {
    assign_slice: 10, augment_slice: 9, augment_name: 7, overlap: 7, write_element: 6,
    write_fancy: 7, ufunc_out: 7, function_out: 3, function_in_place: 6, sweep_rows: 2,
}  # fmt: skip
