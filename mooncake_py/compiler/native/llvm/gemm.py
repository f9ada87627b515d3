"""Adds a product of matrices to another one, by the BLAS of SciPy.

It counts in columns: its product of the transposes is the transpose of ours.  A matrix of which
neither rows nor columns have unit steps is copied first.
"""

from __future__ import annotations

from mooncake_py.compiler.native.llvm.numbers import REGISTER, SIZE, SUFFIX, constant
from mooncake_py.compiler.native.llvm.texts import Helper, declared
from mooncake_py.compiler.native.regions.region import FLOAT, FLOAT32

__all__ = ["PRODUCTS"]

GREATEST = 2**31 - 1
"""Of the ints of BLAS."""

# A copy of a matrix, in C order.
PACKED = """\
define internal ptr @mc_packed_{s}(ptr %x, i64 %rows, i64 %columns, i64 %down, i64 %along) noinline nounwind {{
entry:
  %n = mul i64 %rows, %columns
  %size = mul i64 %n, {item}
  %some = or i64 %size, 1
  %copy = call noalias ptr @mc_malloc(i64 %some)
  %failed = icmp eq ptr %copy, null
  br i1 %failed, label %done, label %row
row:
  %i = phi i64 [ 0, %entry ], [ %i1, %row.end ]
  %more = icmp slt i64 %i, %rows
  br i1 %more, label %row.begin, label %done
row.begin:
  %from = mul i64 %i, %down
  %to = mul i64 %i, %columns
  br label %column
column:
  %j = phi i64 [ 0, %row.begin ], [ %j1, %column.do ]
  %inside = icmp slt i64 %j, %columns
  br i1 %inside, label %column.do, label %row.end
column.do:
  %step = mul i64 %j, %along
  %at = add i64 %from, %step
  %source = getelementptr inbounds {t}, ptr %x, i64 %at
  %e = load {t}, ptr %source
  %place = add i64 %to, %j
  %target = getelementptr inbounds {t}, ptr %copy, i64 %place
  store {t} %e, ptr %target
  %j1 = add nuw nsw i64 %j, 1
  br label %column
row.end:
  %i1 = add nuw nsw i64 %i, 1
  br label %row
done:
  ret ptr %copy
}}
"""  # noqa: E501

# Whether all numbers of a matrix are finite, by one sum that is zero then.
FINITE = """\
define internal i1 @mc_finite_{s}(ptr %x, i64 %rows, i64 %columns, i64 %down) noinline nounwind {{
entry:
  br label %row
row:
  %i = phi i64 [ 0, %entry ], [ %i1, %row.end ]
  %sum = phi {t} [ 0.0, %entry ], [ %total, %row.end ]
  %more = icmp slt i64 %i, %rows
  br i1 %more, label %row.begin, label %done
row.begin:
  %from = mul i64 %i, %down
  br label %column
column:
  %j = phi i64 [ 0, %row.begin ], [ %j1, %column.do ]
  %total = phi {t} [ %sum, %row.begin ], [ %total1, %column.do ]
  %inside = icmp slt i64 %j, %columns
  br i1 %inside, label %column.do, label %row.end
column.do:
  %at = add i64 %from, %j
  %place = getelementptr inbounds {t}, ptr %x, i64 %at
  %e = load {t}, ptr %place
  %zero = fmul {t} %e, 0.0
  %total1 = fadd reassoc contract {t} %total, %zero
  %j1 = add nuw nsw i64 %j, 1
  br label %column
row.end:
  %i1 = add nuw nsw i64 %i, 1
  br label %row
done:
  %fine = fcmp oeq {t} %sum, 0.0
  ret i1 %fine
}}
"""

