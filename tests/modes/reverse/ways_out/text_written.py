"""Text that is written into arrays of numbers, and numbers into arrays of text."""

from __future__ import annotations

import numpy as np

from tests.modes.reverse.ways_out.collecting import way_out


@way_out
def string_dtype_assigned(x):
    a = np.empty(2, dtype=np.dtypes.StringDType())
    a[0] = str(x[0] * x[1])
    return float(a[0])


@way_out
def number_assigned_to_text(x):
    a = np.zeros(2, dtype="U32")
    a[0] = x[0] * x[1]
    return float(a[0])


@way_out
def array_assigned_to_text(x):
    a = np.zeros(2, dtype="U32")
    a[:] = x * x
    return a.astype(float).sum()


@way_out
def array_assigned_to_string_dtype(x):
    a = np.empty(2, dtype=np.dtypes.StringDType())
    a[:] = x * x
    return a.astype(float).sum()


@way_out
def text_assigned(x):
    b = np.zeros(2)
    b[:] = [str(v * v) for v in x]
    return b.sum()


@way_out
def text_assigned_to_an_element(x):
    b = np.zeros(2)
    b[0] = str(x[0] * x[1])
    return b.sum()


@way_out
def text_assigned_by_mask(x):
    b = np.zeros(2)
    b[np.array([True, True])] = [str(v * v) for v in x]
    return b.sum()


@way_out
def text_array_assigned(x):
    b = np.zeros(2)
    b[:] = np.array([str(v * v) for v in x])
    return b.sum()


@way_out
def text_objects_assigned(x):
    b = np.zeros(1)
    b[:] = np.array([str(x[0] * x[1])], dtype=object)
    return b[0]


@way_out
def text_by_flat(x):
    b = np.zeros(2)
    b.flat = [str(v * v) for v in x]
    return b.sum()


@way_out
def text_by_flat_element(x):
    b = np.zeros(2)
    b.flat[0] = str(x[0] * x[1])
    return b.sum()


@way_out
def text_by_put(x):
    b = np.zeros(2)
    np.put(b, [0, 1], [str(v * v) for v in x])
    return b.sum()


@way_out
def text_by_place(x):
    b = np.zeros(2)
    np.place(b, [True, True], [str(v * v) for v in x])
    return b.sum()


@way_out
def text_by_putmask(x):
    b = np.zeros(2)
    np.putmask(b, [True, True], [str(v * v) for v in x])
    return b.sum()


@way_out
def text_by_copyto(x):
    b = np.zeros(2)
    np.copyto(b, np.array([str(v * v) for v in x]), casting="unsafe")
    return b.sum()


@way_out
def text_by_fill(x):
    b = np.zeros(2)
    b.fill(str(x[0] * x[1]))
    return b.sum()


@way_out
def text_by_full(x):
    return np.full(2, str(x[0] * x[1]), dtype=float).sum()


@way_out
def text_by_full_like(x):
    return np.full_like(x, str(x[0] * x[1])).sum()


@way_out
def text_by_fill_diagonal(x):
    b = np.zeros((2, 2))
    np.fill_diagonal(b, str(x[0] * x[1]))
    return b.sum()


@way_out
def text_by_put_along_axis(x):
    b = np.zeros(2)
    np.put_along_axis(b, np.array([0, 1]), [str(v * v) for v in x], 0)
    return b.sum()


@way_out
def text_by_setitem_of_operator(x):
    b = np.zeros(2)
    b.__setitem__(0, str(x[0] * x[1]))
    return b.sum()


@way_out
def text_added_in_place(x):
    b = np.zeros(2)
    b += np.array([str(v * v) for v in x]).astype(float)
    return b.sum()


@way_out
def text_assigned_by_name(x):
    b = np.zeros(2)
    s = str(x[0] * x[1])
    b[0] = s
    b[1] += 1.0
    return b.sum()


@way_out
def texts_assigned_in_a_loop(x):
    b = np.zeros(2)
    t = [str(v * v) for v in x]
    for i in range(2):
        b[i] = t[i]
    return b.sum()


@way_out
def text_inserted(x):
    return np.insert(x, 0, str(x[0] * x[1])).sum()


@way_out
def text_padded(x):
    return np.pad(x, 1, constant_values=str(x[0] * x[1])).sum()


@way_out
def text_appended(x):
    return np.append(x, [str(x[0] * x[1])]).astype(float).sum()


@way_out
def text_where(x):
    return np.where([True, False], x, np.array(["1.0", "2.0"])).astype(float).sum()


@way_out
def text_in_place(x):
    b = x * x
    b[0] = str(x[0] * x[1])
    return b.sum()


@way_out
def text_in_reshape(x):
    return np.reshape([str(v * v) for v in x], (2, 1)).astype(float).sum()


@way_out
def text_in_stack(x):
    return np.stack([[str(x[0])], [str(x[1])]], dtype=float, casting="unsafe").sum()


@way_out
def text_into_stack(x):
    out = np.zeros((2, 1))
    np.stack([[str(x[0])], [str(x[1])]], out=out, casting="unsafe")
    return out.sum()
