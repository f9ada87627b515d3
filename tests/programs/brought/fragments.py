"""Pieces of programs as templates, which statements fill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.programs.writer import Writer

__all__ = ["Fragment", "Statement", "vector", "write_fragment", "written_of"]

Statement = Callable[[Writer], bool | None]


@dataclass(frozen=True)
class Fragment:
    """Lines of a function, and what they need in the module.

    Holes are ``{k}`` (a number of its own, to make names unique), ``{a}`` (a vector in scope),
    ``{n}`` (its length), ``{s}`` and ``{t}`` (scalars), ``{c}`` (a constant between 0.2 and 1.2),
    ``{o}`` (a float that the lines make) and ``{r}`` (an array that they make, of the shape of
    ``{a}``).

    Attributes
    ----------
    body : str
        The lines.
    module : str
        What stands before the functions.
    """

    body: str
    module: str = ""


def vector(w: Writer) -> tuple[str, int] | None:
    """Return the name and the length of a vector of at least three elements."""
    found = [n for n in w.scope.of("array") if len(n.shape) == 1 and n.shape[0] >= 3]
    if not found:
        return None
    name = w.rng.choice(found)
    return name.text, name.shape[0]


def write_fragment(w: Writer, fragment: Fragment) -> bool:
    """Write a fragment with its holes filled; return whether there was a place for it."""
    target = vector(w)
    if w.within != "f" or target is None:
        return False
    a, n = target
    holes = {
        "k": len(w.prelude), "a": a, "n": n, "s": w.scalar(1), "t": w.scalar(0),
        "c": w.pick("0.5", "0.3", "1.2", "0.7", "0.25", "0.9"),
    }  # fmt: skip
    holes["o"], holes["r"] = w.fresh("o"), w.fresh("r")
    if fragment.module:
        w.prelude.append(fragment.module.format(**holes))
    w.write(*fragment.body.format(**holes).split("\n"))
    if "{o}" in fragment.body:
        w.scope.add(str(holes["o"]), "float")
    if "{r}" in fragment.body:
        w.scope.add(str(holes["r"]), "array", (n,))
    return True


def written_of(name: str, fragments: Sequence[Fragment]) -> Statement:
    """Return a statement that writes one of some fragments."""

    def statement(w: Writer) -> bool:
        return write_fragment(w, w.rng.choice(fragments))

    statement.__name__ = name
    return statement
