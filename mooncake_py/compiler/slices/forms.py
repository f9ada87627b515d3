"""The lines of a statement on slices in both sweeps of a region.

For ``b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])``::

    forward                                 back
    v0 = u_b[u_i, u_j]                      u_b[u_i, u_j] = pop_int()
    v1 = w_u_a[u_i + 1:, u_i]               g = d_u_b[u_i, u_j]
    v2 = w_u_b[u_i + 1:, u_j]               if g:
    y = float(v0 + v1.dot(v2))                  v1 = w_u_a[u_i + 1:, u_i]
    z += y * 0.0                                v2 = w_u_b[u_i + 1:, u_j]
    push_int(u_b[u_i, u_j])                     d = dw_u_a[u_i + 1:, u_i]
    u_b[u_i, u_j] = y                           d += g * v2

Adjoints read from the arrays, which hold on the way back what they held, or what was saved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from mooncake_py.compiler.derivatives.tangent import is_tangent
from mooncake_py.compiler.forms.form import whole_name
from mooncake_py.compiler.regions.indices import of_row_and_column
from mooncake_py.compiler.regions.ir import Const, Expr, Lines, Name, Op, Sliced
from mooncake_py.compiler.slices.printing import SlicedText
from mooncake_py.compiler.slices.pull import DOWN, SlicedPull, changed_name
from mooncake_py.compiler.slices.texts import Texts
from mooncake_py.compiler.statements.array_forms import SYMBOLS, ArrayForm, operands_of
from mooncake_py.compiler.statements.kinds import ARRAYS
from mooncake_py.compiler.statements.plan import Plan
from mooncake_py.compiler.statements.statement import View, is_operand, position_of
from mooncake_py.compiler.statements.views import views_in

__all__ = ["SlicedForm"]


class SlicedForm(ArrayForm):
    """Makes the lines of a statement.

    Parameters
    ----------
    s : Sliced
    plan : Plan
    scope : dict
        What the text calls, for all statements of the region.
    number : int
        Of the statement in the region.
    active : set of str
        Names and arrays that are, somewhere in the region.
    axes : mapping of str to int
        How many axes the arrays have.
    variables : collection of str
        The names that are bound to arrays.
    """

    pull: SlicedPull | None

    def __init__(
        self,
        s: Sliced,
        plan: Plan,
        scope: dict[str, Any],
        number: int,
        active: set[str],
        axes: Mapping[str, int],
        variables: Collection[str],
    ) -> None:
        self.s = s
        self.variables = variables
        self.active = active
        self.plan = plan
        self.scope = scope
        scope |= views_in(plan.layout, plan.core.functions)
        self.texts = Texts(s, plan, axes)
        self.changed = changed_name(s, variables)
        self.pull = None
        if plan.records:
            self.pull = SlicedPull(plan, scope, self.texts, number, variables)
        self.text = SlicedText.of(self.texts, scope, plan.arrays_of_float64)

    # What both sweeps need.

    @property
    def variable(self) -> str | None:
        """The name that is bound to an array."""
        target = self.s.target
        return target.name if target is not None and target.name in self.variables else None

    def variables_read(self, kept: list[str]) -> set[str]:
        """Return the names of arrays of which the adjoint reads the values."""
        if self.pull is None:
            return set()
        again = self.pull.operands_again(kept)
        arrays = {self.array_of(k) for k in again if isinstance(self.plan.layout[k], tuple)}
        return arrays.intersection(self.variables)

    def saves_what_it_binds(self, kept: list[str]) -> bool:
        """Return True if the very array that a name is bound to is saved: ``v = np.exp(u)``."""
        root = self.plan.core.root
        return self.variable is not None and isinstance(root, Name) and root.name in kept

    def variables_measured(self) -> set[str]:
        """Return the names of arrays of which the adjoint reads the shape."""
        return set() if self.pull is None else self.pull.partly_given()

    @property
    def read_again(self) -> list[int]:
        """The operands that are elements or slices which the adjoint reads."""
        saved = [] if self.pull is None else self.pull.saved
        return [k for k, part in enumerate(self.plan.layout)
                if isinstance(part, tuple) and f"v{k}" in saved]  # fmt: skip

    def array_of(self, k: int) -> str:
        """Return the array that an operand is part of."""
        part = self.plan.layout[k]
        assert isinstance(part, tuple)
        return self.texts.array(part[0])

    def kept(self, is_kept: Callable[[str], bool], steady: set[str]) -> list[str]:
        """Return what is saved on the forward sweep, by the names that the reverse sweep reads.

        Parameters
        ----------
        is_kept : callable
            Whether an array holds on the way back what it held when it was read.
        steady : set of str
            The numbers that do.
        """
        if self.pull is None:
            return []
        names: list[str] = []
        for name in (*self.pull.saved, *self.pull.spread):
            if name[0] == "v":
                k = int(name[1:])
                part = self.plan.layout[k]
                if isinstance(part, tuple):
                    if is_kept(self.array_of(k)):
                        continue
                elif self.s.values[part].name in steady:
                    continue
            elif self.pull.is_told_of_operand(name):
                continue
            names.append(name)
        return names

    # Forward.

    def forward(
        self, kept: list[str], logs: bool, twins: list[str], keeps_shape: bool = False
    ) -> Lines:
        """Return the statement with what it saves.

        Parameters
        ----------
        kept : list of str
            See the method of this name.
        logs : bool
            Whether what is overwritten is saved.
        twins : list of str
            Of a name that is bound to an array its tangents, which have its shape.
        keeps_shape : bool
            Whether a name must be bound to an array of the shape that it had.
        """
        plan, texts = self.plan, self.texts
        count = len(plan.layout)
        lines: list[str] = []
        if self.changed is not None and logs:  # else nothing reads what the array held
            whole = whole_name(self.changed)
            lines = [f"old = {whole}", f"{whole} = {whole}.copy()"]
        lines += [f"v{k} = {texts.operand(k)}" for k in range(count)]
        if plan.target is not None and plan.whole is not None and not plan.augments:
            lines.append(f"slot = {texts.target()}")
        computed, value = self.value_lines()
        lines += self.checked(computed, value)
        value_text = self.text.text(value)
        if plan.whole is None:
            is_float = self.text.is_float(plan.core.lets[-1].value)
            lines += [f"y = {value_text}" if is_float else f"y = float({value_text})"]
            lines += ["z += y * 0.0"]
        else:
            lines += self.unless_crossed(value)
            if is_tangent(self.s.bound) and not self.only_adds:
                lines += self.unless_finite(value, value_text)
                value_text = "value"
        if keeps_shape:
            target = texts.target()
            lines.append(f"value = {value_text}")
            lines += unless([f"{target} is not None and {target}.shape != value.shape"])
            value_text = "value"
        lines += [f"push_int({self.kept_text(name)})" for name in kept]
        lines += self.written(value_text, logs)
        lines += unless(f"{texts.target()}.shape != {whole_name(t)}.shape" for t in twins)
        reads = [e for k in range(count) for e in texts.reads(k)]
        return Lines(tuple(lines), (*reads, *texts.target_read()), place=self.s.place)

    def kept_text(self, name: str) -> str:
        """Return what is saved for a name: a copy of a slice, a float where it is the result."""
        assert self.pull is not None
        if name[0] == "v" and self.plan.kinds[int(name[1:])] in ARRAYS:
            return f"{name}.copy()"
        if name == "shape" and self.plan.whole is not None:
            return f"{self.pull.first_of_sums}.shape"
        if self.plan.whole is None and Name(name) == self.plan.core.root:
            return "y"
        return self.pull.told.get(name, name)

    # Shapes.

    def checked(self, computed: list[str], value: Expr) -> list[str]:
        """Return the lines that compute, with what sees that shapes are as expected."""
        if self.plan.whole is None:
            return [*computed, *self.checked_sums()]
        if self.variable is not None:
            return self.checked_anew(computed, value)
        first = [f"v{k}.shape != shape" for k in self.plan.full[self.plan.augments :]]
        then = [f"{name}.shape != shape" for name in self.of_shape(value)]
        slot = "v0" if self.plan.augments else "slot"
        shape = [f"shape = {slot}.shape"] if first or then else []
        return [*shape, *unless(first), *computed, *unless(then)]

    def checked_anew(self, computed: list[str], value: Expr) -> list[str]:
        """Return the lines that compute a new array, and see that it has the expected shape."""
        plan = self.plan
        full = [f"v{k}" for k in plan.full]
        own = [*plan.broadcast, *plan.core.contractions, *plan.core.reductions]
        if not own:
            shape, *others = full
            wrong = unless(f"{name}.shape != shape" for name in others)
            return [*([f"shape = {shape}.shape"] if wrong else []), *wrong, *computed]
        names = dict.fromkeys([*full, *plan.consumed])
        wrong = unless(f"{name}.shape != shape" for name in names)
        shape = [f"shape = {self.text.operand(value)}.shape"] if wrong else []
        return [*computed, *shape, *wrong]

    def of_shape(self, value: Expr) -> list[str]:
        """Return the results that must have the shape of the target."""
        plan = self.plan
        names = list(plan.consumed)
        own = plan.broadcast or plan.core.contractions or plan.core.reductions
        if plan.whole and own and isinstance(value, Name) and plan.is_array(value):
            names.append(value.name)
        return list(dict.fromkeys(names))

    def checked_sums(self) -> list[str]:
        """Return the lines that see that all that is summed has one shape."""
        plan = self.plan
        sums = [part.name for let in plan.core.sums for part in operands_of(let)]
        if not sums:
            return []
        names = dict.fromkeys([*sums, *plan.consumed, *(f"v{k}" for k in plan.full)])
        first, *others = names
        wrong = unless(f"{name}.shape != shape" for name in others)
        is_needed = wrong or (self.pull is not None and self.pull.spread)
        return [f"shape = {first}.shape", *wrong] if is_needed else []

    def unless_crossed(self, value: Expr) -> list[str]:
        """Return the lines that see that what is copied is not written in another order."""
        plan = self.plan
        if plan.target is None or plan.augments:
            return []
        if not (is_operand(value) and plan.is_array(value)):
            return []
        name = self.text.operand(value)
        tests = [f"{name}.strides != slot.strides", f"crosses(slot, {name})"]
        ints = self.ints_of_row_and_column(position_of(value))
        if ints is not None:  # symmetric matrices are made so
            tested = [e for e in ints if not isinstance(e, Const) or int(e.value or 0) < 0]
            signs = [f"{self.text.operand(e)} < 0" for e in dict.fromkeys(tested)]
            if not signs:
                return []
            tests.insert(0, f"({' or '.join(signs)})")
        return unless([" and ".join(tests)])

    def ints_of_row_and_column(self, k: int) -> list[Expr] | None:
        """Return the ints where a row of a matrix becomes its column, or the other way round."""
        part, target = self.plan.layout[k], self.plan.target
        assert isinstance(part, tuple)
        assert isinstance(target, tuple)
        if isinstance(part, View) or self.texts.array(part[0]) != self.texts.array(target[0]):
            return None
        return of_row_and_column(*(self.s.values[place[1]] for place in (part, target)))

    def written(self, value: str, logs: bool) -> list[str]:
        """Return the lines that bind a number, or write an element or a slice."""
        plan, target = self.plan, self.texts.target()
        if plan.whole is None:
            old = target if plan.old is None else f"v{plan.old}"
            log = [f"push_int({old})"] if logs else []
            return [*log, f"{target} = y"]
        if self.variable is not None:
            log = [f"push_int({target})"] if logs else []
            return [*log, f"{target} = {value}"]
        if self.changed is not None:
            log = ["push_int(old)"] if logs else []
        else:
            log = [f"push_int({'v0' if plan.augments else 'slot'}.copy())"] if logs else []
        if plan.augments:
            return [*log, f"v0 {SYMBOLS[plan.statement.value.op]}= {value}"]  # type: ignore[union-attr]
        return [*log, f"slot[...] = {value}"]

    @property
    def only_adds(self) -> bool:
        """Whether nothing is multiplied: zeros stay what they are."""
        values = [let.value for let in self.plan.core.lets]
        return all(isinstance(e, Op) and e.op in ("add", "sub", "neg") for e in values)

    def unless_finite(self, value: Expr, text: str) -> list[str]:
        """Return the lines that look at a tangent: zero may have met what is not finite."""
        is_vector = self.plan.whole and self.plan.is_array(value) and self.texts.axes["g"] == 1
        test = "isfinite(value.dot(value))" if is_vector else "finite(value)"
        return [f"value = {text}", *unless([f"not {test}"])]

    # Back.

    def reverse(self, kept: list[str], logs: bool) -> Lines | None:
        """Return the adjoint, after what puts back what was overwritten; None for nothing."""
        texts = self.texts
        put_back = texts.target() if self.changed is None else whole_name(self.changed)
        lines = [f"{put_back} = pop_int()"] if logs else []
        reads = list(texts.target_read()) if logs else []
        root = self.plan.core.root
        if logs and self.variable is not None and is_operand(root):
            reads += texts.reads(position_of(root))  # another name for what is put back
        lines += [f"{name} = pop_int()" for name in reversed(kept)]
        if self.pull is not None:
            own, again = self.pull.lines(kept)
            lines += own
            reads += [e for k in again for e in texts.reads(k)]
            reads += self.pull.places()
        elif self.s.target is not None and self.s.target.name in self.active:
            lines.append(f"{texts.target(DOWN)} = {'0.0' if self.variable is None else None}")
        return Lines(tuple(lines), tuple(reads), place=self.s.place) if lines else None


def unless(wrong: Any) -> list[str]:
    """Return the lines that leave the region if one of some tests holds."""
    tests = list(wrong)
    return [f"if {' or '.join(tests)}:", "    raise ArithmeticError"] if tests else []
