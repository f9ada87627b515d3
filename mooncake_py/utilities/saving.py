"""Functions that store data in files; inside a derivative they store plain numbers."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.application.marshalling import leaves
from mooncake_py.diagnostics.reporting import Reporting, unsupported
from mooncake_py.language import stored_files
from mooncake_py.runtime import numerals
from mooncake_py.runtime.activity import unwrapped
from mooncake_py.utilities.ignoring import ignore_inside

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode

__all__ = ["store_in", "store_inside", "text_in", "text_inside"]


def store_inside(ctx: Mode, store: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that stores data, with plain numbers for active ones."""
    position, keyword = stored_files.SAVERS[store]
    file = args[position] if len(args) > position else kwargs.get(keyword)
    return store_in(ctx, file, store, args, kwargs)


def store_in(ctx: Mode, file: Any, store: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that stores data in a file, with plain numbers for active ones."""
    if any(map(ctx.contains_active, (*args, *kwargs.values()))):
        refuse_own_file(ctx, store, file)
        stored_files.remember(ctx, file)
    return ignore_inside(ctx, store, *args, **kwargs)


def text_in(ctx: Mode, file: Any, store: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that stores data as text; reading its numbers again raises an error."""
    found = store_in(ctx, file, store, args, kwargs)
    for leaf in leaves((args, kwargs), set()):
        if ctx.contains_active(leaf):
            for number in np.ravel(unwrapped(leaf)).tolist():
                ctx.written(repr(number), whole=True)
    return found


def text_inside(ctx: Mode, write: Any, args: Any, kwargs: Any) -> Any:
    """Run a function that writes data as text; reading its numbers again raises an error."""
    text = ignore_inside(ctx, write, *args, **kwargs)
    return numerals.remembered(ctx, text, (args, kwargs))


def refuse_own_file(ctx: Reporting, store: Any, file: Any) -> None:
    """Raise if a file is an object with the user's methods, which the engine could not see."""
    if file is None or isinstance(file, (str, bytes, os.PathLike, io.IOBase)):
        return
    if type(file).__module__.partition(".")[0] in sys.stdlib_module_names:  # of `tempfile`, say
        return
    raise unsupported(
        ctx,
        f"{store.__name__} of active data calls methods of {type(file).__name__}",
        why="compiled code calls them, so that what they do is not seen",
        fix="pass a path, or a file that open() returned",
    )
