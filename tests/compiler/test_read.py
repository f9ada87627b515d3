"""Which loops are read as what may be one entry, into which region, and which are refused."""

from __future__ import annotations

import ast

import pytest

from mooncake_py.compiler.printing.show import shown
from mooncake_py.compiler.reading.bound_names import bound_before
from mooncake_py.compiler.regions.ir import (
    STEPS,
    Assign,
    Const,
    For,
    Load,
    Name,
    Op,
    statements,
    walk,
)
from mooncake_py.compiler.regions.simplify import expressions_of
from tests.compiler.regions_of import read, read_body, region_of


def test_a_recurrence():
    region = region_of("x[i] += a * x[i - 1]")
    before = Load("u_x", (Op("sub", (Name("u_i"), Const(1))),))
    here = Load("u_x", (Name("u_i"),))
    product = Op("mul", (Name("u_a"), before))
    loop = For("u_i", Name(STEPS), (Assign(here, Op("add", (here, product))),))
    assert region.body == (loop,)
    assert region.loop is region.body[0]
    assert region.arrays == {"u_x": 1}
    assert region.inputs == ("u_x", "u_a")
    assert region.bound == {"u_i": "i"}
    assert region.written() == {"u_x"}
    assert not region.counts


def test_every_node_knows_where_it_stands():
    region = region_of("x[i] += a * x[i - 1]\nif a < x[i]: break")
    for s in statements(region.body):
        assert s.place is not None
        for e in expressions_of(s):
            assert all(part.place is not None for part in walk(e))
    (assign,) = [s for s in statements(region.body) if isinstance(s, Assign)]
    assert assign.place == (4, 8, 4, 28)
    assert assign.value.place == (4, 8, 4, 28)
    assert assign.value.args[1].place == (4, 16, 4, 28)


def test_loops_branches_and_ints():
    region = region_of(
        "k = k * 2\n"
        "for j in range(i, len(y)):\n"
        "    if j % 2 == 0 or y[j] > -a:\n"
        "        s -= y[k]\n"
        "    else:\n"
        "        pass",
        "k = 1\ns = 0.0",
    )
    assert shown(region) == (
        "given u_k, u_y[1], u_a, u_s\n"
        "    for u_i in steps:\n"
        "        u_k = u_k * 2\n"
        "        for u_j in range(u_i, n0_u_y):\n"
        "            if ((u_j % 2) == 0) or (u_y[u_j] > (-u_a)):\n"
        "                u_s = u_s - u_y[u_k]\n"
        "binds u_i, u_j, u_k, u_s\n"
    )
    assert region.counts == {"u_k"}
    assert set(region.inputs) == {"u_k", "u_y", "u_a", "u_s"}


def test_parallel_assignment_computes_all_values_first():
    region = region_of("s, t = t, s * x[i]", "s = t = 0.0")
    assert shown(region).splitlines()[2:] == [
        "        w0 = u_t",
        "        w1 = u_s * u_x[u_i]",
        "        u_s = w0",
        "        u_t = w1",
        "binds u_i, u_s, u_t",
    ]


def test_a_choice_comes_before_the_statement_that_it_stands_in():
    region = region_of("x[i] += 1.0 + (a if a > b else (b if i else x[0] * a))")
    assert shown(region).splitlines()[2:-1] == [
        "        if u_a > u_b:",
        "            q0 = u_a",
        "        else:",
        "            if u_i:",
        "                q1 = u_b",
        "            else:",
        "                q1 = u_x[0] * u_a",
        "            q0 = q1",
        "        u_x[u_i] = u_x[u_i] + (1.0 + q0)",
    ]


def test_the_first_of_equal_ones_is_the_largest():
    region = region_of("x[i] = max(a, b) - min(a, b)")
    assert shown(region).splitlines()[2] == (
        "        u_x[u_i] = (u_b if (u_b > u_a) else u_a) - (u_b if (u_b < u_a) else u_a)"
    )


def test_what_follows_a_jump_is_the_other_side():
    region = region_of("if x[i] < 0.0: continue\nif x[i] > a: break\ns += x[i]", "s = 0.0")
    assert shown(region).splitlines()[2:-1] == [
        "        if u_x[u_i] < 0.0:",
        "            pass",
        "        else:",
        "            if u_x[u_i] > u_a:",
        "                break",
        "            else:",
        "                u_s = u_s + u_x[u_i]",
    ]


