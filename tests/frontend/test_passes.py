"""The text of loops of which some passes can run again."""

from __future__ import annotations

from typing import Any

from mooncake_py.frontend.load import derive, show_source


def text(f: Any) -> list[str]:
    """Return the lines of the rewritten function, without their indentation."""
    source = show_source(derive(f.__code__, f.__globals__, loops="passes"))
    return [line.strip() for line in source.splitlines() if not line.startswith("#")]


def test_a_loop_over_a_range_takes_bounds() -> None:
    def f(u, n):
        for k in range(2, n):
            u = u * k

    lines = text(f)
    assert "def _mk_body0(_mk_start, _mk_stop, _mk_step):" in lines
    assert "nonlocal k, u" in lines
    names = "(('k', 'u'), ())"
    run = f"_mk_ctx.run_passes(_mk_body0, {names}, 'range', _mk_ctx.range_of(2, n))"
    assert f"_mk_exit0 = {run}" in lines


def test_exits_of_loops() -> None:
    def f(u, items):
        for u in items:
            if u > 1.0:
                break
            if u < 0.0:
                return u
        else:
            u = 0.0
        while u < 3.0:
            u = len(items) * u
        return u

    lines = text(f)
    assert "def _mk_body0(_mk_items):" in lines
    assert "return (u,)" in lines
    assert lines.count("return None") == lines.count("return False") == 1
    assert "if _mk_exit0 is not False:" in lines
    assert "return ()" in lines


def test_a_loop_that_cannot_be_a_function_stays_one() -> None:
    def f(u):
        for _ in range(3):
            yield u
        while (u := (yield u)) is not None:
            pass

    assert not any("_mk_body" in line for line in text(f))
