"""What a loop consists of."""

from __future__ import annotations

from mooncake_py.forms.loops.program import Assign, Branch, Count, Item, Repeat, items_of
from tests.forms.loops.reading import read_body


def test_an_element_in_the_primal_and_in_the_shadow():
    item = Item("u_m", "u_i, (u_j - 1)")
    assert item.of("m") == "m_u_m[u_i, (u_j - 1)]"
    assert item.of("d") == "d_u_m[u_i, (u_j - 1)]"


def test_statements_are_found_at_any_depth_in_their_order():
    program = read_body(
        "k = i\n"
        "for j in range(i):\n"
        "    if x[j] > 0.0:\n"
        "        y[j] = x[j]\n"
        "    else:\n"
        "        for q in range(2):\n"
        "            s += x[q]\n"
        "    x[k] = 2.0",
        "s = 0.0",
    )
    assert program is not None
    kinds = [type(item) for item in items_of([program.loop])]
    assert kinds == [Repeat, Count, Repeat, Branch, Assign, Repeat, Assign, Assign]
    assert [a.target for a in program.assignments()] == [
        Item("u_y", "u_j"), "u_s", Item("u_x", "u_k")
    ]
    assert program.written() == {"u_x", "u_y"}


def test_an_empty_block_has_no_statements():
    assert list(items_of([])) == []


def test_an_array_that_is_also_read_as_a_whole_is_no_number():
    assert read_body("s += m[0, i]\nb = m", "s = 0.0") is None
    assert read_body("if m:\n    s += m[0, i]", "s = 0.0") is None
    assert read_body("s += o.a[i] * o.b", "s = 0.0") is not None
    assert read_body("s += o.a[i]\nb = o.a", "s = 0.0") is None
