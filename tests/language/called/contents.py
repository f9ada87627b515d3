"""Methods of containers and strings, and the order of lists."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

import numpy as np

from tests.language.called.comparing import Programs

program = PROGRAMS = Programs()
LOG: list[Any] = [1.0]
TABLE: dict[Any, Any] = {"k": 2.0, 3: 4.0, (1, 2): 5.0}


@program
def lists(x):
    items = [x, 2.0, x * x]
    last, first = items.pop(), items.pop(0)
    items.insert(1, last * x)
    items.insert(-1, x)
    items.extend([x, 3.0])
    items += (v * x for v in items[:2])
    items.reverse()
    copied = items.copy()
    copied.clear()
    del items[1]
    return first + sum(v * (k + 1) for k, v in enumerate(items)) + len(copied)


@program.changes
def lists_of_outside(x):
    LOG.append(x)
    LOG.insert(0, x * x)
    LOG.extend([x, 2.0])
    LOG.pop(1)
    LOG.reverse()
    return sum(LOG) + LOG.pop() * x


@program
def pop_of_nothing(x):
    items = [x]
    items.pop()
    return items.pop() * x


@program
def pop_out_of_range(x):
    return [x, 2.0].pop(5)


@program
def pop_at_a_float(x):
    return [x, 2.0].pop(1.0)  # type: ignore[arg-type]


@program
def pop_with_too_much(x):
    return [x].pop(0, 1)  # type: ignore[call-arg]


@program
def positions_by_objects(x):
    class Index:
        def __index__(self):
            return 1

    items = [x, x * x, 3.0]
    items.insert(Index(), 2.0 * x)
    return items.pop(Index()) + items.pop(np.int64(0)) * items[Index()]


@program
def methods_that_are_bound_once(x):
    items: list[Any] = []
    add, taken = items.append, {"a": x, "b": 2.0}.pop
    for v in [x, 2.0, x * x]:
        add(v * x)
    get = TABLE.get
    return sum(items) + taken("a") * taken("b") + taken("c", x) + sum(map(get, ["k", 3])) * x


@program
def bound_methods_of_many_lists(x):
    rows: list[list[Any]] = [[], [], []]
    for n in range(12):
        add = rows[n % 3].append
        add(x * n)
    return sum(map(sum, rows)) + sum(row.pop() for row in rows)


@program
def dicts(x):
    d: dict[Any, Any] = {"a": x}
    d.setdefault("a", 5.0)
    d.setdefault("b", x * x)
    d.update(c=x, a=d["a"] * x)
    d.update({"e": 2.0 * x})
    d[1], d[1, 2], d[None] = x, x * 3.0, 2.0
    taken = d.pop("c") + d.pop("z", x) + d.get("y", x) + d.get((1, 2)) + d[1] * d[1, 2]
    d[1, 2] = d[1, 2] * d[None]
    item = d.popitem()
    return taken + sum(v for v in d.values()) + item[1] + ("a" in d) * x


@program.changes
def dicts_of_outside(x):
    TABLE["k"] = TABLE["k"] * x
    TABLE[3] += x
    TABLE[1, 2] *= x
    TABLE["new"] = x
    TABLE[7] = TABLE.pop(3) * x
    TABLE.setdefault("again", x)
    return sum(TABLE.values())


@program
def keys_that_are_equal(x):
    d: dict[Any, Any] = {1: x, "a": 2.0}
    d[True] = d[1] * x
    d[1.0] += x
    return d[1] + len(d)


@program
def keys_that_are_missing(x):
    return {"a": x}["b"]


@program
def keys_that_write(x):
    class Key:
        def __hash__(self):
            LOG.append(1)
            return 1

        def __eq__(self, o):
            return True

    return {Key(): x}.get(Key())


@program
def active_keys(x):
    d = {x: 2.0}
    return d.get(x, 1.0) * x + d.pop(x)


@program
def default_dicts(x):
    d: Any = defaultdict(list)
    total: Any = defaultdict(float)
    for k, v in enumerate([x, 2.0, x * x]):
        d[k % 2].append(v)
        total["ab"[k % 2]] += v * x
        total[k % 2] = total[k % 2] + v
    return sum(d[0]) * sum(d[1]) + total["a"] * total[1] + len(d[5]) + len(d)


@program
def sets_and_deques(x):
    s, q = {1, 2}, deque([x, 2.0], maxlen=3)
    s.add(3)
    s.discard(1)
    s.update([7])
    q.append(x * x)
    q.appendleft(x)
    q.rotate(1)
    q.insert(1, 5.0) if len(q) < 3 else None
    return q.popleft() + q.pop() * len(s) + (2 in s) * x + sum(s & {2, 3}) * x


@program
def texts(x):
    name = " a-b ".strip().upper().replace("A", "c")
    parts = ",".join(["x", "y"]).split(",")
    name += "{}{:>4}".format("z", 3) + "ab".center(6, "*") + f"{len(parts)}"
    return x * len(name) + ("c" in name) * x + name.count("*") + name.startswith(("c", "d")) * x


@program
def texts_of_numbers(x):
    return float(f"{x:.3f}") * x


@program
def texts_of_what_is_no_text(x):
    return ",".join(["a", x])


@program
def texts_with_too_much(x):
    return "a".upper(1) * x  # type: ignore[call-arg]


@program
def sorted_in_place(x):
    a, b, c = [x * x, x, 0.5], [("b", x), ("a", x * x)], [3, 1, 2]
    a.sort()
    b.sort(key=lambda p: p[0])
    c.sort(reverse=True)
    a.sort(key=lambda v: -v, reverse=True)
    return sum(v * k for k, v in enumerate(a)) + b[0][1] * 2 + b[1][1] + c[0] * x


@program
def sorted_in_place_with_an_error(x):
    a = [x, 0.5, "a", 0.1]
    try:
        a.sort()
    except TypeError:
        return a[0] * x + a[1]


@program
def sorted_in_place_while_the_key_looks(x):
    a = [x * x, x]
    sizes = []
    a.sort(key=lambda v: sizes.append(len(a)) or v)
    return a[0] + sum(sizes) * x + len(sizes) * a[1]
