"""From a code object to the syntax tree of the function it was compiled from.

Text comes from :mod:`linecache`, so notebook cells, doctests and registered generated code work
like files; that of functions which a library made by ``exec`` comes from :mod:`providers`.  Each
file is parsed once.  A node is returned only if it compiles to exactly the instructions of the code
object: a file edited after its import raises an error, and never gives the derivative of another
function.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
import time
import weakref
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import islice, takewhile
from types import CodeType, MappingProxyType
from typing import Any, NamedTuple

from mooncake_py.diagnostics.places import start_of
from mooncake_py.errors import SourceUnavailableError
from mooncake_py.notebook import MEASURED_WITHOUT_TEXT
from mooncake_py.syntax.carried import texts_to_search
from mooncake_py.syntax.compiled import FunctionNode, compile_function, extent, same_code, walk_code
from mooncake_py.syntax.nodes import place_of
from mooncake_py.syntax.providers import provided_texts
from mooncake_py.syntax.trees import children
from mooncake_py.syntax.warned_before import without_warnings

__all__ = ["SourceNode", "keep", "locate"]

_DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_FILES_KEPT = 64
_IMPORTED = time.time()


class SourceNode(NamedTuple):
    """The position of a function in its file; the trees are shared and must not be changed.

    By the innermost class around the function its private names are mangled.  The functions around
    it come from the inside out.
    """

    node: FunctionNode | ast.GeneratorExp
    file: str
    class_name: str | None
    imports: frozenset[str]
    around: tuple[FunctionNode, ...]

    def named(self, code: CodeType) -> CodeType:
        """Return a code object with the name of this file, if it does not name one itself."""
        is_elsewhere = text_file(code) != self.file
        return code.replace(co_filename=self.file) if is_elsewhere else code

    def compile(self, node: FunctionNode, code: CodeType, parameters: tuple[str, ...]) -> CodeType:
        """Compile a node as if it stood here; `code` is that of the function that does."""
        return compile_function(
            node, code, parameters, class_name=self.class_name, imports=self.imports
        )


class Parsed:
    """A file, as its lines and as a tree, and the names that it imports at its top level."""

    def __init__(self, lines: list[str], module: ast.Module) -> None:
        self.lines = lines
        self.module = module
        self.imports = frozenset(_imports(module.body))


_files: dict[str, Parsed] = {}
# By the identity of code objects, which compare by value.
_kept: dict[int, tuple[weakref.ref[CodeType], SourceNode]] = {}


def locate(code: CodeType, globals_: Mapping[str, Any] = MappingProxyType({})) -> SourceNode:
    """Find the syntax tree of the function, lambda or generator expression of a code object.

    The global variables of the function tell more of copies whose code does not name its file.

    Raise a `SourceUnavailableError` if there is no text (C code, text run by ``exec``), or if the
    text is no longer the one that the code object was compiled from.
    """
    file = text_file(code)
    kept = _kept.get(id(code))
    if kept is not None and kept[0]() is code:
        return kept[1]
    if linecache.getlines(file):
        found = _search(code)
        if found is None:
            # The remembered text may be older than the code (reload, a new cell of the same name).
            linecache.checkcache(file)
            found = _search(code)
        if found is not None:
            return found
    found = _search_provided(code) or _search_carried(code, globals_)
    if found is not None:
        return found
    raise _changed(code) if linecache.getlines(file) else _no_text(code)


def keep(code: CodeType, found: SourceNode) -> None:
    """Let `found` be the source of a code object, as long as that lives: it is not its text."""
    key = id(code)
    _kept[key] = weakref.ref(code, lambda _: _kept.pop(key, None)), found


def text_file(code: CodeType) -> str:
    """Return the name of the file with the text of a code object.

    Modules that are frozen into the interpreter say ``<frozen name>``; their text is that of the
    file from which the interpreter was built, where it is installed.
    """
    file = code.co_filename
    if file.startswith("<frozen "):
        module = sys.modules.get(file[len("<frozen ") : -1])
        return getattr(module, "__file__", None) or file
    return file


def _search(code: CodeType) -> SourceNode | None:
    parsed = _parse(text_file(code))
    return None if parsed is None else _search_in(parsed, code)


def _search_provided(code: CodeType) -> SourceNode | None:
    for text in provided_texts(code):
        parsed = _read(text.splitlines(True))
        found = None if parsed is None else _search_in(parsed, code)
        if found is not None:
            return found
    return None


def _search_carried(code: CodeType, globals_: Mapping[str, Any]) -> SourceNode | None:
    for text in texts_to_search(globals_):
        parsed = _parsed(text.file, list(text.lines))
        found = None if parsed is None else _search_in(parsed, code)
        if found is not None:
            found = found._replace(file=text.file)
            keep(code, found)
            if not linecache.getlines(text.file):  # for the lines in messages
                size = sum(map(len, text.lines))
                linecache.cache[text.file] = size, None, list(text.lines), text.file
            return found
    return None


def _search_in(parsed: Parsed, code: CodeType) -> SourceNode | None:
    line = code.co_firstlineno
    candidates = [
        SourceNode(node, text_file(code), class_name, parsed.imports, around)
        for node, class_name, around in _functions_at(line, parsed.module)
        if _key(node) == (code.co_name, line) and _encloses(node, code)
    ]
    # Of nested lambdas on one line the inner one lies within both: try the narrowest first.
    candidates.sort(key=lambda found: _width(found.node))
    for found in candidates:
        if _matches(found, code):
            return found
    # IPython compiles each statement of a cell by itself, and so without the imports of others.
    imports = frozenset(_imports(_statements_at(line, parsed.module)))
    by_themselves = (found._replace(imports=imports) for found in candidates)
    return next((found for found in by_themselves if _matches(found, code)), None)


def _parse(file: str) -> Parsed | None:
    return _parsed(file, linecache.getlines(file))


def _parsed(file: str, lines: list[str]) -> Parsed | None:
    parsed = _files.get(file)
    if parsed is not None and (parsed.lines is lines or parsed.lines == lines):
        return parsed
    parsed = _read(lines)
    if parsed is None:
        return None
    while len(_files) >= _FILES_KEPT:
        _files.pop(next(iter(_files)), None)
    _files[file] = parsed
    return parsed


def _read(lines: list[str]) -> Parsed | None:
    try:
        with without_warnings():
            return Parsed(lines, ast.parse("".join(lines)))
    except (SyntaxError, ValueError):
        return None


def _functions_at(
    line: int, module: ast.Module
) -> Iterator[tuple[Any, str | None, tuple[FunctionNode, ...]]]:
    """Yield the functions in statements that a line is part of, with what is around them.

    Other statements are not looked into: for a function of NumPy that is all but one of the file.
    """
    todo: list[tuple[Any, str | None, tuple[FunctionNode, ...]]] = [(module, None, ())]
    for node, class_name, around in todo:
        kind = node.__class__
        if kind in _FUNCTIONS or kind is ast.GeneratorExp:
            yield node, class_name, around
        # Only the body of a class is mangled by its name, not its bases or decorators.
        inner = node.name if kind is ast.ClassDef else class_name
        # Defaults and decorators are evaluated outside of the function.
        outer = (node, *around) if kind in _FUNCTIONS else around
        for part in _statements_at(line, node) if node is module else children(node):
            if not isinstance(part, ast.stmt):
                is_body = kind is ast.Lambda and part is node.body
                todo.append((part, class_name, outer if is_body else around))
            elif _first_line(part) <= line <= (part.end_lineno or line):
                todo.append((part, inner, outer))


def _statements_at(line: int, module: ast.Module) -> list[ast.stmt]:
    """Return the statements at the top level that a line is part of."""
    body = module.body
    first = bisect_left(body, line, key=lambda node: node.end_lineno or node.lineno)
    return list(takewhile(lambda node: _first_line(node) <= line, islice(body, first, None)))


def _imports(body: list[Any]) -> Iterator[str]:
    """Yield the names imported at the top level, also within ``if``, ``try`` and similar."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if alias.name != "*":
                    yield alias.asname or alias.name.partition(".")[0]
        elif not isinstance(node, ast.ClassDef | _DEFINITIONS):
            for field in ("body", "orelse", "handlers", "finalbody", "cases"):
                part = getattr(node, field, None)
                if isinstance(part, list):
                    yield from _imports(part)


