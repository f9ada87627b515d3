"""Docstrings, which are written for `help`, as the pages of the API show them."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:func|class|meth|attr|exc):`(~?)([\w.]+)`")


class Docstrings(griffe.Extension):
    """Makes links of references, and gives an instance the docstring of its class."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Prepare the docstring of one object."""
        if isinstance(obj, griffe.Attribute) and isinstance(obj.value, griffe.ExprCall):
            cls = obj.parent and obj.parent.members.get(str(obj.value.function))
            if isinstance(cls, griffe.Class) and cls.docstring and not obj.docstring:
                obj.docstring = griffe.Docstring(cls.docstring.value, parent=obj)
        if obj.docstring:
            obj.docstring.value = ROLE.sub(as_link, obj.docstring.value)


def as_link(role: re.Match[str]) -> str:
    """Return the link for a reference; with a tilde only the last part of the name is shown."""
    tilde, name = role.groups()
    shown = name.rpartition(".")[2] if tilde else name
    return f"[`{shown}`][{name}]"
