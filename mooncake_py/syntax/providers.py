"""Text of functions that a library made by ``exec``, where it is known how the library made it.

A provider returns the text that a code object may have been compiled from.  The text need not be
certain: `source` accepts it only if it compiles to the very instructions that run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import CodeType

__all__ = ["PROVIDERS", "Provider", "provided_texts"]

Provider = Callable[[CodeType], str | None]
"""From a code object to the text it may have been compiled from, or None."""


def provided_texts(code: CodeType) -> Iterator[str]:
    """Yield the texts that a code object without a file may have been compiled from."""
    for provider in PROVIDERS:
        text = provider(code)
        if text is not None:
            yield text


def argument_parser(code: CodeType) -> str | None:
    """Return the text of the methods in which distributions of `scipy.stats` sort arguments.

    Each distribution fills the template of its module with the names of its shape parameters;
    discrete ones have no scale.
    """
    module = sys.modules.get("scipy.stats._distn_infrastructure")
    template = getattr(module, "parse_arg_template", None)
    if template is None or not code.co_name.startswith("_parse_args"):
        return None
    _, *names = code.co_varnames[: code.co_argcount]
    if "loc" not in names:
        return None
    shapes = names[: names.index("loc")]
    has_scale = "scale" in names
    return template % {
        "shape_arg_str": "".join(f"{name}, " for name in shapes),
        "locscale_in": "loc=0, scale=1" if has_scale else "loc=0",
        "locscale_out": "loc, scale" if has_scale else "loc, 1",
    }


PROVIDERS: list[Provider] = [argument_parser]
