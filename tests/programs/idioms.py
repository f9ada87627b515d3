"""Statements in which Python's less common features meet memory that changes."""

from __future__ import annotations

from tests.programs.writer import Writer

__all__ = ["STATEMENTS"]


def chained_assignment(w: Writer) -> bool:
    """Assign one value to several targets."""
    array = w.name("array")
    if array is None:
        return False
    t, name = array.text, w.fresh("s")
    w.write(w.pick(f"{name} = {t}[{w.position(array.shape)}] = {w.scalar(1)}",
                   f"{t}[{w.position(array.shape)}] = {name} = {w.scalar(1)}",
                   f"{t}[...] = {name} = {w.scalar(1)}"))  # fmt: skip
    w.scope.add(name, "float")
    return True


def walrus(w: Writer) -> None:
    """Bind a number within an expression."""
    name = w.fresh("s")
    with w.block(f"if ({name} := {w.scalar(1)}) > 0.22:"):
        w.write(f"{name} = {name} * {w.scalar(1)}")
    w.scope.add(name, "float")


RECURSION = """def descend(u, k):
    if k == 0 or u.shape[0] < 2:
        return np.sum(u)
    u[1:] += 0.3 * u[:-1]
    return descend(u[1:], k - 1) + u[0] * descend(u[:-1], k - 1)"""

SCRATCH = """SCRATCH = np.linspace(0.2, 0.7, 3)


def scratched(s):
    SCRATCH[1:] *= 0.5 + 0.1 * np.tanh(s)
    SCRATCH[0] += s
    value = np.sum(SCRATCH)
    SCRATCH[...] = (0.2, 0.45, 0.7)
    return value"""

CONTEXT = """class Halved:
    def __init__(self, a):
        self.a = a

    def __enter__(self):
        self.kept = self.a.copy()
        self.a *= 0.5
        return self.a

    def __exit__(self, *details):
        self.a += self.kept
        return False"""

VARIADIC = """def variadic(*arrays, factor=0.5, **options):
    total = 0.0
    for a in arrays:
        a *= factor
        total += np.sum(a)
    return total + options.get("extra", 0.1)"""


def call_recursion(w: Writer) -> bool:
    """Call a function that calls itself with views."""
    return _with_prelude(w, RECURSION, "{s} = descend({t}, 2)")


def use_scratch(w: Writer) -> bool:
    """Call a function that works in a global array."""
    return _with_prelude(w, SCRATCH, f"{{s}} = scratched({w.scalar(1)})")


def use_context(w: Writer) -> bool:
    """Change an array under a context manager that changes it as well."""
    body = f"{w.pick('h *= 0.9', 'h[0] = ' + w.scalar(1), 'h[1:] += h[:-1]')}; {{s}} = np.sum(h)"
    return _with_prelude(w, CONTEXT, "with Halved({t}) as h: " + body)


def call_variadic(w: Writer) -> bool:
    """Call with starred arguments."""
    call = w.pick(
        "{{s}} = variadic({{t}}, {{t}}[1:], factor={0})",
        "{{s}} = variadic(*[{{t}}, {{t}}], extra={0})",
        "{{s}} = variadic(*{{t}}[:2, None], **{{{{'factor': {0}}}}})",
    )
    return _with_prelude(w, VARIADIC, call.format(w.scalar(1)))


def _with_prelude(w: Writer, prelude: str, form: str) -> bool:
    array = w.name("array")
    if array is None:
        return False
    if prelude not in w.prelude:
        w.prelude.append(prelude)
    name = w.fresh("s")
    w.write(form.format(s=name, t=array.text))
    w.scope.add(name, "float")
    return True


def index_by_value(w: Writer) -> bool:
    """Write where values say."""
    vectors = [n for n in w.scope.of("array") if len(n.shape) == 1 and n.shape[0] >= 3]
    if not vectors:
        return False
    array = w.rng.choice(vectors)
    t, s = array.text, w.scalar(1)
    w.write(w.pick(
        f"{t}[np.argmax({t})] = {s}", f"{t}[np.argmin({t})] += {s}",
        f"{t}[:] = {t}[np.argsort({t})] * 0.9", f"{t}[np.nonzero({t} > 0.1)] *= {s}",
        f"{t}[np.where({t} < 0.2)] += {s}", f"{t}[np.argsort({t})[:2]] -= {s}",
        f"{t}[np.flatnonzero({t} > 0.05)] = {s}", f"{t}[int(np.argmax({t}))] *= {s}",
        f"{t}[np.int64(1)] += {s}", f"{t}[slice(0, 2)] *= {s}", f"{t}[(1,)] = {s}",
        f"{t}[np.array(1)] = {s}", f"{t}[[True] * {array.shape[0]}] *= {s}",
        f"{t}[[]] = {s}", f"{t}[...,] += {s}", f"{t}[None] *= {s}",
        f"{t}[np.array([[0], [1]])] = {s}",
        f"{t}[np.array([[0, 1], [1, 0]])] += {s}",
    ))  # fmt: skip
    return True


