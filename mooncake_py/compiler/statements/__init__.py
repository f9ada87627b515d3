"""Expressions and statements that are recorded as one entry, on numbers, elements and arrays.

From the syntax tree to IR (`read`), the kinds of the operands (`kinds`), the cotangents of an
expression (`cotangents`), which of them need no check (`finiteness`); `scalars` and `arrays` print
the form for a pattern of kinds, `site` runs it, `push` runs its tangent. Kinds of operands and
operations have separate files: `views`, `gathers`, `contractions`, `reductions`, `choices`.
"""
