"""Loops whose steps are counted, as they are rewritten."""

from __future__ import annotations

from typing import Any

from mooncake_py.frontend.load import derive, show_source


def body(f: Any, **options: Any) -> list[str]:
    text = show_source(derive(f.__code__, f.__globals__, **options))
    return text[text.index("def ") :].splitlines()[1:]


def loops(x, n):
    for t in range(n):
        for _ in range(t):
            x = x.tolist()
    if n:
        with x:
            while n > len(x):
                n -= 1
                while n:
                    n -= 1
            else:
                n = 3

    def inner():
        for _ in range(n):
            pass

    return [t + 1 for t in range(n)]


def test_outermost_loops_call_the_meter() -> None:
    plain, counted = body(loops), body(loops, loops="counted")
    assert plain == body(loops)
    text = "\n".join(counted)
    assert (
        "    for t in _mk_ctx.meter.steps_of(_mk_ctx.range_of(n)):\n        for _ in range(t):"
        in text
    )
    assert text.count("steps_of") == 1
    start = next(i for i, line in enumerate(counted) if line.strip() == "try:")
    stripped = [line.strip() for line in counted[start : start + 5]]
    assert stripped[1] == "_mk_ctx.meter.enter_while()"
    assert stripped[2].startswith("while ")
    assert stripped[3] == "_mk_ctx.meter.turn()"
    assert text.count("turn()") == 1
    after = [line.strip() for line in counted if "leave_while" in line]
    assert after == ["_mk_ctx.meter.leave_while()"]


def test_generators_are_not_counted() -> None:
    def generated(n):
        for k in range(n):  # noqa: UP028
            yield k

    assert body(generated, loops="counted") == body(generated)


def test_lambdas_have_no_loops() -> None:
    f = lambda x: x * 2.0  # noqa: E731
    assert show_source(derive(f.__code__, {}, loops="counted")) == show_source(
        derive(f.__code__, {})
    )
