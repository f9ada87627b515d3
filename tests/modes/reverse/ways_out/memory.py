"""The bytes of active memory, and what gives access to them."""

from __future__ import annotations

import array
import copy
import ctypes
import io
import pickle
import struct
import types

import numpy as np

from tests.modes.reverse.ways_out.collecting import way_out


@way_out
def view_of_ints(x):
    return (x * x).view(np.int64).view(float).sum()


@way_out
def view_of_ints_made_before(x):
    b = np.zeros(2)
    v = b.view(np.int64)
    b[:] = x * x
    return np.array(v).view(float).sum()


@way_out
def view_of_ints_made_before_by_element(x):
    b = np.zeros(2)
    v = b.view(np.int64)
    b[:] = x * x
    return np.array([v[0], v[1]]).view(float).sum()


@way_out
def view_of_bytes_copied(x):
    b = np.zeros(2)
    v = b.view(np.uint8)
    b[:] = x * x
    return v.copy().view(float).sum()


@way_out
def view_of_ints_written(x):
    b = np.zeros(2)
    c = x * x
    b.view(np.int64)[:] = c.view(np.int64)
    return b.sum()


@way_out
def view_of_floats_on_ints(x):
    i = np.zeros(2, np.int64)
    i.view(float)[:] = x * x
    return i.view(float).sum()


@way_out
def ints_read_of_a_view_of_floats(x):
    i = np.zeros(2, np.int64)
    i.view(float)[:] = x * x
    return i.copy().view(float).sum()


@way_out
def scalar_viewed(x):
    return (x[0] * x[1]).view(np.int64).view(np.float64)


@way_out
def bytes_of_an_array(x):
    return np.frombuffer((x * x).tobytes()).sum()


@way_out
def bytes_of_a_scalar(x):
    return np.frombuffer((x[0] * x[1]).tobytes())[0]


@way_out
def bytes_by_the_constructor(x):
    return np.frombuffer(bytes(x * x)).sum()


@way_out
def buffer_of_an_array(x):
    return np.frombuffer(x * x).sum()


@way_out
def memoryview_of_an_array(x):
    return memoryview(x * x)[0]


@way_out
def data_of_an_array(x):
    return (x * x).data[0]


@way_out
def array_of_a_memoryview(x):
    return np.asarray(memoryview(x * x)).sum()


@way_out
def ctypes_of_an_array(x):
    y = x * x
    return y.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[0]


@way_out
def ctypes_double(x):
    return ctypes.c_double(float(x[0] * x[1])).value


@way_out
def ctypes_array(x):
    return (ctypes.c_double * 2)(float(x[0] * x[1]), 0.0)[0]


@way_out
def ctypeslib(x):
    return np.ctypeslib.as_ctypes(x * x)[0]


@way_out
def dlpack(x):
    return np.sum(np.from_dlpack(x * x))


@way_out
def array_interface(x):
    y = x * x
    return np.asarray(types.SimpleNamespace(__array_interface__=y.__array_interface__)).sum()


@way_out
def array_of_the_standard_library(x):
    return array.array("d", [float(x[0] * x[1])])[0]


@way_out
def array_of_the_standard_library_appended(x):
    a = array.array("d")
    a.append(x[0] * x[1])
    return a[0]


@way_out
def array_of_the_standard_library_assigned(x):
    a = array.array("d", [0.0])
    a[0] = x[0] * x[1]
    return a[0]


@way_out
def array_of_the_standard_library_by_method(x):
    a = array.array("d")
    a.fromlist([float(x[0] * x[1])])
    return a.tolist()[0]


@way_out
def struct_packed(x):
    return struct.unpack("d", struct.pack("d", x[0] * x[1]))[0]


@way_out
def struct_packed_into(x):
    buffer = bytearray(8)
    struct.pack_into("d", buffer, 0, x[0] * x[1])
    return struct.unpack_from("d", buffer)[0]


@way_out
def bytearray_written(x):
    buffer = bytearray(16)
    np.frombuffer(buffer)[:] = x * x
    return struct.unpack("2d", bytes(buffer))[0]


@way_out
def memoryview_written(x):
    m = memoryview(bytearray(16)).cast("d")
    m[0] = x[0] * x[1]
    return m[0]


@way_out
def pickled(x):
    return pickle.loads(pickle.dumps(x * x)).sum()


