"""Statements and expressions on float64 arrays recorded as one entry: ``u[1:-1] = a * u[2:] + v``.

Done operation by operation, each slice costs a view that the engine must know, and each operation
an entry with its temporaries.  Here one generated function reads the slices, computes natively,
and records one entry; its adjoint, made of the declared partials, adds to slices of the shadows.
A form is made for each pattern of kinds, of shapes that are broadcast, and of activity; what fits
none (another dtype, index arrays, an exception, a value that is not finite) goes another way,
which is the reference.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.recording import pulls
from mooncake_py.derive.recording.active import Active
from mooncake_py.derive.recording.fused_code import NUMBERS, SYMBOLS, Writer, scalar_times
from mooncake_py.derive.recording.fusion import Fused, kind_name
from mooncake_py.derive.recording.number_functions import partial_of, slope_of
from mooncake_py.derive.recording.values import FLOAT64
from mooncake_py.rules.broadcasting import fit

__all__ = ["ArrayForms", "specialise"]

Way = Callable[[Any, Any, Any], Any]
Target = tuple[int, int] | int | None

ELEMENT, FULL, PART = "element", "array", "broadcast array"
MISSES = 20


class ArrayForms:
    """The forms of one statement or expression.

    Parameters
    ----------
    core : Fused
        The expression over values; of an augmented assignment the whole of it, whose operand 0 is
        what is changed in place.
    layout : tuple
        For each operand of the core the position of its value among those passed, or the
        positions of what is indexed and of the index.
    target : tuple of int, int or None
        Positions of the array that is written and of the index; or of a name, which is changed in
        place if it is bound to an array.
    augments : bool
        Whether the target is changed in place, by an operator.
    basic : set of int
        Positions of indices that are ints and slices for certain.
    otherwise, choose : callable
        The way that always serves, and the one that finds the form for other kinds.
    """

    def __init__(
        self,
        core: Fused,
        layout: tuple[Any, ...],
        target: Target,
        augments: bool,
        basic: frozenset[int],
        otherwise: Way,
        choose: Way,
    ) -> None:
        self.core = core
        self.layout = layout
        self.target = target
        self.augments = augments
        self.basic = basic
        self.otherwise = otherwise
        self.choose = choose
        pairs = [part for part in (*layout, target) if type(part) is tuple]
        self.bases = tuple(dict.fromkeys(base for base, _ in pairs))
        self.indices = tuple(dict.fromkeys(index for _, index in pairs))
        self._forms: dict[Any, Way | None] = {}
        self.misses = 0

    def find(self, ctx: Any, functions: Any, values: Any) -> Way | None:
        """Return the form for what the values are, made when it is first met; None if none fits."""
        form = self.fitting(ctx, functions, values) if self.serves(values) else None
        self.misses = self.misses + 1 if form is None else 0
        return form

    def fitting(self, ctx: Any, functions: Any, values: Any) -> Way | None:
        """Return the form, where all that is indexed may serve."""
        try:
            operands = [
                values[part] if type(part) is int else values[part[0]][values[part[1]]]
                for part in self.layout
            ]
            kinds, whole = self.kinds_of(operands, values)
        except Exception:
            return None  # the reference raises it again
        if kinds is None:
            return None
        arrays = self.arrays(kinds)
        activity = tuple([ctx.find(values[p]) is not None for p in arrays])
        key = functions, kinds, whole, activity
        try:
            return self._forms[key]
        except KeyError:
            form = self._forms[key] = self.make(*key)
            return form

    def serves(self, values: Any) -> bool:
        """Tell whether all that is indexed are float64 arrays, and the indices ints and slices.

        Where nothing fitted again and again, nothing is tried any more.
        """
        return self.misses < MISSES and all(
            type(values[p]) is ndarray and values[p].dtype is FLOAT64 for p in self.bases
        ) and all(p in self.basic or is_basic(values[p]) for p in self.indices)

    def kinds_of(self, operands: list[Any], values: Any) -> tuple[Any, bool]:
        """Return the kind of each operand, and whether the value has the shape of the result."""
        shapes = []
        for operand in operands:
            t = type(operand)
            if t is ndarray:
                if operand.dtype is not FLOAT64 or not operand.ndim:
                    return None, False
                shapes.append(operand.shape)
            elif t is not Active and t not in NUMBERS:
                return None, False
        in_place = self.augments and type(operands[0]) is ndarray
        value_shape = np.broadcast_shapes(*shapes[1 if in_place else 0 :])
        if in_place:
            shape = shapes[0]
        elif type(self.target) is tuple:
            shape = np.shape(values[self.target[0]][values[self.target[1]]])
        else:
            shape = value_shape
        if not shape or np.broadcast_shapes(shape, value_shape) != shape:
            return None, False
        kinds = tuple([
            (FULL if operand.shape == shape else PART) if type(operand) is ndarray
            else ELEMENT if type(part) is tuple
            else type(operand)
            for part, operand in zip(self.layout, operands, strict=True)
        ])
        return kinds, value_shape == shape

    def arrays(self, kinds: tuple[Any, ...]) -> list[int]:
        """Return the positions of all arrays among the values."""
        named = [
            part for part, kind in zip(self.layout, kinds, strict=True)
            if type(part) is int and (kind is FULL or kind is PART)
        ]
        return list(dict.fromkeys([*self.bases, *named]))

    def make(self, functions: Any, kinds: Any, whole: bool, activity: Any) -> Way | None:
        """Generate the form for one pattern, or return None where there is none."""
        partials = [partial_of(f) for f in functions]
        if None in partials:
            return None
        on = dict(zip(self.arrays(kinds), activity, strict=True))
        writer = _ArrayWriter(self, functions, partials, kinds, whole, on)
        return writer.form() if writer.can_call() else None

    def texts(self) -> Iterator[tuple[tuple[Any, list[str]], str]]:
        """Yield the forms made so far: functions, kinds of the core's operands, and text."""
        for (functions, kinds, _, activity), form in self._forms.items():
            if form is None:
                continue
            on = dict(zip(self.arrays(kinds), activity, strict=True))
            yield (functions, [
                ("active " if on.get(part[0] if type(part) is tuple else part) else "")
                + (kind if type(kind) is str else kind_name(kind))
                for part, kind in zip(self.layout, kinds, strict=True)
            ]), form.text  # type: ignore[attr-defined]


