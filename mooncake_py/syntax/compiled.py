"""Function nodes to code objects: the only place of the package that compiles user code.

The node is put into a factory function whose parameters are the free variables, the module that
holds the factory is compiled, and the function's code object is dug out of the constants.
Nothing is executed, so no default, decorator or module body runs twice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from operator import attrgetter
from types import CodeType
from typing import Any

from mooncake_py.syntax.nodes import Place, constant, place_of, replaced, statement
from mooncake_py.syntax.warned_before import without_warnings

__all__ = ["FunctionNode", "compile_function", "extent", "same_code", "walk_code"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_CO_OPTIMIZED = 0x1
_CO_NESTED = 0x10
# Every ``from __future__ import`` flag since ``division``; compile() knows no name for the set.
_CO_FUTURE = 0x1FE0000
_WHAT_IT_DOES = attrgetter(
    "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount",
    "co_posonlyargcount", "co_kwonlyargcount", "co_exceptiontable",
)  # fmt: skip


def compile_function(
    node: FunctionNode,
    original: CodeType,
    parameters: tuple[str, ...],
    *,
    class_name: str | None = None,
    imports: Iterable[str] = (),
) -> CodeType:
    """Compile a function node at the position of the function of `original`.

    Parameters
    ----------
    node : FunctionDef, AsyncFunctionDef or Lambda
        Not changed. Decorators, defaults and annotations are left out: they are not part of the
        code object.
    original : CodeType
        Gives file, qualified names, also of nested functions, and ``__future__`` flags.
    parameters : tuple of str
        Names that are free variables of the function.
    class_name : str, optional
        The class around the function, by which private names are mangled.
    imports : iterable of str
        Names that the module imports: CPython calls their attributes by other instructions.
    """
    bound = getattr(node, "name", "_") if class_name is None else "_"
    module = _template(bound, class_name, parameters, imports)
    depth = 2
    block: Any = module.body[-1]
    if class_name is not None:
        depth, block = 4, block.body[-1].body[0]
    bare = _bare(node)
    block.body.append(bare if isinstance(bare, ast.stmt) else statement(bare, place_of(bare)))
    with without_warnings():
        code = compile(
            module,
            original.co_filename,
            "exec",
            flags=original.co_flags & _CO_FUTURE,
            dont_inherit=True,
        )
    for _ in range(depth):
        code = next(item for item in code.co_consts if isinstance(item, CodeType))
    return _renamed(code, code.co_qualname, original.co_qualname)


def _template(
    bound: str, class_name: str | None, parameters: tuple[str, ...], imports: Iterable[str]
) -> ast.Module:
    """Return a module with the factory, which binds `bound` and nothing else.

    That name is declared global, or it would turn the user's global of the same name into a
    free variable.  The class stands in a class body, whose names functions do not see; the
    class around it is called ``_`` because that mangles nothing.
    """
    lines = [f"import {name}" for name in imports]
    lines.append(f"def _mk_factory({', '.join(parameters)}):")
    lines.append(" pass" if bound in parameters else f" global {bound}")
    if class_name is not None:
        lines += [" class _:", f"  class {class_name}: pass"]
    return ast.parse("\n".join(lines))


def _bare(node: FunctionNode) -> FunctionNode:
    """Strip parts evaluated in the enclosing scope; keep the line the code object starts on."""
    arguments = node.args
    args = replaced(
        arguments,
        posonlyargs=[_unannotated(arg) for arg in arguments.posonlyargs],
        args=[_unannotated(arg) for arg in arguments.args],
        kwonlyargs=[_unannotated(arg) for arg in arguments.kwonlyargs],
        vararg=arguments.vararg and _unannotated(arguments.vararg),
        kwarg=arguments.kwarg and _unannotated(arguments.kwarg),
        defaults=[],
        kw_defaults=[None] * len(arguments.kwonlyargs),
    )
    if isinstance(node, ast.Lambda):
        return replaced(node, args=args)
    # The first line of a code object is that of the first decorator: one is kept as a constant.
    decorators = [constant(None, place_of(first)) for first in node.decorator_list[:1]]
    return replaced(node, args=args, decorator_list=decorators, returns=None, type_params=[])


def _unannotated(arg: ast.arg) -> ast.arg:
    return arg if arg.annotation is None else replaced(arg, annotation=None)


def _renamed(code: CodeType, old: str, new: str) -> CodeType:
    """Replace the factory's part of the qualified names of a code object and all within it."""
    qualname = code.co_qualname
    if qualname.startswith(old):
        qualname = new + qualname[len(old) :]
    consts = []
    for item in code.co_consts:
        if isinstance(item, CodeType):
            item = _renamed(item, old, new)
        elif item == code.co_qualname and not code.co_flags & _CO_OPTIMIZED:
            item = qualname  # a class body stores its qualified name as a constant
        consts.append(item)
    return code.replace(co_qualname=qualname, co_consts=tuple(consts))


def same_code(a: CodeType, b: CodeType) -> bool:
    """Return whether two code objects agree, apart from qualified names and positions."""
    return (
        _WHAT_IT_DOES(a) == _WHAT_IT_DOES(b)
        and a.co_flags | _CO_NESTED == b.co_flags | _CO_NESTED
        and len(a.co_consts) == len(b.co_consts)
        and all(map(_same_constant, a.co_consts, b.co_consts))
    )


def _same_constant(a: object, b: object) -> bool:
    if isinstance(a, CodeType):
        return isinstance(b, CodeType) and same_code(a, b)
    if isinstance(a, frozenset):
        return a == b
    # repr tells apart what == does not: 0.0 and -0.0, 1 and True, also within tuples.
    return type(a) is type(b) and repr(a) == repr(b)


def walk_code(code: CodeType) -> list[CodeType]:
    """Return a code object and all those nested in it."""
    found = [code]
    for item in found:
        found.extend(const for const in item.co_consts if isinstance(const, CodeType))
    return found


def extent(code: CodeType) -> Place | None:
    """Return the stretch of source that the instructions come from; None if they do not say."""
    first: tuple[int, int] | None = None
    last: tuple[int, int] | None = None
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None:
            continue
        if (line, column) == (end_line, end_column):
            continue  # bookkeeping of the function as a whole, without a place of its own
        first = min(first or (line, column), (line, column))
        last = max(last or (end_line, end_column), (end_line, end_column))
    if first is None or last is None:
        return None
    return Place(*first, *last)
