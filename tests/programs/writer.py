"""Writing a random program: lines, blocks, fresh names and random expressions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from tests.programs.scope import Name, Scope, Shape
from tests.programs.views import random_view, view_of_shape

__all__ = ["Writer"]

UNARY = (
    "np.sin({0})", "np.cos({0})", "np.tanh({0})", "np.exp(-{0} ** 2)", "np.arctan({0})",
    "np.sqrt(1.1 + {0} ** 2)", "np.log1p({0} ** 2)", "(({0}) ** 2)", "(-({0}))", "np.abs({0})",
    "np.square({0})", "np.maximum({0}, 0.11)", "np.clip({0}, -0.6, 0.7)", "np.sinh(0.3 * {0})",
    "np.where({0} > 0.07, {0}, 0.3)", "np.expm1(0.2 * {0})", "np.negative({0})", "({0}).copy()",
    "np.array({0})", "np.asarray({0})", "abs({0})", "np.reciprocal(1.5 + {0} ** 2)",
    "({0}).clip(-0.5)", "np.positive({0})", "np.hypot({0}, 0.4)", "np.nan_to_num({0})",
)  # fmt: skip
BINARY = (
    "({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} / (1.3 + ({1}) ** 2))", "({0} * 0.5 + {1})",
    "np.multiply({0}, {1})", "np.add({0}, {1})", "np.subtract({0}, {1})", "np.maximum({0}, {1})",
    "np.hypot({0}, 0.5 + {1} ** 2)", "np.arctan2({0}, 1.2 + ({1}) ** 2)", "np.minimum({0}, {1})",
    "np.where({0} > 0.13, {0}, {1})", "np.divide({0}, 1.4 + np.abs({1}))",
    "np.power(1.2 + ({0}) ** 2, 0.3 * {1})", "np.logaddexp({0}, {1})",
)  # fmt: skip
SAME_SHAPE = (  # functions that keep the shape of a vector or a matrix
    "np.cumsum({0}, axis=0)", "np.roll({0}, 1, axis=0)", "np.flip({0}, 0)", "np.sort({0}, axis=-1)",
    "({0})[::-1]", "np.roll({0}, -2)", "({0}).cumsum(axis=-1)", "np.flip({0})",
    "(np.tril({0}) if {0}.ndim == 2 else {0})", "np.diff({0}, axis=0, append=0.2)",
    "({0} - np.mean({0}))", "({0} / (1.0 + np.sum({0} ** 2)))", "np.gradient({0}, axis=0)",
    "({0} - {0}.mean(axis=-1, keepdims=True))", "(np.broadcast_to({0}, {0}.shape) * 1.0)",
    "np.cumprod(0.9 * {0}, axis=-1)", "np.pad({0}, 1)[tuple([slice(1, -1)] * {0}.ndim)]",
)  # fmt: skip
REDUCTIONS = (
    "np.sum({0})", "np.mean({0})", "({0}).sum()", "np.max({0})",
    "np.dot(np.ravel({0}), np.ravel({0}))", "np.linalg.norm(0.3 + {0} ** 2)", "np.min({0})",
    "np.var({0})", "np.sqrt(0.2 + np.var({0}))",
    "np.prod(0.9 + 0.1 * {0})", "np.sum({0}, where={0} > 0.1)", "np.add.reduce({0}, axis=None)",
    "np.median({0})", "sum(np.ravel({0}))", "max(np.ravel({0}))", "np.ravel({0})[-1]",
    "({0}).item(1)", "({0}).flat[1]", "sum(v * v for v in np.ravel({0}))", "np.ptp({0})",
    "math.fsum(np.ravel({0}))", "np.einsum('i,i', np.ravel({0}), np.ravel({0}))",
)  # fmt: skip
SCALAR = (
    "math.sin({0})", "np.cos({0})", "math.tanh({0})", "(({0}) ** 2)", "(-{0})",
    "math.exp(-({0}) ** 2)",
    "abs({0})", "max({0}, 0.12)", "float({0})", "np.tanh({0})", "min({0}, 0.8)",
    "np.float64({0})", "np.float64({0})[()]", "math.sqrt(1.0 + ({0}) ** 2)",
    "({0} if {0} > 0.05 else 0.2)",
)  # fmt: skip
SCALAR_BINARY = (
    "({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} / (1.2 + ({1}) ** 2))", "max({0}, {1})",
    "math.atan2({0}, 1.5 + abs({1}))", "sum([{0}, {1}])", "math.hypot({0}, 0.3 + ({1}) ** 2)",
)  # fmt: skip


class Writer:
    """Writes the statements of one function, given a source of random choices.

    Attributes
    ----------
    rng : Random
        Decides everything.
    scope : Scope
        The names visible now.
    lines : list of str
        What was written, indented.
    prelude : list of str
        Lines before the function: helpers and classes.
    within : str
        ``f``, or ``helper`` in a function that ``f`` calls.
    """

    def __init__(
        self, rng: Random, scope: Scope, prelude: list[str], within: str = "f", depth: int = 1
    ) -> None:
        self.rng = rng
        self.scope = scope
        self.prelude = prelude
        self.within = within
        self.depth = depth
        self.lines: list[str] = []
        self.loops = 0
        self.budget = 0

    # Lines and names.

    def write(self, *rows: str) -> None:
        self.lines.extend("    " * self.depth + row for row in rows)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write the head of a compound statement; what follows is indented and its own scope."""
        self.write(head)
        self.depth += 1
        with self.scope.block():
            yield
        self.depth -= 1

    def fresh(self, letter: str) -> str:
        """Return a new name; numbered by length, so that the text is reproducible."""
        taken = {n.text for n in self.scope.names}
        number = len(self.lines) + len(self.prelude)
        while (name := f"{letter}{number}") in taken:
            number += 1
        return name

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def name(self, *kinds: str, shape: Shape | None = None, rebinds: bool = False) -> Name | None:
        """Return a random visible name, the later ones more often."""
        found = self.scope.of(*kinds, shape=shape, rebinds=rebinds)
        if not found:
            return None
        return max(self.rng.choice(found), self.rng.choice(found), key=found.index)

    # Targets.

    def target(self, *kinds: str) -> tuple[str, Shape, str] | None:
        """Return a place to write into: an array or a view of it, its shape and its kind."""
        name = self.name(*(kinds or ("array",)))
        if name is None:
            return None
        text, shape = random_view(self.rng, name.text, name.shape, self.rng.choice((0, 1, 1, 1, 2)))
        return text, shape, name.kind

    # Expressions.

    def constant(self) -> str:
        return self.pick("0.5", "0.3", "1.2", "-0.7", "0.25", "0.9", "2.0", "0.1", "1.0")

    def scalar(self, depth: int = 1) -> str:
        """Return a real scalar expression."""
        if depth <= 0 or self.chance(0.25):
            return self.scalar_leaf()
        if self.chance(0.25):
            return self.rng.choice(REDUCTIONS).format(self.some_array())
        if self.chance(0.5):
            return self.rng.choice(SCALAR).format(self.scalar(depth - 1))
        return self.rng.choice(SCALAR_BINARY).format(self.scalar(depth - 1), self.scalar(depth - 1))

    def scalar_leaf(self) -> str:
        if self.chance(0.15):
            return self.constant()
        if self.chance(0.5) and (name := self.name("float")):
            return name.text
        return self.element() or self.constant()

    def element(self) -> str | None:
        """Return an element of an array or of a list of numbers."""
        name = self.name("array", "array", "numbers")
        if name is None:
            return None
        if name.kind == "numbers":
            return f"{name.text}[{self.pick('0', '-1')}]"
        return f"{name.text}[{self.position(name.shape)}]"

    def position(self, shape: Shape) -> str:
        """Return an index of one element; loop counters count modulo the length."""
        counters = self.scope.of("counter")
        parts = []
        for n in shape:
            if counters and self.chance(0.4):
                parts.append(f"{self.rng.choice(counters).text} % {n}")
            else:
                parts.append(str(self.rng.randrange(-n, n)))
        return ", ".join(parts)

    def some_array(self) -> str:
        """Return an array expression of any shape."""
        name = self.name("array")
        if name is None:
            return "np.ones(3)"
        return random_view(self.rng, name.text, name.shape, self.rng.choice((0, 1)))[0]

    def array(self, shape: Shape, depth: int = 2) -> str:
        """Return an expression for an array of float64 of a shape."""
        if depth <= 0 or self.chance(0.2):
            return self.array_leaf(shape)
        way = self.rng.random()
        if way < 0.3:
            return self.rng.choice(UNARY).format(self.array(shape, depth - 1))
        if way < 0.7:
            first, second = self.array(shape, depth - 1), self.operand(shape, depth - 1)
            if self.chance(0.3):
                first, second = second, first
                # keep one operand of the full shape
                return self.rng.choice(BINARY[:8]).format(first, second)
            return self.rng.choice(BINARY).format(first, second)
        if way < 0.78:
            return self.rng.choice(SAME_SHAPE).format(self.array_leaf(shape))
        return self.special(shape, depth) or self.array_leaf(shape)

    def operand(self, shape: Shape, depth: int) -> str:
        """Return an expression that broadcasts to a shape."""
        if self.chance(0.35):
            return self.scalar(1)
        if len(shape) == 2 and self.chance(0.3):
            smaller = self.rng.choice((shape[1:], (shape[0], 1), (1, shape[1])))
            return self.array(smaller, depth)
        return self.array(shape, depth)

    def array_leaf(self, shape: Shape) -> str:
        """Return a name or a view of a shape, or a new array."""
        names = self.scope.of("array")
        self.rng.shuffle(names)
        for name in names[:5]:
            if name.shape == shape and self.chance(0.6):
                return name.text
            view = view_of_shape(self.rng, name.text, name.shape, shape)
            if view is not None:
                return view
        if self.chance(0.5):
            return f"np.full({shape}, {self.scalar(0)})"
        return f"np.linspace(0.1, 0.8, {_size(shape)}).reshape({shape})"

    def special(self, shape: Shape, depth: int) -> str | None:
        """Return an array by fancy indexing, contraction or joining."""
        way = self.rng.randrange(5)
        if way == 0:
            return self.gathered(shape)
        if way == 1 and len(shape) == 1:
            return self.contracted(shape, depth)
        if way == 2 and len(shape) == 2:
            return (
                f"np.outer({self.array((shape[0],), depth - 1)}, "
                f"{self.array((shape[1],), depth - 1)})"
            )
        if way == 3 and len(shape) == 1 and shape[0] >= 3:
            cut = self.rng.randrange(1, shape[0])
            first = self.array((cut,), depth - 1)
            second = self.array((shape[0] - cut,), depth - 1)
            joined = self.pick("np.concatenate([{0}, {1}])", "np.hstack(({0}, {1}))",
                               "np.append({0}, {1})", "np.r_[{0}, {1}]")  # fmt: skip
            return joined.format(first, second)
        if way == 4 and len(shape) == 1:
            if shape[0] <= 5 and self.chance(0.6):
                return f"np.array([{', '.join(self.scalar(0) for _ in range(shape[0]))}])"
            return f"np.sum({self.array((3, *shape), depth - 1)}, axis=0)"
        return None

    def gathered(self, shape: Shape) -> str | None:
        """Return a read by an index array, with repeats."""
        if len(shape) != 1:
            return None
        index = self.name("index", shape=shape)
        array = self.name("array")
        if array is None or array.shape[0] < 3:
            return None
        text = (
            index.text
            if index and self.chance(0.7)
            else str([self.rng.randrange(-3, 3) for _ in range(shape[0])])
        )
        if len(array.shape) == 2:
            return self.pick(
                "{0}[{1}, 0]", "{0}[:, 1][{1}]", "{0}[{1}, {1}]", "{0}[{1}].sum(axis=1)"
            ).format(array.text, text)
        return self.pick("{0}[{1}]", "np.take({0}, {1})", "{0}.take({1})", "{0}[::-1][{1}]").format(
            array.text, text
        )

    def contracted(self, shape: Shape, depth: int) -> str:
        """Return a product of a matrix and a vector."""
        n = self.rng.choice((2, 3))
        matrix, vector = self.array((*shape, n), depth - 1), self.array((n,), depth - 1)
        # fmt: off
        form = self.pick("({0} @ {1})", "np.dot({0}, {1})", "({0}).dot({1})",
                         "np.einsum('ij,j->i', {0}, {1})", "np.matmul({0}, {1})",
                         "({1} @ ({0}).T)", "np.tensordot({0}, {1}, 1)", "np.inner({0}, {1})")
        # fmt: on
        return form.format(matrix, vector)


def _size(shape: Shape) -> int:
    size = 1
    for n in shape:
        size *= n
    return size
