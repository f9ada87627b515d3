"""Active data in structured arrays."""

from __future__ import annotations

import numpy as np

from tests.modes.reverse.ways_out.collecting import way_out

PAIR = [("a", float), ("b", float)]


@way_out
def structured_array(x):
    return np.array((x[0] * x[1], x[1]), dtype=PAIR)["a"] * 1.0


@way_out
def structured_field_written(x):
    s = np.zeros(2, dtype=PAIR)
    s["a"] = x * x
    return np.sum(s["a"])


@way_out
def structured_field_view_written(x):
    s = np.zeros(2, dtype=PAIR)
    a = s["a"]
    a[:] = x * x
    return np.sum(s["a"])


@way_out
def structured_element_written(x):
    s = np.zeros(2, dtype=PAIR)
    s[0] = (x[0] * x[1], x[1])
    return s["a"][0]


@way_out
def structured_field_of_an_element_written(x):
    s = np.zeros(2, dtype=PAIR)
    s[0]["a"] = x[0] * x[1]
    return s["a"][0]


@way_out
def structured_field_added_to(x):
    s = np.zeros(2, dtype=PAIR)
    s["a"] += x * x
    return s["a"].sum()


@way_out
def structured_astype(x):
    return (x * x).astype(PAIR)["b"].sum()


@way_out
def structured_view(x):
    return (x * x).view(PAIR)["b"][0]


@way_out
def view_of_a_structured_array(x):
    s = np.zeros(1, dtype=PAIR)
    s.view(float)[:] = x * x
    return s["a"][0]


@way_out
def field_got(x):
    s = np.zeros(2, dtype=PAIR)
    s.getfield(float, 8)[:] = x * x
    return s["b"].sum()


@way_out
def field_set(x):
    s = np.zeros(2)
    s.setfield(x * x, float)
    return s.sum()


@way_out
def record_array(x):
    r = np.rec.fromarrays([x * x, x], names="a,b")
    return r.a.sum()


@way_out
def structured_by_recfunctions(x):
    from numpy.lib import recfunctions

    return recfunctions.unstructured_to_structured(x * x, np.dtype(PAIR))["a"][()]


@way_out
def record_read_as_a_whole(x):
    s = np.zeros(2, dtype=PAIR)
    s["a"] += x * x
    return s[0]["a"]


@way_out
def records_iterated_over(x):
    s = np.zeros(2, dtype=PAIR)
    s["a"] += x * x
    return sum(row["a"] for row in s)


@way_out
def records_as_a_list(x):
    s = np.zeros(2, dtype=PAIR)
    s["a"] += x * x
    return s.tolist()[0][0]


@way_out
def record_as_an_item(x):
    s = np.zeros(2, dtype=PAIR)
    s["a"] += x * x
    return s.item(0)[0]


@way_out
def records_copied(x):
    s = np.zeros(2, dtype=PAIR)
    s["a"] += x * x
    return s.copy()["a"].sum()


@way_out
def records_sorted(x):
    s = np.zeros(2, dtype=PAIR)
    s["a"] += x * x
    return np.sort(s, order="a")["a"][0]


@way_out
def records_gathered(x):
    s = np.zeros(2, dtype=PAIR)
    s["a"] += x * x
    return s[[0, 1]]["a"].sum()


@way_out
def records_sliced(x):
    s = np.zeros(2, dtype=PAIR)
    s["a"] += x * x
    return s[1:]["a"].sum()


@way_out
def records_assigned(x):
    s, t = np.zeros(2, dtype=PAIR), np.zeros(2, dtype=PAIR)
    s["a"] += x * x
    t[:] = s
    return t["a"].sum()


@way_out
def record_unpacked(x):
    s = np.zeros(2, dtype=PAIR)
    s["a"] += x * x
    (a, _), _ = s
    return a


@way_out
def two_fields(x):
    s = np.zeros(2, dtype=PAIR)
    s["a"] = x * x
    s["b"] = s["a"] * x
    s["a"] = 2.0 * s["b"]
    return s["a"].sum() + s["b"][0]


@way_out
def fields_of_a_part(x):
    s = np.zeros((2, 2), dtype=PAIR)
    s[1]["a"] = x * x
    s["b"][0, :] = x[0]
    return s["a"].sum() + s["b"].sum()


@way_out
def several_fields_written(x):
    s = np.zeros(2, dtype=PAIR)
    s["a"] += x * x
    s[["a", "b"]] = np.ones(2, dtype=PAIR)
    return s["a"].sum() + x[0]


@way_out
def records_over_floats(x):
    b = np.zeros(2)
    s = b.view(PAIR)
    b[:] = x * x
    return s["a"][0] * 2.0 + s["b"].sum()


@way_out
def record_over_floats(x):
    b = np.zeros(2)
    s = b.view(PAIR)
    b[:] = x * x
    return s[0]["a"]
