"""Control flow, names and expressions: each program against finite differences."""
# The unusual style of the programs is the point of them.
# ruff: noqa: B023, UP031
# The unusual style of the programs is the point of them.

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.gradients import Program, Programs

programs = Programs()
X = np.array([0.3, -1.2, 0.7])
SCALE = 1.5
WEIGHTS = np.array([1.0, 2.0, -0.5])
SETTINGS = {"gain": 3.0, "taps": [0.5, 0.25]}
counter = 0.0


@programs(2.0)
def identity(x):
    return x


@programs(2.0)
def constant_result(x):
    return 5.0


@programs(2.0)
def unused_expression(x):
    x * 3.0
    math.sin(x)
    return x * x


@programs(2.0, 3.0)
def unused_argument(x, y):
    return y * y


@programs(2.0, 3)
def int_argument(x, n):
    return x**n + n


@programs(2.0)
def same_value_several_times(x):
    y = x * x
    return y + y * y + y / (1 + y)


@programs(0.7)
def conditional_expression(x):
    return x * x if x > 0 else -x


@programs(-0.7)
def early_return(x):
    if x < 0:
        return math.exp(x)
    return x


@programs(1.3, X)
def type_changes(x, a):
    y = x
    for k in range(3):
        y = y + a if k == 1 else y * 2
    return np.sum(y)


@programs(1.3)
def variable_set_in_one_branch_only(x):
    if x > 1:
        y = x * 3
    else:
        pass
    return y * x


@programs(1.3, 0.4)
def swap_names(x, y):
    for _ in range(3):
        x, y = y * 1.1, x * y
    return x - y


@programs(X)
def while_with_break(a):
    total, i = 0.0, 0
    while True:
        total += a[i] ** 2
        i += 1
        if i == len(a):
            break
    return total


@programs(X)
def continue_skips(a):
    total = 0.0
    for v in a:
        if v < 0:
            continue
        total += v**3
    return total


@programs(X)
def for_else(a):
    for v in a:
        if v > 10:
            break
    else:
        return a[0] * a[1]
    return a[2]


@programs(3.0)
def while_else(x):
    while x > 1:
        x = x * 0.5
    else:
        x = x**2
    return x


@programs(3.0)
def data_dependent_loop(x):
    y = 1.0
    while y < 20:
        y = y * x + 0.1
    return y


@programs(0.2)
def chained_comparison(x):
    return x * 2 if 0 < x < 1 else x * 3


@programs(1.0, 2.0)
def and_or_values(x, y):
    return (x or y) * 3 + (y and x + 1) + (0.0 or y * x)


@programs(2.0)
def walrus(x):
    if (y := x * x) > 3:
        return y * x
    return y


@programs(X)
def walrus_in_comprehension(a):
    return sum([w * w for v in a if (w := v * 2) > 0])


@programs(X)
def star_unpacking(a):
    first, *rest = a
    *start, last = rest
    return first * last + sum(start)


@programs(2.0, 3.0)
def nested_unpacking(x, y):
    (a, (b, c)), *d = (x, (y, x * y)), 4.0, x
    return a * b + c * d[1]


@programs(X)
def unpack_array(a):
    x, y, z = a
    return x * y + z**2


@programs(np.arange(1.0, 7.0).reshape(3, 2))
def loop_unpacks_rows(m):
    total = 0.0
    for x, y in m:
        total += x * y * y
    return total


@programs(np.arange(1.0, 7.0).reshape(2, 3))
def unpack_rows(m):
    a, b = m
    a *= b
    return np.sum(m * m)


@programs(2.0)
def chained_assignment(x):
    a = b = [x, x * x]
    a[0] = a[1] * 3
    return b[0] + b[1]


@programs(2.0)
def multiple_targets_with_side_effects(x):
    i = 0
    a = [x, x, x]
    i, a[i], a[i + 1] = 1, x * 2, x * 3
    return a[0] * 5 + a[1] * 7 + a[2]


@programs(2.0)
def delete_name(x):
    y = x * 3
    z = y * y
    del y
    return z


@programs(X)
def list_comprehension(a):
    return sum([v * k for k, v in enumerate(a) if k != 1])


@programs(X)
def nested_comprehension(a):
    return sum(sum([u * v for u in a]) * v for v in a)


@programs(X)
def dict_and_set_comprehension(a):
    d = {k: v * v for k, v in enumerate(a)}
    s = {k for k in d if k > 0}
    return sum(d[k] for k in s)


@programs(X)
def generator_expression_consumed_partly(a):
    g = (v * v for v in a)
    first = next(g)
    return first * next(g)


@programs(X)
def in_place_view_then_base(a):
    b = a[1:]
    b *= 3
    c = b[:1]
    c += a[0]
    return np.sum(a * a)


@programs(X)
def overlapping_shift(a):
    a[1:] = a[:-1] * 2
    a[:-1] += a[1:]
    return np.sum(a**2)


@programs(X)
def inactive_buffer_overwritten(a):
    p = np.ones(3)
    total = a * 0
    for k in range(3):
        total = total + a * p
        p *= k + 2
    return np.sum(total)


@programs(np.arange(1.0, 10.0).reshape(3, 3))
def views_of_views(m):
    t = m.T[1:]
    t[0, ::2] *= 2
    d = t[:, 0]
    d += m[2, :2]
    return np.sum(m * m)