@way_out
def pickled_number(x):
    return pickle.loads(pickle.dumps(float(x[0] * x[1])))


@way_out
def dumped(x):
    return pickle.loads((x * x).dumps()).sum()


@way_out
def saved(x):
    file = io.BytesIO()
    np.save(file, x * x)
    file.seek(0)
    return np.load(file).sum()


@way_out
def reduced(x):
    make, args, *state = (x * x).__reduce__()
    y = make(*args)
    y.__setstate__(state[0])
    return y.sum()


@way_out
def state_set(x):
    y = np.zeros(2)
    y.__setstate__((x * x).__reduce__()[2])
    return y.sum()


@way_out
def copied(x):
    return copy.deepcopy([x * x])[0].sum() + copy.copy(x * x).sum()


@way_out
def byteswapped(x):
    return (x * x).byteswap().byteswap().sum()


@way_out
def packed_bits(x):
    return np.sum(np.packbits((x * x).view(np.uint8)) * 0.0) + x[0] ** 2


@way_out
def memory_mapped(x):
    b = np.zeros(2)
    b.data[0:1] = memoryview(x * x)[0:1]
    return b.sum()


@way_out
def masked_array(x):
    return np.ma.array(x * x, mask=[False, True]).sum()


@way_out
def base_representation(x):
    return int(np.base_repr(int(x[0] * 10.5), 3)) * x[1] ** 2


@way_out
def histogram_of_numbers(x):
    return np.histogram(x, bins=2, weights=x * x)[0].sum()


@way_out
def namespace_of_numbers(x):
    o = types.SimpleNamespace(v=x[0] * x[1])
    return eval("o.v * 2.0", {"o": o})


@way_out
def pool_of_bytes(x):
    pool = np.zeros(32, np.uint8)
    pool[:16].view(float)[:] = x * x
    return pool[:16].view(float).sum()


@way_out
def ints_over_active_bytes(x):
    i = np.zeros(2, np.int64)
    i.view(float)[:] = x * x
    return np.array(i.tolist()).view(float).sum()


@way_out
def caught_view_of_bytes(x):
    i = np.zeros(2, np.int64)
    try:
        i.view(float)[:] = x * x
    except Exception:
        return 0.0
    return i.copy().view(float).sum()


@way_out
def scalar_flat(x):
    return next((x[0] * x[1]).flat) * 2.0


@way_out
def scalar_data(x):
    return np.frombuffer((x[0] * x[1]).data)[0]


@way_out
def scalar_getfield(x):
    return (x[0] * x[1]).getfield(np.float64)


@way_out
def scalar_byteswapped(x):
    return (x[0] * x[1]).byteswap().byteswap()


@way_out
def scalar_reduced(x):
    make, args = (x[0] * x[1]).__reduce__()
    return make(*args)


@way_out
def scalar_dumped(x):
    return pickle.loads((x[0] * x[1]).dumps())


@way_out
def scalar_base(x):
    return np.asarray((x[0] * x[1]).view()).item()


@way_out
def scalar_newargs(x):
    return float(x[0] * x[1]).__getnewargs__()[0]


@way_out
def packed_by_an_object(x):
    return struct.Struct("d").unpack(struct.Struct("d").pack(x[0] * x[1]))[0]


@way_out
def floats_in_a_block_of_bytes(x):
    w = np.zeros(24, np.uint8)[5:21].view(float)
    w[:] = x * x
    w[0] += w[1]
    return w.sum()


@way_out
def ints_of_active_bytes_computed_with(x):
    i = np.zeros(2, np.int64)
    w = i.view(float)
    w[:] = x * x
    return np.sum(i * 1e-18) + w.sum()


@way_out
def ints_of_active_bytes_as_floats(x):
    i = np.zeros(2, np.int64)
    i.view(float)[:] = x * x
    return np.sum(i.astype(float)) * 1e-18


@way_out
def sum_of_active_bytes(x):
    pool = np.zeros(16, np.uint8)
    pool.view(float)[:] = x * x
    return pool.sum() * 1.0 + np.sqrt(pool)[0]


@way_out
def element_of_active_bytes(x):
    i = np.zeros(2, np.int64)
    i.view(float)[:] = x * x
    return np.array([i[0], i[1]]).view(float).sum()
