"""Names that may be bound to ints which are data: found among statements, before expressions."""

from __future__ import annotations

import ast
import builtins

import pytest

from mooncake_py.compiler.reading.index_names import index_names
from mooncake_py.syntax.names import Names


def found(text: str) -> set[str]:
    return index_names(Names({"range": builtins.range}, set()), ast.parse(text).body)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("j = columns[k]\nx[j] = 1.0", {"j"}),
        ("for j in columns:\n    s += x[j + 1]", {"j"}),
        ("if a:\n    while b:\n        j = m[i, k]\n        s = x[j]", {"j"}),
        ("i, j = rows[k], columns[k]\nx[i] = x[j]", {"i", "j"}),
        ("j = columns[k]\ns = j * 2.0", set()),
        ("j = columns[k]\nj = 2\nx[j] = 1.0", set()),
        ("j = columns[k]\nj += 1\nx[j] = 1.0", set()),
        ("s = (j := k) + x[j]\nj = columns[k]", set()),
        ("j = settings['index']\nx[j] = 1.0", set()),
        ("j = x[1:]\ny[j] = 1.0", set()),
        ("j = x[1:, k]\ny[j] = 1.0", set()),
    ],
)
def test_names_that_are_bound_to_elements_and_read_in_an_index(text: str, expected: set[str]):
    assert found(text) == expected