class _ArrayWriter(Writer):
    """Writes one form.

    Parameters
    ----------
    forms : ArrayForms
    functions, partials : sequence
        The functions that are called, and their derivatives.
    kinds : tuple
        Of the operands: `FULL` for an array of the shape of the result, `PART` for one that is
        broadcast, `ELEMENT`, or the type of a number.
    whole : bool
        Whether the value has the shape of the result; else it is broadcast into the target.
    on : dict of int to bool
        Which arrays are active, by position.
    """

    def __init__(
        self, forms: ArrayForms, functions: Any, partials: Any, kinds: Any, whole: bool,
        on: dict[int, bool],
    ) -> None:
        types = [
            ndarray if kind is FULL or kind is PART else np.float64 if kind is ELEMENT else kind
            for kind in kinds
        ]
        super().__init__(forms.core, functions, partials, types)
        self.forms = forms
        self.layout = forms.layout
        self.augments = forms.augments and types[0] is ndarray
        self.leaves = dict(enumerate(kinds))
        self.whole = whole
        self.on = on
        self.functions = functions
        self.active = {
            k for k, part in enumerate(self.layout)
            if kinds[k] is Active or on.get(part[0] if type(part) is tuple else part)
        }
        target = forms.target if self.augments or type(forms.target) is tuple else None
        self.target = target
        self.owner: int | None = target[0] if isinstance(target, tuple) else target
        self.records = bool(self.active) or (self.owner is not None and on[self.owner])
        if self.augments and self.records:
            self.active.add(0)
        self.scope |= {
            "choose": forms.choose, "otherwise": forms.otherwise, "is_basic": is_basic,
            "isfinite": math.isfinite, "reduced": reduced, "fitted": fitted, "Ellipsis": Ellipsis,
        }

    def can_call(self) -> bool:
        """Tell whether the functions are ufuncs, or of `math` and called with numbers."""
        arrays = self.array_steps()
        return all(
            type(self.functions[step[1]]) is np.ufunc or not self.is_array(step[2], arrays)
            for step in self.fused.steps if step[0] == "call"
        )

    def form(self) -> Way:
        """Return the form."""
        inner = [*self.reads(), *self.computation()]
        lines = [*self.guards(), *self.nodes(), *self.active_numbers(), *inner]
        form = self.define("run", "C, F, V", [*lines, "return otherwise(C, F, V)"])
        if self.target is None and self.records:
            pulls.reads(self.scope["pull"])
        return form

    # Before the computation.

    def guards(self) -> list[str]:
        """Return the lines that name the values a0, a1, ... and see that they fit."""
        named = [part for part in self.layout if type(part) is int]
        count = 1 + max([*named, *self.forms.bases, *self.forms.indices])
        fits = ["C.fuses"]
        fits += [f"type(a{p}) is ndarray and a{p}.dtype is FLOAT64" for p in self.on]
        fits += [f"is_basic(a{p})" for p in self.forms.indices if p not in self.forms.basic]
        for k, part in enumerate(self.layout):
            if type(part) is int and part not in self.on:
                kind = self.kinds[k]
                fits.append(f"type(a{part}) is {'Active' if kind is Active else kind.__name__}")
        fits += [f"F[{i}] is f{i}" for i in range(len(self.functions))]
        return [
            f"{', '.join(f'a{p}' for p in range(count))}, = V",
            f"if not ({' and '.join(fits)}):",
            "    return choose(C, F, V)",
        ]

    def nodes(self) -> list[str]:
        """Return the lines that look up the nodes n0, n1, ... of the arrays."""
        lines = ["known = C.known"]
        for p, active in self.on.items():
            lines += [
                f"n{p} = known.get(id(a{p}))",
                f"if n{p} is None or n{p}.ref() is not a{p}:",
                f"    n{p} = None if a{p}.base is None else C.find(a{p})",
                f"if n{p} is {'None' if active else 'not None'}:",
                "    return choose(C, F, V)",
            ]
            if active and (p in self.forms.bases or p == self.owner):
                lines += [
                    f"if n{p}.overlaps:",
                    "    return otherwise(C, F, V)",
                    f"m{p} = n{p} if type(n{p}) is Memory else n{p}.memory",
                    f"if m{p}.shape is None:",
                    f"    C.registry.activate(a{p})",
                ]
        return lines

    def active_numbers(self) -> list[str]:
        """Return the lines that see that active numbers are floats, and read them."""
        lines = []
        for k, part in enumerate(self.layout):
            if self.leaves[k] is Active:
                lines += [
                    f"v{k} = a{part}.primal",
                    f"if type(v{k}) is not float and type(v{k}) is not float64:",
                    "    return otherwise(C, F, V)",
                ]
        return lines

    def reads(self) -> list[str]:
        """Return the lines that read elements and slices, without the handling of errors."""
        lines = []
        for k, part in enumerate(self.layout):
            if type(part) is tuple:
                lines.append(f"v{k} = a{part[0]}[a{part[1]}]")
            elif self.leaves[k] is not Active:
                lines.append(f"v{k} = a{part}")
        if type(self.target) is tuple and not self.augments:
            lines.append(f"slot = a{self.target[0]}[a{self.target[1]}]")
        return [*attempt(lines), *("    " + line for line in self.checks_of_shapes())]

    def checks_of_shapes(self) -> list[str]:
        """Return the lines that see that what was read has the kinds of the form."""
        full = [k for k, kind in self.leaves.items() if kind is FULL]
        wrong = [f"type(v{k}) is not float64" for k, kind in self.leaves.items() if kind is ELEMENT]
        wrong += [f"type(v{k}) is not ndarray or not v{k}.ndim"
                  for k, kind in self.leaves.items() if kind is PART]
        lines = []
        if self.target is not None:
            lines.append("shape = v0.shape" if self.augments else "shape = slot.shape")
        elif full and PART not in self.leaves.values():
            lines.append(f"shape = v{full[0]}.shape")
            full = full[1:]
            wrong.insert(0, "not shape")
        if lines:
            if self.target is not None:
                wrong.insert(0, "not shape")
            wrong += self.misshapen(full[1:] if self.augments else full)
        if wrong:
            lines += [f"if {' or '.join(wrong)}:", "    return choose(C, F, V)"]
        return lines

    def misshapen(self, full: list[int]) -> list[str]:
        """Return the tests whether an operand is not of the shape of the result as expected."""
        return [
            *(f"v{k}.shape != shape" for k in full),
            *(f"v{k}.shape == shape" for k, kind in self.leaves.items() if kind is PART),
        ]

    # The computation, and what follows it.

    def computation(self) -> list[str]:
        """Return the lines that compute, store and record, within the handling of errors."""
        saved = self.write_pull() if self.records else []
        lines, value, is_array = self.value_lines(saved)
        after: list[str] = []
        if is_array:
            after += self.checks_of_value(value)
        if self.target is None:
            after += self.give(value, saved)
        else:
            after += self.store(value, saved)
        body = [*attempt(lines), *("    " + line for line in after)] if lines else after
        return ["    " + line for line in body]

    def value_lines(self, saved: list[str]) -> tuple[list[str], str, bool]:
        """Return the lines of the value, its name, and whether it is an array.

        What an augmented assignment does to its target is left out: it is done in place.
        """
        steps = self.fused.steps
        arrays = self.array_steps()
        if self.augments:
            root = steps[-1][2]
        elif steps[-1][0] == "pos":
            root = steps[-1][1]
        else:
            root = ("t", len(steps) - 1)
        if root[0] != "t":
            return [], self.operand(root), self.is_array(root, arrays)
        lines = self.forward_lines([*saved, f"t{root[1]}"], root[1] + 1)
        return lines, f"t{root[1]}", arrays[root[1]]

    def checks_of_value(self, value: str) -> list[str]:
        """Return the lines that see that the value has the shape that was expected."""
        broadcasts = PART in self.leaves.values()
        if self.target is None:
            wrong = self.misshapen([k for k, kind in self.leaves.items() if kind is FULL])
            if not broadcasts:
                return []
            return [f"shape = {value}.shape", f"if {' or '.join(wrong)}:",
                    "    return choose(C, F, V)"]
        if self.whole and not broadcasts:
            return []
        if self.whole:
            return [f"if {value}.shape != shape:", "    return choose(C, F, V)"]
        return [f"if {value}.shape == shape:", "    return choose(C, F, V)",
                f"if {value}.ndim > len(shape):", "    return otherwise(C, F, V)"]

    def give(self, value: str, saved: list[str]) -> list[str]:
        """Return the lines that register and return the value of an expression."""
        if not self.records:
            return [f"return {value}"]
        lines = [
            *self.keep(saved),
            "out = Memory()", f"out.ref = ref({value})", "out.grad = out.shape = None",
            f"out.protected = {value in saved}", "out.pinned = False", f"known[id({value})] = out",
        ]
        return [*lines, f"C.record(({', '.join(['pull', 'out', *self.entry(saved)])}))",
                f"return {value}"]

    def store(self, value: str, saved: list[str]) -> list[str]:
        """Return the lines that write, and record what is undone and the adjoint.

        The old contents are put back before the adjoint runs: it may read them.  As a write can
        raise, its adjoint is recorded after it, below what undoes it.
        """
        o = self.owner
        where = f"a{o}, a{self.target[1]}" if type(self.target) is tuple else f"a{o}, Ellipsis"
        if self.augments:
            write = f"v0 {SYMBOLS[self.fused.steps[-1][0]]}= {value}"
        else:
            assert type(self.target) is tuple
            write = f"a{o}[a{self.target[1]}] = {value}"
        result = f"return a{o}" if type(self.target) is int else "return None"
        if not self.records:
            return [f"m{o} = C.registry.memory_of(a{o})", f"if m{o}.protected:",
                    f"    C.log_write(m{o}, {where})", write, result]
        assert o is not None
        lines = []
        if not self.on[o]:
            lines += [f"n{o} = C.registry.activate(a{o})", f"m{o} = n{o}.memory",
                      f"if n{o}.overlaps:", "    return otherwise(C, F, V)"]
        lines += self.keep(saved)
        entry = ["pull", *self.entry(saved)]
        if not self.has_adjoint:
            return [*lines, f"if m{o}.protected:", f"    C.log_write(m{o}, {where})", write, result]
        return [
            *lines,
            f"logged = m{o}.protected and C.log_write(m{o}, {where})",
            write,
            f"(C.record_below if logged else C.record)(({', '.join(entry)}))",
            result,
        ]

    def keep(self, saved: list[str]) -> list[str]:
        """Return the lines that keep the operands that the adjoint reads, as k0, k1, ..."""
        lines = []
        for k, part in enumerate(self.layout):
            if f"v{k}" not in saved:
                continue
            lines.append(f"k{k} = v{k}")
            if self.leaves[k] is not FULL and self.leaves[k] is not PART:
                continue  # numbers cannot be overwritten
            p = part[0] if type(part) is tuple else part
            if not self.on[p] and p != self.owner:
                lines.append(f"C.registry.protect(a{p})")
            elif type(part) is tuple:
                lines[-1] = f"k{k} = m{p}.keep_part(v{k})"
            else:
                lines += [f"if type(n{p}) is Memory:", f"    n{p}.protected = True", "else:",
                          f"    k{k} = n{p}.keep(v{k})"]
        return lines

    # The entry, and its adjoint.

    def held(self) -> list[str]:
        """Return the names of nodes, numbers and indices that the adjoint needs."""
        names = []
        parts = [self.layout[k] for k in sorted(self.active)]
        if self.target is not None:
            parts.insert(0, self.target)
        for part in parts:
            if type(part) is tuple:
                names += [f"n{part[0]}", f"a{part[1]}"]
            else:
                names.append(f"n{part}" if part in self.on else f"a{part}")
        return list(dict.fromkeys(names))

    def shapes(self) -> list[int]:
        """Return the active operands that are broadcast."""
        return [k for k in sorted(self.active) if self.leaves[k] is PART]

    def entry(self, saved: list[str]) -> list[str]:
        """Return what the entry holds, after the function that reverses it."""
        kept = [f"k{name[1:]}" if name[0] == "v" else name for name in saved]
        return [*self.held(), *kept, *(f"v{k}.shape" for k in self.shapes())]

    def write_pull(self) -> list[str]:
        """Write the adjoint; return the names of what it reads.

        Where its result is not finite, a careful one runs, in which a zero cotangent stays zero.
        """
        plain, totals = self.cotangents(lambda d, p: f"{d} * {p}")
        plain, totals = without_signs([as_inner_product(line) for line in plain], totals)
        if self.is_of_one_array():
            plain, totals = min((plain, totals), self.slope_first(), key=lambda pair: len(pair[0]))
        words = set(identifiers("\n".join([*plain, *totals.values()])))
        saved = [f"v{k}" for k in range(self.fused.count) if f"v{k}" in words]
        saved += [f"t{k}" for k in range(len(self.fused.steps)) if f"t{k}" in words]
        unpack = ", ".join([
            "_", *(["out"] if self.target is None else []), *self.held(), *saved,
            *(f"shape{k}" for k in self.shapes()),
        ])
        head = [f"{unpack}, = entry"]
        slot = "slot, " if self.target is not None else ""

        def careful(*args: Any) -> None:
            lines, totals = self.cotangents(lambda d, p: f"product({d}, {p})")
            body = [*head, *lines, *self.deliveries(totals)]
            self.define("careful_pull", f"entry, {slot}g", body)(*args)

        self.scope["careful"] = careful
        risky = not_surely_finite(plain)
        checks = sorted({total.lstrip("-") for total in totals.values()} & risky)
        delivered = self.deliveries(totals)
        self.has_adjoint = bool(delivered)
        lines = [*head, *self.seed(totals), *plain]
        if checks:
            arrays = {totals[k].lstrip("-") for k in self.active if self.leaves[k] is FULL}
            test = " and ".join(
                f"(isfinite({name}.dot({name})) if {name}.ndim == 1 else finite({name}))"
                if name in arrays else f"finite({name})"
                for name in checks
            )
            lines += [f"if not ({test}):", f"    return careful(entry, {slot}g)"]
        self.written.append(("pull", "entry", [*lines, *delivered]))
        return saved

    def is_of_one_array(self) -> bool:
        """Tell whether it is an expression with one active operand, which has its shape."""
        return (
            self.target is None and PART not in self.leaves.values()
            and [self.leaves[k] for k in self.active] == [FULL]
        )

    def slope_first(self) -> tuple[list[str], dict[int, str]]:
        """Return the lines that multiply the slope, a sum of products, by g in the end.

        For one active array that is used several times it saves a product or more.
        """
        lines, totals = self.adjoint_lines(self.active, "1.0", scalar_times)
        ((k, slope),) = totals.items()
        total = f"s{len(lines)}"
        return [*lines, f"{total} = g * {slope}"], {k: total}

    def seed(self, totals: dict[int, str]) -> list[str]:
        """Return the lines that find the cotangent of the value, or of the target afterwards."""
        if self.target is None:
            lines = ["g = out.grad", "if g is None:", "    return"]
            lines += ["if out.pinned:", "    g = out.take()", "else:", "    out.grad = None"]
            if list(totals.values()).count("g") == 1:  # to be handed on, but it may be lent
                lines.append("g = g if g.flags.writeable else g.copy()")
            return lines
        o = self.owner
        lines = [f"d = n{o}.grad", "if d is None:", "    return"]
        lines.append(f"slot = d[a{self.target[1]}]" if type(self.target) is tuple else "slot = d")
        return [*lines, "g = slot.copy()" if self.copies(totals) else "g = slot"]

    def copies(self, totals: dict[int, str]) -> bool:
        """Tell whether the target's cotangent g is added somewhere, and may have changed before.

        A total c0, c1, ... may be a view of g.  An augmented assignment leaves g as it is, unless
        what is added to is the same memory: one addition is safe, as NumPy looks after operands
        that overlap, if it comes first.
        """
        others = [total for k, total in totals.items() if k or not self.augments]
        others = [total.lstrip("-") for total in others]
        raw = [total for total in others if total == "g" or total[0] == "c"]
        if not self.augments or totals[0] != "g":
            return bool(raw)
        return len(raw) > 1 or (len(others) > 1 and raw not in ([], ["g"]))

    def cotangents(
        self, times: Callable[[str, str], str]
    ) -> tuple[list[str], dict[int, str]]:
        """Return the lines of the adjoint, and for each active operand its cotangent, fitted."""
        seed = "g"
        first: list[str] = []
        if self.target is not None and not self.array_steps()[-1]:
            first = ["g = summed(g)"]
        lines, totals = self.adjoint_lines(self.active, seed, times)
        lines = first + lines
        uses = identifiers("\n".join([*lines, *totals.values()]))
        for k in self.shapes():
            total = totals[k]
            at = next((i for i, line in enumerate(lines) if line.startswith(f"{total} = ")), None)
            if at is not None and uses.count(total) == 2:
                left, _, right = lines[at].partition(" = ")[2].partition(" * ")
                if left.isidentifier() and right.isidentifier():
                    lines[at] = f"{total} = reduced({left}, {right}, shape{k})"
                else:
                    lines[at] = f"{total} = fitted({lines[at].partition(' = ')[2]}, shape{k})"
            else:
                lines.append(f"c{k} = fitted({total}, shape{k})")
                totals[k] = f"c{k}"
        return lines, totals

    def deliveries(self, totals: dict[int, str]) -> list[str]:
        """Return the lines that add the cotangents; one that serves two operands is copied."""
        result = []
        if self.target is not None:
            own = totals.get(0) if self.augments else None
            if own is None:
                result.append("slot.fill(0.0)")
            elif own != "g":
                result.append(f"slot[...] = {own}")
        active = sorted(self.active - ({0} if self.augments else set()))
        active.sort(key=lambda k: totals[k].lstrip("-") != "g")  # before it may change
        names = list(totals.values())
        fresh = self.target is None or self.copies(totals)
        for k in active:
            total = totals[k]
            part = self.layout[k]
            sign, amount = ("-", total[1:]) if total[0] == "-" else ("+", total)
            if type(part) is tuple:
                p, i = part
                result += [f"d = n{p}.grad", "if d is None:", f"    d = n{p}.shadow()"]
                if self.leaves[k] is ELEMENT:
                    result.append(f"d[a{i}] {sign}= {amount}")
                else:
                    result += [f"d = d[a{i}]", f"d {sign}= {amount}"]
            elif part not in self.on:
                result.append(f"a{part}.grad {sign}= {amount}")
            elif sign == "-":
                result.append(f"n{part}.add({total})")
            else:
                owned = names.count(total) == 1 and (total != "g" or fresh) and total[0] != "c"
                if owned and self.leaves[k] is FULL:
                    result += [f"if n{part}.grad is None and type(n{part}) is Memory:",
                               f"    n{part}.grad = {total}", "else:"]
                    result.append(f"    n{part}.add({total})")
                    continue
                result.append(f"n{part}.{'add' if owned else 'add_shared'}({total})")
        return result

    def result_of(self, k: int) -> str:
        """Return the text of the result of a step; a quotient in place was not kept."""
        steps = self.fused.steps
        if self.augments and k == len(steps) - 1:
            return f"(v0 / {self.operand(steps[k][2])})"
        return super().result_of(k)


