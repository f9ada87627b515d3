"""Bad input: each message says what, where, why and the fix, and nothing is left changed."""

from __future__ import annotations

import array
import ctypes
import decimal
import fractions
import importlib.util
import itertools
import json
import linecache
import math
import pickle
import struct
import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mooncake_py import grad
from mooncake_py.errors import (
    WIDTH,
    DerivativeDropError,
    Location,
    MissingRuleError,
    MooncakeError,
    NonDifferentiableArgumentError,
    NonScalarOutputError,
    SourceUnavailableError,
    UnsupportedSyntaxError,
    describe,
    shortened,
)

X = np.array([0.3, -1.2, 0.7])


def energy(x, n):
    return np.sum(x * n)


def refused(f: Any, *args: Any, **options: Any) -> MooncakeError:
    """Return the error that a gradient raises; check that the arguments are restored."""
    before = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    with pytest.raises(MooncakeError) as caught:
        grad(f, **options)(*args)
    for a, b in zip(args, before, strict=True):
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b)
    return caught.value


def marked(error: MooncakeError) -> str:
    """Return the text above the carets."""
    where = error.where
    assert where is not None
    assert where.file == __file__
    line, carets = where.excerpt()
    assert line.strip() == linecache.getline(where.file, where.line).strip()
    return line[carets.index("^") : carets.rindex("^") + 1]


# What is asked for.


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        (3, "it is 3 of type int"),
        (True, "it is True of type bool"),
        ("abc", "it is 'abc' of type str"),
        (None, "it is None of type NoneType"),
        (np.arange(3), "it is an array of dtype int64"),
        (np.array([True]), "it is an array of dtype bool"),
        ([1, 2], "it is a list without floats"),
        ({}, "it is an empty dict"),
        ({"a": 1}, "it is a dict without floats"),
        (np.int64(3), "it is np.int64(3) of type int64"),
        (np.array([1.0, None]), "an array of objects"),
        (np.zeros(2, [("a", float)]), "a structured array"),
        ((v for v in [1.0]), "a generator cannot have a tangent"),
    ],
)
def test_argument_without_derivative(argument, text):
    error = refused(energy, argument, 1)
    assert type(error) is NonDifferentiableArgumentError
    assert isinstance(error, TypeError)
    assert error.what.startswith(
        "cannot take the gradient of energy with respect to argument 0 ('x'): "
    )
    assert text in error.what
    assert error.why
    assert error.fix


def test_argument_is_named_by_its_own_index():
    error = refused(energy, X, np.arange(3), argnums=1)
    assert "argument 1 ('n')" in error.what
    assert "n.astype(float)" in error.fix
    assert "pass a float: 2.0" in refused(energy, X, 2, argnums="n").fix


@pytest.mark.parametrize(
    ("argnums", "text"),
    [
        (2, "argnums=2 is out of range: energy was called with 2 positional arguments"),
        (-3, "argnums=-3 is out of range"),
        ((0, 5), "argnums=5 is out of range"),
        ("z", "argnums names the argument 'z', which was not passed to energy"),
        (1.5, "argnums=1.5 does not name arguments of energy"),
        ((), "argnums=() does not name arguments of energy"),
        ([0], r"argnums=[0] does not name arguments"),
    ],
)
def test_argnums_that_name_nothing(argnums, text):
    error = refused(energy, X, 1.0, argnums=argnums)
    assert type(error) is NonDifferentiableArgumentError
    assert text in error.what
    assert error.fix


@pytest.mark.parametrize(("argnums", "name"), [(0, "x"), (1, "scale")])
def test_an_argument_that_is_not_passed_is_named(argnums, name):
    def scaled(x, scale=2.0):
        return scale * x

    with pytest.raises(NonDifferentiableArgumentError) as caught:
        grad(scaled, argnums)(*[3.0][:argnums])
    assert f"names the argument {name!r}, which was not passed to" in caught.value.what
    assert "its parameters are ['x', 'scale']" in caught.value.why
    assert "even if it has a default" in caught.value.fix


def test_argnums_that_cannot_be_are_refused_at_once():
    for argnums, fix in (([0], "argnums=(0,)"), (X, "grad(f)(x), not grad(f, x)")):
        with pytest.raises(NonDifferentiableArgumentError, match="does not name") as caught:
            grad(energy, argnums)
        assert fix in caught.value.fix


def test_ints_in_a_list():
    assert "list(map(float, x))" in refused(energy, [1, 2], 1).fix


def test_code_made_by_exec_under_the_name_of_a_file():
    scope = {}
    exec(compile("def made(x):\n    return x * x\n", __file__, "exec"), scope)
    error = refused(scope["made"], 2.0)
    assert "made by exec" in error.why
    assert "changed" not in error.why


