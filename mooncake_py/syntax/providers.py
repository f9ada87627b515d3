"""Text of functions that a library made by ``exec``, where it is known how the library made it.

The text need not be certain: `source` accepts it only if it compiles to the very instructions
that run.
"""

from __future__ import annotations

import sys
from types import CodeType

__all__ = ["provided_text"]


def provided_text(code: CodeType) -> str | None:
    """Return the text that code without a file may have been compiled from, or None.

    It is that of the methods in which distributions of `scipy.stats` sort arguments: each fills
    the template of its module with the names of its shape parameters; discrete ones have no scale.
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
