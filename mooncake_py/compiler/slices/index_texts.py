"""Print indices of statements on slices."""

from __future__ import annotations

from mooncake_py.compiler.forms.form import whole_name
from mooncake_py.compiler.printing.emit_scalar import Emitter
from mooncake_py.compiler.regions.indices import ends_of, is_none, taken_in
from mooncake_py.compiler.regions.ir import Expr, Name, Op

__all__ = ["index_text", "reads_of"]

PRINTER = Emitter()


def reads_of(index: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Return what the text of an index reads."""
    return (*ends_of(index), *(Name(whole_name(array)) for array in taken_in(index)))


def index_text(index: tuple[Expr, ...]) -> str:
    """Return the text of an index."""
    return ", ".join(map(part_text, index))


def part_text(e: Expr) -> str:
    """Return the text of a part of an index."""
    if isinstance(e, Op) and e.op == "ellipsis":
        return "..."
    if not (isinstance(e, Op) and e.op in ("slice", "taken")):
        return PRINTER.text(e)
    lower, upper, step = ["" if is_none(end) else PRINTER.text(end) for end in e.args[-3:]]
    text = f"{lower}:{upper}" + (f":{step}" if step else "")
    return "".join(f"{whole_name(array)}[{text}]" for array in taken_in((e,))) or text
