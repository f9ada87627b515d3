"""The adjoints of statements on arrays that are recorded as one entry.

Made of the declared partials, an adjoint adds to slices of the shadows.  Where its result is not
finite, a careful one runs, in which a zero cotangent stays zero.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.forms import masks
from mooncake_py.forms.adjoint_text import (
    as_inner_product,
    identifiers,
    is_fitted_g,
    is_masked_g,
    not_surely_finite,
    select_text,
    with_mask_in_place,
    without_implied,
    without_signs,
)
from mooncake_py.forms.contractions import (
    CALLS,
    is_contraction,
    is_sum,
    ndim_of,
    operands_of,
)
from mooncake_py.forms.fitting import fitted, reduced
from mooncake_py.forms.fused_code import Writer, scalar_times
from mooncake_py.rules.kinds import AtOnce
from mooncake_py.runtime import pulls, rule_pulls
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.values import like

__all__ = [
    "ARRAYS", "ELEMENT", "FACTORS", "FULL", "FULL_FACTORS", "FULL_NAMES", "NDIMS", "PART",
    "ArrayAdjoint",
]  # fmt: skip

ELEMENT, FULL, PART = "element", "array", "broadcast array"
FACTORS = {1: "vector", 2: "matrix"}  # in products, of shapes of their own
FULL_FACTORS = {1: "vector and array", 2: "matrix and array"}
LIKE = re.compile(r"\blike_(\w+)")  # of what only the shape is read
FULL_NAMES = frozenset(FULL_FACTORS.values())
ARRAYS = frozenset({FULL, PART, *FACTORS.values(), *FULL_FACTORS.values()})
NDIMS = {kind: ndim for kinds in (FACTORS, FULL_FACTORS) for ndim, kind in kinds.items()}


class ArrayAdjoint(Writer):
    """Writes the adjoint of one form.

    Parameters
    ----------
    forms : ArrayForms
        What it is a form of.
    functions, partials : sequence
        The functions that are called, and for each its derivatives or None.
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
        self,
        forms: Any,
        functions: Any,
        partials: Any,
        kinds: Any,
        whole: bool | None,
        on: dict[int, bool],
    ) -> None:
        types = [
            ndarray if kind in ARRAYS else np.float64 if kind is ELEMENT else kind for kind in kinds
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
        reached = self.reached()
        self.active = {
            k
            for k, part in enumerate(self.layout)
            if ("v", k) in reached
            and (kinds[k] is Active or on.get(part[0] if type(part) is tuple else part))
        }
        writes = self.augments or forms.into or type(forms.target) is tuple
        self.target = target = forms.target if writes else None
        self.owner: int | None = target[0] if isinstance(target, tuple) else target
        self.records = bool(self.active) or (self.owner is not None and on[self.owner])
        if self.augments and self.records and ("v", 0) in reached:
            self.active.add(0)
        self.scope |= {
            "choose": forms.choose, "otherwise": forms.otherwise, "is_basic": pulls.is_basic,
            "isfinite": math.isfinite, "reduced": reduced, "fitted": fitted, "Ellipsis": Ellipsis,
            "kept": masks.kept, "shares": masks.shares, "selected": masks.selected,
            "take_rest": masks.take_rest, "like": like, "multiply": np.multiply,
            "careful_cotangent": rule_pulls.careful_cotangent,
        }  # fmt: skip

    def reached(self) -> set[Any]:
        """Return what a cotangent of the value comes to: no number within ``int(...)``."""
        steps = self.fused.steps
        found: set[Any] = {("t", len(steps) - 1)}
        for k in reversed(range(len(steps))):
            operation, *refs = steps[k]
            if ("t", k) not in found or operation == "int":
                continue
            partials = self.partials[refs.pop(0)] if operation in CALLS else None
            for i, reference in enumerate(refs):
                if partials is None or partials[i] is not None:
                    found.add(reference)
        return found

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
            f"k{name[1:]}"
            if name[0] == "v"
            else f"like({name.removeprefix('like_')})"
            if name.startswith("like_")
            else name
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
        if self.augments:
            plain, totals = with_mask_in_place(plain, totals)
        words = set(identifiers("\n".join([*plain, *totals.values()])))
        values = [f"v{k}" for k in range(self.fused.count)]
        values += [f"t{k}" for k in range(len(self.fused.steps))]
        saved = [name for name in values if name in words]
        for k, step in enumerate(self.fused.steps):
            wanted = [i for i in range(len(operands_of(step))) if f"w{k}_{i}" in words]
            if wanted:
                self.masks[k] = wanted
                both = self.keeps_both(k)
                saved += [f"w{k}"] if both else [f"w{k}_{i}" for i in wanted]
        plain = [LIKE.sub(lambda m: m[1] if m[1] in saved else m[0], line) for line in plain]
        likes = [name for name in values if f"like_{name}" in words]
        saved += [f"like_{name}" for name in likes if name not in saved]
        head = [f"{', '.join(self.unpacked(saved))}, = entry"]
        slot = "slot, " if self.target is not None else ""

        def careful(*args: Any) -> None:
            lines, totals = self.cotangents(lambda d, p: f"product({d}, {p})")
            same = [f"like_{name} = {name}" for name in likes if name in saved]
            pairs = [f"w{k}_0, w{k}_1 = shares(w{k})" for k in self.masks if self.keeps_both(k)]
            body = [*head, *same, *pairs, *lines, *self.deliveries(totals, lines)]
            self.define("careful_pull", f"entry, {slot}g", body)(*args)

        self.scope["careful"] = careful
        risky = not_surely_finite(plain)
        if is_masked_g(totals.get(0, "")):
            risky.add("g")
        given = {total.partition(" ")[0].lstrip("-") for total in totals.values()}
        checks = without_implied(given & risky, plain)
        delivered = self.deliveries(totals, plain)
        self.has_adjoint = bool(delivered)
        lines = [*head, *self.seed(totals, plain), *self.selecting(plain)]
        if checks:
            arrays = {totals[k].lstrip("-") for k in self.active if self.leaves[k] is FULL}
            test = " and ".join(
                f"(isfinite({name}.dot({name})) if {name}.ndim == 1 else finite({name}))"
                if name in arrays
                else f"finite({name})"
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
            self.target is None
            and PART not in self.leaves.values()
            and not self.forms.contractions
            and not self.chooses()
            and [self.leaves[k] for k in self.active] == [FULL]
        )

    def chooses(self) -> bool:
        """Tell whether a derivative may be a mask, which is no number to add to others."""
        return any(type(p) is AtOnce for found in self.partials for p in found or ())

    def slope_first(self) -> tuple[list[str], dict[int, str]]:
        """Return the lines that multiply the slope, a sum of products, by g in the end.

        For one active array that is used several times it saves a product or more.
        """
        lines, totals = self.adjoint_lines(self.active, "1.0", scalar_times)
        ((k, slope),) = totals.items()
        total = f"s{len(lines)}"
        return [*lines, f"{total} = g * {slope}"], {k: total}

    def seed(self, totals: dict[int, str], lines: list[str]) -> list[str]:
        """Return the lines that find the cotangent of the value, or of the target afterwards."""
        if self.target is None:
            found = ["g = out.grad", "if g is None:", "    return"]
            found += ["if out.pinned:", "    g = out.take()", "else:", "    out.grad = None"]
            if list(totals.values()).count("g") == 1:  # to be handed on, but it may be lent
                found.append("g = g if g.flags.writeable else g.copy()")
            return found
        o = self.owner
        found = [f"d = n{o}.grad", "if d is None:", "    return"]
        found.append(f"slot = d[a{self.target[1]}]" if type(self.target) is tuple else "slot = d")
        return [*found, "g = slot.copy()" if self.copies(totals, lines) else "g = slot"]

    def copies(self, totals: dict[int, str], lines: list[str]) -> bool:
        """Tell whether the target's cotangent g is added somewhere, and may have changed before.

        What g was fitted to may be a view of it.  An augmented assignment leaves g as it is, unless
        what is added to is the same memory: one addition is safe, as NumPy looks after operands
        that overlap, if it comes first.
        """
        others = [total for k, total in totals.items() if k or not self.augments]
        others = [total.lstrip("-") for total in others]
        raw = [name for name in others if name == "g" or is_fitted_g(name, lines)]
        if not self.augments or totals.get(0) != "g":
            return bool(raw)
        return len(raw) > 1 or (len(others) > 1 and raw not in ([], ["g"]))

    def cotangents(self, times: Callable[[str, str], str]) -> tuple[list[str], dict[int, str]]:
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
                if left.isidentifier() and right.isidentifier() and right[0] != "w":
                    lines[at] = f"{total} = reduced({left}, {right}, shape{k})"
                else:
                    lines[at] = f"{total} = fitted({lines[at].partition(' = ')[2]}, shape{k})"
            else:
                lines.append(f"c{k} = fitted({total}, shape{k})")
                totals[k] = f"c{k}"
        return lines, totals

    def deliveries(self, totals: dict[int, str], lines: list[str]) -> list[str]:
        """Return the lines that add the cotangents; one that serves two operands is copied."""
        result = []
        if self.target is not None:
            own = totals.get(0) if self.augments else None
            if own is None:
                result.append(self.cleared())
            elif is_masked_g(own):
                result.append(self.masked_in_place(own, lines))
            elif own != "g":
                result.append(f"slot[...] = {own}")
        active = sorted(self.active - ({0} if self.augments else set()))
        active.sort(key=lambda k: totals[k].lstrip("-") != "g")  # before it may change
        names = list(totals.values())
        fresh = self.target is None or self.copies(totals, lines)
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
                    result += [
                        f"if n{part}.grad is None and type(n{part}) is Memory:",
                        f"    n{part}.grad = {total}",
                        "else:",
                    ]
                    result.append(f"    n{part}.add({total})")
                    continue
                result.append(f"n{part}.{'add' if owned else 'add_shared'}({total})")
        return result

    def masked_in_place(self, own: str, lines: list[str]) -> str:
        """Return the line that multiplies the target's cotangent by a mask."""
        mask = own.removeprefix("g * ")
        k, i = mask[1:].split("_")
        if not self.keeps_both(int(k)):
            return f"multiply(g, {mask}, out=slot)"
        other = f" = g * w{k}_{1 - int(i)}"
        for line in lines:
            if line.endswith(other):
                return f"take_rest(g, {line.removesuffix(other)}, w{k}, {i}, slot)"
        return f"slot[...] = selected(g, w{k}, {i})"

    def selecting(self, lines: list[str]) -> list[str]:
        """Return lines with what was kept together in place of masks."""
        for k in self.masks:
            if self.keeps_both(k):
                lines = [select_text(line, k) for line in lines]
                if any(f"w{k}_" in line for line in lines):
                    lines = [f"w{k}_0, w{k}_1 = shares(w{k})", *lines]
        return lines

    def cleared(self) -> str:
        """Return the line that takes the cotangent of what is overwritten."""
        return "slot.fill(0.0)"

    def contributions(
        self,
        k: int,
        d: str,
        times: Callable[[str, str], str],
        name: Callable[..., str],
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
            operands = operands_of(step)
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
