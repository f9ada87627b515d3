"""From printed text to functions of Python."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Protocol
from weakref import ref

from mooncake_py.compiler.native.llvm.signature import Foreign, Signature
from mooncake_py.compiler.native.machine import layouts, objects
from mooncake_py.compiler.native.machine.background import WORKER, apart
from mooncake_py.compiler.native.machine.entry import Descriptor, quick_entry
from mooncake_py.compiler.native.machine.foreign import foreign_address
from mooncake_py.compiler.native.machine.levels import BEST, QUICK, Level, object_code
from mooncake_py.compiler.native.machine.library import llvm
from mooncake_py.compiler.native.machine.linking import Linked, linked
from mooncake_py.compiler.native.machine.paying import LINE, Meter, seconds_for
from mooncake_py.compiler.native.machine.single import alone
from mooncake_py.compiler.native.machine.slow_entry import SlowEntry
from mooncake_py.compiler.native.machine.symbols import addresses
from mooncake_py.compiler.native.machine.trial import require_right, text_of_trial
from mooncake_py.compiler.native.regions.refused import CannotCompile, NoCompiler
from mooncake_py.diagnostics.waiting import stage

__all__ = ["Printed", "built", "hasten"]

FORWARD = "forward"
LONG = 3000
"""Lines of a text that takes a good part of a second, and more."""
MOST = 120_000
"""Lines of a text that is compiled: longer ones take minutes."""
QUICKER = 0.3
"""Of the time of the best level takes the quick one."""
Owner = Descriptor | SlowEntry
"""The objects through which a function calls code."""


class Printed(Protocol):
    """The interface of a printer.

    "forward" is the function that tells whether it came to its end, first of what it returns.
    """

    @property
    def text(self) -> str:
        """Return the text of the module."""
        ...

    @property
    def functions(self) -> Mapping[str, Signature]:
        """Return the kernels, by what they are called."""
        ...

    @property
    def foreign(self) -> Mapping[str, Foreign]:
        """Return the functions of Python that are called, by their symbols."""
        ...

    @property
    def is_lasting(self) -> bool:
        """Return whether symbols stand for the same functions in every process."""
        ...


def built(printer: Printed, first: Level = QUICK) -> dict[str, Callable[..., Any]]:
    """Return the functions that were printed.

    They take numbers of the kinds, and aligned C-contiguous arrays of these.

    Parameters
    ----------
    first : Level
        If it is not the best one, that follows in a thread once it pays, and takes its place: it
        computes the same, to the last bit.

    Raises
    ------
    CannotCompile
    """
    llvm()
    require_compiler()
    work = Work(printer)
    best = work.kept(BEST)
    code = best or work.kept(first) or work.made(first)
    found, owners = work.entries(code)
    if best is None and first is not BEST:

        def swap() -> None:
            if all(owner() is None for owner, _ in owners):
                return  # nobody has the functions any more
            better = work.kept(BEST) or work.made(BEST)  # another process may have been quicker
            for reference, symbol in owners:
                owner = reference()
                if owner is not None:
                    owner.call(better, symbol)

        meter = Meter(seconds_for(work.text), WORKER.later(swap))
        for reference, _ in owners:
            owner = reference()
            assert owner is not None
            owner.time(meter)
    return found


def hasten(f: Any) -> bool:
    """Have better code made of a function that was built, now; return whether that is new."""
    samples = getattr(getattr(f, "__self__", f), "samples", None)
    return samples is not None and samples.meter.hasten()


@cache
def require_compiler() -> None:
    """Require that a small function is compiled, and does what it should.

    That is looked at once for each machine and all versions: then its code is kept.

    Raises
    ------
    NoCompiler
    """
    trial = Work(text_of_trial())
    key = objects.key_of(trial.text, QUICK)
    if objects.kept(key) is not None:
        return
    try:
        code = object_code(trial.text, QUICK)
        functions, _ = trial.entries(trial.linked(code, QUICK))
        require_right(functions[FORWARD])
    except NoCompiler:
        raise
    except Exception as error:
        raise NoCompiler(f"LLVM does not work here: {error}") from error
    objects.keep(key, code)


def in_a_thread(text: str, level: Level) -> objects.Object:
    """Return the code of a text; where that takes long an interrupt need not wait for it."""
    lines = text.count("\n")
    if lines > MOST:
        raise CannotCompile(f"its text has {lines:,} lines of LLVM, more than {MOST:,}")
    stage(f"{lines:,} lines of LLVM", expected_seconds(lines, level))
    if lines < LONG or threading.current_thread() is not threading.main_thread():
        return object_code(text, level)
    return apart(lambda: object_code(text, level))


def expected_seconds(lines: int, level: Level) -> float:
    """Return about how many seconds a text takes."""
    return LINE * lines * (1.0 if level is BEST else QUICKER)


class Work:
    """The processing of a module's source.

    Parameters
    ----------
    printer : Printed
    """

    def __init__(self, printer: Printed) -> None:
        self.text = printer.text
        self.functions = dict(printer.functions)
        self.names = [signature.symbol for signature in self.functions.values()]
        self.is_lasting = printer.is_lasting
        self.foreign = dict(printer.foreign)

    def kept(self, level: Level) -> Linked | None:
        """Return the code of a level if it was kept."""
        found = objects.kept(objects.key_of(self.text, level)) if self.is_lasting else None
        return None if found is None else self.linked(found, level)

    def made(self, level: Level) -> Linked:
        """Return the code of a level, and keep it; another one may have made it meanwhile."""
        if not self.is_lasting:
            return self.linked(in_a_thread(self.text, level), level)
        key = objects.key_of(self.text, level)
        with alone(key, objects.lock_of(key), lambda: objects.is_kept(key)):
            found = objects.kept(key)
            if found is not None:
                return self.linked(found, level)
            found = in_a_thread(self.text, level)
            objects.keep(key, found)
        return self.linked(found, level)

    def linked(self, found: objects.Object, level: Level) -> Linked:
        """Return code in memory; what it calls is of the same level."""
        code, named = found
        called = {name: foreign_address(f, level) for name, f in self.foreign.items()}
        return linked(code, self.names, addresses(named, called), self.foreign)

    def entries(
        self, code: Linked
    ) -> tuple[dict[str, Callable[..., Any]], list[tuple[ref[Owner], str]]]:
        """Return functions of Python, and of each what has it call other code, with its symbol."""
        found: dict[str, Callable[..., Any]] = {}
        owners: list[tuple[ref[Owner], str]] = []
        for name, signature in self.functions.items():
            tells = name == FORWARD
            if layouts.are_known():
                found[name], owner = quick_entry(signature, code, tells=tells)
            else:
                found[name] = owner = SlowEntry(signature, code, tells=tells)
            owners.append((ref(owner), signature.symbol))
        return found, owners
