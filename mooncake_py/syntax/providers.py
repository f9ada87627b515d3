"""Source text of functions without a file, if their origin is known.

A text may be a guess, because `source` accepts it only if it compiles to the instructions that run.
Registered code (``linecache``: notebooks, doctests, attrs, the prompt from Python 3.13 on) has
precedence over these providers.
"""

from __future__ import annotations

import gc
import linecache
import os
import stat
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType

from mooncake_py.notebook import MEASURED, measured_texts

__all__ = ["PROVIDERS", "provided_texts"]


def provided_texts(code: CodeType) -> Iterator[str]:
    """Yield the sources that code without a file may have been compiled from, likely ones first."""
    for provider in PROVIDERS:
        yield from provider(code)


def text_of_command(code: CodeType) -> Iterator[str]:
    """Yield the text of ``python -c``; from Python 3.14 on it may be indented as a whole."""
    if code.co_filename != "<string>":
        return
    for argument in sys.orig_argv[1:]:
        option, letter, joined = argument.partition("c")
        text = joined if letter and option.startswith("-") else argument
        if code.co_name.strip("<>") in text:
            yield text
            yield textwrap.dedent(text)


def text_of_standard_input(code: CodeType) -> Iterator[str]:
    """Yield the text of ``python < script.py``, read a second time; that of a pipe is gone."""
    if code.co_filename != "<stdin>":
        return
    try:
        status = os.fstat(0)
        if stat.S_ISREG(status.st_mode) and hasattr(os, "pread"):
            yield os.pread(0, status.st_size, 0).decode(errors="replace")
    except OSError:
        return  # standard input was closed


def text_of_interpreter(code: CodeType) -> Iterator[str]:
    """Yield the source that later versions of Python keep with the code of ``python -c``."""
    lines_of = getattr(linecache, "_getlines_from_code", None)
    if lines_of is not None:
        yield "".join(lines_of(code))


def text_of_measured_cells(code: CodeType) -> Iterator[str]:
    """Yield the source of the cells that IPython measured in a notebook."""
    if code.co_filename in MEASURED:
        yield from measured_texts()


def text_of_parsers(code: CodeType) -> Iterator[str]:
    """Yield the text of the methods by which distributions of `scipy.stats` sort arguments.

    Each fills the template of its module with the names of its shape parameters; discrete ones
    have no scale.
    """
    module = sys.modules.get("scipy.stats._distn_infrastructure")
    template = getattr(module, "parse_arg_template", None)
    if template is None or not code.co_name.startswith("_parse_args"):
        return
    _, *names = code.co_varnames[: code.co_argcount]
    if "loc" not in names:
        return
    has_scale = "scale" in names
    yield template % {
        "shape_arg_str": "".join(f"{name}, " for name in names[: names.index("loc")]),
        "locscale_in": "loc=0, scale=1" if has_scale else "loc=0",
        "locscale_out": "loc, scale" if has_scale else "loc, 1",
    }


def carried_text(code: CodeType) -> Iterator[str]:
    """Yield the text that a function carries with it, as those of `networkx` in ``_code``.

    It is joined to a function only, not to its code: one that runs this code is sought.
    """
    for function in gc.get_referrers(code):
        text = getattr(function, "_code", None) if isinstance(function, FunctionType) else None
        if isinstance(text, str):
            yield text


PROVIDERS: list[Callable[[CodeType], Iterator[str]]] = [
    text_of_parsers,
    text_of_command,
    text_of_standard_input,
    text_of_interpreter,
    text_of_measured_cells,
    carried_text,  # last: it looks at all objects
]
