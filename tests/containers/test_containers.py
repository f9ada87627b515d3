"""Lists, dicts, sets, deques and the like: contents carry derivatives, changes are undone."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B905, C406, C417, RUF007, RUF059

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])


@programs([1.0, 2.0, 3.0])
def list_all_methods(v):
    v.append(v[0] * v[1])
    v.extend([v[2] * 2, 1.0])
    v.extend(w * w for w in v[:2])
    v.insert(1, v[0] * 5)
    v.insert(-1, v[1])
    last = v.pop()
    first = v.pop(0)
    middle = v.pop(-3)
    v.remove(v[2])
    v.reverse()
    return first * last * middle + sum(w * k for k, w in enumerate(v))


@programs([3.0, 1.0, 2.0])
def list_sort(v):
    v.sort()
    a = v[0] * 2 + v[1] * 3 + v[2] * 5
    v.sort(key=lambda w: -w)
    b = v[0] * 7
    v.sort(reverse=True)
    return a * b * v[2]


@programs([3.0, 1.0, 2.0, 4.0])
def list_slices(v):
    v[1:3] = [v[0] * v[1]]
    v[::2] = [v[1], v[0] * 3]
    del v[0]
    v += [v[0] * v[0]]
    v *= 2
    del v[1:3]
    return sum(w * (k + 1) for k, w in enumerate(v))


@programs([3.0, 1.0], X)
def list_slice_from_array(v, a):
    v[1:] = a
    v.extend(a)
    v += tuple(a)
    return sum(w * w * k for k, w in enumerate(v))


@programs([3.0, 1.0, 2.0], X)
def list_plus_array_is_array(v, a):
    w = v
    w += a
    return np.sum(w * w) + v[0]


@programs([3.0, 1.0])
def list_operators(v):
    w = v + [v[0] * v[1]] + v * 2
    w = w[:]
    c = w.copy()
    c.clear()
    return sum(w) * w[2] + len(c)


@programs([3.0, 1.0, 2.0])
def list_index_and_count(v):
    return v[v.index(v[1])] * v.count(v[2]) * v[0] + v[2] * v.count(7.0)


@programs([3.0, 1.0])
def list_iterated_while_growing(v):
    for w in v:
        if len(v) < 5:
            v.append(w * 2)
    return sum(v)


@programs([X, X * 2, 1.5])
def list_of_arrays(v):
    v[0] += v[1] * v[2]
    v.append(v[0][1:])
    v[3] *= 3
    v[1], v[0] = v[0], v[1]
    return np.sum(v[1] * v[0])


@programs({"a": 1.0, "b": X, "c": {"d": [2.0, X + 1]}})
def nested_structure(p):
    p["c"]["d"][0] *= p["a"]
    p["b"] += p["c"]["d"][1]
    p["new"] = p["c"]["d"][0] ** 2
    return np.sum(p["b"] ** 2) * p["new"]


@programs({"a": 1.0, "b": 2.0, "c": 3.0})
def dict_all_methods(d):
    d["e"] = d["a"] * d["b"]
    y = d.setdefault("f", d["c"] ** 2) + d.setdefault("a", 100.0)
    d.update(g=d["a"] * 7, a=d["b"] * d["c"])
    d.update({"h": d["a"]})
    d.update([("i", d["h"] * 2)])
    z = d.pop("b") + d.pop("missing", 5.0) * d.get("c") + d.get("nothing", d["c"])
    key, last = d.popitem()
    del d["c"]
    d |= {"j": last * 2}
    e = d | {"a": 1.5}
    total = sum(w * (k + 1) for k, w in enumerate(e.values()))
    for name, w in d.items():
        total += w * len(name)
    return total * y * z


@programs({"a": 1.0, "b": 2.0})
def dict_order_is_kept(d):
    first = d.pop("a")
    d["a"] = first * 3
    total = 0.0
    for k, v in enumerate(d.values(), start=1):
        total += v * v * k
    return total


@programs({"a": 1.0, "b": 2.0})
def dict_cleared_and_rebuilt(d):
    old = dict(d)
    d.clear()
    d["x"] = old["a"] * old["b"]
    copied = d.copy()
    return copied["x"] ** 2 + len(d)


@programs(X)
def dict_constructors(a):
    d = dict(zip("xyz", a))
    e = dict(d, w=a[0])
    f = {**e, "x": a[1]}
    g = dict([("u", a[2]), ("v", a[0])])
    h = dict.fromkeys("pq", a[1] * 2)
    return d["x"] * e["w"] + f["x"] * g["u"] + h["p"] * h["q"]


@programs(2.0)
def dict_keyed_by_active(x):
    d = {x: x * 3}
    return d[x] * d[2.0] if 2.0 in d else d[x] * d[x]


@programs(2.0)
def default_dict(x):
    d = collections.defaultdict(list)
    d["a"].append(x)
    d["a"].append(x * x)
    e = collections.defaultdict(float)
    e["s"] += x
    e["s"] *= x
    f: Any = collections.defaultdict(lambda: x * 2)
    return d["a"][0] * d["a"][1] + e["s"] + f["u"] * f["u"]


@programs(2.0)
def ordered_dict(x):
    d = collections.OrderedDict(a=x, b=x * x)
    d.move_to_end("a")
    d["c"] = 3 * x
    key, y = d.popitem(last=False)
    return y * list(d.values())[1] * d["a"]


@programs(2.0)
def counter_values(x):
    c = collections.Counter(a=x, b=3.0)
    c["a"] += x
    c.update({"b": x})
    c.subtract({"a": x * 0.5})
    return c["a"] * c["b"] + c["missing"]


@programs(2.0)
def chain_map(x):
    m = collections.ChainMap({"a": x}, {"a": 1.0, "b": x * x})
    return m["a"] * m["b"]


@programs(2.0)
def deque_methods(x):
    d = collections.deque([x, 1.0, x * x])
    d.append(x * 3)
    d.appendleft(x * 5)
    d.extend([x, 2.0])
    d.extendleft([x * 7, 3.0])
    d.rotate(2)
    d[1] = d[0] * d[2]
    a, b = d.pop(), d.popleft()
    return a * b + sum(v * k for k, v in enumerate(d))


@programs(2.0)
def deque_with_maxlen(x):
    d = collections.deque(maxlen=2)
    for k in range(4):
        d.append(x * k)
    return d[0] * d[1]


@programs(2.0)
def set_of_actives(x):
    s = {x, x * 2, x * 3}
    s.add(x * 5)
    s.discard(-1.0)
    return sum(sorted(s)) * max(s) + min(s | {100.0})


@programs((1.0, (2.0, X), 3))
def tuple_argument(t):
    a, (b, c), n = t
    u = (a, *t[1]) + (b,)
    return a * b * np.sum(u[2] * n) * u[-1] + len(t)


Point = collections.namedtuple("Point", "x y")


@programs(Point(1.0, 2.0))
def named_tuple(p):
    q = p._replace(x=p.y * p.x)
    r = Point(*q)
    x, y = r
    return q.x * y + p[0] * r._asdict()["x"] + Point._make([x, y]).y


@programs({"w": [np.ones((2, 2)), np.full(2, 0.5)], "b": (0.1, X)})
def parameters_of_a_network(p):
    h = np.tanh(p["w"][0] @ p["w"][1] + p["b"][0])
    return np.sum(h) * np.sum(p["b"][1] ** 2)


@programs([[1.0, 2.0], [3.0, 4.0]])
def nested_lists_as_matrix(m):
    m[0][1] += m[1][0] * 2
    a = np.array(m)
    return np.sum(a @ a) + m[0][1]


@programs([1.0, 2.0, 3.0])
def array_of_list_and_tolist(v):
    a = np.array(v) * 2
    b = a.tolist()
    b[0] = b[1] * b[2]
    return sum(b) + np.asarray(b)[0]


@programs(X)
def list_functions_of_array(a):
    v = list(a)
    w = tuple(a)
    s = sorted(a)
    r = list(reversed(a))
    return v[0] * w[1] + s[0] * s[2] * r[0] + sum(zip_sum(v, r)) + max(v) * min(w)


def zip_sum(u, v):
    return [p * q for p, q in zip(u, v)]


@programs(X)
def loops_over_adaptors(a):
    total = 0.0
    for k, v in enumerate(a):
        total += k * v * v
    for u, v in zip(a, a[1:]):
        total += u * v
    for v in map(lambda w: w * w, a):
        total += v
    for v in filter(lambda w: w > 0, a):
        total += v**3
    for v in reversed(a):
        total = total * 0.5 + v
    for k, v in dict(enumerate(a)).items():
        total += k * v
    for i in range(len(a)):
        total += a[i] ** 2
    return total


@programs(np.arange(1.0, 7.0).reshape(2, 3))
def array_iterators(m):
    total = 0.0
    for row in m:
        total += row[0] * row[1]
    for k, v in enumerate(m.flat):
        total += k * v * v
    for index, v in np.ndenumerate(m):
        total += v * v * index[1]
    for index in np.ndindex(m.shape):
        total += m[index]
    m.flat[1] = total
    return np.sum(m * m) + m.flat[2] * m.ravel()[1]


@programs([1.0, 2.0])
def list_contains_itself(v):
    v.append(v)
    return v[2][2][0] * v[1]


@programs([X])
def same_list_twice(v):
    w = [v, v]
    w[0].append(v[0] * 2)
    return np.sum(w[1][1] * v[0])


@programs(bytearray(b"ab"), 2.0)
def bytearray_is_restored(buffer, x):
    buffer.append(3)
    buffer[0] = 7
    buffer += b"xy"
    return x * len(buffer) + buffer[0]


@programs({1, 2}, 2.0)
def set_is_restored(s, x):
    s.add(5)
    s |= {6}
    s.discard(1)
    return x * len(s) + sum(s)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program) -> None:
    program.check()
