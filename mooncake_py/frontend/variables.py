"""The variables of a rewritten function, as `locals` shows them in the user's function."""

from __future__ import annotations

import sys
from typing import Any

from mooncake_py.syntax.nodes import PREFIX

__all__ = ["variable_names", "variables"]

SHOWN = f"{PREFIX}shown"


def variables(own: dict[str, Any]) -> dict[str, Any]:
    """Return the `locals` of the user's function, from those of the rewritten one.

    Before Python 3.13 that is one dict for each call of the function, which every ``locals()``
    brings up to date; from then on it is a new one each time.
    """
    return brought_up_to_date(own)


def variable_names(own: dict[str, Any]) -> list[str]:
    """Return the names that ``dir()`` gives in the user's function."""
    return sorted(brought_up_to_date(own))


def brought_up_to_date(own: dict[str, Any]) -> dict[str, Any]:
    """Return the dict of the frame that asked for it, with the variables as they are now."""
    shown = own.setdefault(SHOWN, {})
    code = sys._getframe(2).f_code
    for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
        if name.startswith(PREFIX):
            continue
        if name in own:
            shown[name] = own[name]
        else:
            shown.pop(name, None)
    return shown
