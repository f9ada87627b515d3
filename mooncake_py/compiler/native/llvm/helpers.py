"""Functions that the text calls, as text: what Python makes of ints and floats, and memory."""

from __future__ import annotations

from mooncake_py.compiler.native.llvm.gemm import PRODUCTS
from mooncake_py.compiler.native.llvm.listening import BEFORE_CALL, IN_CALL, LOOK
from mooncake_py.compiler.native.llvm.numbers import SUFFIX, constant
from mooncake_py.compiler.native.llvm.tanh import TANH
from mooncake_py.compiler.native.llvm.texts import Helper, declared
from mooncake_py.compiler.native.regions.region import FLOAT

__all__ = ["HELPERS"]

LEAST, GREATEST = constant(1e-280, FLOAT), constant(1e280, FLOAT)
"""Between these a sum of two squares has neither lost a digit nor overflowed."""

LEAST_INT = -(2**63)
# Ints: by zero it is zero; the least int over -1 would trap, and wraps around in NumPy.
DIVISION = """\
define internal i64 @mc_{name}(i64 %a, i64 %b) alwaysinline nounwind {{
  %zero = icmp eq i64 %b, 0
  %least = icmp eq i64 %a, -9223372036854775808
  %minus = icmp eq i64 %b, -1
  %over = and i1 %least, %minus
  %none = or i1 %zero, %over
  %instead = select i1 %zero, i64 0, i64 {wrapped}
  br i1 %none, label %nothing, label %some
nothing:
  ret i64 %instead
some:
  %q = sdiv i64 %a, %b
  %r = srem i64 %a, %b
  %rest = icmp ne i64 %r, 0
  %signs = xor i64 %r, %b
  %apart = icmp slt i64 %signs, 0
  %turn = and i1 %rest, %apart
  %other = {other}
  %found = select i1 %turn, i64 %other, i64 {own}
  ret i64 %found
}}
"""

INT_POWER = """\
define internal i64 @mc_int_power(i64 %a0, i64 %b0) nounwind {
entry:
  %negative = icmp slt i64 %b0, 0
  br i1 %negative, label %inverse, label %loop
inverse:
  %zero = icmp eq i64 %a0, 0
  %one = icmp eq i64 %a0, 1
  %minus = icmp eq i64 %a0, -1
  %last = and i64 %b0, 1
  %even = icmp eq i64 %last, 0
  %sign = select i1 %even, i64 1, i64 -1
  %of_minus = select i1 %minus, i64 %sign, i64 0
  %of_one = select i1 %one, i64 1, i64 %of_minus
  %of_zero = select i1 %zero, i64 -9223372036854775808, i64 %of_one
  ret i64 %of_zero
loop:
  %a = phi i64 [ %a0, %entry ], [ %square, %next ]
  %b = phi i64 [ %b0, %entry ], [ %half, %next ]
  %r = phi i64 [ 1, %entry ], [ %more, %next ]
  %go = icmp ne i64 %b, 0
  br i1 %go, label %next, label %done
next:
  %bit = and i64 %b, 1
  %odd = icmp ne i64 %bit, 0
  %times = mul i64 %r, %a
  %more = select i1 %odd, i64 %times, i64 %r
  %square = mul i64 %a, %a
  %half = lshr i64 %b, 1
  br label %loop
done:
  ret i64 %r
}
"""

# Where roots and products might overflow.  A call keeps the loop from being done for several
# numbers at once, of which each would have a branch of its own.
FAR_POWER = """\
define internal double @mc_far_power(double %x, double %n) cold noinline nounwind {
  %power = call double @llvm.pow.f64(double %x, double %n)
  ret double %power
}
"""

