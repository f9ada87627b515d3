"""Finding the syntax tree of a code object."""

from __future__ import annotations

import ast
import collections.abc
import doctest
import linecache
import math
import os
import sys
from types import CodeType
from typing import Any

import pytest

from mooncake_py.errors import SourceUnavailableError
from mooncake_py.syntax.compiled import walk_code
from mooncake_py.syntax.source import _first_line, locate


def unparsed(function: Any) -> str:
    return ast.unparse(locate(function.__code__).node)


def test_function_with_decorators_and_comments(define):
    function = define(
        "def same(f): return f\n\n# above\n@same\n# between\n@same\ndef f(x):\n    return x\n"
    )
    found = locate(function.__code__)
    assert isinstance(found.node, ast.FunctionDef)
    assert (found.node.name, found.node.lineno) == ("f", 7)
    assert found.file == function.__code__.co_filename
    assert found.class_name is None


def test_lambdas_on_one_line_are_told_apart():
    fs = [lambda x: x + 1, lambda x: x + 2, lambda x: lambda y: x + y, lambda x: x + 1]
    texts = [unparsed(f) for f in fs]
    assert texts == [
        "lambda x: x + 1",
        "lambda x: x + 2",
        "lambda x: lambda y: x + y",
        "lambda x: x + 1",
    ]
    assert locate(fs[0].__code__).node is not locate(fs[3].__code__).node
    assert unparsed(fs[2](1)) == "lambda y: x + y"


def test_constant_lambdas_on_one_line_are_told_apart():
    fs = [lambda: 0, lambda: 1, lambda: 0.0, lambda: -0.0, lambda: (1, 2), lambda: (1, True)]
    expected = ["0", "1", "0.0", "-0.0", "(1, 2)", "(1, True)"]
    assert [unparsed(f) for f in fs] == [f"lambda: {text}" for text in expected]


def test_lambda_over_several_lines():
    f = (
        lambda a, *b: (
            a,
            b,
        ),
        lambda: 0,
    )
    assert unparsed(f[0]) == "lambda a, *b: (a, b)"


def test_generator_expressions_on_one_line_are_told_apart():
    a, b = (x + 1 for x in []), (x + 2 for x in [])
    assert ast.unparse(locate(a.gi_code).node) == "(x + 1 for x in [])"
    assert ast.unparse(locate(b.gi_code).node) == "(x + 2 for x in [])"
    outer = ((y for y in x) for x in [[]])
    assert ast.unparse(locate(outer.gi_code).node) == "((y for y in x) for x in [[]])"
    assert ast.unparse(locate(next(outer).gi_code).node) == "(y for y in x)"


def test_innermost_class_is_known():
    class Outer:
        class __Inner:
            def method(self):
                def nested():
                    return lambda: self.__x

                return nested

        inner = __Inner()

        def other(self, f=lambda: 1):
            return f

    method = Outer.inner.method
    assert locate(method.__func__.__code__).class_name == "__Inner"
    assert locate(method()().__code__).class_name == "__Inner"
    assert locate(Outer().other().__code__).class_name == "Outer"


def test_imported_names_of_the_module_are_known(define):
    function = define(
        "import os.path, ast as tree\n"
        "try:\n    from math import sin as s\nexcept ImportError:\n    s = None\n"
        "def f():\n    import json\n    return s\n"
    )
    assert locate(function.__code__).imports == {"os", "tree", "s"}
    assert locate(function.__code__).node.name == "f"


@pytest.mark.parametrize(
    "text",
    [
        "import math\ndef f(x):\n    return math.sin(x)\n",
        "import os\nif True:\n    import math\n    def f(x): return math.sin(x) + os.getpid()\n",
    ],
)
def test_statements_of_a_notebook_are_compiled_one_by_one(text):
    # Other instructions call functions of a module that the compiled text imports.
    name = "<cell of a notebook>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {}
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), name, "exec", dont_inherit=True), namespace)
    assert unparsed(namespace["f"]).startswith("def f(x):")


def test_text_registered_with_linecache_is_found():
    text = "def f(x):\n    return x * 2\n"
    name = "<generated for a test>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)
    try:
        assert unparsed(namespace["f"]) == text.rstrip()
    finally:
        del linecache.cache[name]