def _key(node: Any) -> tuple[str, int]:
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    if isinstance(node, ast.GeneratorExp):
        return "<genexpr>", node.lineno
    return node.name, _first_line(node)


def _first_line(node: Any) -> int:
    """Return the line of a statement, or of its first decorator."""
    decorators = getattr(node, "decorator_list", None)
    return decorators[0].lineno if decorators else node.lineno


def _encloses(node: Any, code: CodeType) -> bool:
    if not isinstance(node, ast.Lambda | ast.GeneratorExp):
        return True
    place = extent(code)
    if place is None:
        return True
    body = place_of(node.body if isinstance(node, ast.Lambda) else node)
    return body[:2] <= place[:2] and place[2:] <= body[2:]


def _width(node: Any) -> tuple[int, int]:
    return node.end_lineno - node.lineno, node.end_col_offset - node.col_offset


def _matches(found: SourceNode, code: CodeType) -> bool:
    if isinstance(found.node, ast.GeneratorExp):
        return True
    compiled = found.compile(found.node, code, code.co_freevars)
    if same_code(compiled, code):
        return True
    # pytest rewrites assert statements before it compiles; its names tell.
    return _asserts_rewritten(code) and _signature(compiled) == _signature(code)


def _signature(code: CodeType) -> tuple[object, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    variadic = code.co_flags & 0x0C  # CO_VARARGS and CO_VARKEYWORDS
    return code.co_argcount, code.co_posonlyargcount, variadic, code.co_varnames[:count]


def _asserts_rewritten(code: CodeType) -> bool:
    return any(
        name.startswith("@py")
        for inner in walk_code(code)
        for name in inner.co_names + inner.co_varnames
    )


def _no_text(code: CodeType) -> SourceUnavailableError:
    why = f"its code was compiled from {code.co_filename!r}, whose source cannot be read"
    fix = "define the function in a file or a notebook cell, or register a rule for it"
    if code.co_filename == "<stdin>":
        why = (
            "Python keeps no text of a script that comes through a pipe, and before 3.13 none of\n"
        )
        why += "what is typed at its prompt"
        fix = "put it into a file (python script.py, python < script.py), or use IPython"
    if code.co_filename == MEASURED_WITHOUT_TEXT:
        why = "IPython does not keep the source of code measured by %timeit"
        fix = "define the function in a cell of its own, without %timeit"
    return SourceUnavailableError(
        f"no Python source for {code.co_qualname}", where=start_of(code), why=why, fix=fix
    )


def _changed(code: CodeType) -> SourceUnavailableError:
    made = "it was made by exec, or by an import hook, under the name of this file"
    if _was_written_lately(code.co_filename):
        why = f"the file changed after the function was defined, or {made}"
        fix = "import or define the function again, or register a rule for it"
    else:
        why, fix = made, "define the function in a file of its own, or register a rule for it"
    return SourceUnavailableError(
        f"the source of {code.co_qualname} does not match the function in memory",
        where=start_of(code),
        why=why,
        fix=fix,
    )


def _was_written_lately(file: str) -> bool:
    """Return whether a file changed since this package was imported; True for a notebook cell."""
    try:
        return os.path.getmtime(file) > _IMPORTED
    except OSError:
        return True
