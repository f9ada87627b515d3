"""Characters of strings at indices that are known only when it runs, and tables of lists."""
# pyright: reportOptionalMemberAccess=false

from __future__ import annotations

import math

import numpy as np
import pytest

from mooncake_py import jvp, value_and_grad
from mooncake_py.compiler.native.site import report
from tests.compiler.native.reading.every_way import POINT, require_agreement, require_whole

pytestmark = pytest.mark.plain

FIRST, SECOND = "GATTACAGATTACA", "TTAGACCATGGT"


def aligned(x, a, s=FIRST, t=SECOND):
    """Return a soft distance: keys of two characters, tests of one, a table that is filled."""
    x = [float(v) for v in x]
    costs = {(p, q): a if p == q else x[0] * a for p in "ACGT" for q in "ACGT"}
    costs["A", "G"] = x[1]
    bonus = {"A": x[2], "C": a, "G": x[3], "T": 1.0}
    table = [[math.inf] * (len(t) + 1) for _ in range(len(s) + 1)]
    table[0][0] = 0.0
    for i in range(1, len(s) + 1):
        table[i][0] = a * i
    for j in range(1, len(t) + 1):
        table[0][j] = x[0] * j
    for i in range(1, len(s) + 1):
        above, row = table[i - 1], table[i]
        for j in range(1, len(t) + 1):
            step = costs[s[i - 1], t[j - 1]]
            if s[i - 1] == "T" or s[-i] in "CG":
                step += bonus[t[j - 1]]
            row[j] = math.sin(above[j - 1] + step) + a * row[j - 1] - 0.5 * above[j]
    return table[-1][-1] + table[3][len(t) - 2] + sum(table[5][1:])


def counted(x, a):
    """Return a sum over pairs, of which equal ones count otherwise."""
    total = 0.0
    for i in range(len(FIRST)):
        for j in range(i):
            if FIRST[i] == FIRST[j]:
                total += a * x[i % 4]
            elif FIRST[i] != "A":
                total -= x[j % 4] ** 2
    return total


def of_rows(x, a):
    """Return a sum over rows under other names, and over copies."""
    table = [[0.5] * 4 for _ in range(12)]
    kept = table[2]
    for i in range(12):
        for j in range(4):
            table[i][j] += x[j] * (i + a)
    whole = np.array(table)
    before = list(table[3])
    for row in table[1:]:
        row[0] *= kept[1]
        table[0][1] += row[2]
    return kept[0] + np.sum(whole[2] * x) + before[0] + table[0][1] + len(table) * a


def looked_up(x, a):
    """Return a sum of weights that are there for some pairs only, and written under letters."""
    weights = {("A", "C"): float(x[0]), ("A", "G"): a}
    counts = {"A": 0.5 * a, "C": 0.5, "G": 0.5, "T": a}
    total = 0.0
    for k in range(len(FIRST) - 1):
        pair = FIRST[k], FIRST[k + 1]
        if pair in weights:
            total += weights[pair] * x[1]
        else:
            total -= weights.get(pair, 0.3) * a
        counts[FIRST[k]] = counts[FIRST[k]] * 1.1 + 0.1 * a
        total += counts[FIRST[k - 1]]
    return total + counts["T"]


@pytest.mark.parametrize("f", [aligned, counted, of_rows, looked_up])
def test_it_is_compiled_whole(f, tried) -> None:
    require_whole(f, tried)


def bound_again(x, a):
    table = [[0.0] * 4 for _ in range(10)]
    for k in range(10):
        table[k] = [x[0] * k, a]
    return table[3][1] + table[4][0]


def longer(x, a):
    table = [[1.0] * 2 for _ in range(10)]
    table[3].append(a)
    table.append([x[0], x[1]])
    return sum(table[3]) * table[-1][0] + len(table[3])