def test_loops_over_arrays_are_loops_over_their_indices():
    region = region_of("s += p * q", "s = 0.0", "for p, q in zip(x, y):")
    assert shown(region).splitlines()[1:-1] == [
        "    if not (n0_u_x == n0_u_y):",
        "        raise ArithmeticError",
        "    for h1 in range(n0_u_x):",
        "        u_p = u_x[h1]",
        "        u_q = u_y[h1]",
        "        u_s = u_s + u_p * u_q",
    ]
    assert region_of("s += p", "s = 0.0", "for k, p in enumerate(x):").loop.name == "u_k"


@pytest.mark.parametrize("name", ["o", "np"])
def test_attributes_are_inputs_of_names_that_no_variable_has(name):
    region = region_of(f"x[i] *= {name}.pi + {name}_of_pi", f"{name}_of_pi = 1.0")
    assert set(region.inputs) == {"u_x", f"au_{name}_of_pi", f"u_{name}_of_pi"}


@pytest.mark.parametrize(
    "body",
    [
        "x[i] = 0.0",
        "x[i] = a",
        "s = x[i]",
        "s: float = x[i] * 2.0",
        "x[i, i] += 1.0",
        "o.x[i] -= o.y[-i]",
        "x[i + 1] = np.sin(x[i - 1]) ** 3",
        "x[2 * i % n] = x[i] / (i + 1)",
        "if i: x[i] *= 2.0",
        "if not x[i] <= 1 < i: x[i] *= 2.0",
        "for j in range(1, i, 2):\n    x[j] *= 2.0",
        "k = int(x[i] * 3.0)\nx[k] *= 2.0",
        "if i < x.shape[0] - len(x): x[i] *= 2.0",
        "s = x[i]\nt = s * s\nx[i] = t",
        "x[i] = abs(x[i]) + max(a, b, x[i]) * min(0.0, a)",
        "x[i] = x[i] if x[i] > a and i != 2 else (2.0 if a else b) * a",
    ],
)
def test_taken(body):
    assert read_body(body) is not None


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("pass", "nothing is computed"),
        ("k = i", "nothing but ints"),
        ("print(x[i])", "a call"),
        ("x[i] = f(x[i - 1])", "a function that is no module's"),
        ("x[i] = np.nan_to_num(x[i], nan=0.0)", "a function that is derived"),
        ("x[i] = np.tanh(x[i], out=y)", "a keyword"),
        ("x[1:], y[1:] = y[1:], x[1:]", "slices exchanged"),
        ("x[y > a] *= 2.0", "a mask"),
        ("x[1:] = y[1:] if a > 0.0 else x[1:]", "a slice that is chosen"),
        ("x[1:] **= 2.0", "a power in place"),
        ("z = x[1:]", "a slice with a name"),
        ("x[[1, 2]] = y[1:]", "a list in an index"),
        ("x[...] = 0.0", "an ellipsis"),
        ("x[()] = 0.0", "no index"),
        ("x[None] *= 2.0", "an axis"),
        ("x[True] *= 2.0", "a mask"),
        ("x[not i] *= 2.0", "a mask"),
        ("x[i < 2] *= 2.0", "a mask"),
        ("x[x[i]] *= 2.0", "an index that the loop writes"),
        ("o.p.x[i] *= 2.0; y.p = a", "an object that may be another one"),
        ("[s] = [x[i]]", "a list as a target"),
        ("*s, t = x", "a star"),
        ("s, t = x", "what is unpacked"),
        ("s, t = x[i], 1.0, 2.0", "another number of values"),
        ("o.p.s += x[i]", "an attribute of an attribute"),
        ("s @= x[i]", "an operator of arrays"),
        ("x[i] = ~x[i]", "bits"),
        ("del x", "del"),
        ("return x[i]", "return"),
        ("x = y\nx[i] *= 2.0", "part of an array that has another name"),
        ("i = 2\nx[i] *= 2.0", "a counter that is bound"),
        ("for i in range(3):\n    x[i] *= 2.0", "one counter for two loops"),
        ("for j in range(3): pass\nx[j] *= 2.0", "a counter after its loop"),
        ("for j in range(3): pass\nelse: x[i] = 1.0", "for ... else"),
        ("for j in (1, 2): x[i] *= j", "an array without a name"),
        ("for j, k in range(3): x[i] *= j", "two counters"),
        ("for j in range(n):\n    n = 2\n    x[j] *= 2.0", "a bound that changes"),
        ("for j in range(int(x[i])): x[j] *= 2.0", "a bound by an element"),
        ("x[len(z)] *= 2.0", "a length of another thing"),
        ("x[s] *= 2.0\ns = x[i]", "an index that may be no int"),
        ("if (k := i): x[i] *= 2.0", "a walrus"),
        ("if i in y: x[i] = 1.0", "in"),
        ("while np.log(x[i]) > 1: x[i] = 1.0", "a function that may warn, in each pass"),
        ("x[i] = max(x)", "the largest of an array"),
        ("x[i] = max(x[i], *y)", "any number of operands"),
        ("x[i] = max(x[i], a, key=abs)", "a key"),
        ("k = 1 if a else 2\nx[k] = a", "an int that is chosen, as an index"),
        ("for j in range(2 if a else 3): x[j] = a", "a range that is chosen"),
        ("x[i] = 'a'", "a text"),
        ("x[i] = 1j", "a complex number"),
        ("if x[i] is a: x[i] = 1.0", "is"),
        ("global q\nq = x[i]", "a global"),
        ("def g(): pass", "a definition"),
        ("for () in zip(): x[i] = 1.0", "no arrays"),
    ],
)
def test_refused(body, why):
    assert read_body(body) is None, why


