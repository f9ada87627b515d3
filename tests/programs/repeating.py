"""Statements that call one helper in a row, with other shapes, dtypes and layouts each time."""

from __future__ import annotations

from tests.programs.scope import Shape
from tests.programs.writer import BINARY, SCALAR_BINARY, UNARY, Writer

__all__ = ["STATEMENTS"]

BODIES = (  # of matrix W, vector v and a bias b that may broadcast
    "W @ v + b", "np.tanh(W @ v + b)", "np.dot(W, v) * b", "(W @ v) * (W @ v) + b", "W @ v - b * b",
    "b + W @ v", "np.maximum(W @ v, b)", "0.5 * (W @ v) + b * (W @ v)", "W * v + np.sum(b)",
    "np.sum(W * v) + b", "np.outer(W @ v, v) + np.mean(b)", "W @ v / (1.5 + b * b)",
)  # fmt: skip


def expression(w: Writer) -> str:
    """Return an expression of arrays u, v and a number c that accepts any shapes that broadcast."""
    text = w.rng.choice((*BINARY, *SCALAR_BINARY[:4])).format(w.pick("u", "u", "(u * c)"), "v")
    for _ in range(w.rng.randrange(3)):
        operand = w.pick("u", "v", "c", "0.3", "(v - u)")
        if w.chance(0.5):
            text = w.rng.choice(BINARY[:8]).format(text, operand)
        else:
            text = w.rng.choice(UNARY[:9]).format(text)
    return text


def define_for_any_shape(w: Writer) -> bool:
    """Define a helper for operands of any shape, and call it in a row."""
    if w.within != "f" or w.name("array") is None:
        return False
    name = f"helper{len(w.prelude)}"
    body = expression(w)
    first = w.pick(
        "",
        "    r = u * v\n    r = r + c\n",
        "    u = u * 1.0\n    u += v * 0.5\n",
        "    r = np.zeros(np.broadcast_shapes(np.shape(u), np.shape(v)))\n    r[...] = u * v + c\n",
    )
    result = f"np.sum({body})" + (" + np.sum(r)" if "r = " in first else "")
    if "u += " in first:  # what is added must fit into u
        first = first.replace("u = u * 1.0", "u = u * np.ones(np.broadcast(u, v).shape)")
    w.prelude.append(f"def {name}(u, v, c):\n{first}    return {result}")
    w.scope.add(name, "any_shape", rebinds=False)
    return call_in_a_row(w)


def call_in_a_row(w: Writer) -> bool:
    """Call a helper with one shape after another."""
    helper, array = w.name("any_shape"), w.name("array")
    if helper is None or array is None:
        return False
    name = w.fresh("s")
    calls = []
    for _ in range(w.rng.choice((2, 3, 4))):
        operands = [like(w, array.text, array.shape), like(w, array.text, array.shape)]
        calls.append(f"{helper.text}({operands[0]}, {operands[1]}, {w.scalar(1)})")
    if w.chance(0.3):
        counter, values = (
            w.fresh("v"),
            ", ".join(like(w, array.text, array.shape) for _ in range(3)),
        )
        w.write(f"{name} = 0.0")
        with w.block(f"for {counter} in ({values}):"):
            w.write(f"{name} += {helper.text}({array.text}, {counter}, {w.scalar(1)})")
    else:
        w.write(f"{name} = float({' + '.join(calls)})")
    w.scope.add(name, "float")
    return True


def like(w: Writer, text: str, shape: Shape) -> str:
    """Return an operand made of an array: of its shape or one that broadcasts to it."""
    last = f"({text})[..., :1]"
    forms = [
        text, text, f"{text} * 0.5", last, f"np.ravel({text})[0]", f"np.ravel({text})[:1]",
        f"np.array(np.ravel({text})[0])", f"{text}.astype(F32)", f"np.asfortranarray({text})",
        f"({text})[::-1]", f"np.ones({shape}) * {w.scalar(1)}", w.scalar(1),
        f"np.array([{w.scalar(1)}])", f"np.repeat({text}, 2, axis=0)[::2]", f"({text})[:1]",
        f"np.ones({shape}, dtype=F32)", "F32(0.4)", "2", f"np.broadcast_to({last}, {shape})",
        f"np.arange({shape[-1]})", f"({text})[None]",
    ]  # fmt: skip
    return w.rng.choice(forms)


def define_layer(w: Writer) -> bool:
    """Define a product of matrices with a bias, and call it with biases of several shapes."""
    array = w.name("array")
    if w.within != "f" or array is None:
        return False
    helper, name, n = f"helper{len(w.prelude)}", w.fresh("s"), w.rng.choice((2, 3))
    w.prelude.append(f"def {helper}(W, v, b):\n    return {w.rng.choice(BODIES)}")
    calls = []
    for _ in range(w.rng.choice((2, 3))):
        m = w.rng.choice((1, n, n))
        bias = w.pick(w.array((m,), 1), w.scalar(1), f"np.array([{w.scalar(1)}])",
                      f"np.array({w.scalar(1)})", w.array((m,), 1))  # fmt: skip
        matrix = w.array((n, n), 1)
        matrix = w.pick(matrix, matrix, f"({matrix}).T", f"({matrix}).astype(F32)")
        calls.append(f"np.sum({helper}({matrix}, {w.array((n,), 1)}, {bias}))")
    w.write(f"{name} = float({' + '.join(calls)})")
    w.scope.add(name, "float")
    return True


STATEMENTS = {define_for_any_shape: 3, call_in_a_row: 3, define_layer: 2}
