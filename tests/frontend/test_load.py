"""Deriving, remembering and instantiating rewritten functions."""

from __future__ import annotations

import gc
import importlib
import math
import sys
import threading
import weakref
import zipfile
from typing import Any

import pytest

from mooncake_py import grad
from mooncake_py.errors import SourceUnavailableError
from mooncake_py.frontend import load
from mooncake_py.frontend.load import derive, instantiate, show_source
from tests.frontend.native_context import NativeContext


def derived_of(function: Any) -> load.Derived:
    return derive(function.__code__, function.__globals__)


def test_derived_describes_the_function():
    def outer():
        a = b = 0

        def f(x):
            """Document."""
            nonlocal a
            global _unused
            a = _unused = x
            yield x[1:2], b

        return f

    f = outer()
    derived = derived_of(f)
    assert derived.stored_globals == {"_unused"}
    assert derived.stored_free == {"a"}
    assert derived.is_generator
    assert derived.file == __file__
    assert derived.qualname == f.__qualname__
    assert derived.first_line == f.__code__.co_firstlineno
    assert derived.injected == {"_mk_k0": slice(1, 2)}
    assert derived.code.co_filename == __file__
    assert derived.code.co_qualname == f.__code__.co_qualname
    assert derived.code.co_firstlineno == f.__code__.co_firstlineno
    assert derived.code.co_consts[0] == "Document."


def test_names_stored_by_nested_functions_do_not_count():
    def f(x):
        def g():
            global _unused
            _unused = 1

        return g

    assert derived_of(f).stored_globals == frozenset()


def test_names_stored_by_class_bodies_count():
    def f():
        class A:
            global _unused
            _unused = 1

        return A

    assert derived_of(f).stored_globals == {"_unused"}


def test_instance_shares_globals_cells_and_defaults():
    count = 0

    def f(x, y=[], *, z={}):  # noqa: B006
        nonlocal count
        count += 1
        return count, y, z

    f.__name__, f.__qualname__ = "renamed", "re.named"
    new = instantiate(derived_of(f), f)
    assert new.__globals__ is f.__globals__
    assert new(1, _mk_ctx=NativeContext()) == (1, [], {})
    assert f(1) == (2, [], {})
    assert count == 2
    assert new.__defaults__ is f.__defaults__
    assert new.__kwdefaults__ is f.__kwdefaults__
    assert (new.__name__, new.__qualname__) == ("renamed", "re.named")


def test_qualified_names_within_are_those_of_the_original():
    def f():
        class A:
            def m(self):
                return lambda: 0

        return A, A.m, A().m(), (i for i in ())

    new = instantiate(derived_of(f), f)
    expected = [item.__qualname__ for item in f()]
    assert [item.__qualname__ for item in new(_mk_ctx=NativeContext())] == expected


def test_instances_of_one_code_keep_their_closures_apart():
    def make(k):
        return lambda x: x[0:1] + [k]

    one, two = make(1), make(2)
    assert derived_of(one) is derived_of(two)
    context = NativeContext()
    assert context.run(one, [0, 5]) == [0, 1]
    assert context.run(two, [0, 5]) == [0, 2]


def test_result_is_remembered():
    def f(x):
        return x

    assert derived_of(f) is derived_of(f)


def test_equal_code_objects_are_kept_apart(define):
    text = "def f(x):\n    return x + 1\n"
    one, two = define(text), define(text)
    assert one.__code__.co_filename != two.__code__.co_filename
    assert derived_of(one).file != derived_of(two).file


@pytest.mark.usefixtures("only_new_objects")
def test_memory_of_short_lived_code_is_freed(define):
    before = len(load._entries)
    for k in range(3):
        function = define(f"def f(x):\n    return x + {k}\n")
        derived_of(function)
        reference = weakref.ref(function.__code__)
        del function
        gc.collect()
        assert reference() is None
    assert len(load._entries) <= before


@pytest.mark.usefixtures("only_new_objects")
def test_code_freed_at_exit_needs_no_globals_of_the_module(define, monkeypatch):
    function = define("def f(x):\n    return x + 1\n")
    derived_of(function)
    key, entries = id(function.__code__), load._entries
    assert key in entries
    unraisable = []
    with monkeypatch.context() as patch:
        # As the interpreter does when it ends.
        patch.setattr(load, "_entries", None)
        patch.setattr(load, "_forget", None)
        patch.setattr(sys, "unraisablehook", lambda hook: unraisable.append(str(hook.exc_value)))
        del function
        gc.collect()
    assert unraisable == []
    assert key not in entries


def test_nested_lambdas_do_not_grow_the_memory():
    def f(n):
        return sum((lambda x: x + 1)(k) for k in range(n))

    context = NativeContext(__file__)
    context.run(f, 2)
    before = len(load._entries)
    assert context.run(f, 50) == sum(range(51))
    assert len(load._entries) == before


def test_module_name_that_becomes_a_value_is_derived_anew(define):
    function = define("import math as m\ndef f(x):\n    return m.sin\n")
    context = NativeContext()
    assert context.run(function, 1) is math.sin
    assert "getattr" not in context.seen

    class Fake:
        sin = "not a module"

    function.__globals__["m"] = Fake()
    assert context.run(function, 1) == "not a module"
    assert "getattr" in context.seen
    function.__globals__["m"] = math
    assert context.run(function, 1) is math.sin