def test_an_error_within_a_library_names_its_line_too(tmp_path):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    file = folder / "library.py"
    file.write_text(
        "import struct\ndef packed(x):\n    return struct.unpack('d', struct.pack('d', x[0]))[0]\n"
    )
    spec = importlib.util.spec_from_file_location("library", file)
    assert spec is not None
    assert spec.loader is not None
    library = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(library)
    error = refused(lambda x: library.packed(x), X)
    assert error.where is not None
    assert error.where.file == __file__
    assert f"{file}:3" in str(error)


def test_result_of_a_function_instead_of_the_function():
    with pytest.raises(NonDifferentiableArgumentError, match="it is not a function") as caught:
        grad(energy(X, 1.0))
    assert "grad(f)(x)" in caught.value.fix


@pytest.mark.parametrize(
    ("output", "text", "fix"),
    [
        (
            lambda x: x * 2,
            r"an array of shape \(3,\) and dtype float64",
            "np.sum, or use jacobian, or vjp",
        ),
        (lambda x: (x, x), "a value of type tuple", "has_aux=True"),
        (lambda x: x[0] * 1j, "a value of type complex128", "y.real"),
        (lambda x: None, "a value of type NoneType", "`return` missing"),
        (lambda x: x[0] > 0, "a value of type bool", "a float"),
        (lambda x: (v for v in x), "a value of type generator", "instead of `yield`"),
    ],
)
def test_output_that_is_not_one_real_number(output, text, fix):
    with pytest.raises(NonScalarOutputError, match=text) as caught:
        grad(output)(X.copy())
    error = caught.value
    assert error.what.startswith("the lambda at test_errors.py:")
    assert error.where is not None
    assert error.where.file == __file__
    assert fix in error.fix


def test_has_aux_without_a_pair():
    error = refused(energy, X.copy(), 1.0, has_aux=True)
    assert "(value, aux)" in error.what
    assert "returned a float64" in error.why


def test_wrong_number_of_arguments_is_pythons_error():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
        grad(energy)(X.copy())


# What the function does.


def function_without_source():
    namespace: dict[str, Any] = {}
    exec("def squared(x):\n    return x * x", namespace)
    return namespace["squared"]


def test_function_without_source():
    squared = function_without_source()
    error = refused(squared, 2.0)
    assert type(error) is SourceUnavailableError
    assert "no Python source for squared" in error.what
    inner = refused(lambda x: squared(x) * 2, 2.0)
    assert marked(inner) == "squared(x)"
    assert "register a rule" in inner.fix


def pack(x):
    y = x * 2
    return struct.pack("d", y)[0] * y


def test_compiled_function_without_rule():
    error = refused(pack, 2.0)
    assert type(error) is MissingRuleError
    assert isinstance(error, NotImplementedError)
    assert "struct.pack" in error.what
    assert marked(error) == 'struct.pack("d", y)'
    assert error.where.function == "pack"
    assert "compiled" in error.why
    assert "called with (str, active float)" in error.why
    assert "from_vjp" in error.fix
    assert "zero_derivative" in error.fix
    text = str(error).split("\n")
    assert [
        line.split(":")[0].strip() for line in text if line.startswith("  ") and ":" in line[:8]
    ] == ["where", "why", "fix"]


def test_compiled_function_inside_numpy_is_reported_at_the_users_line():
    error = refused(lambda a: np.sum(np.frombuffer(a)), X.copy())
    assert marked(error) == "np.frombuffer(a)"


def drop_by_memoryview(x):
    return memoryview(x)[0]


def drop_by_data(x):
    return np.frombuffer(x.data)[0]


def drop_by_ctypes(x):
    return x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[0]


def drop_by_ctypes_number(x):
    return ctypes.c_double(x[0]).value


def drop_by_bytes(x):
    return np.frombuffer(x.tobytes())[0]


def drop_by_struct(x):
    return struct.unpack("3d", struct.pack("3d", *x))[0]


def drop_by_array_module(x):
    return array.array("d", x)[0]


def drop_by_pickle(x):
    return pickle.loads(pickle.dumps(x))[0]


def drop_by_json(x):
    return json.loads(json.dumps(x.tolist()))[0]


def drop_by_decimal(x):
    return float(decimal.Decimal(x[0]))


def drop_by_fraction(x):
    return float(fractions.Fraction(x[0]))


def drop_by_structured_array(x):
    a = np.zeros(3, dtype=[("u", float)])
    a["u"] = x
    return a.copy()["u"][0]


def drop_by_bits(x):
    return np.sum(x.view(np.int64).view(float))


def drop_by_frompyfunc(x):
    return np.sum(np.frompyfunc(math.sin, 1, 1)(x))


def drop_by_float_subclass(x):
    class Degrees(float):
        pass

    return Degrees(x[0]) * 2


DROPS = [f for name, f in sorted(globals().items()) if name.startswith("drop_by_")]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", DROPS, ids=lambda f: f.__name__)
def test_what_would_drop_a_derivative_is_refused(f):
    error = refused(f, X.copy())
    assert isinstance(error, (DerivativeDropError, MissingRuleError))
    assert error.why
    assert error.fix
    assert error.where is not None
    assert error.where.file == __file__
    assert error.where.function.startswith(f.__name__)