def test_a_name_that_another_function_binds_is_refused():
    text = "def f(x, n):\n    s = 0.0\n    def g():\n        {}\n        s = 1.0\n"
    text += "    for i in range(n):\n        s += x[i]\n"
    assert read(text.format("pass")) is not None
    assert read(text.format("nonlocal s")) is None


def test_ranges_that_are_shadowed_are_refused():
    assert read("def f(x, range):\n    for i in range(3):\n        x[i] *= 2.0\n") is None
    text = "def f(x):\n    for i in range(3):\n        x[i] *= 2.0\n"
    assert read(text) is not None
    assert read(text, range=list) is None


@pytest.mark.parametrize(
    ("first", "taken"), [("0", True), ("len(x)", True), ("0.5", False), ("x[0]", False)]
)
def test_inner_counters_that_were_something_else(first, taken):
    region = read_body("for j in range(i):\n    x[j] *= 2.0", f"j = {first}")
    assert (region is not None) is taken


def before(text: str) -> set[str]:
    """Return the names bound before the first loop over ``q``."""
    (function,) = ast.parse(text).body
    loop = next(
        node
        for node in ast.walk(function)
        if isinstance(node, ast.For) and ast.unparse(node.iter) == "range(q)"
    )
    return bound_before(function, loop)


LOOP = "for i in range(q): pass"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"def f(x, /, y, *, z):\n    {LOOP}", "x y z"),
        (f"def f():\n    a = b = 1\n    c: int = 2\n    d: int\n    {LOOP}\n    e = 1", "a b c"),
        (f"def f():\n    (a, [b, *c]), d[0] = z\n    {LOOP}", "a b c"),
        (f"def f():\n    if z: a = 1\n    {LOOP}", ""),
        (f"def f():\n    a = 1\n    if z:\n        b = 1\n        {LOOP}", "a b"),
        (f"def f():\n    if z:\n        b = 1\n    else:\n        c = 1\n        {LOOP}", "c"),
        (f"def f():\n    while z:\n        b = 1\n        {LOOP}\n        c = 1", "b"),
        (f"def f():\n    for k in z:\n        b = 1\n        {LOOP}", "b"),
        (f"def f():\n    with z as b:\n        c = 1\n        {LOOP}", "c"),
        (f"def f():\n    try:\n        b = 1\n        {LOOP}\n    finally: pass", "b"),
        (f"def f():\n    try: b = 1\n    except Z:\n        {LOOP}", ""),
        (f"def f(x):\n    a = 1\n    del x\n    {LOOP}", "a"),
        (f"def f():\n    def g(u): v = u\n    {LOOP}\n    def h(): pass", "g"),
    ],
)
def test_bound_before(text, names):
    assert before(text) == set(names.split())
