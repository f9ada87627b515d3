"""Handwritten kernels."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from mooncake_py.compiler.native.llvm.signature import Foreign, Signature, Slot

pytest.importorskip("llvmlite")

HEAD = """
declare ptr @mc_malloc(i64)
declare void @mc_free(ptr)
declare double @tan(double)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""

SCALED = """
define i32 @mc_reverse(ptr %in, ptr %out) {
  %x = load ptr, ptr %in
  %n_at = getelementptr i64, ptr %in, i64 1
  %n = load i64, ptr %n_at
  %f_at = getelementptr i64, ptr %in, i64 2
  %f = load double, ptr %f_at
  %bytes = mul i64 %n, 8
  %some = call i64 @llvm.umax.i64(i64 %bytes, i64 1)
  %y = call ptr @mc_malloc(i64 %some)
  %none = icmp eq ptr %y, null
  br i1 %none, label %failed, label %loop
loop:
  %k = phi i64 [ 0, %0 ], [ %k1, %body ]
  %more = icmp ult i64 %k, %n
  br i1 %more, label %body, label %end
body:
  %from = getelementptr double, ptr %x, i64 %k
  %v = load double, ptr %from
  %w = fmul double %v, %f
  %to = getelementptr double, ptr %y, i64 %k
  store double %w, ptr %to
  %k1 = add i64 %k, 1
  br label %loop
end:
  store ptr %y, ptr %out
  %n_out = getelementptr i64, ptr %out, i64 1
  store i64 %n, ptr %n_out
  %x_out = getelementptr i64, ptr %out, i64 2
  store ptr null, ptr %x_out
  ret i32 0
failed:
  ret i32 -1
}
declare i64 @llvm.umax.i64(i64, i64)
"""
"""``(x, f) -> (x * f, x)``."""

X = Slot("x", "float", 1, 0)
F = Slot("f", "float", None, 2)
SCALES = Signature("mc_reverse", (X, F), (Slot("y", "float", 1, 0), Slot("x", "float", 1, 2, 0)))

ENDS = """
define i32 @mc_forward(ptr %in, ptr %out) {
  %code_at = getelementptr i64, ptr %in, i64 2
  %code = load i64, ptr %code_at
  %few = call ptr @mc_malloc(i64 24)
  store ptr %few, ptr %out
  %n_out = getelementptr i64, ptr %out, i64 1
  store i64 3, ptr %n_out
  %top = getelementptr i64, ptr %out, i64 2
  store i64 2, ptr %top
  %y_at = getelementptr i64, ptr %out, i64 3
  store double 1.5, ptr %y_at
  %found = trunc i64 %code to i32
  ret i32 %found
}
"""
"""``(S, code) -> (True, new S, 2, 1.5)``, or an end with a code."""

S = Slot(".S", "float", 1, 0)
END = Signature(
    "mc_forward",
    (S, Slot("code", "int", None, 2)),
    (Slot(".S", "float", 1, 0, 0), Slot(".p", "int", None, 2), Slot("y", "float", None, 3)),
)

KINDS = """
define i32 @mc_reverse(ptr %in, ptr %out) {
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %in, i64 32, i1 false)
  ret i32 0
}
"""
"""A float, a float32, an int and a bool are given back."""

ALL = tuple(Slot(k, k, None, place) for place, k in enumerate(("float", "float32", "int", "bool")))
ECHO = Signature("mc_reverse", ALL, ALL)


@dataclass
class Text:
    """What a printer has printed."""

    text: str
    functions: dict[str, Signature]
    foreign: dict[str, Foreign] = field(default_factory=dict)
    is_lasting: bool = True


def scaled() -> Text:
    return Text(HEAD + SCALED, {"reverse": SCALES})


def ends() -> Text:
    return Text(HEAD + ENDS, {"forward": END})


def echo() -> Text:
    return Text(HEAD + KINDS, {"reverse": ECHO})


LONG = """
define i32 @mc_reverse(ptr %in, ptr %out) {
  %n = load i64, ptr %in
  br label %loop
loop:
  %k = phi i64 [ 0, %0 ], [ %k1, %loop ]
  %y = phi double [ 0.5, %0 ], [ %y1, %loop ]
  %y1 = call double @tan(double %y)
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %n
  br i1 %more, label %loop, label %end
end:
  store double %y1, ptr %out
  ret i32 0
}
"""
"""So many tangents."""


def long() -> Text:
    one = Slot("n", "int", None, 0), Slot("y", "float", None, 0)
    return Text(HEAD + LONG, {"reverse": Signature("mc_reverse", one[:1], one[1:])})
