"""Quick forms of fused expressions on arrays, and the choice among all quick forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from mooncake_py.derive.recording import pulls
from mooncake_py.derive.recording.active import Active
from mooncake_py.derive.recording.fused_code import NUMBERS, Writer, unless_raised
from mooncake_py.derive.recording.fusion import Fused
from mooncake_py.derive.recording.number_functions import partial_of, slope_of

__all__ = ["specialise"]


def specialise(fused: Fused, functions: tuple[Any, ...], kinds: tuple[type, ...]) -> Any:
    """Return the quick form for functions and types of operands, or None if there is none."""
    if any(t is not Active and t is not ndarray and t not in NUMBERS for t in kinds):
        return None
    if fused.inplace is not None and kinds[0] is ndarray:
        return None  # the array itself must change
    if ndarray not in kinds:
        slopes = [slope_of(f) for f in functions]
        if Active not in kinds or None in slopes:
            return None
        return Writer(fused, functions, slopes, kinds).scalar_form()
    partials = [partial_of(f) for f in functions]
    if None in partials or not all(type(f) is np.ufunc for f in functions):
        return None
    return _ArrayForms(fused, functions, partials, kinds)


class _ArrayForms:
    """The quick forms for arrays of one shape, one for each pattern of activity."""

    def __init__(self, fused: Fused, functions: Any, partials: Any, kinds: Any) -> None:
        self.fused = fused
        self.functions = functions
        self.partials = partials
        self.kinds = kinds
        self.arrays = [i for i, t in enumerate(kinds) if t is ndarray]
        self.forms: dict[tuple[bool, ...], Callable[..., Any]] = {}

    def __call__(self, ctx: Any, functions: Any, values: Any) -> Any:
        """Run by the form for the arrays that are active, made when first met."""
        if not ctx.fuses or functions != self.functions or tuple(map(type, values)) != self.kinds:
            return self.fused.dispatch(ctx, functions, values)
        activity = tuple([ctx.find(values[i]) is not None for i in self.arrays])
        form = self.forms.get(activity)
        if form is None:
            form = self.forms[activity] = self.make(activity)
        self.fused.run = form
        return form(ctx, functions, values)

    def texts(self, functions: Any, kinds: list[str]) -> Iterator[Any]:
        """Yield functions, kinds and text for each pattern."""
        for activity, form in self.forms.items():
            on = dict(zip(self.arrays, activity, strict=True))
            named = [f"active {kind}" if on.get(i) else kind for i, kind in enumerate(kinds)]
            yield (functions, named), form.text  # type: ignore[attr-defined]

    def make(self, activity: tuple[bool, ...]) -> Callable[..., Any]:
        """Generate the form for one pattern of active arrays."""
        writer = Writer(self.fused, self.functions, self.partials, self.kinds)
        numbers = [i for i, t in enumerate(self.kinds) if t is Active]
        active = sorted([i for i, on in zip(self.arrays, activity, strict=True) if on] + numbers)
        value = f"t{len(self.fused.steps) - 1}"
        writer.scope["choose"] = self
        lines = [*writer.header(), *self.checks(activity)]
        for i in numbers:
            lines += [
                f"n{i} = v{i}",
                f"v{i} = n{i}.primal",
                f"if type(v{i}) is not float and type(v{i}) is not float64:",
                "    return general(C, F, V)",
            ]
        saved = self.write_pull(writer, active) if active else []
        lines.append("try:")
        lines += ["    " + line for line in writer.forward_lines(saved)]
        if not active:
            return writer.define("run", "C, F, V", lines + unless_raised([f"return {value}"]))
        rest = [f"if type({value}) is not ndarray:", "    return general(C, F, V)"]
        for i in self.arrays:
            if f"v{i}" in saved:  # numbers cannot be overwritten
                rest.append(
                    f"v{i} = n{i}.keep(v{i})" if i in active else f"C.registry.protect(v{i})"
                )
        rest.append(f"out = C.known[id({value})] = Memory(ref({value}))")
        if value in saved:
            rest.append("out.protected = True")
        entry = ", ".join(["pull", "out", *(f"n{i}" for i in active), *saved])
        rest += [f"C.record(({entry}))", f"return {value}"]
        form = writer.define("run", "C, F, V", lines + unless_raised(rest))
        pulls.reads(writer.scope["pull"])
        return form

    def checks(self, activity: tuple[bool, ...]) -> list[str]:
        """Return the lines that look up the nodes, and see that dtypes, shapes and nodes fit."""
        first = self.arrays[0]
        lines = [f"shape = v{first}.shape"]
        unusual = [f"v{i}.dtype is not FLOAT64" for i in self.arrays]
        unusual += [f"v{i}.shape != shape" for i in self.arrays[1:]]
        lines += [f"if {' or '.join(unusual)}:", "    return general(C, F, V)"]
        lines += [f"n{i} = C.find(v{i})" for i in self.arrays]
        differs = [
            f"n{i} is {'None' if on else 'not None'}"
            for i, on in zip(self.arrays, activity, strict=True)
        ]
        return [*lines, f"if {' or '.join(differs)}:", "    return choose(C, F, V)"]

    def write_pull(self, writer: Writer, active: list[int]) -> list[str]:
        """Write the adjoint; return the names of what it reads.

        Where its result is not finite, a careful one runs, in which a zero cotangent stays zero.
        """
        wanted = set(active)
        plain, totals = writer.adjoint_lines(wanted, "g", lambda d, p: f"{d} * {p}")
        plain = [_as_inner_product(line) for line in plain]
        words = set(_words("\n".join(plain)))
        count = len(writer.fused.steps)
        saved = [f"v{i}" for i in range(writer.fused.count) if f"v{i}" in words]
        saved += [f"t{k}" for k in range(count) if f"t{k}" in words]
        unpack = ", ".join(["_", "out", *(f"n{i}" for i in active), *saved])
        head = [f"{unpack}, = entry"]

        def careful(entry: Any, g: Any) -> None:
            lines, totals = writer.adjoint_lines(wanted, "g", lambda d, p: f"product({d}, {p})")
            body = [*head, *lines, *_deliveries(active, totals)]
            writer.define("careful_pull", "entry, g", body)(entry, g)

        writer.scope["careful"] = careful
        risky = _not_surely_finite(plain)
        checks = sorted({totals[i] for i in active} & risky)
        lines = head + ["g = out.take()", "if g is None:", "    return"] + plain
        if checks:
            test = " and ".join(f"finite({name})" for name in checks)
            lines += [f"if not ({test}):", "    return careful(entry, g)"]
        lines += _deliveries(active, totals)
        writer.written.append(("pull", "entry", lines))
        return saved


def _deliveries(active: list[int], totals: dict[int, str]) -> list[str]:
    """Return the lines that add the cotangents; one that serves two operands is copied."""
    names = [totals[i] for i in active]
    lines = [
        f"n{i}.add({totals[i]})" if names.count(totals[i]) == 1 else f"n{i}.add_shared({totals[i]})"
        for i in active
    ]
    if names.count("g") == 1:  # the cotangent of the output itself, which may be lent
        lines.insert(0, "g = g if g.flags.writeable else g.copy()")
    return lines


def _not_surely_finite(lines: list[str]) -> set[str]:
    """Return the names that hold a product with an array, or come from one.

    A finite cotangent times a number, or a sum of such, needs no check.
    """
    risky: set[str] = set()
    for line in lines:
        target, _, text = line.partition(" = ")
        factors = [w for w in _words(text) if w[0] in "vtp" and w[1:].isdigit()]
        if factors or "/" in text or risky.intersection(_words(text)):
            risky.add(target)
    return risky


def _words(text: str) -> list[str]:
    """Return the identifiers in a text."""
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


def _as_inner_product(line: str) -> str:
    """Return a line with the sum of one product written as an inner product."""
    target, _, text = line.partition(" = ")
    if text.startswith("summed(") and text.endswith(")"):
        left, star, right = text[7:-1].partition(" * ")
        if star and left.isidentifier():
            return f"{target} = inner({left}, {right})"
    return line