# Quotient and rest as Python has them: see `float_divmod` in CPython.
REST = """\
define internal {t} @mc_mod_{s}({t} %a, {t} %b) nounwind {{
  %m = frem {t} %a, %b
  %none = fcmp oeq {t} %b, 0.0
  br i1 %none, label %plain, label %go
plain:
  ret {t} %m
go:
  %rest = fcmp une {t} %m, 0.0
  %below = fcmp olt {t} %b, 0.0
  %under = fcmp olt {t} %m, 0.0
  %apart = xor i1 %below, %under
  %more = fadd {t} %m, %b
  %turned = select i1 %apart, {t} %more, {t} %m
  %zero = select i1 %below, {t} -0.0, {t} 0.0
  %found = select i1 %rest, {t} %turned, {t} %zero
  ret {t} %found
}}
"""
QUOTIENT = """\
define internal {t} @mc_floordiv_{s}({t} %a, {t} %b) nounwind {{
  %ratio = fdiv {t} %a, %b
  %none = fcmp oeq {t} %b, 0.0
  br i1 %none, label %plain, label %go
plain:
  ret {t} %ratio
go:
  %m = frem {t} %a, %b
  %whole = fsub {t} %a, %m
  %q = fdiv {t} %whole, %b
  %rest = fcmp une {t} %m, 0.0
  %below = fcmp olt {t} %b, 0.0
  %under = fcmp olt {t} %m, 0.0
  %signs = xor i1 %below, %under
  %apart = and i1 %rest, %signs
  %less = fsub {t} %q, 1.0
  %div = select i1 %apart, {t} %less, {t} %q
  %some = fcmp one {t} %div, 0.0
  %floor = call {t} @llvm.floor.{s}({t} %div)
  %off = fsub {t} %div, %floor
  %up = fcmp ogt {t} %off, 0.5
  %next = fadd {t} %floor, 1.0
  %near = select i1 %up, {t} %next, {t} %floor
  %square = fmul {t} %div, %div
  %sign = fmul {t} %square, %a
  %nothing = fdiv {t} %sign, %b
  %found = select i1 %some, {t} %near, {t} %nothing
  ret {t} %found
}}
"""

# log(b ** x + b ** y), as NumPy computes it.
LOG_OF_SUM = """\
define internal {t} @mc_{name}_{s}({t} %x, {t} %y) nounwind {{
  %same = fcmp oeq {t} %x, %y
  br i1 %same, label %twice, label %apart
twice:
  %shifted = fadd {t} %x, {shift}
  ret {t} %shifted
apart:
  %d = fsub {t} %x, %y
  %above = fcmp ogt {t} %d, 0.0
  %below = fcmp ole {t} %d, 0.0
  %minus = fneg {t} %d
  %far = select i1 %above, {t} %minus, {t} %d
  %base = select i1 %above, {t} %x, {t} %y
  %e = call {t} @llvm.{exp}.{s}({t} %far)
  %l = call {t} @log1p{f}({t} %e)
  %scaled = fmul {t} {scale}, %l
  %sum = fadd {t} %base, %scaled
  %known = or i1 %above, %below
  %found = select i1 %known, {t} %sum, {t} %d
  ret {t} %found
}}
"""

HYPOT = f"""\
define internal double @mc_hypot(double %a, double %b) alwaysinline nounwind {{
  %aa = fmul double %a, %a
  %bb = fmul double %b, %b
  %square = fadd double %aa, %bb
  %above = fcmp ogt double %square, {LEAST}
  %below = fcmp olt double %square, {GREATEST}
  %near = and i1 %above, %below
  br i1 %near, label %quick, label %slow
quick:
  %root = call double @llvm.sqrt.f64(double %square)
  ret double %root
slow:
  %h = call double @hypot(double %a, double %b)
  ret double %h
}}
"""

