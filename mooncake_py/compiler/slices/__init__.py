"""Loops of which statements are on slices, and on elements and numbers too, as one region.

`read` reads them into IR, with a `Sliced` node for each statement on slices.  `plans` derives the
kinds of its operands from the axes of the arrays, `sweeps` makes its lines in both sweeps, by the
same plan and adjoint as a statement that is an entry of its own (`compiler.statements`), and
`site` runs the region.
"""
