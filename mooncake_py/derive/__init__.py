"""Derivation: rules for Python functions, from their source.

A function is taken in the order of the packages: `rewriting` turns its source into code whose
operations go to a context; `calls`, `language` and `containers` say what Python's part of them
means, `recording` what happens to numbers and arrays; `crossing` is where values enter and leave,
`reports` what users read when something fails, and `debug` a context that checks everything.
"""

from typing import Any

from mooncake_py.derive.crossing.boundary import derived_rule
from mooncake_py.rules.frule import frule
from mooncake_py.rules.rrule import rrule


def _derived_frule(*duals: Any, **kwargs: Any) -> Any:
    # Only for those who use it.
    from mooncake_py.derive.forward.frule import derived_frule

    return derived_frule(*duals, **kwargs)


rrule.derive_with(derived_rule)
frule.derive_with(_derived_frule)
