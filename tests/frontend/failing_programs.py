"""Functions that fail, whose tracebacks must name the same lines; see `programs`.

What is unusual about their style is the point of them.
"""
# fmt: off
# ruff: noqa: B007, B018, F841
# ruff: noqa: RUF059
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportOperatorIssue=false
# pyright: reportCallIssue=false, reportGeneralTypeIssues=false, reportOptionalMemberAccess=false
# pyright: reportArgumentType=false, reportUndefinedVariable=false, reportUnboundVariable=false

from __future__ import annotations

import contextlib
import math

from tests.frontend.cases import case, failing, tell


@case(1, None)
def fails_in_operator(a, b):
    c = a * 2
    return (
        c
        + a
        + b
    )


@case([1])
def fails_in_chain(v):
    return (
        v
        .copy()
        .missing(1,
                 2)
        .other()
    )


@case([1])
def fails_in_attribute(v):
    return (v.
            append
            .nothing)


@case([1])
def fails_in_store(v):
    v[
        5
    ] = (
        1 +
        2
    )


@case(object())
def fails_in_attribute_store(o):
    (
        o
        .x
    ) = 1


@case([1])
def fails_in_unpacking(v):
    (
        a,
        b,
    ) = \
        v


@case(3)
def fails_in_loop(n):
    for i in range(n):
        for a, b in [
            (1, 2),
            (1,),
        ]:
            pass


@case(0)
def fails_deep(n):
    def inner(k):
        return failing(
            k
        )

    return [inner(x) for x in [
        n]]


@case("a")
def fails_in_augmented(s):
    d = {"k": 1}
    d[
        "k"
    ] += len(
        s
    ) + (
        s
    )


@case("a")
def fails_in_augmented_with_calls(s):
    d = {"k": 1}
    d[
        "none"
    ] += tell(
        s
    )


@case(2)
def fails_in_imported_call(x):
    return math.sqrt(
        x
    ) + (
        math.
        sqrt(
            -x
        )
    )


@case(2)
def fails_in_starred_call(x):
    return (
        "a"
        .join(
            *[x]
        )
    )


@case(2)
def fails_in_handler(x):
    try:
        x.missing
    except AttributeError as e:
        raise KeyError(
            x
        ) from e
    finally:
        x = 0


@case(2)
def fails_in_manager(x):
    with contextlib.nullcontext(x) as y, \
            open as z:
        pass


@case(2)
def fails_in_nested_decorator(x):
    @tell
    @failing
    def f():
        pass


@case(2)
def fails_in_assert(x):
    assert x == 2
    assert x + 1 == \
        2, f"{x}"


@case(None)
def fails_in_unary(x):
    return [
        1,
        -x,
    ]


@case((1, 2))
def fails_in_subscript(x):
    return x[0] + x[
        1:][
        7
    ]


@case(2)
def fails_in_generator_expression(n):
    return sum(
        1 / (i - 1)
        for i in range(n)
    )


@case(2)
def fails_in_class_body(n):
    class A:
        x = 1
        y = (x
             + "a")


@case(0)
def fails_on_missing_argument(n):
    return failing()


@case(0)
def fails_on_unbound(n):
    if n:
        q = 1
    n += q
    return n
