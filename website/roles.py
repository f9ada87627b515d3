"""References of docstrings, as `help` shows them, become links between the pages of the API."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:func|class|meth|attr|exc):`(~?)([\w.]+)`")


class Roles(griffe.Extension):
    """Replaces the roles of each docstring when it has been read."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Replace those of one object."""
        if obj.docstring:
            obj.docstring.value = ROLE.sub(as_link, obj.docstring.value)


def as_link(role: re.Match[str]) -> str:
    """Return the link for a role; with a tilde only the last part of the name is shown."""
    tilde, name = role.groups()
    shown = name.rpartition(".")[2] if tilde else name
    return f"[`{shown}`][{name}]"
