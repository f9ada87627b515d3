"""Statements with inner derivatives, whose results leave them in containers and closures."""

from __future__ import annotations

from tests.programs.writer import Writer

__all__ = ["STATEMENTS"]

# Each is an auxiliary output of a function of z; {0} is z, {1} a number.
CONTAINERS = (
    ("Kept({0} * 2.0, {1})", "np.sum({r}.a) * {r}.s"),
    ("deque([{0} * {1}, {1}])", "np.sum({r}[0]) + {r}[1]"),
    ("Pair({0} * {0}, {1})", "np.sum({r}.a) + {r}.s"),
    ("(lambda k: np.sum({0}) * k * {1})", "{r}(0.7)"),
    ("functools.partial(scaled_by, {1})", "np.sum({r}({t}))"),
    ("{{'a': {0} * {1}, 'l': [{1}, {0}]}}", "np.sum({r}['a']) * np.sum({r}['l'][1]) + {r}['l'][0]"),
    ("[{0} * {1}, (np.sum({0}), {1})]", "np.sum({r}[0]) * {r}[1][0] + {r}[1][1]"),
    ("Kept([{0} * {1}], {{'k': {1}}})", "np.sum({r}.a[0]) * {r}.s['k']"),
    ("OrderedDict(a={0} * {1}, s={1})", "np.sum({r}['a']) + {r}['s']"),
    ("Frozen({0} * 0.5, {1})", "np.sum({r}.a) * {r}.s"),
    ("{0} * {1}", "np.sum({r})"),
    ("{1}", "{r} * 0.5"),
    ("Kept({0}, {1}).total", "{r}()"),
    ("(np.sum({0}) * v for v in (1.0, {1}))", "0.0"),
)
DEFINED = """\
class Kept:
    def __init__(self, a, s):
        self.a, self.s = a, s
    def total(self):
        return np.sum(self.a) * self.s
@dataclass
class Pair:
    a: object
    s: object
@dataclass(frozen=True)
class Frozen:
    a: object
    s: object
def scaled_by(s, v):
    return s * v"""
SCALARS = ("np.sum({0} ** 2 * {1})", "np.sum(np.sin({0})) * {1}", "{1} * np.sum({0}) ** 2",
           "np.sum(np.tanh({0} * {1}))", "np.sum({0} * {0} * {0})")  # fmt: skip


def prepared(w: Writer) -> tuple[str, str, str] | None:
    """Return the names of a new function and of an array, and a number outside of it."""
    array = w.name("array")
    if array is None or w.depth > 2 or w.within != "f" or w.loops:
        return None
    if DEFINED not in w.prelude:
        w.prelude.append(DEFINED)
    return w.fresh("inner"), array.text, w.scalar(1)


def aux_of_gradient(w: Writer) -> bool:
    """Take an inner gradient and use its auxiliary output."""
    parts = prepared(w)
    if parts is None:
        return False
    f, t, s = parts
    form, use = w.rng.choice(CONTAINERS[:-1])
    z, q, g, r, total = "z", w.fresh("q"), w.fresh("g"), w.fresh("r"), w.fresh("s")
    w.write(f"{q} = {s}")
    with w.block(f"def {f}(z):"):
        if w.chance(0.4):
            w.write(w.pick("z = z * 1.1", "z[0] *= 0.5"))
        w.write(f"return {w.rng.choice(SCALARS).format(z, q)}, {form.format(z, q)}")
    used = use.format(r=r, t=t)
    if w.chance(0.5):
        w.write(f"{g}, {r} = grad({f}, has_aux=True)({t})")
    else:
        w.write(f"({q}, {r}), {g} = value_and_grad({f}, has_aux=True)({t})")
    w.write(f"{total} = {used} + np.sum({g} * {t}) * 0.3 + {q}")
    w.scope.add(total, "float")
    return True


def output_of_pullback(w: Writer) -> bool:
    """Take an inner pullback or derivative of a function that returns a container."""
    parts = prepared(w)
    if parts is None:
        return False
    f, t, s = parts
    form, use = w.rng.choice(CONTAINERS[:3] + CONTAINERS[5:8] + CONTAINERS[9:12])
    q, r, rest, total = w.fresh("q"), w.fresh("r"), w.fresh("p"), w.fresh("s")
    w.write(f"{q} = {s}")
    with w.block(f"def {f}(z):"):
        w.write(f"return {form.format('z', q)}")
    how = w.pick(
        "vjp({0}, {1})", "jvp({0}, ({1},), ({1} * 0.5,))", "jvp({0}, ({1},), (np.ones({1}.shape),))"
    )
    w.write(f"{r}, {rest} = {how.format(f, t)}")
    w.write(f"{total} = {use.format(r=r, t=t)}")
    w.scope.add(total, "float")
    return True


def gradient_in_a_loop(w: Writer) -> bool:
    """Take steps along an inner gradient."""
    parts = prepared(w)
    if parts is None:
        return False
    f, t, s = parts
    q, x, total = w.fresh("q"), w.fresh("x"), w.fresh("s")
    w.write(f"{q} = {s}")
    with w.block(f"def {f}(z, c):"):
        w.write(f"return {w.rng.choice(SCALARS).format('z', 'c')}")
    w.write(f"{x} = {t} * 0.8")
    with w.block("for _ in range(2):"):
        w.write(w.pick(f"{x} = {x} - 0.1 * grad({f})({x}, {q})",
                       f"{x} -= 0.1 * grad({f})({x}, {q})",
                       f"{x} = {x} + 0.1 * grad({f}, 1)({x}, {q})",
                       f"{x} *= 1.0 + 0.05 * jvp({f}, ({x}, {q}), (None, 1.0))[1]",
                       f"{x} = {x} - 0.05 * vjp({f}, {x}, {q})[1](0.7)[0]"))  # fmt: skip
    w.write(f"{total} = np.sum({x} ** 2)")
    w.scope.add(total, "float")
    return True


STATEMENTS = {aux_of_gradient: 2, output_of_pullback: 2, gradient_in_a_loop: 1}
