"""Which lengths are known to be equal, and where."""

from __future__ import annotations

from mooncake_py.compiler.native.numpy_text.lengths import Lengths
from mooncake_py.compiler.regions.ir import Alloc, Compare, Const, Grow, Length, Name, Op
from tests.compiler.native.writing import written

KINDS: dict[str, str] = {"c": "int", "k": "int", "n": "int"}
X, Y, Z = (Length(array, 0) for array in "xyz")


def read(text: str, inputs: str = "x y z n") -> Lengths:
    found = Lengths()
    found.read(written(text, KINDS), dict.fromkeys("xyz", 1), set(inputs.split()))
    return found


def test_checks_at_the_top_hold_in_the_whole_function() -> None:
    known = read("assert len(x) == len(y)\ny[0] = 1.0\nassert len(y) == len(z) + 1")
    assert known.same(X, Y)
    assert known.same(X, Op("add", (Const(1), Z)))
    assert not known.same(X, Z)


def test_checks_of_inputs_in_loops_are_asked_before() -> None:
    text = "for i in range(n):\n    for j in range(n):\n        assert len(x) == len(y)"
    known = read(text)
    assert known.same(X, Y)
    ((check,),) = known.before.values()
    assert check.test == Compare(("eq",), (X, Y))


def test_checks_in_branches_are_not() -> None:
    text = "if n > 0:\n    assert len(x) == len(y)"
    assert not read(text).same(X, Y)
    assert not read(f"for i in range(n):\n    {text[:9]}\n        {text[14:]}").same(X, Y)


def test_what_holds_of_names_of_a_pass_tells_nothing_of_others() -> None:
    known = read("""
for i in range(n):
    c = i + 1
    assert c == len(x)
    assert c == len(y)
""")
    assert known.same(Name("c"), X)
    assert not known.same(X, Y)  # the loop may have no passes


def test_names_that_are_bound_again_tell_nothing() -> None:
    assert not read("c = 2\nassert c == len(x)\nc = 3").same(Name("c"), X)
    assert not read("c = 2\nk = 2\nassert c == k\nk = 3").same(Name("c"), Name("k"))


def test_arrays_that_grow_are_of_no_known_length() -> None:
    n, found = Name("n"), Lengths()
    made = Alloc("x", (n,), "float", False)
    found.read((made, Grow("x", Const(9))), {"x": 1}, {"n"})
    assert not found.same(X, n)
    found.read((made,), {"x": 1}, {"n"})
    assert found.same(X, n)


def test_arrays_that_are_made_twice_are_of_no_known_length() -> None:
    n, k, found = Name("n"), Name("k"), Lengths()
    found.read(tuple([Alloc("x", (e,), "float", False) for e in (n, k)]), {"x": 1}, {"n", "k"})
    assert not found.same(n, k)


def test_new_arrays_and_cotangents_are_as_long_as_what_they_are_of() -> None:
    found = Lengths()
    arrays: dict[str, int] = {"x": 1, "d_x": 1, "t1_x": 1, "w": 1}
    found.read(written("w = empty(len(x))"), arrays, {"x", "t1_x"})
    for array in ("d_x", "t1_x", "w"):
        assert found.same(Length(array, 0), X)
