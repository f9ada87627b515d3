"""The forward pass of statements on arrays that are recorded as one entry.

It reads slices and elements, computes natively, keeps what the adjoint reads, and records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mooncake_py.forms.array_adjoint import (
    ARRAYS,
    ELEMENT,
    FULL,
    FULL_NAMES,
    NDIMS,
    PART,
    ArrayAdjoint,
)
from mooncake_py.forms.contractions import (
    adjoints_of,
    is_contraction,
    is_sum,
    operands_of,
)
from mooncake_py.forms.fused_code import SYMBOLS
from mooncake_py.runtime import pulls
from mooncake_py.runtime.active import Active
from mooncake_py.runtime.overlapping import crosses

__all__ = ["ArrayWriter", "Target", "Way"]

Way = Callable[[Any, Any, Any], Any]
Target = tuple[int, int] | int | None


class ArrayWriter(ArrayAdjoint):
    """Writes one form: what runs forward, and with it the adjoint."""

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
                if self.partials[step[1]] is None:
                    return False
                of_arrays = any(self.is_array(a, arrays) for a in operands_of(step))
                if of_arrays and not keeps_float64(f):
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
        return self.unless_fitting(count, fits)

    def nodes(self) -> list[str]:
        """Return the lines that look up the nodes n0, n1, ... of the arrays."""
        lines = ["known = C.known"]
        for p, active in self.on.items():
            lines += self.node(p, active)
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
        elif self.target is not None and not self.augments:
            lines.append(f"slot = a{self.target}")
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
            **{
                kind: f"type({{0}}) is not ndarray or {{0}}.ndim != {n}"
                for kind, n in NDIMS.items()
            },
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
        named += [f"t{root[1]}", *self.named_steps(), *self.masked_operands()]
        lines = self.forward_lines(named, root[1] + 1)
        return lines, f"t{root[1]}", arrays[root[1]]

    def masked_operands(self) -> list[str]:
        """Return the names of what derivatives are worked out of on the way forward."""
        steps = self.fused.steps
        return [self.operand(a) for k in self.masks for a in operands_of(steps[k])]

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
            # The shape is that of the value: what else has it was compared with others at most.
            wrong = [*products, *self.misshapen(self.full())] if products or broadcasts else []
            if not wrong:
                return []
            return [
                f"shape = {value}.shape",
                f"if {' or '.join(wrong)}:",
                "    return choose(C, F, V)",
            ]
        if self.whole:
            wrong = [f"{value}.shape != shape"] if broadcasts or self.forms.contractions else []
            wrong += [test for test in products if test not in wrong]
            return [f"if {' or '.join(wrong)}:", "    return choose(C, F, V)"] if wrong else []
        return [f"if {value}.shape == shape:", "    return choose(C, F, V)",
                f"if {value}.ndim > len(shape):", "    return otherwise(C, F, V)"]  # fmt: skip

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
        ]  # fmt: skip
        return [
            *lines,
            f"C.record(({', '.join(['pull', 'out', *self.entry(saved)])}))",
            f"return {value}",
        ]

    def store(self, value: str, saved: list[str]) -> list[str]:
        """Return the lines that write, and record what is undone and the adjoint.

        The old contents are put back before the adjoint runs: it may read them.  As a write can
        raise, its adjoint is recorded after it, below what undoes it.
        """
        o = self.owner
        where = f"a{o}, a{self.target[1]}" if type(self.target) is tuple else f"a{o}, Ellipsis"
        write = self.write(value, saved)
        result = f"return a{o}" if type(self.target) is int else "return None"
        if not self.records:
            return [f"m{o} = C.registry.memory_of(a{o})", f"if m{o}.protected:",
                    f"    C.log_write(m{o}, {where})", *write, result]  # fmt: skip
        assert o is not None
        lines = []
        if value[0] == "v" and self.leaves[int(value[1:])] in ARRAYS and not self.augments:
            self.scope["crosses"] = crosses
            lines += [
                f"if {value}.strides != slot.strides and crosses(slot, {value}):",
                "    return otherwise(C, F, V)",
            ]
        if not self.on[o]:
            lines += [f"n{o} = C.registry.activate(a{o})", f"m{o} = n{o}.memory",
                      f"if n{o}.overlaps:", "    return otherwise(C, F, V)"]  # fmt: skip
        lines += self.keep(saved)
        entry = ["pull", *self.entry(saved)]
        if not self.has_adjoint:
            log = [f"if m{o}.protected:", f"    C.log_write(m{o}, {where})"]
            return [*lines, *log, *write, result]
        return [
            *lines,
            f"logged = m{o}.protected and C.log_write(m{o}, {where})",
            *write,
            f"(C.record_below if logged else C.record)(({', '.join(entry)}))",
            result,
        ]

    def write(self, value: str, saved: list[str]) -> list[str]:
        """Return the lines that write the value."""
        if self.augments:
            return [f"v0 {SYMBOLS[self.fused.steps[-1][0]]}= {value}"]
        assert type(self.target) is tuple
        return [f"a{self.target[0]}[a{self.target[1]}] = {value}"]

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
                lines += [
                    f"if type(n{p}) is Memory:",
                    f"    n{p}.protected = True",
                    "else:",
                    f"    k{k} = n{p}.keep(v{k})",
                ]
        return lines


def keeps_float64(f: Any) -> bool:
    """Tell whether a function is a ufunc that makes float64 arrays of such."""
    return type(f) is np.ufunc and f"{'d' * f.nin}->d" in f.types


def attempt(lines: list[str]) -> list[str]:
    """Return lines whose errors are left to the reference; what follows is in the ``else``."""
    return ["try:", *("    " + line for line in lines), "except Exception:", "    pass", "else:"]
