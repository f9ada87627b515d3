"""Derivation: rules for Python functions, from their source.

A function is taken in the order of the packages: `rewriting` turns its source into code whose
operations go to a context; `calls`, `language` and `containers` say what Python's part of them
means, `recording` what happens to numbers and arrays; `crossing` is where values enter and leave,
`reports` what users read when something fails, and `debug` a context that checks everything.
"""

from mooncake_py.derive.crossing.boundary import derived_rule
from mooncake_py.rules.rrule import rrule

rrule.derive_with(derived_rule)