# Add sign * x @ y to z and return true, or do nothing and return false: for want of memory, for
# sizes that BLAS does not take, or where it is guarded, and a factor or the product is not finite.
# BLAS adds to z itself where this has unit steps and no memory of a factor between its ends, and
# the factors are fewer numbers than the product, if these must be looked at.
PRODUCT = """\
define internal i1 @mc_add_product_{s}(ptr %z, i64 %zr, i64 %zc, ptr %x, i64 %xr, i64 %xc, ptr %y, i64 %yr, i64 %yc, i64 %n, i64 %m, i64 %p, {t} %sign, i1 %guarded) noinline nounwind {{
entry:
  %letter.x = alloca i8
  %letter.y = alloca i8
  %rows = alloca i32
  %inner = alloca i32
  %columns = alloca i32
  %step.x = alloca i32
  %step.y = alloca i32
  %one = alloca {t}
  %zero = alloca {t}
  %step.z = alloca i32
  %by = alloca {t}
  %x.unit = icmp eq i64 %xc, 1
  %x.turned = icmp eq i64 %xr, 1
  %x.plain = or i1 %x.unit, %x.turned
  br i1 %x.plain, label %x.ready, label %x.copy
x.copy:
  %x.packed = call ptr @mc_packed_{s}(ptr %x, i64 %n, i64 %m, i64 %xr, i64 %xc)
  %x.none = icmp eq ptr %x.packed, null
  br i1 %x.none, label %no, label %x.ready
x.ready:
  %x.own = phi ptr [ null, %entry ], [ %x.packed, %x.copy ]
  %x.data = phi ptr [ %x, %entry ], [ %x.packed, %x.copy ]
  %x.down = phi i64 [ %xr, %entry ], [ %m, %x.copy ]
  %x.along = phi i64 [ %xc, %entry ], [ 1, %x.copy ]
  %y.unit = icmp eq i64 %yc, 1
  %y.turned = icmp eq i64 %yr, 1
  %y.plain = or i1 %y.unit, %y.turned
  br i1 %y.plain, label %y.ready, label %y.copy
y.copy:
  %y.packed = call ptr @mc_packed_{s}(ptr %y, i64 %m, i64 %p, i64 %yr, i64 %yc)
  %y.none = icmp eq ptr %y.packed, null
  br i1 %y.none, label %no.x, label %y.ready
y.ready:
  %y.own = phi ptr [ null, %x.ready ], [ %y.packed, %y.copy ]
  %y.data = phi ptr [ %y, %x.ready ], [ %y.packed, %y.copy ]
  %y.down = phi i64 [ %yr, %x.ready ], [ %p, %y.copy ]
  %y.along = phi i64 [ %yc, %x.ready ], [ 1, %y.copy ]
  %x.is = icmp eq i64 %x.along, 1
  %y.is = icmp eq i64 %y.along, 1
  %x.letter = select i1 %x.is, i8 110, i8 116
  %y.letter = select i1 %y.is, i8 110, i8 116
  store i8 %x.letter, ptr %letter.x
  store i8 %y.letter, ptr %letter.y
  %x.far = select i1 %x.is, i64 %x.down, i64 %x.along
  %y.far = select i1 %y.is, i64 %y.down, i64 %y.along
  %x.wide = select i1 %x.is, i64 %m, i64 %n
  %y.wide = select i1 %y.is, i64 %p, i64 %m
  %x.least = call i64 @llvm.smax.i64(i64 %x.far, i64 %x.wide)
  %y.least = call i64 @llvm.smax.i64(i64 %y.far, i64 %y.wide)
  %x.step = call i64 @llvm.smax.i64(i64 %x.least, i64 1)
  %y.step = call i64 @llvm.smax.i64(i64 %y.least, i64 1)
  %large.x = call i64 @llvm.smax.i64(i64 %x.step, i64 %y.step)
  %large.n = call i64 @llvm.smax.i64(i64 %n, i64 %m)
  %large.p = call i64 @llvm.smax.i64(i64 %large.n, i64 %p)
  %large = call i64 @llvm.smax.i64(i64 %large.x, i64 %large.p)
  %too.large = icmp sgt i64 %large, {greatest}
  br i1 %too.large, label %no.y, label %room
room:
  %n32 = trunc i64 %n to i32
  %m32 = trunc i64 %m to i32
  %p32 = trunc i64 %p to i32
  %x32 = trunc i64 %x.step to i32
  %y32 = trunc i64 %y.step to i32
  store i32 %n32, ptr %rows
  store i32 %m32, ptr %inner
  store i32 %p32, ptr %columns
  store i32 %x32, ptr %step.x
  store i32 %y32, ptr %step.y
  store {t} {one}, ptr %one
  store {t} 0.0, ptr %zero
  %np = mul i64 %n, %p
  %z.unit = icmp eq i64 %zc, 1
  %z.far = icmp sge i64 %zr, %p
  %z.small = icmp sle i64 %zr, {greatest}
  %z.last = mul i64 %n, %zr
  %z.end = getelementptr {t}, ptr %z, i64 %z.last
  %x.outer = select i1 %x.is, i64 %n, i64 %m
  %x.inner = select i1 %x.is, i64 %m, i64 %n
  %y.outer = select i1 %y.is, i64 %m, i64 %p
  %y.inner = select i1 %y.is, i64 %p, i64 %m
  %x.last = mul i64 %x.outer, %x.step
  %y.last = mul i64 %y.outer, %y.step
  %x.end = getelementptr {t}, ptr %x.data, i64 %x.last
  %y.end = getelementptr {t}, ptr %y.data, i64 %y.last
  %x.before = icmp ule ptr %x.end, %z
  %x.behind = icmp uge ptr %x.data, %z.end
  %y.before = icmp ule ptr %y.end, %z
  %y.behind = icmp uge ptr %y.data, %z.end
  %x.apart = or i1 %x.before, %x.behind
  %y.apart = or i1 %y.before, %y.behind
  %nm = mul i64 %n, %m
  %mp = mul i64 %m, %p
  %factors = add i64 %nm, %mp
  %fewer = icmp slt i64 %factors, %np
  %unguarded = xor i1 %guarded, true
  %cheap = or i1 %unguarded, %fewer
  %direct.1 = and i1 %z.unit, %z.far
  %direct.2 = and i1 %direct.1, %z.small
  %direct.3 = and i1 %direct.2, %x.apart
  %direct.4 = and i1 %direct.3, %y.apart
  %direct = and i1 %direct.4, %cheap
  br i1 %direct, label %in.place, label %apart
in.place:
  br i1 %guarded, label %factors.look, label %add
factors.look:
  %x.fine = call i1 @mc_finite_{s}(ptr %x.data, i64 %x.outer, i64 %x.inner, i64 %x.step)
  %y.fine = call i1 @mc_finite_{s}(ptr %y.data, i64 %y.outer, i64 %y.inner, i64 %y.step)
  %fine = and i1 %x.fine, %y.fine
  br i1 %fine, label %add, label %no.y
add:
  %z32 = trunc i64 %zr to i32
  store i32 %z32, ptr %step.z
  store {t} %sign, ptr %by
  call void @{gemm}(ptr %letter.y, ptr %letter.x, ptr %columns, ptr %rows, ptr %inner, ptr %by, ptr %y.data, ptr %step.y, ptr %x.data, ptr %step.x, ptr %one, ptr %z, ptr %step.z)
  br label %no.y
apart:
  %bytes = mul i64 %np, {item}
  %some = or i64 %bytes, 1
  %found = call noalias ptr @mc_malloc(i64 %some)
  %none = icmp eq ptr %found, null
  br i1 %none, label %no.y, label %call
call:
  call void @{gemm}(ptr %letter.y, ptr %letter.x, ptr %columns, ptr %rows, ptr %inner, ptr %one, ptr %y.data, ptr %step.y, ptr %x.data, ptr %step.x, ptr %zero, ptr %found, ptr %columns)
  br i1 %guarded, label %look, label %row
look:
  %k = phi i64 [ 0, %call ], [ %k1, %look.do ]
  %total = phi double [ 0.0, %call ], [ %total1, %look.do ]
  %k.more = icmp slt i64 %k, %np
  br i1 %k.more, label %look.do, label %looked
look.do:
  %k.at = getelementptr inbounds {t}, ptr %found, i64 %k
  %k.e = load {t}, ptr %k.at
  %k.zero = fmul {t} %k.e, 0.0
  %k.wide = {widened}
  %total1 = fadd reassoc contract double %total, %k.wide
  %k1 = add nuw nsw i64 %k, 1
  br label %look
looked:
  %bad = fcmp une double %total, 0.0
  br i1 %bad, label %no.found, label %row
row:
  %i = phi i64 [ 0, %call ], [ 0, %looked ], [ %i1, %row.end ]
  %i.more = icmp slt i64 %i, %n
  br i1 %i.more, label %row.begin, label %yes
row.begin:
  %from = mul i64 %i, %p
  %to = mul i64 %i, %zr
  br label %column
column:
  %j = phi i64 [ 0, %row.begin ], [ %j1, %column.do ]
  %j.more = icmp slt i64 %j, %p
  br i1 %j.more, label %column.do, label %row.end
column.do:
  %from.j = add nsw i64 %from, %j
  %e.at = getelementptr inbounds {t}, ptr %found, i64 %from.j
  %e = load {t}, ptr %e.at
  %along = mul i64 %j, %zc
  %to.j = add nsw i64 %to, %along
  %z.at = getelementptr inbounds {t}, ptr %z, i64 %to.j
  %before = load {t}, ptr %z.at
  %signed = fmul {t} %sign, %e
  %after = fadd {t} %before, %signed
  store {t} %after, ptr %z.at
  %j1 = add nuw nsw i64 %j, 1
  br label %column
row.end:
  %i1 = add nuw nsw i64 %i, 1
  br label %row
yes:
  br label %no.found
no.found:
  %found.done = phi i1 [ true, %yes ], [ false, %looked ]
  call void @mc_free(ptr %found)
  br label %no.y
no.y:
  %y.done = phi i1 [ false, %y.ready ], [ false, %factors.look ], [ true, %add ], [ false, %apart ], [ %found.done, %no.found ]
  call void @mc_free(ptr %y.own)
  br label %no.x
no.x:
  %x.done = phi i1 [ false, %y.copy ], [ %y.done, %no.y ]
  call void @mc_free(ptr %x.own)
  br label %no
no:
  %done = phi i1 [ false, %x.copy ], [ %x.done, %no.x ]
  ret i1 %done
}}
"""  # noqa: E501


def of_width(kind: str, gemm: str) -> dict[str, Helper]:
    """Return the functions that multiply matrices of floats of one width."""
    t, s = REGISTER[kind], SUFFIX[kind]
    widened = "fadd double %k.zero, -0.0" if kind == FLOAT else "fpext float %k.zero to double"
    text = PRODUCT.format(
        t=t, s=s, item=SIZE[kind], gemm=gemm, greatest=GREATEST, one=constant(1.0, kind),
        widened=widened,
    )  # fmt: skip
    declares = {
        **declared("mc_malloc", "mc_free", "llvm.smax.i64"),
        gemm: f"declare void @{gemm}({', '.join(['ptr'] * 13)}) nounwind",
    }
    packed = PACKED.format(t=t, s=s, item=SIZE[kind])
    return {
        f"mc_add_product_{s}": Helper(text, declares, (f"mc_packed_{s}", f"mc_finite_{s}")),
        f"mc_finite_{s}": Helper(FINITE.format(t=t, s=s), {}),
        f"mc_packed_{s}": Helper(packed, declared("mc_malloc")),
    }


PRODUCTS = {**of_width(FLOAT, "mc_dgemm"), **of_width(FLOAT32, "mc_sgemm")}
"""By their names."""
