"""The names of Python's comparisons in the representation."""

from __future__ import annotations

import ast

__all__ = ["COMPARISONS", "ORDERINGS"]

ORDERINGS: dict[type[ast.cmpop], str] = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
COMPARISONS = ORDERINGS | {ast.Is: "is", ast.IsNot: "is_not"}
