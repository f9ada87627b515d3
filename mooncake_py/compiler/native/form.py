"""The compiled sweeps of a region, for what of it is active."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mooncake_py.compiler.native.lowering.lower import lowered
from mooncake_py.compiler.native.numpy_text import printer as numpy_text
from mooncake_py.compiler.native.regions.refused import CannotCompile
from mooncake_py.compiler.native.regions.region import NativeRegion
from mooncake_py.compiler.native.spares import Spares
from mooncake_py.compiler.native.sweeps.adjoint import adjoint, cotangent_of
from mooncake_py.compiler.native.sweeps.fusing import forward_only
from mooncake_py.compiler.native.sweeps.hoisting import hoisted
from mooncake_py.diagnostics.warned import are_errors
from mooncake_py.runtime import float_flags

__all__ = ["LLVM", "NUMPY", "Compiler", "Form", "form_of", "prepared"]


class Compiler(NamedTuple):
    """A compiler of sweeps.

    Attributes
    ----------
    printer : callable
        From the kinds of names and the axes of arrays to what prints functions.
    built : callable
        From what has printed to the functions, by their names.
    keeps_wholes : bool
        Whether operations on whole arrays stay what they are: see `lowering`.
    """

    printer: Callable[..., Any]
    built: Callable[[Any], dict[str, Callable[..., Any]]]
    keeps_wholes: bool = False


def llvm_printer(kinds: Mapping[str, str], arrays: Mapping[str, int]) -> Any:
    """Return a printer of LLVM's text."""
    # Only for those who compile.
    from mooncake_py.compiler.native.llvm.printer import Printer

    return Printer(kinds, arrays)


def llvm_built(printer: Any) -> dict[str, Callable[..., Any]]:
    """Return the functions of text of LLVM."""
    # Only for those who compile.
    from mooncake_py.compiler.native.machine.built import built

    return built(printer)


LLVM = Compiler(llvm_printer, llvm_built)
NUMPY = Compiler(numpy_text.Printer, numpy_text.built, keeps_wholes=True)

COMPILER = LLVM
"""The compiler used where compilation is asked for; tests have others."""


@dataclass(frozen=True)
class Form:
    """The compiled sweeps that run in place of a region.

    Attributes
    ----------
    forward : callable
        ``forward(S, *inputs) -> (ok, S, p, *results, *made)``.
    reverse : callable or None
        ``reverse(S, p, *values, *cotangents) -> gives``; None if nothing is active.
    results, made : tuple of str
        What the region gives back, and arrays that the way back needs besides.
    values : tuple of str
        The inputs and arrays that `reverse` takes.
    shadows, outputs, leaves : tuple of str
        Active arrays of which it takes the cotangents, active numbers among the results, and
        active numbers among the inputs.
    text : str
    quick : callable or None
        As `reverse`, but gives None where that would have to begin again: for who has another way.
        Where it is, `reverse` also takes ``zeros``: at which places are arrays of zeros.
    spares : Spares
        What calls leave for later ones.
    """

    forward: Callable[..., Any]
    reverse: Callable[..., Any] | None
    results: tuple[str, ...]
    made: tuple[str, ...]
    values: tuple[str, ...]
    shadows: tuple[str, ...]
    outputs: tuple[str, ...]
    leaves: tuple[str, ...]
    text: str
    quick: Callable[..., Any] | None = None
    spares: Spares = field(default_factory=Spares)

    def run(self, stack: Any, inputs: Iterable[Any]) -> tuple[Any, ...]:
        """Run forward; the first result is false too where NumPy would raise a warning."""
        if not are_errors():
            return self.forward(stack, *inputs)
        flags = float_flags.cleared()
        ok, *rest = self.forward(stack, *inputs)
        return ok and not float_flags.found(flags), *rest

    def hasten(self) -> bool:
        """Have better code made now, if that waits until it pays; return whether it did."""
        # Only for those who compile.
        from mooncake_py.compiler.native.machine.built import hasten

        return hasten(self.forward)


def prepared(region: NativeRegion, compiler: Compiler | None = None) -> NativeRegion:
    """Return a region as what compiles differentiates it."""
    keeps = (compiler or COMPILER).keeps_wholes
    return hoisted(region if keeps else lowered(region), of_arrays=keeps)


def form_of(region: NativeRegion, active: set[str], compiler: Compiler | None = None) -> Form:
    """Return the compiled form of a region of which some names and arrays are active.

    Parameters
    ----------
    compiler : Compiler, optional
        By default `COMPILER`.

    Raises
    ------
    NoPartial
        If the derivative of an operation is not known.
    CannotCompile
    """
    chosen = compiler or COMPILER
    if chosen.keeps_wholes and not region.is_exact:
        raise CannotCompile("operations that NumPy does in another way")
    if not active:
        return forward_form(region, chosen)
    sweeps = adjoint(region, active)
    made = tuple(n for n in sweeps.values if n not in region.inputs and n not in region.results)
    printer = chosen.printer(sweeps.kinds, sweeps.arrays)
    if sweeps.size is not None:
        printer.count(sweeps.size, region.inputs)
    printer.forward(sweeps.forward, region.inputs, (*region.results, *made))
    named = {cotangent_of(name): name for name in sweeps.kinds if name in active}
    taken = [named[name] for name in sweeps.cotangents]
    if taken:
        printer.reverse(sweeps.reverse, (*sweeps.values, *sweeps.cotangents), sweeps.gives)
    functions = chosen.built(printer)
    return Form(
        functions["forward"],
        functions.get("reverse"),
        region.results,
        made,
        sweeps.values,
        tuple(name for name in taken if name in region.arrays),
        tuple(name for name in taken if name not in region.arrays),
        tuple(named[name] for name in sweeps.gives),
        printer.text,
        functions.get("quick"),
    )


def forward_form(region: NativeRegion, chosen: Compiler) -> Form:
    """Return the compiled form of a region of which nothing is active."""
    region = region if chosen.keeps_wholes else forward_only(region)
    printer = chosen.printer(region.kinds, region.arrays)
    printer.forward(region.body, region.inputs, region.results)
    forward = chosen.built(printer)["forward"]
    return Form(forward, None, region.results, (), (), (), (), (), printer.text)