# Memory.
BYTES = """\
define internal i64 @mc_bytes(i64 %so_far, i64 %n) alwaysinline nounwind {
  %product = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %so_far, i64 %n)
  %bytes = extractvalue { i64, i1 } %product, 0
  %over = extractvalue { i64, i1 } %product, 1
  %below = icmp slt i64 %n, 0
  %none = icmp slt i64 %so_far, 0
  %either = or i1 %over, %below
  %bad = or i1 %either, %none
  %found = select i1 %bad, i64 -1, i64 %bytes
  ret i64 %found
}
"""
NEW = """\
define internal noalias ptr @mc_new(i64 %size) noinline nounwind {
  %is_size = icmp sge i64 %size, 0
  br i1 %is_size, label %some, label %none
some:
  %least = or i64 %size, 1
  %p = call noalias ptr @mc_malloc(i64 %least)
  ret ptr %p
none:
  ret ptr null
}
"""
FREE_ALL = """\
define internal void @mc_free_all(ptr %table, i64 %n) noinline nounwind {
entry:
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k1, %one ]
  %more = icmp slt i64 %k, %n
  br i1 %more, label %one, label %done
one:
  %entry.k = getelementptr inbounds ptr, ptr %table, i64 %k
  %p = load ptr, ptr %entry.k
  call void @mc_free(ptr %p)
  %k1 = add nuw nsw i64 %k, 1
  br label %next
done:
  ret void
}
"""
GROW = """\
define internal { ptr, i64 } @mc_grow(ptr %data, i64 %n, ptr %own, i64 %need, i64 %item) cold noinline nounwind {
  %twice = shl i64 %n, 1
  %m = call i64 @llvm.smax.i64(i64 %need, i64 %twice)
  %size = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %m, i64 %item)
  %bytes = extractvalue { i64, i1 } %size, 0
  %over = extractvalue { i64, i1 } %size, 1
  br i1 %over, label %none, label %more
more:
  %p = call ptr @mc_malloc(i64 %bytes)
  %failed = icmp eq ptr %p, null
  br i1 %failed, label %none, label %copy
copy:
  %old = mul i64 %n, %item
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %data, i64 %old, i1 false)
  call void @mc_free(ptr %own)
  br label %done
none:
  br label %done
done:
  %q = phi ptr [ %p, %copy ], [ null, %none ]
  %r = insertvalue { ptr, i64 } poison, ptr %q, 0
  %s = insertvalue { ptr, i64 } %r, i64 %m, 1
  ret { ptr, i64 } %s
}
"""  # noqa: E501

FLOOR = {s: f"declare {t} @llvm.floor.{s}({t})" for t, s in (("double", "f64"), ("float", "f32"))}
LOG_E = 1.442695040888963407359924681001892137
LOG_2 = 0.693147180559945309417232121458176568


def of_width(kind: str, t: str, f: str) -> dict[str, Helper]:
    """Return the helpers for floats of one width.

    Parameters
    ----------
    t : str
        The type of LLVM.
    f : str
        What ends the names of functions of C.
    """
    s = SUFFIX[kind]
    floor = {f"llvm.floor.{s}": FLOOR[s]}
    found = {
        f"mc_mod_{s}": Helper(REST.format(t=t, s=s)),
        f"mc_floordiv_{s}": Helper(QUOTIENT.format(t=t, s=s), floor),
    }
    for name, exp, shift, scale in (
        ("logaddexp", "exp", LOG_2, 1.0),
        ("logaddexp2", "exp2", 1.0, LOG_E),
    ):
        text = LOG_OF_SUM.format(
            t=t, s=s, f=f, name=name, exp=exp,
            shift=constant(shift, kind), scale=constant(scale, kind),
        )  # fmt: skip
        found[f"mc_{name}_{s}"] = Helper(
            text,
            {
                f"llvm.{exp}.{s}": f"declare {t} @llvm.{exp}.{s}({t})",
                f"log1p{f}": f"declare {t} @log1p{f}({t}) nounwind willreturn memory(none)",
            },
        )
    return found


HELPERS: dict[str, Helper] = {
    "mc_int_floordiv": Helper(
        DIVISION.format(name="int_floordiv", own="%q", other="sub i64 %q, 1", wrapped=LEAST_INT)
    ),
    "mc_int_mod": Helper(
        DIVISION.format(name="int_mod", own="%r", other="add i64 %r, %b", wrapped=0)
    ),
    "mc_int_power": Helper(INT_POWER),
    **of_width("float", "double", ""),
    **of_width("float32", "float", "f"),
    "mc_far_power": Helper(FAR_POWER, declared("llvm.pow.f64")),
    "mc_hypot": Helper(
        HYPOT,
        declared("llvm.sqrt.f64")
        | {"hypot": "declare double @hypot(double, double) nounwind willreturn memory(none)"},
    ),
    "mc_bytes": Helper(BYTES, declared("llvm.smul.with.overflow.i64")),
    "mc_new": Helper(NEW, declared("mc_malloc")),
    "mc_free_all": Helper(FREE_ALL, declared("mc_free")),
    "mc_grow": Helper(
        GROW,
        declared(
            "mc_malloc",
            "mc_free",
            "llvm.smax.i64",
            "llvm.memcpy.p0.p0.i64",
            "llvm.smul.with.overflow.i64",
        ),
    ),
    "mc_tanh": TANH,
    "mc_look": LOOK,
    "mc_interrupted": IN_CALL,
    "mc_signals": BEFORE_CALL,
    **PRODUCTS,
}
"""By their names."""
