"""Lists, dicts and objects that functions change: made within, or passed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mooncake_py import hvp, jvp, value_and_grad, vjp
from mooncake_py.compiler.native.site import report
from tests.compiler.native.agreeing import require_compiled

pytestmark = pytest.mark.plain

X = np.array([0.3, -0.7, 1.9, 0.4, -1.2])


class P:
    def __init__(self, h):
        self.h = h
        self.v = 0.0


@dataclass
class Listing:
    q: float
    e: list = field(default_factory=list)


def items_of_a_dict(x):
    d = {"s": x[0], "k": 2.0, "u": x * 2}
    d["s"] = d["s"] * 0.5 + d["k"]
    d["n"] = x[1]
    d["k"] -= x[2]
    d["u"] = d["u"] * d["k"]
    d["u"][0] = 3.0
    return d["s"] * d["n"] + d["k"] * np.sum(d["u"])


def filled_later_and_iterated(x):
    d = {}
    for k, name in enumerate(("a", "b", "c")):
        d[name] = x[k] * 2
    e = d
    e["a"] = e["a"] + 1.0
    s = 0.0
    for _, v in d.items():
        s += v * v
    del d["b"]
    return s + len(d) * d["a"] + sum(d.values()) + ("b" in d)


def objects_in_a_list(x):
    cells = [P(v) for v in (x[0], x[1], x[2])]
    cells.append(P(x[3]))
    for i in range(4):
        cells[i].h += 0.5 * x[i]
    cells.insert(1, P(x[4]))
    q = cells.pop()
    cells.reverse()
    s = 0.0
    for k, c in enumerate(cells):
        s += c.h * (k + 1)
    return s * q.h


def made_by_dict_and_updated(x):
    d = dict(a=x[0], b=x)  # noqa: C408
    d = {**d, "c": 2.0}
    f = dict(d)
    f["a"] = 5.0
    d.update(a=x[1], z=3.0)
    d.setdefault("q", x[2])
    return d["a"] * f["a"] + d["q"] + np.sum(d["b"]) * d.pop("c") + d.get("no", 1.0)


def a_key_that_a_short_loop_adds(x):
    s = {"h": x[0], "v": 1.0}
    for i in range(5):
        s["h"] = s["h"] + 0.1 * s["v"]
        if s["h"] > 1.0:
            s["v"] = -s["v"] * x[1]
        s["n"] = 1 if i else 2
    return s["h"] * s["v"]


def a_state_that_a_callee_makes_anew(x):
    s = {"h": x[0], "v": 1.0}

    def step(s, k):
        new = dict(s)
        new["h"] = s["h"] + 0.1 * s["v"] * x[k]
        new["v"] = s["v"] - 0.1 * s["h"]
        return new

    for i in range(len(x)):
        new = step(s, i)
        s = new
    return s["h"] * s["v"]


def an_object_of_two_branches(x):
    if x[0] > 0:
        p = P(x[1])
    else:
        p = P(x[2] * 2)
        p.v = x[1]
    p.h += 1.0
    return p.h * p.h + p.v


def a_list_that_is_shifted(x):
    hist = [x[0], x * 1.0, 0.0]
    for i in range(4):
        hist.pop(0)
        hist.insert(0, x[i] * hist[0][1])
        hist[1] = hist[1] * x[i]
        hist[2] += np.sum(hist[1])
    return hist[0] + hist[2]


def a_state_of_which_the_first_is_kept(x):
    s = {"h": x[0], "v": x * 1.0}
    prev = s
    for i in range(len(x)):
        s = {**s, "h": s["h"] * x[i], "v": s["v"] + s["h"]}
        s["h"] += 1.0
    return s["h"] * np.sum(s["v"]) + prev["h"]


def an_object_that_a_callee_makes_anew(x):
    p = P(x[0])

    def step(p, v):
        q = P(p.h * v)
        q.v = p.v + q.h
        return q

    t = 0.0
    for v in x:
        p = step(p, v)
        t += p.v
    return p.h + p.v * t


def objects_that_change_places(x):
    a, b = P(x[0]), P(x[1])
    for i in range(3):
        a, b = b, a
        a.h += x[i]
    return a.h * b.h * b.h


def rows_that_are_appended(x):
    rows = []
    for i in range(3):
        rows.append({"i": i, "u": x * (i + 1.0)})
    tot = 0.0
    for r in rows:
        r["u"] = r["u"] * r["i"]
        tot += np.sum(r["u"])
    return tot


def structures_within_structures(x):
    d = {"a": {"b": x[0]}, "l": [1.0, x]}
    d["a"]["b"] *= 2.0
    d["l"].append(d["a"])
    d["l"][2]["b"] += 1.0
    d["l"][1] = d["l"][1] + 1.0
    return d["a"]["b"] * np.sum(d["l"][1])


def a_state_with_counts_and_a_state_within(x):
    s = {"n": 0, "t": 0.0, "in": {"z": x[0]}}
    for v in x:
        new = {"n": s["n"] + 1, "t": s["t"] + v * s["n"], "in": {"z": s["in"]["z"] * v}}
        s = new
        if v > 1.0:
            break
    return s["t"] * s["n"] + s["in"]["z"]


def the_best_of_some(x):
    best = None
    ps = [P(v) for v in (x[0], x[1], x[2])]
    best = ps[0]
    for p in ps:
        if p.h > best.h:
            best = p
    return best.h


def two_names_for_what_a_loop_makes(x):
    a = b = {"z": x[0]}
    for v in x:
        b = a = {"z": a["z"] + v}
    a["z"] *= 2.0
    return a["z"] * b["z"]


def a_state_that_no_pass_replaces(x):
    s = {"z": x[0]}
    init = s
    n = int(x[3] > 100)
    for _ in range(n):
        s = {"z": s["z"] * 2.0}
    s["z"] = 5.0
    return init["z"] * x[1]


def made_on_two_ways_by_a_callee(x):

    def mk(v):
        if v > 0:
            return {"s": v, "u": x * v}
        return {"s": 1.0, "u": x}

    d = mk(x[0])
    e = mk(x[1])
    d["s"] += e["s"]
    return d["s"] * np.sum(d["u"]) + np.sum(e["u"])


def a_list_of_a_dataclass(x):
    s = Listing(x[0])
    s.e.append(x[1] * 2.0)
    s.e.append(s.q)
    return s.e[0] * s.e[1]


def an_array_that_is_kept_and_replaced(x):
    d = {"u": x * 1.0}
    for i in range(len(x)):
        d["u"] = d["u"] * 0.5 + x[i]
        d["u"][0] = d["u"][1]
    keep = d["u"]
    d["u"] = d["u"] * 2.0
    d["u"][0] = 1.0
    return np.sum(keep) + np.sum(d["u"])


def a_copy_of_a_list_of_objects(x):
    a = [P(x[0]), P(x[1])]
    b = a
    b.append(P(x[2]))
    c = list(a)
    c.append(a[0])
    c[-1].h = 9.0 * x[3]
    t = 0.0
    for p in c:
        t += p.h * len(a)
    return t + a[0].h


def a_key_of_two_branches(x):
    d = {"a": 1.0, "b": x[0]}
    if x[0] > 0:
        d["a"] = x[1]
        d["c"] = 2.0
    else:
        d["c"] = x[2]
    return d["a"] * d["b"] * d["c"]


def objects_that_are_put_into_a_list(x):
    ps = [P(v) for v in (x[0], x[1])]
    for k in range(len(x)):
        q = P(x[k])
        q.v = ps[0].h
        ps[0] = q
        ps[1].h = ps[1].h + q.v
    return ps[0].h * ps[1].h


def a_dict_that_a_nested_function_changes(x):
    d = {"s": x[0]}

    def f(v):
        d["s"] = d["s"] * v
        return d["s"]

    y = f(x[1]) + d["s"] * f(x[2])
    return y * d["s"]


def a_state_whose_first_is_changed_after_no_pass(x):
    s = first = {"z": x[0]}
    for _ in range(int(x[3] > 100)):
        s = {"z": s["z"] * 2.0}
    first["z"] = x[1] * 5.0
    return s["z"] * x[1]


def copies_of_what_is_constant(x):
    start = {"a": 1.0, "b": 0.5}
    now = dict(start)
    order = list((0, 1, 2))  # noqa: C410
    order.reverse()
    for k in range(6):
        new = dict(now)
        flow = 0.1 * x[k % 2] * now["a"]
        new["a"] -= flow
        new["b"] += flow
        now = new
    return now["a"] * now["b"] + start["a"] * x[order[0]]


def lists_of_one_number_that_are_shifted(x):
    delayed, made = [0.1] * 4, [0.2 for _ in range(3)]
    other = delayed
    total = 0.0
    for k in range(12):
        old = delayed.pop(0)
        delayed.append(np.sin(old + x[k % 3]))
        made.insert(0, made.pop() * x[0])
        total += old * other[2] * made[1]
    return total + len(other) * made[0]


COMPILED = [
    copies_of_what_is_constant, lists_of_one_number_that_are_shifted,
    a_list_of_a_dataclass, an_array_that_is_kept_and_replaced, a_copy_of_a_list_of_objects,
    a_key_of_two_branches, objects_that_are_put_into_a_list, a_dict_that_a_nested_function_changes,
    items_of_a_dict, filled_later_and_iterated, objects_in_a_list, made_by_dict_and_updated,
    a_key_that_a_short_loop_adds, a_state_that_a_callee_makes_anew, an_object_of_two_branches,
    a_list_that_is_shifted, a_state_of_which_the_first_is_kept,
    an_object_that_a_callee_makes_anew, objects_that_change_places, rows_that_are_appended,
    structures_within_structures, a_state_with_counts_and_a_state_within,
]  # fmt: skip
OTHERS = [
    a_state_whose_first_is_changed_after_no_pass,
    the_best_of_some,
    two_names_for_what_a_loop_makes,
    a_state_that_no_pass_replaces,
    made_on_two_ways_by_a_callee,
]


@pytest.mark.parametrize("f", [*COMPILED, *OTHERS])
def test_as_in_plain_python(f, tried):
    for x in (X, -X):
        value, g = value_and_grad(f, compile=True)(x.copy())
        expected, h = value_and_grad(f)(x.copy())
        assert_allclose(value, expected, rtol=1e-13)
        assert expected == f(x.copy())
        assert_allclose(g, h, rtol=1e-12)
        tangents = [jvp(f, (x.copy(),), (np.cos(x),), compile=way)[1] for way in (True, False)]
        assert_allclose(*tangents, rtol=1e-12)
    seconds = [hvp(f, (X,), np.cos(X), compile=way) for way in (True, False)]
    assert_allclose(*seconds, rtol=1e-10, atol=1e-12)
    if f in COMPILED:
        require_compiled(f, tried)


class Model:
    def __init__(self):
        self.cells = [P(0.5), P(0.25), P(1.5)]
        self.par = {"k": 0.5, "u": np.ones(5), "sub": {"z": 1.0}}
        self.log = [1.0, np.zeros(5), None]
        self.n = 0


def cells_by_position(o, x):
    for i in range(3):
        o.cells[i].h += 0.1 * x[i]
        o.cells[i].v = o.cells[i].h * 2
    return o.cells[0].h * o.cells[1].v + o.cells[2].v


def a_dict_under_two_names(o, x):
    d = o.par
    d["k"] = d["k"] * x[0]
    o.par["u"] = d["u"] * x
    o.par["u"][1] = 3.0
    d["sub"]["z"] -= x[1]
    return np.sum(d["u"]) * o.par["sub"]["z"] + d["k"]


def a_list_of_mixed_things(o, x):
    o.log[0] = x[0] * 2
    o.log[1] = o.log[1] + x
    o.log[2] = x[2]
    o.n += 1
    if x[0] > 0:
        o.log[0] = o.log[0] + x[1]
        o.par["k"] = 1.0
    return o.log[0] * np.sum(o.log[1]) + o.par["k"]


def new_keys(o, x):
    o.par["new"] = x[0]
    o.par["arr"] = x * 2.0
    return o.par["new"] * np.sum(o.par["arr"])


def cells_in_a_loop(o, x):
    t = 0.0
    for v in x:
        for c in o.cells:
            c.h = c.h * 0.5 + v
            t += c.h * o.par["k"]
        o.par["k"] = o.par["k"] * 0.9
    return t


def new_structures_under_keys(o, x):
    o.par["k"] = o.n * x[0]
    o.par["d"] = {"q": x[1], "l": [x[2], 1]}
    return o.par["k"] + o.par["d"]["q"] * o.par["d"]["l"][0]


def one_object_in_two_places(o, x):
    _, b, _ = o.cells
    o.cells[0] = b
    b.h = x[0]
    return o.cells[0].h * x[1]


def longer_and_shorter(o, x):
    o.log.append(x[0])
    del o.par["k"]
    return o.log[-1] * x[1]


def total(o):
    t = o.par.get("k", 1.0) * o.par.get("new", 1.0) + np.sum(o.par["u"]) * o.par["sub"]["z"]
    for c in o.cells:
        t += c.h * c.v
    return t + o.log[0] * np.sum(o.log[1])


def parts(o):
    """Return everything in a structure, with the types."""
    if isinstance(o, dict):
        return [*o, *parts([*o.values()])]
    if isinstance(o, list | tuple):
        return [type(o), *[part for item in o for part in parts(item)]]
    if hasattr(o, "__dict__"):
        return parts(o.__dict__)
    return [*o] if isinstance(o, np.ndarray) else [type(o), o]


PASSED = [
    cells_by_position, a_dict_under_two_names, a_list_of_mixed_things, new_keys, cells_in_a_loop,
    new_structures_under_keys,
]  # fmt: skip


@pytest.mark.parametrize("f", [*PASSED, one_object_in_two_places, longer_and_shorter])
def test_what_is_passed_is_written_and_put_back(f, tried):
    def several(o, x):
        sorted([2, 1], key=lambda t: t)  # which is not compiled: what is between is, on its own
        r = f(o, x)
        sorted([2, 1], key=lambda t: t)
        return r * total(o)

    for x in (X, -X):
        for g in (f, several):
            ways = []
            for way in (True, False):
                o = Model()
                ways.append(value_and_grad(g, 1, compile=way)(o, x.copy()))
                assert parts(o) == parts(Model())
                o = Model()
                y, back = vjp(g, o, x.copy(), compile=way)
                ways[-1] += (y, back(1.0)[1])
                assert parts(o) == parts(Model())
                ways[-1] += jvp(g, (Model(), x.copy()), (None, np.cos(x)), compile=way)
            for a, b in zip(*ways, strict=True):
                assert_allclose(a, b, rtol=1e-12)
            assert_allclose(ways[1][0], g(Model(), x.copy()), rtol=0)
    assert (report(f)[0].found == "compiled") == (f in PASSED), report(f)
    assert tried or f not in PASSED


def test_other_structures_in_later_calls(tried):
    def given(*keys, cells=1):
        return {**dict.fromkeys(keys, 0.5), "l": [P(0.5) for _ in range(cells)]}

    def g(o, x):
        o["a"] = o["a"] * x[0]
        for c in o["l"]:
            c.h = c.h * o["a"]
        return sum([c.h for c in o["l"]]) * len(o)

    one = P(0.75)
    for o in (
        given("a"), given("a", "b"), given("b", "a"), given("a", cells=3), given("a", cells=0),
        {"a": 0.5, "l": [one, one]}, {"a": 2, "l": [one]}, {"a": np.float64(0.5), "l": []},
    ):  # fmt: skip
        ways = [value_and_grad(g, 1, compile=way)(o, X.copy()) for way in (True, False)]
        assert_allclose(ways[0][0], ways[1][0], rtol=1e-14)
        assert_allclose(ways[0][1], ways[1][1], rtol=1e-14)
    assert all(tried)


def test_one_list_in_two_places(tried):
    def f(p, q, x):
        p[0] = p[0] * x[0]
        q["a"] = x
        return q["l"][0] * x[1] + np.sum(q["a"])

    shared = [0.5, None]
    for p, held in (([0.5, None], [0.5, None]), (shared, shared), ([0.5, None], shared)):
        ways = []
        for way in (True, False):
            ways.append(value_and_grad(f, 2, compile=way)(p, {"l": held}, X.copy()))
        assert_allclose(ways[0][0], ways[1][0], rtol=1e-14)
        assert_allclose(ways[0][1], ways[1][1], rtol=1e-14)


@pytest.mark.parametrize("kept", ["P(x), P(y)", "{'w': x}, {'w': y}", "[x, 1], [y, 2]"])
def test_one_of_two_that_were_there_before_is_given_back(kept: str, define) -> None:
    f = define(
        "class P:\n    def __init__(self, w): self.w = w\n"
        "def pick(a, b, c):\n    if c > 0.5:\n        return a\n    return b\n"
        f"def f(x, y):\n    a, b = {kept}\n    q = pick(a, b, x)\n"
        "    return 10.0 * x if q is a else 100.0 * y if q is None else y\n"
    )
    for x in (1.3, 0.4):
        assert value_and_grad(f, (0, 1), compile=True)(x, 0.7) == value_and_grad(f, (0, 1))(x, 0.7)
