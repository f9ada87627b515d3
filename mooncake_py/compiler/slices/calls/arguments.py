"""How the operands of a call of a function stand among its arguments.

    np.concatenate(([0.0], u[1:-1], [b]), axis=0)       operands v0 = u[1:-1], v1 = b
                                                        (([0.0], v0, [v1]),), axis=0

Operands are names, elements and slices; all else is written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from mooncake_py.compiler.regions.ir import Call, Const, Expr
from mooncake_py.compiler.statements.statement import operand

__all__ = [
    "Arguments", "Hole", "Literal", "Path", "Several", "arguments_of", "called_with", "replaced",
    "zeros_of",
]  # fmt: skip

Path = tuple[int, ...]
"""Where an operand stands: the position of an argument, and those within sequences."""


class Hole(NamedTuple):
    """An operand.

    Attributes
    ----------
    operand : int
    is_zero : bool
        Whether zeros like it stand in its place.
    """

    operand: int
    is_zero: bool = False


class Literal(NamedTuple):
    """What is written down: a number, text or None."""

    value: Any


class Several(NamedTuple):
    """A list or a tuple that is written down."""

    parts: tuple[Any, ...]
    is_list: bool


Part = Hole | Literal | Several


class Arguments(NamedTuple):
    """The arguments of a call: the last argument of the `Call`, after its operands.

    Attributes
    ----------
    positional : tuple of Part
    named : tuple of (str, Part)
    may_view : bool
        Whether the value may be memory of an operand.
    """

    positional: tuple[Part, ...]
    named: tuple[tuple[str, Part], ...] = ()
    may_view: bool = False

    @property
    def holes(self) -> list[tuple[Path, Hole]]:
        """The operands among the positional arguments, with their places."""
        return [found for k, part in enumerate(self.positional) for found in holes_of(part, (k,))]

    @property
    def named_holes(self) -> list[Hole]:
        """The operands among those that are passed by name."""
        return [hole for _, part in self.named for _, hole in holes_of(part, ())]

    def texts(self, of: Callable[[Path, Hole], str]) -> list[str]:
        """Return the texts of the positional arguments, given those of operands."""
        return [text_of(part, (k,), of) for k, part in enumerate(self.positional)]

    def named_texts(self, of: Callable[[Path, Hole], str]) -> dict[str, str]:
        """Return the texts of the arguments that are passed by name."""
        return {name: text_of(part, (-1,), of) for name, part in self.named}

    def values(self, operands: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments for values of the operands."""
        positional = [value_of(part, operands) for part in self.positional]
        return positional, {name: value_of(part, operands) for name, part in self.named}


def holes_of(part: Part, path: Path) -> Iterator[tuple[Path, Hole]]:
    """Yield the operands within a part, with their places."""
    if isinstance(part, Hole):
        yield path, part
    elif isinstance(part, Several):
        for k, inner in enumerate(part.parts):
            yield from holes_of(inner, (*path, k))


def text_of(part: Part, path: Path, of: Callable[[Path, Hole], str]) -> str:
    """Return the text of a part."""
    if isinstance(part, Hole):
        return of(path, part)
    if isinstance(part, Literal):
        return repr(part.value)
    texts = [text_of(inner, (*path, k), of) for k, inner in enumerate(part.parts)]
    if part.is_list:
        return f"[{', '.join(texts)}]"
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"


def value_of(part: Part, operands: Sequence[Any]) -> Any:
    """Return the value of a part."""
    if isinstance(part, Hole):
        return operands[part.operand]
    if isinstance(part, Literal):
        return part.value
    found = [value_of(inner, operands) for inner in part.parts]
    return found if part.is_list else tuple(found)


def replaced(part: Part, of: Callable[[Hole], Part]) -> Part:
    """Return a part with others in the place of operands."""
    if isinstance(part, Hole):
        return of(part)
    if isinstance(part, Several):
        return part._replace(parts=tuple([replaced(inner, of) for inner in part.parts]))
    return part


def zeros_of(part: Part) -> Part:
    """Return zeros like a part."""
    if isinstance(part, Hole):
        return part._replace(is_zero=True)
    if isinstance(part, Literal):
        return Literal(0.0)
    return part._replace(parts=tuple(map(zeros_of, part.parts)))


def called_with(function: Any, count: int, arguments: Arguments) -> Call:
    """Return the call of a function of so many operands."""
    return Call(function, (*map(operand, range(count)), Const(arguments)))  # type: ignore[arg-type]


def arguments_of(e: Expr) -> Arguments | None:
    """Return the arguments of such a call; None for any other expression."""
    if not isinstance(e, Call) or not e.args:
        return None
    last = e.args[-1]
    found: Any = last.value if isinstance(last, Const) else None
    return found if isinstance(found, Arguments) else None