@programs(np.arange(1.0, 5.0))
def buffers_swapped(u):
    old, new = u.copy(), np.zeros_like(u)
    for _ in range(3):
        new[:] = old
        new[1:-1] += 0.3 * (old[2:] - old[:-2])
        old, new = new, old
    return np.sum(old * old)


@programs(X)
def augmented_on_name_item_slice(a):
    x = a[0]
    x += a[1]
    x *= x
    a[2] -= x
    a[:2] /= 2.0
    a[-1] **= 2
    return np.sum(a) * x


@programs(X, 2.0)
def augmented_rebinding_keeps_alias(a, x):
    b = a
    b = b * x
    c = b
    c += a
    return np.sum(b * b)


@programs(X)
def reads_globals(a):
    return np.sum(a * WEIGHTS) * SCALE * SETTINGS["gain"] * SETTINGS["taps"][1]


@programs(2.0)
def global_statement(x):
    global counter
    counter = x * 3
    counter += x
    y = counter * x
    counter = 0.0
    return y


def test_global_restored():
    assert counter == 0.0


@programs(2.0)
def nonlocal_statement(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v
        return total

    add(x)
    return add(x * x) * total


@programs(2.0)
def recursion(x):
    def power(v, n):
        return 1.0 if n == 0 else v * power(v, n - 1)

    return power(x, 4)


@programs(2.0)
def mutual_recursion(x):
    def even(v, n):
        return v if n == 0 else odd(v * 1.5, n - 1)

    def odd(v, n):
        return v * v if n == 0 else even(v + 1, n - 1)

    return even(x, 5)


@programs(2.0)
def lambdas_on_one_line(x):
    f, g = (lambda v: v * v), (lambda v: v + 3)
    return f(g(x)) + g(f(x))


@programs(2.0)
def late_binding_lambdas(x):
    fs = [lambda v: v * x * k for k in range(3)]
    gs = [lambda v, k=k: v * k for k in range(3)]
    return sum(f(x) for f in fs) + sum(g(x) for g in gs)


@programs(2.0)
def f_string_and_print(x):
    text = f"{x:.3f} {x!r} {x * 2}"
    print(text, x, end="")
    return x * (2 if text else 3)


@programs(2.0)
def percent_and_str_format(x):
    text = "%.2f %s" % (x, x) + f"{x:.1f} {[x]}"
    return x * (1 if text else 2)


@programs(X)
def index_by_computed_int(a):
    i = int(a[0] * 5)
    return a[i] * a[i]


@programs(X)
def membership(a):
    return a[0] * (2 if 0.7 in a else 3) * (5 if a[1] in [0.0, -1.2] else 7)


@programs(2.0)
def is_none_and_isinstance(x):
    y = None
    if y is None and isinstance(x, float) and not isinstance(x, int) and type(x) is float:
        y = x * 5
    return y


@programs(2.2)
def int_and_bool_of_active(x):
    return x * int(x) * round(x) * math.floor(x + 0.5) + bool(x) * x


@programs(2.1, 3.3)
def numeric_tower(x, y):
    return abs(-x) + divmod(y, x)[1] + pow(x, 3) + (y % x) * x + x // 1 + max(x, y) * min(x, y, 9)


@programs(2.0)
def mixed_float_types(x):
    return np.float64(x) * float(np.sin(x)) + float(np.array([x, 1.0])[0])


@programs(X)
def early_return_in_loop_with_mutation(a):
    for i in range(3):
        a[i] *= 2
        if a[i] < 0:
            return np.sum(a * a)
    return a[0]


@programs(1.5)
def highly_nested_tuple(x):
    t = ((((x, 1), (x * 2,)), (((x,),),)), x)
    return t[0][0][0][0] * t[0][0][1][0] * t[0][1][0][0][0] * t[1]


@programs(tuple(0.1 * k for k in range(1, 40)))
def long_tuple_argument(t):
    total = 1.0
    for v in t:
        total = total + v * v
    return total


@programs(np.array(2.0))
def zero_dimensional(x):
    x *= 3
    x[()] = x * x
    return x + x[()] * x.item()


@programs(np.float64(2.0))
def numpy_scalar_argument(x):
    return x * x.item() + x.sum() + x.astype(float) * np.square(x).mean()


@programs(X)
def slice_object_and_ellipsis(a):
    s = slice(None, None, -1)
    b = a[s]
    b[...] *= 2
    return b[0] * a[-1] + a[..., 0]


@programs(np.arange(1.0, 7.0).reshape(2, 3))
def newaxis_mask_fancy(m):
    m[m > 4.5] *= 2
    m[[0, 1], [1, 2]] += m[0, 0]
    return np.sum(m[:, None, 1] * m[:, np.array([0, 2])])


@programs(X)
def fancy_repeated_indices(a):
    b = np.zeros(2)
    b[[0, 0, 1]] = a
    b[[0, 0]] += a[[1, 1]]
    np.add.at(b, [1, 1, 0], a)
    return np.sum(b * b)


@programs(X)
def slice_bounds_from_active(a):
    k = int(a[2] + 1.5)
    return np.sum(a[:k] ** 2)


@pytest.mark.parametrize("program", programs, ids=str)
def test_gradient(program: Program, capsys: pytest.CaptureFixture[str]) -> None:
    program.check()
