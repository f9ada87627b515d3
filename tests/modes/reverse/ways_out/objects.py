"""Active data in arrays of objects."""

from __future__ import annotations

import numpy as np

from tests.modes.reverse.ways_out.collecting import way_out


@way_out
def array_of_objects(x):
    return np.array([x[0] * x[1], x[1]], dtype=object).sum()


@way_out
def array_of_objects_of_an_array(x):
    return np.array(x * x, dtype=object).sum()


@way_out
def astype_object(x):
    return (x * x).astype(object).sum()


@way_out
def asarray_of_objects(x):
    return np.asarray(x * x, dtype="O")[0]


@way_out
def empty_objects_assigned(x):
    a = np.empty(2, dtype=object)
    a[0] = x[0] * x[1]
    return a[0] * 2.0


@way_out
def empty_objects_filled_with_an_array(x):
    a = np.empty(2, dtype=object)
    a[:] = x * x
    return a[0] * 2.0


@way_out
def objects_that_hold_arrays(x):
    a = np.empty(1, dtype=object)
    a[0] = x * x
    return np.sum(a[0])


@way_out
def full_of_objects(x):
    return np.full(2, x[0] * x[1], dtype=object)[1]


@way_out
def full_like_objects(x):
    return np.full_like(np.empty(2, object), x[0] * x[1])[1]


@way_out
def concatenated_objects(x):
    return np.concatenate([x * x, np.array(["a"], dtype=object)])[0]


@way_out
def stacked_with_dtype_object(x):
    return np.stack([x * x, x], dtype=object)[0, 1]


@way_out
def where_of_objects(x):
    return np.where([True, False], x * x, np.array([None, None]))[0]


@way_out
def choose_of_objects(x):
    return np.choose([0, 1], [x * x, np.array([None, 2.0], dtype=object)])[0]


@way_out
def ufunc_with_dtype_object(x):
    return np.multiply(x, x, dtype=object)[0]


@way_out
def array_times_objects(x):
    return (x * np.array([1.0, 2.0], dtype=object)).sum()


@way_out
def objects_times_array_in_place(x):
    a = np.array([1.0, 2.0], dtype=object)
    a *= x
    return a.sum()


@way_out
def objects_plus_number_in_place(x):
    a = np.array([1.0, 2.0], dtype=object)
    a += x[0] * x[1]
    return a.sum()


@way_out
def ufunc_into_objects(x):
    a = np.empty(2, dtype=object)
    np.multiply(x, x, out=a)
    return a[0]


@way_out
def sum_into_objects(x):
    a = np.empty((), dtype=object)
    np.sum(x * x, out=a)
    return a[()]


@way_out
def cumsum_of_dtype_object(x):
    return np.cumsum(x * x, dtype=object)[1]


@way_out
def sum_of_dtype_object(x):
    return np.sum(x * x, dtype=object)


@way_out
def dot_of_objects(x):
    return np.dot(x, np.array([1.0, 2.0], dtype=object))


@way_out
def ragged_objects(x):
    return np.array([x, x[:1] * x[1]], dtype=object)[1][0]


@way_out
def fromiter_of_objects(x):
    return np.fromiter((v * v for v in x), dtype=object)[1]


@way_out
def frompyfunc(x):
    return np.frompyfunc(lambda v: v * v, 1, 1)(x)[0]


@way_out
def vectorize_to_objects(x):
    return np.vectorize(lambda v: v * v, otypes=[object])(x)[1]


@way_out
def objects_put(x):
    a = np.empty(2, dtype=object)
    np.put(a, [0, 1], x * x)
    return a[0]


@way_out
def objects_copied_to(x):
    a = np.empty(2, dtype=object)
    np.copyto(a, x * x)
    return a[0]


@way_out
def objects_by_flat(x):
    a = np.empty(2, dtype=object)
    a.flat = x * x
    return a[0]


@way_out
def object_filled(x):
    a = np.empty(2, dtype=object)
    a.fill(x[0] * x[1])
    return a[0]


@way_out
def objects_of_numbers_of_python(x):
    return np.array([float(x[0] * x[1]), "a"], dtype=object)[0]


@way_out
def nditer_of_objects(x):
    it = np.nditer(x * x, flags=["refs_ok", "buffered"], op_dtypes=[object], casting="unsafe")
    return sum(v.item() for v in it)


@way_out
def objects_in_a_dict(x):
    d = dict(zip(["a", "b"], (x * x).astype(object), strict=True))
    return d["a"]


@way_out
def objects_moved_about(x):
    a = np.array([None, x[0] * x[1]], dtype=object)[::-1].reshape(2, 1).copy()
    return a[0, 0] * 2.0


@way_out
def objects_compared(x):
    return np.maximum(np.array([x[0]], dtype=object), np.array([x[1]], dtype=object))[0]


@way_out
def sum_of_numbers_in_objects(x):
    a = np.empty(2, object)
    a[:] = [x[0] * x[1], x[1]]
    return sum(a) + np.sum(a)