def specialise(fused: Fused, functions: tuple[Any, ...], kinds: tuple[type, ...]) -> Any:
    """Return the form of an expression on numbers, the forms on arrays, or None if none serves."""
    if any(t is not Active and t is not ndarray and t not in NUMBERS for t in kinds):
        return None
    if ndarray in kinds:
        augments = fused.inplace is not None
        return ArrayForms(
            fused, tuple(range(fused.count)), 0 if augments else None, augments, frozenset(),
            fused.general, fused.dispatch,
        )
    slopes = [slope_of(f) for f in functions]
    if Active not in kinds or None in slopes:
        return None
    return Writer(fused, functions, slopes, kinds).scalar_form()


def attempt(lines: list[str]) -> list[str]:
    """Return lines whose errors are left to the reference; what follows is in the ``else``."""
    return ["try:", *("    " + line for line in lines), "except Exception:", "    pass", "else:"]


def is_basic(index: Any) -> bool:
    """Tell whether an index is made of ints, slices, None and Ellipsis."""
    return pulls.is_basic(index)


def reduced(d: Any, factor: Any, shape: tuple[int, ...]) -> Any:
    """Return ``fitted(d * factor, shape)``, as one BLAS call where it is one."""
    c = pulls.product_sum(d, factor, (shape, FLOAT64)) if type(factor) is ndarray else None
    return fit(d * factor, shape, FLOAT64) if c is None else c


