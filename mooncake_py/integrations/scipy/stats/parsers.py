"""The methods that a distribution makes for itself when it is created.

Their text is a template, see :mod:`mooncake_py.syntax.providers`.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

import scipy.stats as st
from scipy.stats import _distn_infrastructure as infrastructure

from mooncake_py.rules.declare import overlay, zero_derivative

__all__ = ["attaching", "defined_in", "freezing", "fresh"]

PARSERS = ("_parse_args", "_parse_args_stats", "_parse_args_rvs")


def defined_in(text: str) -> dict[str, Any]:
    """Return the names that a source text defines, with their values."""
    names: dict[str, Any] = {}
    exec(text, names)
    return names


zero_derivative(defined_in, because="makes functions of a text")


def attach_parsers(self: Any) -> None:
    """Do what ``rv_generic._attach_argparser_methods`` does, with attributes set in sight."""
    made = defined_in(self._parse_arg_template)
    for name in PARSERS:
        setattr(self, name, MethodType(made[name], self))


def fresh(distribution: Any) -> Any:
    """Return a distribution of the same kind, with its own random state."""
    return distribution.__class__(**distribution._updated_ctor_param())


zero_derivative(fresh, because="makes an object without numbers")


def freeze(self: Any, dist: Any, *args: Any, **kwds: Any) -> None:
    """Do what ``rv_frozen.__init__`` does."""
    self.args = args
    self.kwds = kwds
    self.dist = fresh(dist)
    shapes, _, _ = self.dist._parse_args(*args, **kwds)
    self.a, self.b = self.dist._get_support(*shapes)


freezing = getattr(getattr(infrastructure, "rv_frozen", None), "__init__", None)
if freezing is not None and hasattr(st.rv_continuous, "_updated_ctor_param"):
    overlay(freezing)(freeze)

attaching = getattr(st.rv_continuous, "_attach_argparser_methods", None)
if attaching is not None:  # private: another version of SciPy may do it another way
    overlay(attaching)(attach_parsers)
