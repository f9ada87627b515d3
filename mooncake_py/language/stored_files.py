"""Files with active data, which the program must not read back.

A program may store a result.  If it read the file again within the same call, it would continue
with a constant, and the derivative would be lost without an error.
"""

from __future__ import annotations

import builtins
import gc
import importlib
import io
import os
import pickle
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from mooncake_py.application.seen_calls import call_seen
from mooncake_py.diagnostics.reporting import dropped
from mooncake_py.modules import module_of
from mooncake_py.runtime.activity import INERT
from mooncake_py.runtime.silence import Write, is_muted

if TYPE_CHECKING:
    from mooncake_py.runtime.mode import Mode, Tracking

__all__ = ["HANDLERS", "SAVERS", "StoredFiles", "is_of_writer", "refuse_reading", "remember",
           "run_json", "run_writer", "runs_no_code", "stores_files", "written_file"]  # fmt: skip

# From a function to where it takes the file.
SAVERS: dict[Any, tuple[int, str]] = {
    np.save: (0, "file"),
    np.savez: (0, "file"),
    np.savez_compressed: (0, "file"),
    np.ndarray.tofile: (1, "fid"),
    np.ndarray.dump: (1, "file"),
    pickle.dump: (1, "file"),
}
READERS = frozenset({builtins.open, os.open, np.load, np.fromfile, np.memmap, pickle.load})
READING_METHODS = frozenset({
    "getbuffer", "getvalue", "open", "read", "read1", "read_bytes", "read_text", "readall",
    "readinto", "readinto1", "readline", "readlines", "__next__",
})  # fmt: skip
SPOOLED = frozenset({"SpooledTemporaryFile.write", "SpooledTemporaryFile.writelines"})
WRITING_ROWS = frozenset({"writeheader", "writerow", "writerows"})
WRITERS = frozenset({"writer", "dump", "print"})  # to a file that they are given
ENDINGS = ("", ".npy", ".npz")  # which np.save and np.savez append


