"""The code of statements on arrays that are recorded as one entry.

The forward pass reads slices and elements, computes natively, keeps what the adjoint reads, and
records one entry; the adjoint, made of the declared partials, adds to slices of the shadows.
Where its result is not finite, a careful one runs, in which a zero cotangent stays zero.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.recording import pulls
from mooncake_py.derive.recording.active import Active
from mooncake_py.derive.recording.adjoint_text import (
    as_inner_product,
    identifiers,
    not_surely_finite,
    without_implied,
    without_signs,
)
from mooncake_py.derive.recording.contractions import adjoints_of, is_contraction, is_sum, ndim_of
from mooncake_py.derive.recording.fused_code import NUMBERS, SYMBOLS, Writer, scalar_times
from mooncake_py.derive.recording.values import FLOAT64, like
from mooncake_py.rules.broadcasting import fit

__all__ = [
    "ARRAYS", "ELEMENT", "FACTORS", "FULL", "FULL_FACTORS", "NUMBERS", "PART", "ArrayWriter",
    "Target", "Way",
]

Way = Callable[[Any, Any, Any], Any]
Target = tuple[int, int] | int | None

ELEMENT, FULL, PART = "element", "array", "broadcast array"
FACTORS = {1: "vector", 2: "matrix"}  # in products, of shapes of their own
FULL_FACTORS = {1: "vector and array", 2: "matrix and array"}
LIKE = re.compile(r"\blike_(\w+)")  # of what only the shape is read
FULL_NAMES = frozenset(FULL_FACTORS.values())
ARRAYS = frozenset({FULL, PART, *FACTORS.values(), *FULL_FACTORS.values()})
NDIMS = {kind: ndim for kinds in (FACTORS, FULL_FACTORS) for ndim, kind in kinds.items()}


class ArrayWriter(Writer):
    """Writes one form.

    Parameters
    ----------
    forms : ArrayForms
        What it is a form of.
    functions, partials : sequence
        The functions that are called, and their derivatives.
    kinds : tuple
        Of the operands: `FULL` for an array of the shape of the result, `PART` for one that is
        broadcast, one of `FACTORS` for one in a product of matrices, of `FULL_FACTORS` for one
        that is in such a product and beside it, `ELEMENT`, or the type of a number.
    whole : bool
        Whether the value has the shape of the result; else it is broadcast into the target.
        None where it is a number: see `NumberWriter`.
    on : dict of int to bool
        Which arrays are active, by position.
    """

    spreads = True  # the cotangent of a sum

    def __init__(
        self, forms: Any, functions: Any, partials: Any, kinds: Any, whole: bool | None,
        on: dict[int, bool],
    ) -> None:
        types = [
            ndarray if kind in ARRAYS else np.float64 if kind is ELEMENT else kind
            for kind in kinds
        ]
        super().__init__(forms.core, functions, partials, types)
        self._arrays: list[bool] | None = None
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
            "choose": forms.choose, "otherwise": forms.otherwise, "is_basic": pulls.is_basic,
            "isfinite": math.isfinite, "reduced": reduced, "fitted": fitted, "Ellipsis": Ellipsis,
            "like": like, "careful_cotangent": pulls.careful_cotangent,
        }

    def can_write(self) -> bool:
        """Tell whether the functions are ufuncs, or of `math` and called with numbers."""
        arrays = self.array_steps()
        for k, step in enumerate(self.fused.steps):
            if is_contraction(step):
                adjoints = adjoints_of(step, self.functions)
                if adjoints is None:
                    return False
                self.scope[f"left{k}"], self.scope[f"right{k}"] = adjoints
            elif step[0] == "call" and not is_sum(step, self.functions):
                f = self.functions[step[1]]
                if self.scope[f"p{step[1]}"] is None:
                    return False
                if type(f) is not np.ufunc and self.is_array(step[2], arrays):
                    return False
            elif step[0] == "int" and self.is_array(step[1], arrays):
                return False
        return True

    def form(self) -> Way:
        """Return the form."""
        inner = [*self.reads(), *self.computation()]
        lines = [*self.guards(), *self.nodes(), *self.active_numbers(), *inner]
        form = self.define("run", "C, F, V", [*lines, "return otherwise(C, F, V)"])
        if self.target is None and self.records and self.array_steps()[-1]:
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
        full = self.full()
        wrong = self.other_kinds()
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

    def other_kinds(self) -> list[str]:
        """Return the tests whether an operand is of another kind than expected."""
        tests = {
            ELEMENT: "type({0}) is not float64",
            PART: "type({0}) is not ndarray or not {0}.ndim",
            **{kind: f"type({{0}}) is not ndarray or {{0}}.ndim != {n}"
               for kind, n in NDIMS.items()},
        }
        return [tests[kind].format(f"v{k}") for k, kind in self.leaves.items() if kind in tests]

    def full(self) -> list[int]:
        """Return the operands of the shape of the result."""
        return [k for k, kind in self.leaves.items() if kind is FULL or kind in FULL_NAMES]

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
        after = self.checks_of_value(value, is_array)
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
        named = [name.removeprefix("like_") for name in saved]
        named += [f"t{root[1]}", *self.named_steps()]
        lines = self.forward_lines(named, root[1] + 1)
        return lines, f"t{root[1]}", arrays[root[1]]

    def named_steps(self) -> list[str]:
        """Return the steps that need a name in the forward pass."""
        return [f"t{k}" for k in self.consumed()]

    def checks_of_value(self, value: str, is_array: bool) -> list[str]:
        """Return the lines that see that the value has the shape that was expected."""
        if not is_array:
            return []
        products = [f"t{k}.shape != shape" for k in self.consumed()]
        broadcasts = PART in self.leaves.values()
        if self.target is None:
            wrong = [*products, *(self.misshapen(self.full()) if broadcasts else [])]
            if not wrong:
                return []
            return [f"shape = {value}.shape", f"if {' or '.join(wrong)}:",
                    "    return choose(C, F, V)"]
        if self.whole:
            wrong = [f"{value}.shape != shape"] if broadcasts or self.forms.contractions else []
            wrong += [test for test in products if test not in wrong]
            return [f"if {' or '.join(wrong)}:", "    return choose(C, F, V)"] if wrong else []
        return [f"if {value}.shape == shape:", "    return choose(C, F, V)",
                f"if {value}.ndim > len(shape):", "    return otherwise(C, F, V)"]

    def consumed(self) -> list[int]:
        """Return the products of matrices that are operands of other operations, if arrays."""
        arrays = self.array_steps()
        _, elementwise = self.forms.roles
        return [k for k in self.forms.contractions if arrays[k] and ("t", k) in elementwise]

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
            if self.leaves[k] not in ARRAYS:
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
        kept = [
            f"k{name[1:]}" if name[0] == "v"
            else f"like({name.removeprefix('like_')})" if name.startswith("like_") else name
            for name in saved
        ]
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
        values = [f"v{k}" for k in range(self.fused.count)]
        values += [f"t{k}" for k in range(len(self.fused.steps))]
        saved = [name for name in values if name in words]
        plain = [LIKE.sub(lambda m: m[1] if m[1] in saved else m[0], line) for line in plain]
        likes = [name for name in values if f"like_{name}" in words]
        saved += [f"like_{name}" for name in likes if name not in saved]
        head = [f"{', '.join(self.unpacked(saved))}, = entry"]
        slot = "slot, " if self.target is not None else ""

        def careful(*args: Any) -> None:
            lines, totals = self.cotangents(lambda d, p: f"product({d}, {p})")
            same = [f"like_{name} = {name}" for name in likes if name in saved]
            body = [*head, *same, *lines, *self.deliveries(totals)]
            self.define("careful_pull", f"entry, {slot}g", body)(*args)

        self.scope["careful"] = careful
        risky = not_surely_finite(plain)
        checks = without_implied({total.lstrip("-") for total in totals.values()} & risky, plain)
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

    def unpacked(self, saved: list[str]) -> list[str]:
        """Return the names of what the entry holds."""
        out = ["out"] if self.target is None else []
        return ["_", *out, *self.held(), *saved, *(f"shape{k}" for k in self.shapes())]

    def is_of_one_array(self) -> bool:
        """Tell whether it is an expression with one active operand, which has its shape."""
        return (
            self.target is None and PART not in self.leaves.values()
            and not self.forms.contractions
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
                result.append(self.cleared())
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

    def cleared(self) -> str:
        """Return the line that takes the cotangent of what is overwritten."""
        return "slot.fill(0.0)"

    def contributions(
        self, k: int, d: str, times: Callable[[str, str], str], name: Callable[..., str],
        arrays: list[bool],
    ) -> list[tuple[Any, Callable[[], str]]]:
        """Return the operands of a step with the texts of their cotangents, made when wanted."""
        step = self.fused.steps[k]
        if is_sum(step, self.functions):
            return [(step[2], lambda: f"full(shape, {d})" if self.spreads else d)]
        if not is_contraction(step):
            return super().contributions(k, d, times, name, arrays)
        a, b = step[-2:]
        left, right = f"{a[0]}{a[1]}", f"{b[0]}{b[1]}"
        careful = times("x", "y").startswith("product")

        def adjoint(side: str, factors: str) -> Callable[[], str]:
            if careful:
                position = 0 if side == "left" else 1
                return lambda: f"careful_cotangent({side}{k}, {position}, {d}, ({factors}), {{}})"
            return lambda: f"{side}{k}({d}, {factors})"

        return [
            (a, adjoint("left", f"like_{left}, {right}")),
            (b, adjoint("right", f"{left}, like_{right}")),
        ]

    def array_steps(self) -> list[bool]:
        """Return for each step whether its result is an array: inner products are numbers."""
        if self._arrays is None:
            self._arrays = self._find_arrays()
        return self._arrays

    def _find_arrays(self) -> list[bool]:
        arrays: list[bool] = []
        ndims: dict[Any, int] = {
            ("v", k): NDIMS[kind] for k, kind in self.leaves.items() if kind in NDIMS
        }
        for k, step in enumerate(self.fused.steps):
            operands = step[2:] if step[0] == "call" else step[1:]
            if is_contraction(step):
                ndims["t", k] = ndim_of(step, self.functions, *(ndims[a] for a in operands))
                arrays.append(ndims["t", k] > 0)
            else:
                is_number = step[0] == "int" or is_sum(step, self.functions)
                arrays.append(not is_number and any(self.is_array(a, arrays) for a in operands))
        return arrays

    def result_of(self, k: int) -> str:
        """Return the text of the result of a step; a quotient in place was not kept."""
        steps = self.fused.steps
        if self.augments and k == len(steps) - 1:
            return f"(v0 / {self.operand(steps[k][2])})"
        return super().result_of(k)


def attempt(lines: list[str]) -> list[str]:
    """Return lines whose errors are left to the reference; what follows is in the ``else``."""
    return ["try:", *("    " + line for line in lines), "except Exception:", "    pass", "else:"]


def reduced(d: Any, factor: Any, shape: tuple[int, ...]) -> Any:
    """Return ``fitted(d * factor, shape)``, as one BLAS call where it is one."""
    c = pulls.product_sum(d, factor, (shape, FLOAT64)) if type(factor) is ndarray else None
    return fit(d * factor, shape, FLOAT64) if c is None else c


def fitted(d: Any, shape: tuple[int, ...]) -> Any:
    """Return a cotangent summed over the axes along which an operand was broadcast."""
    return fit(d, shape, FLOAT64)
