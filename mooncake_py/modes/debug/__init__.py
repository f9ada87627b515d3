"""Debug mode: the same derivative, computed operation by operation with all checks.

`mode` turns it on, `context` is its context, and the other modules are its checks: `handlers`,
`declared` and `coduals` of rules, `operands` and `snapshot` of memory, `finite` of cotangents,
`regions` and `statements` of loops and statements that run as one entry.
"""