class StoredFiles:
    """Files by path and, if the program opened them itself, by object."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.objects: list[Any] = []

    def add(self, file: Any) -> None:
        """Note a file that active data are written to."""
        path = path_of(file)
        if path is None:
            self.objects.append(file)
        else:
            self.paths.update(path + ending for ending in ENDINGS)

    def holds(self, file: Any) -> bool:
        """Return True if active data were written to a file."""
        path = path_of(file)
        if path is not None:
            return path in self.paths
        return any(file is known for known in self.objects)


def path_of(file: Any) -> str | None:
    """Return the real path of a named file, or None if there is none."""
    name = file if isinstance(file, (str, bytes, os.PathLike)) else getattr(file, "name", None)
    if not isinstance(name, (str, bytes, os.PathLike)):
        return None
    return os.path.realpath(os.fsdecode(name))


def remember(ctx: Tracking, file: Any) -> None:
    """Note a file that active data are written to, here and in the derivatives around this one."""
    for context in (ctx, *ctx.outers):
        if context.stored is None:
            context.stored = ctx.stored or StoredFiles()
        context.stored.add(file)


def stores_files(ctx: Tracking) -> bool:
    """Return whether active data were written to files, in this derivative or through a map."""
    return ctx.stored is not None or bool(ctx.registry.files)


def is_stored(ctx: Tracking, file: Any) -> bool:
    """Return whether active data were written to a file."""
    if ctx.stored is not None and ctx.stored.holds(file):
        return True
    mapped = {os.path.realpath(path) for c in (ctx, *ctx.outers) for path in c.registry.files}
    return bool(mapped) and path_of(file) in mapped


def refuse_reading(ctx: Tracking, f: Any, values: Any) -> None:
    """Raise if a call reads such a file, or opens it to be read."""
    if f in READERS:
        given = values
    elif getattr(f, "__name__", "") in READING_METHODS:
        given = (getattr(f, "__self__", None), *values[:1])
    else:  # `csv.reader`, `json.load` and the like read it out of sight
        given = [v for v in values if issubclass(type(v), io.IOBase) and v is not receiver(f)]
        if getattr(f, "__name__", "") in WRITERS:
            return
    if not any(is_stored(ctx, v) for v in given):
        return
    raise dropped(
        ctx,
        f"{getattr(f, '__qualname__', f)} reads a file that active data were written to",
        why="files carry no derivative: data read back would be constants",
        fix="use the stored array itself; for a constant use stop_gradient(x)",
    )


def receiver(f: Any) -> Any:
    return getattr(f, "__self__", None)


def only_writes(f: Any, args: Any, kwargs: Any) -> bool:
    """Return True if a file is opened, but not to be read."""
    if f is not builtins.open:
        return False
    mode = args[1] if len(args) > 1 else kwargs.get("mode", "r")
    return isinstance(mode, str) and not set("r+") & set(mode)


def run_reader(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    if stores_files(ctx) and not only_writes(f, args, kwargs):
        refuse_reading(ctx, f, (*args, *kwargs.values()))
    return call_seen(ctx, f, args, kwargs)


def run_saver(ctx: Mode, f: Any, args: Any, kwargs: Any) -> Any:
    """Store data, active ones as plain numbers."""
    # Only programs that store something need it.
    from mooncake_py.utilities.saving import store_inside

    return store_inside(ctx, f, args, kwargs)


# Writers of other modules, which are not to be imported for their sake.


def run_writer(ctx: Mode, file: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """Run a compiled method that writes its arguments to a file."""
    from mooncake_py.utilities.saving import store_in, text_in

    if type(receiver(f)).__module__ == "_csv" and is_muted(file):  # its method is held in C
        writer = importlib.import_module("csv").writer
        f = getattr(writer(io.StringIO(), receiver(f).dialect), f.__name__)
    return (store_in if issubclass(type(receiver(f)), io.IOBase) else text_in)(
        ctx, file, f, args, kwargs
    )


def is_of_writer(f: FunctionType) -> bool:
    """Return whether a method of the standard library only passes on to a stream, or a writer in C.

    These are to be seen: no silence could replace the method of a file that a writer in C holds,
    or mute a stream that is heard of only by its owner.
    """
    if f.__module__ == "tempfile":
        return f.__qualname__ in SPOOLED
    return f.__module__ == "csv" and f.__name__ in WRITING_ROWS


def run_json(ctx: Mode, f: FunctionType, args: Any, kwargs: Any) -> Any:
    """Run ``json.dump`` or ``json.dumps``, with plain numbers for active ones."""
    from mooncake_py.utilities.saving import text_in, text_inside

    if f.__name__ == "dumps":
        return text_inside(ctx, f, args, kwargs)
    return text_in(ctx, args[1] if len(args) > 1 else kwargs.get("fp"), f, args, kwargs)


def written_file(f: Any, args: Any) -> Any:
    """Return the file to which a compiled method writes data of its arguments, or None.

    Files of strings are not among these, but a writer of rows is, as it holds the file in C.
    """
    receiver = getattr(f, "__self__", None)
    if issubclass(type(receiver), io.IOBase):
        writes = f.__name__ in ("write", "writelines") and not INERT.issuperset(map(type, args))
        return receiver if writes else None
    if type(receiver).__module__ != "_csv" or f.__name__ not in WRITING_ROWS:
        return None
    methods = (p for p in gc.get_referents(receiver) if isinstance(p, BOUND))
    return next((p.__self__ for p in methods if p.__name__ == "write"), None)


BOUND = (BuiltinFunctionType, MethodType, Write)


def runs_no_code(file: Any) -> bool:
    """Return whether a file, and those that it reads from, are of classes in C."""
    while file is not None:
        if module_of(type(file)) != "_io" or type(file) is io.BufferedRWPair:
            return False
        file = getattr(file, "buffer", getattr(file, "raw", None))
    return True


HANDLERS = dict.fromkeys((builtins.open, np.load, np.fromfile), run_reader) | dict.fromkeys(
    SAVERS, run_saver
)
