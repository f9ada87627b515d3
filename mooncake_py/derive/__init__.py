"""Derivation: rules for Python functions, from their source.

`source`, `rewrite` and `load` turn a function into one whose operations go to a context;
`context` and `reverse` say what the operations mean; `memory`, `active` and `pulls` are the
shadows, the active scalars and the reverse of each operation; `boundary` and `lift` are where
values enter and leave.
"""

from mooncake_py.derive.boundary import derived_rule
from mooncake_py.rules.rrule import rrule

rrule.derive_with(derived_rule)