def fitted(d: Any, shape: tuple[int, ...]) -> Any:
    """Return a cotangent summed over the axes along which an operand was broadcast."""
    return fit(d, shape, FLOAT64)


def as_inner_product(line: str) -> str:
    """Return a line with the sum of one product written as an inner product."""
    target, _, text = line.partition(" = ")
    if text.startswith("summed(") and text.endswith(")"):
        left, star, right = text[7:-1].partition(" * ")
        if star and left.isidentifier():
            return f"{target} = inner({left}, {right})"
    return line


def without_signs(
    lines: list[str], totals: dict[int, str]
) -> tuple[list[str], dict[int, str]]:
    """Return the lines of an adjoint without negations, each of which costs a temporary array.

    What comes out with the other sign is ``-d1`` among the totals, and subtracted in the end.
    """
    signed: dict[str, str] = {}
    result: list[str] = []
    for line in lines:
        target, _, text = line.partition(" = ")
        if found := SUM.match(text):
            a, b = (signed.get(name, name) for name in found.groups())
            if a[0] == b[0] == "-":
                result.append(f"{target} = {a[1:]} + {b[1:]}")
                signed[target] = f"-{target}"
            else:
                first, second = (b, a) if a[0] == "-" else (a, b)
                sign = "-" if second[0] == "-" else "+"
                result.append(f"{target} = {first} {sign} {second.lstrip('-')}")
            continue
        found = LINEAR.match(text)
        if found is None or signed.keys() & identifiers(found["rest"]):
            for name in signed.keys() & identifiers(text):
                result.append(f"{name} = {signed.pop(name)}")
            result.append(line)
            continue
        name = signed.get(found["name"], found["name"])
        minus = (found["sign"] == "-") != (name[0] == "-")
        name = name.lstrip("-")
        if found["head"] or found["rest"]:
            result.append(f"{target} = {found['head']}{name}{found['rest']}")
            name = target
        if minus or name != target:
            signed[target] = f"-{name}" if minus else name
    return result, {k: signed.get(total, total) for k, total in totals.items()}


SUM = re.compile(r"(\w+) \+ (\w+)$")
LINEAR = re.compile(
    r"(?P<head>(?:inner\(|summed\(|reduced\(|fitted\()?)(?P<sign>-?)(?P<name>[a-z]\w*)"
    r"(?P<rest>(?: [*/] .+|, .+|\))?)$"
)


def not_surely_finite(lines: list[str]) -> set[str]:
    """Return the names that hold a product with an array, or come from one.

    A finite cotangent times a number, or a sum of such, needs no check.
    """
    risky: set[str] = set()
    for line in lines:
        target, _, text = line.partition(" = ")
        factors = [w for w in identifiers(text) if w[0] in "vtp" and w[1:].isdigit()]
        if factors or "/" in text or risky.intersection(identifiers(text)):
            risky.add(target)
    return risky


def identifiers(text: str) -> list[str]:
    """Return the identifiers in a text, one for each use."""
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()