def test_function_of_a_doctest_is_found():
    code = """
    >>> def f(x):
    ...     return x + 40
    >>> unparsed(f).splitlines()[-1]
    '    return x + 40'
    """
    test = doctest.DocTestParser().get_doctest(code, {"unparsed": unparsed}, "example", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_relative_path_is_found(tmp_path, monkeypatch):
    (tmp_path / "local.py").write_text("def f(): return 5\n")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    exec(compile("def f(): return 5\n", "local.py", "exec"), namespace)
    assert unparsed(namespace["f"]) == "def f():\n    return 5"


def test_text_run_by_exec_has_no_source():
    namespace: dict[str, Any] = {}
    exec("def f(x): return x", namespace)
    with pytest.raises(SourceUnavailableError) as caught:
        locate(namespace["f"].__code__)
    message = str(caught.value)
    assert "no Python source for f" in message
    assert "'<string>'" in message
    assert "register a rule" in message


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "edited",
    [
        "def f(x):\n    return x * 3\n",
        "def f(x):\n    return x / 2\n",
        "def f(x):\n    return x * 2.0\n",
        "def f(x, y):\n    return x * 2\n",
        "def f(y):\n    return y * 2\n",
        "\ndef f(x):\n    return x * 2\n",
        "def f(x:\n",
        "def g(x):\n    return x * 2\n",
    ],
)
def test_edited_file_is_an_error(edited, define):
    function = define("def f(x):\n    return x * 2\n")
    path = function.__code__.co_filename
    with open(path, "w") as file:
        file.write(edited)
    linecache.checkcache(path)
    with pytest.raises(SourceUnavailableError, match="changed after the function was defined"):
        locate(function.__code__)


def test_text_remembered_from_before_the_edit_still_serves(define):
    function = define("def f(x):\n    return x * 2\n")
    path = function.__code__.co_filename
    before = unparsed(function)
    with open(path, "w") as file:
        file.write("def f(x):\n    return x * 3 + 1\n")
    assert unparsed(function) == before


def test_redefinition_after_an_edit_is_found(define):
    function = define("def f(x):\n    return x * 2\n")
    path = function.__code__.co_filename
    unparsed(function)
    text = "def f(x):\n    return x * 2 + 100\n"
    with open(path, "w") as file:
        file.write(text)
    namespace: dict[str, Any] = {}
    exec(compile(text, path, "exec"), namespace)
    assert unparsed(namespace["f"]).endswith("x * 2 + 100")


def test_file_is_parsed_once(define):
    function = define("def f(x):\n    def g(): return lambda: x\n    return g\n")
    first = locate(function.__code__)
    nested = locate(function(1).__code__)
    assert any(node is nested.node for node in ast.walk(first.node))


def test_function_with_asserts_rewritten_by_pytest_is_found():
    def f(x):
        assert x > 0
        return x

    assert any(name.startswith("@py") for name in f.__code__.co_varnames)
    assert unparsed(f).startswith("def f(x):\n    assert x > 0")


def all_code(code: CodeType) -> list[CodeType]:
    found = [code]
    for item in found:
        found.extend(const for const in item.co_consts if isinstance(const, CodeType))
    return [item for item in found if item.co_flags & 1 and item.co_name[0] != "<"]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ["argparse", "statistics", "fractions", "textwrap", "ast"])
def test_every_function_of_a_library_module_is_found(name):
    file = os.path.join(os.path.dirname(ast.__file__), f"{name}.py")
    with open(file, encoding="utf-8") as stream:
        codes = all_code(compile(stream.read(), file, "exec", dont_inherit=True))
    assert len(codes) > 10
    for code in codes:
        found = locate(code)
        assert not isinstance(found.node, ast.Lambda | ast.GeneratorExp)
        assert found.node.name == code.co_name


@pytest.mark.parametrize("text", [
    'def f():\n    return f"""\n\n{(lambda: 1)()}{(lambda:\n 2)()} {sum(k for k in [1])}\n"""\n',
    "def f(\n    a=lambda: 1,\n): return [\n    lambda: 2,\n]\n",
    "def f():\n    class A(\n        base(lambda: 1)\n    ):\n        b = lambda: 2\n",
    "@decorated(\n    lambda: 1,\n)\nclass A:\n    @decorated(lambda: 2)\n    def f(self): pass\n",
    "match a:\n    case b if (lambda: 1)():\n        c = lambda: 2\n",
    "try:\n    a = lambda: 1\nexcept (\n    lambda: 2\n)():\n    b = lambda: 3\n",
])  # fmt: skip
def test_functions_are_found_wherever_they_stand_in_a_statement(tmp_path, text):
    path = tmp_path / "text.py"
    path.write_text("def f(): pass\n" + text)
    codes = walk_code(compile(path.read_text(), str(path), "exec", dont_inherit=True))
    functions = [code for code in codes if code.co_name in ("f", "<lambda>", "<genexpr>")]
    assert len(functions) > 2
    for code in functions:
        assert _first_line(locate(code).node) == code.co_firstlineno


def test_functions_of_frozen_modules_are_found():
    code = collections.abc.MutableMapping.update.__code__
    assert code.co_filename.startswith("<frozen")
    found = locate(code)
    assert os.path.basename(found.file) == "_collections_abc.py"
    assert unparsed(collections.abc.Mapping.get).startswith("def get(self, key, default=None):")


def test_text_of_a_frozen_module_must_be_that_of_the_code(tmp_path, monkeypatch):
    other = tmp_path / "other.py"
    other.write_text("\n" * 50 + "def update(self): pass\n")
    monkeypatch.setattr(sys.modules["_collections_abc"], "__file__", str(other))
    with pytest.raises(SourceUnavailableError, match="does not match"):
        locate(collections.abc.MutableMapping.update.__code__)


def test_c_function_has_no_code_to_locate():
    assert not hasattr(math.sin, "__code__")
