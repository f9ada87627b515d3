"""The adjoint of a statement on slices, as lines of the reverse sweep of a region."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mooncake_py.compiler.forms.form import whole_name
from mooncake_py.compiler.printing.text import define
from mooncake_py.compiler.regions.indices import EVERYTHING
from mooncake_py.compiler.regions.ir import Expr, Let, Name, Sliced
from mooncake_py.compiler.regions.simplify import names_of
from mooncake_py.compiler.slices.index_texts import reads_of
from mooncake_py.compiler.slices.printing import SlicedText
from mooncake_py.compiler.slices.texts import Texts
from mooncake_py.compiler.statements.array_adjoint import Adjoint, paired, risks, test_of
from mooncake_py.compiler.statements.array_pull import (
    AGAIN,
    PullWriter,
    described,
    how,
    unsigned,
)
from mooncake_py.compiler.statements.array_text import ArrayText
from mooncake_py.compiler.statements.kinds import ANY, FULL_NAMES
from mooncake_py.compiler.statements.lines import function, indented
from mooncake_py.compiler.statements.plan import Plan
from mooncake_py.compiler.statements.scope import SCOPE
from mooncake_py.overriding import override

__all__ = ["DOWN", "SlicedPull", "changed_name"]

DOWN = "d_"
"""Prefix of cotangents."""


class SlicedPull(PullWriter):
    """Makes the lines; see `PullWriter`."""

    def __init__(
        self,
        plan: Plan,
        scope: dict[str, Any],
        texts: Texts,
        number: int,
        variables: Collection[str],
    ) -> None:
        self.texts = texts
        self.variables = variables
        self.changed = changed_name(texts.s, variables)
        self.careful_name = f"careful{number}"
        super().__init__(plan, scope)

    @override
    def pull(self) -> str:
        return ""

    def is_told_of_operand(self, name: str) -> bool:
        """Return True for what tells the shape of an operand, which is read again."""
        if name == "shape":
            return self.first_of_sums[0] == "v"
        return name in self.told and described(name)[0] == "v"

    @property
    def first_of_sums(self) -> str:
        """The first of what is summed."""
        first = self.plan.core.sums[0].value.args[0]  # type: ignore[union-attr]
        assert isinstance(first, Name)
        return first.name

    def lines(self, kept: list[str]) -> tuple[list[str], list[int]]:
        """Return the lines of the adjoint, and the operands that they read again."""
        plan, found = self.plan, self.received
        text = SlicedText.of(self.texts, self.scope, self.arrays)
        body = self.likes(kept)
        body += [f"{w}_0, {w}_1 = shares({w})" for w in self.together.values()]
        body += [line for let in found.lets for line in text.lines(let)]
        body += self.unless_sound()
        target = self.texts.target(DOWN)
        is_variable = plan.target is None and plan.whole is not None
        if plan.target is None and not is_variable:
            body.append(f"{target} = 0.0")
        body += self.deliveries(found, {})
        if not body:
            return [], []
        again = self.operands_again(kept)
        own = [line for name in self.added_to() for line in self.owned(name)]
        reads = [f"v{k} = {self.texts.operand(k)}" for k in again]
        if is_variable:
            seed = [f"g = {target}", f"{target} = None"]
            return [*seed, "if g is not None:", *indented([*own, *reads, *body])], again
        if plan.whole is None:
            return [f"g = {target}", "if g:", *indented([*own, *reads, *body])], again
        g = "g = slot.copy()" if self.copies(found) else "g = slot"
        lines = [*own, f"slot = {target}", g, *reads, *body]
        if self.changed is None:
            return lines, again
        return [f"if {self.cotangent(self.changed)} is not None:", *indented(lines)], again

    def partly_given(self) -> set[str]:
        """Return the names to parts of whose arrays something is given."""
        parts = [self.plan.layout[k] for k in self.plan.active if self.variable(k) is None]
        arrays = {self.texts.array(part[0]) for part in parts if isinstance(part, tuple)}
        return arrays.intersection(self.variables) - {self.changed}

    def added_to(self) -> list[str]:
        """Return the names whose cotangents are changed in place."""
        changed = [] if self.changed is None else [self.changed]
        return sorted([*self.partly_given(), *changed])

    def owned(self, name: str) -> list[str]:
        """Return the lines that make the cotangent of a name an array that nothing else has."""
        own = self.cotangent(name)
        if name == self.changed:
            return [f"{own} = {own}.copy()"]
        return [f"{own} = zeros({whole_name(name)}.shape) if {own} is None else {own}.copy()"]

    def cotangent(self, name: str) -> str:
        """Return what the cotangent of a name is called."""
        return f"d{whole_name(name)}"

    def places(self) -> list[Expr]:
        """Return the ints of the places whose cotangents are read and written."""
        parts = [self.plan.layout[k] for k in self.plan.active]
        parts += [] if self.plan.target is None else [self.plan.target]
        indices = [part[1] for part in parts if isinstance(part, tuple)]
        reads: list[Expr] = [Name(whole_name(name)) for name in sorted(self.partly_given())]
        return reads + [e for p in indices for e in reads_of(self.texts.s.values[p])]

    def operands_again(self, kept: list[str]) -> list[int]:
        """Return the operands that are read again, some for their shapes only."""
        words = set(self.saved) | {described(name) for name in self.told}
        words |= {f"v{k}" for k in self.fits()}
        words |= {self.first_of_sums} if self.spread else set()
        words |= {f"v{k}" for k in self.plan.active if self.is_told_shape(k)}
        return [k for k in range(len(self.plan.layout)) if f"v{k}" in words - set(kept)]

    def likes(self, kept: list[str]) -> list[str]:
        """Return the lines for what tells the shape of something."""
        lines = [
            f"{name} = {AGAIN[how(name)].format(described(name))}"
            for name in self.told
            if name not in kept
        ]
        lines += [f"shape{k} = v{k}.shape" for k in self.fits()]
        if self.spread and "shape" not in kept:
            lines.append(f"shape = {self.first_of_sums}.shape")
        return lines

    # Zeros beside what is not finite.

    def unless_sound(self) -> list[str]:
        """Return the lines that compute with care what may not be finite."""
        nonzero, finite = risks(self.received, self.plan)
        sound = [*nonzero, *map(self.sound, paired(finite, self.received, self.plan))]
        if not sound:
            return []
        totals = {
            k: unsigned(e) for k, e in self.received.totals.items() if unsigned(e) != Name("g")
        }
        names = {e.name: k for k, e in totals.items() if isinstance(e, Name)}
        received = Adjoint(self.plan, careful=True).received()
        own = {let.name for let in received.lets}
        values = [*(let.value for let in received.lets), *received.totals.values()]
        read = [name for name in dict.fromkeys(names_of(values)) if name not in own]
        given = [name for name in read if name != "g"]
        results = []
        for k in names.values():
            e = received.totals[k]
            is_same = unsigned(self.received.totals[k]) is self.received.totals[k]
            results.append((e, is_same))
        self.scope[self.careful_name] = Careful(received.lets, ["g", *given], results)
        targets = "".join(f"{name}, " for name in names)
        call = f"{self.careful_name}({', '.join(['g', *given])})"
        return [f"if not ({' and '.join(sound)}):", f"    {targets}= {call}"]

    def sound(self, names: tuple[str, ...]) -> str:
        """Return the test whether one or two cotangents are finite."""
        if all(self.axes_of(name) == 0 for name in names):
            return " and ".join(f"isfinite({name})" for name in names)
        if all(self.axes_of(name) == 1 for name in names) and self.are_of_one_size(names):
            return f"isfinite({names[0]}.dot({names[-1]}))"
        return test_of(names)

    def are_of_one_size(self, names: tuple[str, ...]) -> bool:
        """Return True for the cotangents of operands of one size."""
        totals = self.received.totals.items()
        kinds = {e.name: self.plan.kinds[k] for k, e in totals if isinstance(e, Name)}
        return len(names) == 1 or all(kinds.get(name) in FULL_NAMES for name in names)

    def axes_of(self, name: str) -> int | None:
        """Return how many axes a cotangent or an operand has, if that is known."""
        axes = {
            e.name: self.texts.axes[f"v{k}"]
            for k, e in self.received.totals.items()
            if isinstance(e, Name)
        }
        return (self.texts.axes | axes).get(name)

    # What differs where an array is named.

    @override
    def delivery(self, k: int, total: Expr, owned: bool) -> list[str]:
        text = ArrayText(self.scope)
        amount = text.operand(unsigned(total))
        sign = "+" if unsigned(total) is total else "-"
        part = self.plan.layout[k]
        if isinstance(part, tuple) and self.plan.is_gathered(part):
            return [
                f"{'add' if sign == '+' else 'subtract'}.at({self.texts.gather(part)}, {amount})"
            ]
        if self.variable(k) is not None:
            return self.given_to_variable(k, total, sign, amount)
        place = self.texts.operand(k, DOWN)
        if isinstance(self.plan.layout[k], tuple) and not self.texts.is_element(k):
            return [f"d = {place}", f"d {sign}= {amount}"]
        return [f"{place} {sign}= {amount}"]

    def variable(self, k: int) -> str | None:
        """Return the name that is bound to the array that an operand is."""
        part = self.plan.layout[k]
        if type(part) is not tuple or self.texts.s.values[part[1]] != EVERYTHING:
            return None
        array = self.texts.array(part[0])
        return array if array in self.variables else None

    def is_told_shape(self, k: int) -> bool:
        """Return True for the array of a name whose cotangent may be of a smaller shape."""
        is_whole = self.plan.whole and self.plan.kinds[k] is not ANY
        return self.variable(k) is not None and not is_whole

    def given_to_variable(self, k: int, total: Expr, sign: str, amount: str) -> list[str]:
        """Return the lines that add to the cotangent of a name: a new array, or None for zero.

        What it is a part of may change; the cotangent of a name does not.
        """
        name = self.variable(k) or ""
        place = self.cotangent(name)
        if name in self.added_to():
            return [f"{place} {sign}= {amount}"]
        if self.is_told_shape(k):
            first = f"zeros(v{k}.shape) {sign} {amount}"
        elif sign == "-":
            first = f"-{amount}"
        else:
            first = amount if self.plan.target is None else f"{amount}.copy()"
        return [f"{place} = {first} if {place} is None else {place} {sign} {amount}"]

    @property
    @override
    def slot(self) -> str:
        return self.texts.target(DOWN) if self.plan.whole is None else "slot[...]"


def changed_name(s: Sliced, variables: Collection[str]) -> str | None:
    """Return the name of which a statement changes the array that it is bound to."""
    return s.written if s.written in variables else None


class Careful:
    """What operands receive where a zero cotangent stays zero, compiled when it is first needed.

    Parameters
    ----------
    lets : list of Let
    given : list of str
        The names that they read.
    results : list of (Expr, bool)
        What is returned, and whether it is, or its negative.
    """

    def __init__(self, lets: list[Let], given: list[str], results: list[tuple[Expr, bool]]) -> None:
        self.lets = lets
        self.given = given
        self.results = results
        self.made: Any = None

    def __call__(self, *args: Any) -> Any:
        if self.made is None:
            self.made = self.make()
        return self.made(*args)

    def make(self) -> Any:
        """Compile it."""
        text = ArrayText(SCOPE)
        lines = [line for let in self.lets for line in text.lines(let)]
        values = [text.text(e) if own else f"-{text.operand(e)}" for e, own in self.results]
        lines.append(f"return {', '.join(values)},")
        return define(function("careful", ", ".join(self.given), lines), text.scope)["careful"]