def zero_dimensional(w: Writer) -> bool:
    """Work with an array of no dimensions."""
    array = w.name("array")
    if array is None:
        return False
    name, s = w.fresh("o"), w.scalar(1)
    # fmt: off
    w.write(f"{name} = " + w.pick(f"np.array({s})", f"np.full((), {s})",
                                  f"{array.text}.reshape(-1)[0:1].reshape(())",
                                  f"np.sum({array.text}, keepdims=True).reshape(1)[0, ...]",
                                  f"{array.text}[({'0, ' * len(array.shape)}...)]"),
            w.pick(f"{name}[...] = {name} * {s}", f"{name}[()] += {s}", f"{name} *= {s}",
                   f"np.add({name}, {s}, out={name})" if array else "pass", f"{name} += {name}"))
    # fmt: on
    total = w.fresh("s")
    w.write(f"{total} = " + w.pick(f"float({name})", f"{name}[()]", f"{name} * 1.0",
                                   f"{name}.item()", f"np.sum({name})"))  # fmt: skip
    w.scope.add(total, "float")
    return True


def mix_integers(w: Writer) -> bool:
    """Use an array of integers that changes, with floats; or round floats into it."""
    array = w.name("array")
    if array is None:
        return False
    name, shape = w.fresh("w"), array.shape
    w.write(f"{name} = np.arange({array.text}.size).reshape({shape})")
    w.write(w.pick(f"{array.text}[...] = {array.text} * {name}",
                   f"{array.text}[...] += {name} * {w.scalar(1)}",
                   f"np.multiply({name}, {array.text}, out={array.text})",
                   f"{array.text}[...] = {name} + {w.array(shape, 1)}"))  # fmt: skip
    w.write(w.pick(f"{name}[0] = 7", f"{name} *= 2", f"{name}[...] = {name}[::-1]",
                   f"{name} += 1", f"np.add({name}, 1, out={name})"))  # fmt: skip
    if w.chance(0.5):
        w.write(f"{array.text}[...] -= 0.1 * {name}")
    return True


def reduce_in_python(w: Writer) -> bool:
    """Accumulate through functions of higher order that see arrays change."""
    items = w.name("list")
    if items is None:
        return False
    name, t = w.fresh("a"), items.text
    # fmt: off
    w.write(w.pick(f"{name} = sum({t})", f"{name} = sum({t}[1:], {t}[0])",
                   f"{name} = np.sum({t}, axis=0)", f"{name} = np.stack({t})[0]",
                   f"{name} = np.array({t})[-1]", f"{name} = np.asarray({t}[:2]).mean(axis=0)",
                   f"{name} = np.concatenate({t}).reshape(-1, *{items.shape})[1]",
                   f"{name} = np.vstack([np.ravel(m) for m in {t}])[0].reshape({items.shape})",
                   f"{name} = np.add.reduce({t})", f"{name} = {t}[0] * np.ones({items.shape})"))
    # fmt: on
    w.scope.add(name, "array", items.shape)
    return True


def grow_while_looping(w: Writer) -> bool:
    """Change a list while looping over it."""
    items = w.name("list")
    if items is None:
        return False
    t, m = items.text, w.fresh("m")
    with w.block(f"for {m} in {t}:"):
        with w.block(f"if len({t}) < 5:"):
            w.write(f"{t}.append({m} * {w.scalar(1)})")
        w.write(w.pick(f"{m} *= 0.9", f"{t}[0] = {m} + 0.1", f"{t}[-1] *= {w.scalar(1)}"))
    return True


def keep_view_of_temporary(w: Writer) -> bool:
    """Bind a view whose owner has no other name."""
    array = w.name("array")
    if array is None:
        return False
    name = w.fresh("v")
    # fmt: off
    w.write(f"{name} = ({w.array(array.shape, 1)} + 0.0)[...]",
            w.pick(f"{name}[1:] *= {w.scalar(1)}", f"{name} += {w.scalar(1)}",
                   f"{name}[0] = {w.scalar(1)}", f"{name}[...] = {w.array(array.shape, 1)}"))
    # fmt: on
    w.scope.add(name, "array", array.shape)
    return True


STATEMENTS = {
    chained_assignment: 2, walrus: 1, call_recursion: 1, use_scratch: 1, use_context: 1,
    call_variadic: 1, index_by_value: 5, zero_dimensional: 3, mix_integers: 2,
    reduce_in_python: 3, grow_while_looping: 2, keep_view_of_temporary: 2,
}  # fmt: skip
