"""Statements that run as one entry without debug mode: both ways run on copies.

The program runs the statement operation by operation, with all checks.  Before that, the statement
runs twice in separate contexts (`mirror`): by its quick forms, and by the general way. Then values,
written elements and tangents are compared, and the cotangents of the operands for random cotangents
of the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from mooncake_py.compiler.sites.elsewhere import Elsewhere
from mooncake_py.compiler.statements.general import general_way
from mooncake_py.errors import MooncakeError
from mooncake_py.modes.debug.beside import NotPlainError, as_plain, run_plainly
from mooncake_py.modes.debug.mirror import Levels, Mirror, Part, parts_of
from mooncake_py.modes.debug.quick_ways import QuickWay, is_far, spread
from mooncake_py.modes.debug.shaken import SPREAD, ShakenReverse, shaken_over
from mooncake_py.modes.reverse.context import ReverseContext
from mooncake_py.runtime.active import REAL_SCALARS, Active
from mooncake_py.tangents.memory import Shadows, zeros_like_owner

if TYPE_CHECKING:
    from mooncake_py.compiler.statements.site import StatementSite
    from mooncake_py.modes.debug.context import Checks
    from mooncake_py.runtime.forward_mode import ForwardMode
    from mooncake_py.runtime.mode import Mode
    from mooncake_py.runtime.reverse_mode import ReverseMode

__all__ = ["compare_statement"]

CLOSE = 1e-12  # of a derivative
CLOSE_TO_TERMS = 1e-11  # of about the terms that it is a sum of
SAMPLES = 3
HUGE = 1e100
COTANGENTS = np.random.default_rng(0).normal(size=1021)  # quicker than new ones for each element
COTANGENTS[::8] = 0.0
RESULT = -1  # in the place of the position of a value

MakeLevel = Callable[["Mode"], "ForwardMode"]
Key = tuple[int, str]
"""The position of a value, and the path of a part of it."""


def compare_statement(
    ctx: Checks, top: Mode, site: StatementSite, functions: Any, values: Any
) -> None:
    """Raise if the quick forms of a statement do something else than its operations.

    Nothing is compared if no quick form applies, or if arrays are too large to be copied.
    """
    if not site.is_pure(functions) or (top is ctx and site.form(ctx, functions, values) is None):
        return
    levels: Levels = []
    while top is not ctx:
        levels.insert(0, top)  # type: ignore[arg-type]
        top = top.base  # type: ignore[attr-defined]
    try:
        StatementBeside(ctx, levels, site, functions, values).compare()
    except NotPlainError:
        return


class General(ReverseContext):
    """Reverse mode operation by operation."""

    fuses = False
    has_gate = False


def over(ctx: ForwardMode, plain: bool) -> MakeLevel:
    """Return a function that makes contexts of forward mode of the class of another one."""
    kind: Any = type(ctx)
    return lambda base: kind(base, plain)


class Run:
    """A statement that has run in a mirror.

    Attributes
    ----------
    y
        What it has returned or raised.
    parts : dict of Key to Any
        Of the result, and of the arrays among the values as they are then.
    """

    def __init__(self, mirror: Mirror, way: Any, functions: Any) -> None:
        self.mirror = mirror
        self.y = y = run_plainly(way, (mirror.top, functions, mirror.values), {})
        self.parts: dict[Key, Any] = {}
        if isinstance(y, Exception) or y is Elsewhere:
            return
        for position, v in ((RESULT, y), *enumerate(mirror.values)):
            if position == RESULT or type(v) is ndarray:
                found = parts_of(mirror.own_levels, v)
                self.parts |= {(position, part.path): part.value for part in found}

    def numbers(self, key: Key) -> Any:
        """Return a part as numbers without derivatives, zero if it is left out."""
        return as_plain(self.parts.get(key, 0.0))

    def pull(self, seeds: dict[Key, Any]) -> list[Any]:
        """Return the cotangents of the inputs for those of the parts, and undo all."""
        given = {key: seed for key, seed in seeds.items() if key in self.parts}
        outputs = [Part(key[1], self.parts[key]) for key in given]
        self.mirror.overwrite(self.parts.values())
        return self.mirror.pull(outputs, list(given.values()))


class StatementBeside(QuickWay):
    """A statement that runs by its quick forms, compared with the general way.

    Parameters
    ----------
    ctx : Checks
    levels : list of ForwardMode
        Over it, from the nearest on, if the statement runs in forward mode.
    site : StatementSite
    functions, values : tuple
        As the site is given them.
    """

    def __init__(
        self, ctx: Checks, levels: Levels, site: StatementSite, functions: Any, values: Any
    ) -> None:
        super().__init__(ctx, "a statement", "operations")
        self.levels = levels
        self.site = site
        self.functions = functions
        self.values = values
        self.general = general_way(site.statement)

    def name(self, position: int) -> str:
        """Return how a value is called in messages."""
        if position == RESULT:
            return "its result"
        texts = self.site.texts  # those of a statement, not of a value that is stored elsewhere
        return texts[position] if position < len(texts) else "an operand"

    # The ways.

    def quickly(self) -> Run:
        """Run by quick forms, as without debug mode."""
        self.site.run = self.site.choose
        plain = [ctx.is_last for ctx in self.levels]
        return self.run(ReverseContext(), map(over, self.levels, plain), self.site.run)

    def generally(self) -> Run:
        """Run operation by operation, as in debug mode."""
        plain = [ctx.plain for ctx in self.levels]
        return self.run(General(), map(over, self.levels, plain), self.general)

    def shaken(self) -> Run:
        """Run with errors in all derivatives."""
        own = ShakenReverse(self.ctx.random)
        return self.run(own, map(shaken_over, self.levels), self.general)

    def run(self, own: ReverseMode, above: Iterable[MakeLevel], way: Any) -> Run:
        """Run a way in a mirror, with contexts of forward mode made as given."""
        levels: Levels = []
        for make in above:
            levels.append(make(levels[-1] if levels else own))
        mirror = Mirror(self.ctx, self.levels, self.values, own, levels)
        mirror.log_before(self.ctx.random)
        return Run(mirror, way, self.functions)

    # Their results.

    def compare(self) -> None:
        """Raise if they differ."""
        self.quick = self.quickly()
        if self.quick.y is Elsewhere:
            return
        self.reference = self.generally()
        if isinstance(self.reference.y, Exception):
            if not isinstance(self.reference.y, MooncakeError | type(self.quick.y)):
                raise self.ctx.failed(self.ends_otherwise())
            return
        if isinstance(self.quick.y, Exception):
            raise self.ctx.failed(self.raises(self.quick.y))
        self.compare_primals()
        self.compare_tangents()
        self.compare_cotangents()

    def raises(self, error: Exception) -> MooncakeError:
        """Return the error for a quick way that raises where its operations do not."""
        text = f"{type(error).__name__}: {error}"
        return self.differs("another value", "its result", text, "no exception")

    def compare_primals(self) -> None:
        """Compare values and written elements."""
        # In forward mode what is written by `out=` is computed before, by another loop of NumPy.
        exactly = not (self.levels and self.site.statement.into)
        for key in self.reference.parts:
            if not key[1]:
                pair = self.quick.parts[key], self.reference.parts[key]
                self.compare_value(self.name(key[0]), *pair, exactly)
        for position in range(len(self.values)):
            found, expected = (shares(run, position) for run in (self.quick, self.reference))
            if found != expected:
                words = ["memory of its own", f"memory of {self.name(position)}"]
                raise self.ctx.failed(
                    self.differs("another memory", "its result", words[found], words[expected])
                )

    def compare_tangents(self) -> None:
        """Compare tangents, at all levels."""
        keys = {key for run in (self.quick, self.reference) for key in run.parts if key[1]}
        for key in sorted(keys):
            t, expected = self.quick.numbers(key), self.reference.numbers(key)
            if self.may_differ(t, expected):
                self.compare_rounded(
                    "tangent", self.name(key[0]), t, expected,
                    self.sizes.of_parts[key], CLOSE_TO_TERMS,
                )  # fmt: skip

    def compare_cotangents(self) -> None:
        """Compare the cotangents of the operands, and check that written elements are restored."""
        expected = self.reference.pull(self.seeds)
        found = self.quick.pull(self.seeds)
        inputs = self.reference.mirror.inputs
        for k, (position, _) in enumerate(inputs):
            if self.may_differ(found[k], expected[k]):
                self.compare_rounded(
                    "cotangent", self.name(position), found[k], expected[k],
                    self.sizes.of_inputs[k], CLOSE_TO_TERMS,
                )  # fmt: skip
        for one, other in self.quick.mirror.shared_cotangents():
            got = f"memory of the cotangent of {self.name(one)}"
            raise self.ctx.failed(
                self.differs("another cotangent", self.name(other), got, "memory of its own")
            )
        for position, old in enumerate(self.values):
            if type(old) is ndarray:
                a = self.quick.mirror.values[position]
                self.compare_value(f"{self.name(position)}, undone,", a, old)

    def may_differ(self, y: Any, expected: Any) -> bool:
        """Return True if derivatives are not the same to rounding."""
        return bool(is_far(y, expected, np.abs(expected), CLOSE).any()) and not self.is_extreme

    @cached_property
    def is_extreme(self) -> bool:
        """Whether squares of numbers may overflow: which terms of a derivative do is each way's."""
        numbers = [as_plain(v) for v in (self.reference.y, *self.values)]
        return any(map(is_extreme, numbers))

    @cached_property
    def seeds(self) -> dict[Key, Any]:
        """Random cotangents of what is active after the statement, of operands half of the time."""
        random, run = self.ctx.random, self.reference
        arrays = Shadows(self.random_like)
        found: dict[Key, Any] = {}
        target = self.site.statement.target
        written = (RESULT, target[0] if isinstance(target, tuple) else target)
        for key, value in run.parts.items():
            if type(value) is Active:
                found[key] = random.normal()
            elif (
                type(value) is ndarray
                and run.mirror.own.find(value) is not None
                and (key[0] in written or random.random() < 0.5)
            ):
                found[key] = arrays.view(value)
        return found

    def random_like(self, own: ndarray) -> ndarray:
        """Return random cotangents, some of which are zero."""
        found = zeros_like_owner(own)
        first = self.ctx.random.integers(len(COTANGENTS) // 2)
        found[...] = np.resize(COTANGENTS[first:], own.shape)
        return found

    @cached_property
    def sizes(self) -> Sizes:
        """About how large the terms are that derivatives are sums of."""
        return Sizes(self)


class Sizes:
    """The sizes of the terms of derivatives, from runs with errors.

    Attributes
    ----------
    of_parts : dict of Key to Any
        Those of tangents.
    of_inputs : list
        Those of cotangents.
    """

    def __init__(self, beside: StatementBeside) -> None:
        seeds = beside.seeds
        reference = beside.generally()
        runs = [beside.shaken() for _ in range(SAMPLES)]
        self.of_parts = {
            key: spread(reference.numbers(key), [run.numbers(key) for run in runs], SPREAD)
            for key in {key for run in (*runs, beside.quick, reference) for key in run.parts}
            if key[1]
        }
        expected, *found = (run.pull(seeds) for run in (reference, *runs))
        self.of_inputs = [
            spread(*pair, SPREAD) for pair in zip(expected, zip(*found, strict=True), strict=True)
        ]


def is_extreme(v: Any) -> bool:
    """Return True if a number, or one in an array, is finite and very large or small."""
    if type(v) is not ndarray and type(v) not in REAL_SCALARS:
        return False
    sizes = np.abs(v)
    return bool(np.any(((sizes > HUGE) | (sizes < 1.0 / HUGE)) & (sizes > 0.0) & (sizes < np.inf)))


def shares(run: Run, position: int) -> bool:
    """Return True if the result is memory of a value."""
    y, value = as_plain(run.y), run.mirror.values[position]
    return type(y) is type(value) is ndarray and np.may_share_memory(y, value)