def numbers_outside(a):
    for i in range(len(a)):
        yield a[i] * 2


def test_generator_made_outside_is_refused():
    x = X.copy()
    values = numbers_outside(x)
    error = refused(lambda a: next(values) * np.sum(a), x)
    assert "numbers_outside was made outside" in error.what
    assert refused(lambda a: sum(v for v in values), x).fix
    assert refused(lambda a: values.send(None), x).fix
    harmless = itertools.count(2)
    np.testing.assert_array_equal(grad(lambda a: next(harmless) * np.sum(a))(x), 2.0)


WEIGHTS = np.zeros(3)


def total_of_weights():
    return float(np.sum(WEIGHTS))


def totals():
    while True:
        yield total_of_weights()


def test_generator_made_outside_that_reads_a_global_array_is_refused():
    values = totals()
    next(values)

    def f(x):
        WEIGHTS[:] = x
        return next(values) * 2

    assert "totals was made outside" in refused(f, X.copy()).what


@pytest.mark.parametrize("name", ["dtype", "strides", "data"])
def test_setting_what_reads_the_bytes_otherwise_is_refused(name):
    def f(x):
        setattr(x, name, getattr(X, name))
        return np.sum(x)

    assert repr(name) in refused(f, X.copy()).what


def unsupported(x):
    exec("y = 1")
    z = eval("x")
    return z * eval("2.0")


async def asynchronous(x):
    return x


def test_unsupported_syntax_names_every_place():
    error = refused(unsupported, 2.0)
    assert type(error) is UnsupportedSyntaxError
    first = unsupported.__code__.co_firstlineno
    for k in range(1, 4):
        assert f"{__file__}:{first + k}:" in str(error)
    assert error.fix
    assert "event loop" in refused(asynchronous, 2.0).why


# Writes and callbacks that nobody would see, though only constants are involved.


def unseen_by_memoryview(x):
    p = np.ones(3)
    y = np.sum(x * p)
    p.data[0] = 5.0
    return y


def unseen_by_ctypes(x):
    p = np.ones(3)
    y = np.sum(x * p)
    p.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[0] = 5.0
    return y


def unseen_by_thread(x):
    p = np.ones(3)
    y = np.sum(x * p)
    thread = threading.Thread(target=lambda: p.__setitem__(0, 5.0))
    thread.start()
    return y


UNSEEN = [f for name, f in sorted(globals().items()) if name.startswith("unseen_by_")]


@pytest.mark.parametrize("f", UNSEEN, ids=lambda f: f.__name__)
def test_what_would_write_unseen_is_refused(f):
    error = refused(f, X.copy())
    assert isinstance(error, (DerivativeDropError, MissingRuleError))
    assert error.where is not None
    assert error.where.function == f.__name__


def test_cells_of_a_notebook_have_the_names_that_ipython_gives_them(monkeypatch):
    names = {"/tmp/ipykernel_1/23.py": ("Cell", "In[4]")}
    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=names.get))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert str(Location("/tmp/ipykernel_1/23.py", 2, "f", 4)) == "cell In[4], line 2 in f"
    assert str(Location("model.py", 2, "f", 4)) == "model.py:2:5 in f"


@pytest.mark.parametrize("ipython", [SimpleNamespace(), SimpleNamespace(get_ipython=lambda: None)])
def test_files_have_their_names_where_no_notebook_runs(monkeypatch, ipython):
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert str(Location("model.py", 2)) == "model.py:2"


# Long lines.


LONG = "y = " + " + ".join(f"np.sin(x[{k}])" for k in range(40))


@pytest.mark.parametrize("marked", ["np.sin(x[0])", "np.sin(x[20])", "np.sin(x[39])", "y", LONG])
def test_long_lines_are_shortened(marked: str) -> None:
    start = LONG.index(marked)
    line, start, stop = shortened(LONG, start, start + len(marked))
    assert len(line) <= WIDTH + 2 * len("...")
    assert "..." in line
    if marked is LONG:
        assert (line[:start], line[start:stop]) == ("", LONG[:WIDTH])
    else:
        assert line[start:stop] == marked
    assert line.removeprefix("...").removesuffix("...") in LONG


def test_long_lines_in_messages() -> None:
    name = f"<{test_long_lines_in_messages.__name__}>"
    text = f"    {LONG}\n"
    linecache.cache[name] = len(text), None, [text], name
    column = text.index("np.sin(x[30])")
    for where in (Location(name, 1, "f", column, column + 13), Location(name, 1)):
        message = describe("what", where=where)
        assert max(map(len, message.split("\n"))) < WIDTH + 20
    line, carets = Location(name, 1, "f", column, column + 13).excerpt()
    assert line[carets.index("^") :].startswith("np.sin(x[30])")
    del linecache.cache[name]
