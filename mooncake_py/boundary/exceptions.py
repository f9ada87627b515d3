"""Exceptions that leave a differentiated call: they keep their data, and get a note."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mooncake_py.boundary.kept import settle_kept
from mooncake_py.boundary.outgoing import Copier
from mooncake_py.boundary.plain_words import name_numbers
from mooncake_py.boundary.wrapping import keep_class
from mooncake_py.containers.decimals import Flags
from mooncake_py.containers.state import of_raised, restore_raised
from mooncake_py.diagnostics.notes import (
    add_place,
    advise,
    in_plain_words,
    locate_by_traceback,
)
from mooncake_py.diagnostics.tracebacks import related
from mooncake_py.diagnostics.warned import begin_to_redirect, end_redirecting
from mooncake_py.errors import MooncakeError
from mooncake_py.runtime.enclosing import enclosed
from mooncake_py.runtime.quiet import Heard
from mooncake_py.tangents.fields import own_attributes, set_own_attributes

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["end_by", "guarded"]


class guarded:
    """Roll a call back if an exception leaves it.

    The exception keeps its arguments and attributes, with numbers for active scalars.  One of
    user code gets a note that names the user's line.  If the code has caught an error of the
    engine before, that one is raised instead.
    """

    __slots__ = ("alone", "ctx", "filters", "flags", "heard")

    def __init__(self, ctx: Mode) -> None:
        self.ctx = ctx
        self.alone = enclosed(None)

    def __enter__(self) -> None:
        self.alone.__enter__()
        self.heard = Heard()
        self.filters = begin_to_redirect()
        self.flags = Flags()

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        self.alone.__exit__(kind, error, traceback)
        if error is not None and not isinstance(error, Exception):
            self.heard.put_back()
        end_redirecting(self.filters)
        self.flags.put_back()
        if error is None:
            return
        try:
            end_by(error, self.ctx)
        finally:
            # No error may be held by what its traceback leads to: only the collector would free it.
            del error, traceback


def end_by(error: BaseException, ctx: Mode) -> None:
    """Roll a call back that an exception has ended; see :class:`guarded`."""
    failure, ctx.failure = ctx.failure, None
    records = bool(getattr(ctx, "tape", None))
    try:
        undo(ctx, error, failure)
        if isinstance(error, MooncakeError):
            locate_by_traceback(error)
            return
        if not isinstance(error, Exception):
            return
        if failure is not None and failure.__cause__ not in related(error):
            raise failure from error
        in_plain_words(error)
        name_numbers(error)
        add_place(error)
        if records:
            advise(error)
    finally:
        del failure, error


def undo(ctx: Mode, *errors: BaseException | None) -> None:
    """Roll a call back; exceptions keep their data."""
    try:
        leaving = related(*errors)
        copier = Copier(ctx)
        for error in leaving:  # which are not copied
            copier.remember(error, error)
        carried = [(error, carried_by(ctx, error, copier), of_raised(error)) for error in leaving]
        with suppress(MooncakeError):
            settle_kept(ctx)
    finally:
        ctx.roll_back()
    for error, (args, fields), raised in carried:
        restore_raised(error, raised)
        if args:
            error.args = args
        set_own_attributes(error, fields)


def carried_by(ctx: Mode, error: BaseException, copier: Copier) -> tuple[Any, Any]:
    """Return copies of the data of an exception: its arguments and its attributes."""
    group = isinstance(error, BaseExceptionGroup)  # its members stay the same objects
    held = (() if group else error.args), own_attributes(error)
    ctx.carry_out(error, held)
    try:
        keep_class(copier, type(error))
        return copier.copy(held)
    except Exception:  # a class whose hash or equality fails: better bare than hidden
        return held