def swapped(x, a):
    old, new = ([[a] * 3 for _ in range(9)] for _ in range(2))
    for k in range(1, 9):
        new[k][1] = old[k - 1][1] * x[k % 4]
        old, new = new, old
    return old[8][1] + new[7][1]


def of_ints(x, a):
    table = [[0] * 4 for _ in range(9)]
    for k in range(9):
        table[k][k % 4] += k
    return x[table[2][2]] * a


def one_row(x, a):
    table = [[0.0] * 3] * 9
    table[2][1] = a
    return table[7][1] * x[0]


@pytest.mark.parametrize("f", [bound_again, longer, swapped, of_ints, one_row])
def test_other_tables_are_right(f) -> None:
    require_agreement(f)


def test_other_texts_are_noticed() -> None:
    """In the second call: longer, with other characters, and with more than are told apart."""

    def f(x, text):
        total = x
        for k in range(len(text)):
            if text[k] == "b":
                total = total * x + k
        return total

    derivative = value_and_grad(f, compile=True)
    many = "".join(map(chr, range(60, 130)))
    for text in ("abcabcabcb", "abcabcabcbb", "xbyxxbyyxy", "bbbbbbbbbb", "", many):
        assert derivative(0.5, text) == value_and_grad(f)(0.5, text)


def test_an_index_that_is_too_large_raises() -> None:
    def f(x, n):
        total = 0.0
        for k in range(n):
            total += x if FIRST[k] == "A" else x * x
        return total

    derivative = value_and_grad(f, compile=True)
    assert derivative(0.5, 14) == value_and_grad(f)(0.5, 14)
    for _ in range(2):
        with pytest.raises(IndexError):
            derivative(0.5, 15)
    assert report(f)


def test_a_key_that_is_not_there_raises() -> None:
    def f(x, a):
        costs, total = {"A": x[0], "T": a}, 0.0
        for k in range(len(FIRST)):
            total += costs[FIRST[k]]
        return total

    for way in (False, True):
        with pytest.raises(KeyError):
            value_and_grad(f, compile=way)(*POINT)


def test_a_row_as_a_result_is_that_row_alone() -> None:
    def row(x):
        table = [[x] * 3 for _ in range(10)]
        for i in range(10):
            table[i][1] = x * i
        return table[4]

    def with_row(x):
        return x * x, row(x)

    for _ in range(3):
        assert jvp(row, (2.0,), (1.0,), compile=True) == ([2.0, 8.0, 2.0], [1.0, 4.0, 1.0])
        found = value_and_grad(with_row, has_aux=True, compile=True)(2.0)
        assert found == ((4.0, [2.0, 8.0, 2.0]), 4.0)


class Grid:
    def __init__(self, n):
        self.cells = [[0.0] * 3 for _ in range(n)]

    def put(self, i, j, v):
        self.cells[i][j] = v

    def row(self, i):
        return self.cells[i]


def in_objects(x, a):
    grid, other = Grid(12), Grid(12)
    for i in range(12):
        for j in range(3):
            grid.put(i, j, a * (i + j) + float(x[j]))
            other.row(i)[j] = grid.row(i)[j] * 2.0
    old = grid.cells
    grid.cells = [[1.0] * 3 for _ in range(12)]
    grid.put(3, 0, a * a)
    return old[3][0] + grid.cells[3][0] * sum(other.row(5)) + sum(old[4])


def rows_under_names(x, a):
    table = [[a] * 4 for _ in range(10)]
    before = table[0]
    for i in range(1, 10):
        now = table[i]
        for j in range(1, 4):
            now[j] = before[j - 1] * x[j] + now[j - 1] * 0.5
        before = now
    shared, first = table[:], table.copy()
    shared[2][1] = 5.0 * a
    first[3][1] = 7.0 * a
    return before[3] + sum(table[2]) + sum(table[3])


@pytest.mark.parametrize("f", [in_objects, rows_under_names])
def test_rows_of_objects_and_under_names_are_right(f) -> None:
    require_agreement(f)
