"""Decorators of `networkx`: a decorated function is compiled from a text when it is first called.

The engine derives the compiled text, like the rest of `networkx`.
"""

from __future__ import annotations

from networkx.utils import decorators  # pyright: ignore[reportMissingImports]

from mooncake_py.rules.declare import zero_derivative

__all__: list[str] = []

compiles = getattr(getattr(decorators, "argmap", None), "_lazy_compile", None)
if compiles is not None:  # private: another version may do it another way
    zero_derivative(compiles, because="makes a function of a text")
