"""Which lines ran as compiled code, and why others did not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType
from typing import NamedTuple

from mooncake_py.compiler.native.site import FunctionSite, Site, known_site

__all__ = ["Reason", "Span", "compiled_spans", "reasons"]


class Span(NamedTuple):
    """Lines of a file."""

    file: str
    first: int
    last: int

    def holds(self, file: str, line: int) -> bool:
        """Return whether a line is among them."""
        return self.file == file and self.first <= line <= self.last


class Reason(NamedTuple):
    """Why lines are not compiled, and which line says so, if one does."""

    span: Span
    why: str
    line: int | None


def compiled_spans(functions: Iterable[FunctionType]) -> list[Span]:
    """Return the lines of functions, and of loops in them, that were compiled."""
    found: list[Span] = []
    for site, span in sites_of(functions):
        for reading in site.read_so_far():
            if not reading.site.why and not reading.site.trials.failed and [*reading.site.forms()]:
                inlined = [callee.function() for callee in reading.callees.every[1:]]
                found += [span, *[span_of(f.__code__) for f in inlined if f is not None]]
    return found


def reasons(functions: Iterable[FunctionType]) -> list[Reason]:
    """Return why functions and loops are not compiled, the smallest ones first."""
    found: list[Reason] = []
    for site, span in sites_of(functions):
        for why, place in list(site.refused.values()):
            if why:
                found.append(Reason(span, why, None if place is None else place.line))
        if not site.refused and site.unserved:
            found.append(Reason(span, f"an argument of type {site.unserved}", None))
        found += [Reason(span, r.site.why, None) for r in site.read_so_far() if r.site.why]
    return sorted(found, key=lambda reason: reason.span.last - reason.span.first)


def sites_of(functions: Iterable[FunctionType]) -> Iterator[tuple[Site, Span]]:
    """Yield the sites of functions and of their loops, with their lines."""
    for f in functions:
        site = known_site(f.__code__)
        if site is None:
            continue
        yield site, span_of(f.__code__)
        yield from loops_of(site, f.__code__.co_filename)


def loops_of(site: FunctionSite, file: str) -> Iterator[tuple[Site, Span]]:
    """Yield the sites of the loops of a function, with their lines."""
    for place, loop in sorted(site.loops.items()):
        node = loop.loop.node
        yield loop, Span(file, place.line, node.end_lineno or place.line)


def span_of(code: CodeType) -> Span:
    """Return the lines of a function."""
    lines = [line for *_, line in code.co_lines() if line is not None]
    return Span(code.co_filename, code.co_firstlineno, max(lines, default=code.co_firstlineno))
