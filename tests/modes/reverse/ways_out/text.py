"""Numbers that are written as text and read again."""

from __future__ import annotations

import csv
import decimal
import io
import json
import string

import numpy as np

from tests.modes.reverse.ways_out.collecting import way_out


@way_out
def numbers_from_text(x):
    return (x * x).astype(str).astype(float).sum()


@way_out
def numbers_from_bytes(x):
    return (x * x).astype("S32").astype(float).sum()


@way_out
def numbers_from_string_dtype(x):
    return (x * x).astype(np.dtypes.StringDType()).astype(float).sum()


@way_out
def text_of_an_array_of_dtype(x):
    return np.array([x[0] * x[1]], dtype=str).astype(float)[0]


@way_out
def string_dtype_of_a_list(x):
    return np.array([x[0] * x[1]], dtype=np.dtypes.StringDType()).astype(float)[0]


@way_out
def text_as_objects(x):
    return np.array([str(x[0] * x[1])], dtype=object).astype(float)[0]


@way_out
def text_in_array(x):
    return np.array([str(v * v) for v in x], dtype=float).sum()


@way_out
def text_in_asarray(x):
    return np.asarray([str(v * v) for v in x], float).sum()


@way_out
def text_in_fromiter(x):
    return np.fromiter((str(v * v) for v in x), float).sum()


@way_out
def text_in_fromstring(x):
    return np.fromstring(" ".join(str(v * v) for v in x), sep=" ").sum()


@way_out
def text_in_loadtxt(x):
    file = io.StringIO()
    np.savetxt(file, x * x, fmt="%.17g")
    file.seek(0)
    return np.loadtxt(file).sum()


@way_out
def text_in_genfromtxt(x):
    return np.genfromtxt([str(v * v) for v in x]).sum()


@way_out
def text_in_matrix(x):
    return np.matrix(f"{float(x[0] * x[1])!r} 1").sum()


@way_out
def text_in_float64(x):
    return np.float64(str(x[0] * x[1])) * 2.0


@way_out
def text_of_numpy_float(x):
    return float(np.format_float_positional(x[0] * x[1]))


@way_out
def text_of_array2string(x):
    return float(np.array2string((x * x)[0], precision=17))


@way_out
def text_of_strings_module(x):
    return float(np.strings.add(np.array((x * x).astype(str)), "0")[0])


@way_out
def text_of_char_module(x):
    return np.char.strip((x * x).astype(str)).astype(float).sum()


@way_out
def text_of_the_string_class(x):
    return float(string.Template("$v").substitute(v=x[0] * x[1]))


@way_out
def text_of_a_list(x):
    return float(str([x[0] * x[1]])[1:-1].removeprefix("np.float64(").rstrip(")"))


@way_out
def text_in_json(x):
    return json.loads(json.dumps([float(x[0] * x[1])]))[0]


@way_out
def text_in_json_of_tolist(x):
    return sum(json.loads(json.dumps((x * x).tolist())))


@way_out
def text_in_csv(x):
    file = io.StringIO()
    csv.writer(file).writerow([float(x[0] * x[1])])
    file.seek(0)
    return float(next(csv.reader(file))[0])


@way_out
def text_in_complex(x):
    return complex(str(x[0] * x[1])).real


@way_out
def text_by_eval(x):
    return eval(repr(float(x[0] * x[1])))


@way_out
def text_in_decimal(x):
    return float(decimal.Decimal(str(x[0] * x[1])))


@way_out
def hexadecimal(x):
    return float.fromhex((x[0] * x[1]).hex())


@way_out
def hexadecimal_of_float(x):
    return float.fromhex(float.hex(float(x[0] * x[1])))


@way_out
def written_into_ints(x):
    a = np.zeros(2, int)
    a[:] = x * 10.5
    return np.sum(a * x * x)


@way_out
def written_to_a_file(x):
    file = io.BytesIO()
    file.write((x * x).tobytes())
    return np.frombuffer(file.getvalue()).sum()


@way_out
def char_array(x):
    return float(np.char.array([str(x[0] * x[1])])[0])


@way_out
def unique_of_text(x):
    return np.unique(np.array([str(v * v) for v in x])).astype(float).sum()


@way_out
def polynomial_of_text(x):
    return float(str(np.poly1d([x[0] * x[1]])).strip())


@way_out
def sorted_text(x):
    return float(sorted([str(x[0] * x[1])])[0])


@way_out
def text_in_a_list_of_numbers(x):
    return np.array([1.0, str(x[0] * x[1])], dtype=float).sum()


@way_out
def text_to_decimal_context(x):
    return float(decimal.Context().create_decimal(str(x[0] * x[1])))


@way_out
def text_of_an_inner_derivative(x):
    import mooncake_py

    y, text = mooncake_py.grad(lambda z: (z * z, str(z * x[0])), has_aux=True)(x[1])
    return y * float(text)


@way_out
def text_read_by_an_inner_derivative(x):
    import mooncake_py

    text = str(x[0] * x[1])
    return mooncake_py.grad(lambda z: z * float(text))(2.0)


@way_out
def text_of_an_inner_jvp(x):
    import mooncake_py

    return mooncake_py.jvp(lambda z: float(str(x[0] * x[1])) * z, (x[1],), (1.0,))[1]


@way_out
def written_to_a_text_file(x):
    file = io.StringIO()
    print(float(x[0] * x[1]), file=file)
    return float(file.getvalue())


@way_out
def written_by_tofile_of_text(x):
    return np.fromstring((x * x).astype(str)[0], sep=",")[0]


@way_out
def text_by_vectorize(x):
    return np.vectorize(lambda s: float(s))((x * x).astype(str)).sum()


@way_out
def set_of_text(x):
    return sum(map(float, {str(v * v) for v in x}))
