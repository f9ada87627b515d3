"""Debug mode: the same derivative, computed the general way with everything checked.

`mode` turns it on, `context` is the kind of differentiated call that it makes, and the others are
its checks: `handlers`, `declared` and `coduals` of rules, `operands` and `snapshot` of memory,
`finite` of cotangents, `regions` and `statements` of loops and statements that run as one entry.
"""
