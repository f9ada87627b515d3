"""Which way a derivative goes: of the function as a whole, or operation by operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from mooncake_py.compiler.native.regions.refused import LeftOnTheWayBack, NotYet
from mooncake_py.compiler.sites import choice
from mooncake_py.compiler.sites.choice import COMPILED, PLAINLY, TIMED, TIMED_PLAINLY
from mooncake_py.compiler.sites.pace import met
from mooncake_py.compiler.sites.turns import either
from mooncake_py.modes.reverse.agreement import agree
from mooncake_py.modes.reverse.settings import settings
from mooncake_py.runtime.allowance import allowance
from mooncake_py.runtime.compilation import PLAINLY as NOBODY_ASKED
from mooncake_py.runtime.compilation import compiles, is_refused, using
from mooncake_py.runtime.enclosing import enclosing

__all__ = ["may_run_whole", "whole_or_parts"]

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T", bound=tuple[Any, ...])


class Whole(Protocol[T_co]):
    """Computes a derivative of a function that is compiled whole, or its text of NumPy."""

    def __call__(self, *, in_text: bool) -> T_co | None:
        """Return the derivative, None if the call goes the general way."""


def may_run_whole(debug: bool = False) -> bool:
    """Return whether derivatives of functions as a whole may be taken here."""
    return (
        not is_refused() and allowance() is None and enclosing() is None and settings(debug) is None
    )


def whole_or_parts(
    kind: str,
    f: Any,
    args: Any,
    whole: Whole[T],
    in_parts: Callable[[], T],
    debug: bool = False,
) -> T:
    """Return a derivative of a function as a whole, where that can be and pays, or in parts.

    Without compilation where that is faster, where compiled code has left the way back, and where
    it is not there yet and nobody waits for it.

    Parameters
    ----------
    kind : str
        Of derivative, each of which pays, or not, by itself.
    f : object
        The function.
    args : sequence
        Its arguments.
    """
    if not may_run_whole(debug):
        return in_parts()

    def plain() -> T:
        return either(kind, f, lambda: whole(in_text=True), in_parts, agree)

    if not compiles():
        return plain()
    # Only for those who compile.
    from mooncake_py.compiler.native.choices import choice_of
    from mooncake_py.compiler.native.machine.background import is_busy

    own = choice_of(kind, f, args)
    way = COMPILED if own is None else own.way(is_busy())
    begin = choice.clock()
    if way in (PLAINLY, TIMED_PLAINLY):
        with using(NOBODY_ASKED):
            y = plain()
        if own is not None and way == TIMED_PLAINLY:
            own.took_plainly(choice.clock() - begin)
        return y
    met.loops = met.pending = False
    outside = met.outside
    try:
        y = compiled(whole, in_parts)
    except NotYet:
        with using(NOBODY_ASKED):
            y = plain()
    except LeftOnTheWayBack:
        with using(compile=False):
            return in_parts()
    if own is not None and own.pays is None:
        seconds = choice.clock() - begin
        if met.pending:
            own.waited(seconds)
        elif way == TIMED:
            own.took(seconds, met.loops, met.outside - outside)
        else:
            own.ran(seconds)
    return y


def compiled(whole: Whole[T], in_parts: Callable[[], T]) -> T:
    """Return a derivative by compiled code, as far as there is some."""
    found = whole(in_text=False)
    return in_parts() if found is None else found