def test_builtin_that_becomes_shadowed_is_derived_anew(define):
    function = define("def f(x):\n    return [k + 1 for k in range(x)], len(x) + 0\n")
    with pytest.raises(TypeError):
        NativeContext().run(function, 2.5)
    function.__globals__["range"] = lambda x: [x]
    function.__globals__["len"] = lambda x: x
    context = NativeContext()
    assert context.run(function, 2.5) == ([3.5], 2.5)
    assert context.seen.count("add") == 2


def test_globals_stay_live(define):
    function = define("scale = 2\ndef f(x):\n    return x * scale\n")
    context = NativeContext()
    assert context.run(function, 3) == 6
    function.__globals__["scale"] = 5
    assert context.run(function, 3) == 15


def test_nothing_is_added_to_the_globals(define):
    function = define("def f(x):\n    return x[1:2], x[x[0]:]\n")
    before = set(function.__globals__)
    NativeContext().run(function, [0, 1])
    assert set(function.__globals__) == before


def test_user_code_is_not_run_by_deriving(define):
    function = define(
        "log = []\n"
        "def d(f):\n    log.append('decorated')\n    return f\n"
        "@d\ndef f(x=log.append('default')):\n    return lambda y=log.append('inner'): 0\n"
    )
    assert function.__globals__["log"] == ["default", "decorated"]
    derived_of(function)
    assert function.__globals__["log"] == ["default", "decorated"]


def test_future_flags_are_kept(define):
    text = "def f():\n    def g(x: undefined_name): pass\n    return g.__annotations__\n"
    postponed = define("from __future__ import annotations\n" + text)
    assert NativeContext().run(postponed) == {"x": "undefined_name"}
    with pytest.raises(NameError):
        NativeContext().run(define(text))


def test_zero_argument_super_and_dunder_class():
    class A:
        def f(self, x):
            return x

    class B(A):
        def f(self, x):
            self = [self][0]
            return super().f(x) + 1, __class__ is B

    new = instantiate(derived_of(B.f), B.f)
    assert new(B(), 2, _mk_ctx=NativeContext()) == (3, True)


def test_underscore_and_own_name_as_globals_of_a_method(define):
    maker = define(
        "from gettext import gettext as _\n"
        "def m(x): return x\n"
        "class A:\n    def m(self): return _('a') + m('b') + A.__name__\n"
        "def f(): return A\n"
    )
    A = maker()
    assert NativeContext().run(A.m, A()) == "abA"


def test_threads_share_one_result(define):
    body = "".join(f"    x = x + {k}\n" for k in range(50))
    function = define(f"def f(x):\n{body}    return x\n")
    barrier = threading.Barrier(8)
    results = []

    def work():
        barrier.wait()
        results.append(derived_of(function))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert len({id(result) for result in results}) == 1


def test_generator_expression_alone_is_refused():
    generator = (x for x in ())
    with pytest.raises(SourceUnavailableError, match="started outside"):
        derive(generator.gi_code, globals())


def test_shown_source_is_deterministic_and_complete(define):
    text = "@(lambda g: g)\ndef f(u, *, k=1):\n    u[1:-1] += k\n    return u[k:]\n"
    function = define(text)
    shown = show_source(derived_of(function))
    assert shown == (
        f"# f, rewritten from {function.__code__.co_filename}:1\n"
        "# _mk_f0 = StatementSite(C.add(C.getitem(V[1], V[2]), V[0]), (1, 2))\n"
        "# _mk_k0 = slice(1, -1, None)\n"
        "# _mk_steady_slice = steady_slice\n"
        "def f(u, *, k, _mk_ctx):\n"
        "    _mk_f0.run(_mk_ctx, (), (k, u, _mk_k0))\n"
        "    return _mk_ctx.getitem(u, _mk_steady_slice(k, None))\n"
    ).replace("k, _mk_ctx", "k=1, _mk_ctx")
    again = show_source(derived_of(define(text)))
    assert again.splitlines()[1:] == shown.splitlines()[1:]


def test_tree_of_the_file_is_left_alone(define):
    text = "def f(x):\n    x[0], y = x\n    x += 1\n"
    text += "    return [a for a in x[1:]], lambda b=x.c: b\n"
    function = define(text)
    node = load.locate(function.__code__).node
    before = load.ast.dump(node, include_attributes=True)
    derived_of(function)
    assert load.ast.dump(node, include_attributes=True) == before


class Loader:
    """Knows the text of a module that is in no file."""

    text = "q = 3.0\n\ndef f(x):\n    return x * x * q\n"

    def get_source(self, name):
        return self.text


def test_text_that_only_a_loader_knows():
    name = "nowhere/virtual_module.py"
    namespace = {"__name__": "virtual_module", "__loader__": Loader()}
    exec(compile(Loader.text, name, "exec", dont_inherit=True), namespace)
    assert grad(namespace["f"])(2.0) == 12.0


def test_a_module_in_an_archive(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("module_in_archive.py", Loader.text)
    monkeypatch.syspath_prepend(str(tmp_path / "archive.zip"))
    module = importlib.import_module("module_in_archive")
    assert grad(module.f)(2.0) == 12.0
