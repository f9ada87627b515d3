"""The text of the entry: a function of Python's C API that passes arrays and numbers to a kernel.

One function is the entry of all kernels.  Its instructions are in a descriptor, the words of a
`bytearray` that is its ``self``:

    kernel, inputs, outputs, words in, words out, 1 if it tells whether it came to its end,
        how many calls until the next one that is timed
    kind, axes                                                      for each input
    kind, axes, type for NumPy, place of the input that it may be   for each output

Numbers of axes are one more than there are; 0 for a number.  Before a call that is timed the
descriptor itself is called, with None, and afterwards with what the kernel has given.
"""

from __future__ import annotations

from mooncake_py.compiler.native.llvm.listening import INTERRUPTED
from mooncake_py.compiler.native.machine.layouts import DATA, DIMENSIONS, NUMBER_OF_AXES, TYPE
from mooncake_py.compiler.native.regions.region import BOOL, FLOAT, FLOAT32, INT

__all__ = ["ENTRY", "FAILURE", "KINDS", "LEFT", "entry_text"]

ENTRY = "mc_entry"
KINDS = {FLOAT: 0, FLOAT32: 1, INT: 2, BOOL: 3}
HEAD, PER_INPUT, PER_OUTPUT = 7, 2, 4
LEFT = 6
"""The word that tells how many calls are left until one is timed."""
"""Words of a descriptor: first, for each input, and for each output."""

WRITEABLE = 0x1 | 0x100 | 0x400
"""Flags of NumPy: C-contiguous, aligned, may be written to."""

FAILURE = "a function that compiled code calls has raised; fix: compile=False shows where"
STRINGS = {
    "mc_name": "mooncake_py memory",
    "mc_number": "wrong number of arguments of a compiled function",
    "mc_kind": "a compiled function takes an array with another number of axes",
    "mc_ended": FAILURE,
}


def entry_text() -> str:
    """Return the text."""
    found = [
        f'@{name} = internal constant [{len(text) + 1} x i8] c"{text}\\00"'
        for name, text in STRINGS.items()
    ]
    text = "\n".join([*found, DECLARED, MADE, RESULT, DROP, READ, GIVEN, ENDED])
    for name, value in {
        "DATA": DATA, "DIMENSIONS": DIMENSIONS, "AXES": NUMBER_OF_AXES, "TYPE": TYPE,
        "FLAGS": WRITEABLE, "HEAD": HEAD, "PER_INPUT": PER_INPUT, "PER_OUTPUT": PER_OUTPUT,
        "INTERRUPTED": INTERRUPTED, "LEFT": LEFT,
    }.items():  # fmt: skip
        text = text.replace(f"<{name}>", str(value))
    return text


DECLARED = """
declare ptr @PyByteArray_AsString(ptr)
declare double @PyFloat_AsDouble(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare i32 @PyObject_IsTrue(ptr)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyBool_FromLong(i64)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyErr_Occurred()
declare ptr @PyErr_NoMemory()
declare void @PyErr_SetString(ptr, ptr)
declare ptr @PyCapsule_New(ptr, ptr, ptr)
declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare i32 @PyType_IsSubtype(ptr, ptr)
declare ptr @mc_PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare i32 @mc_PyArray_SetBaseObject(ptr, ptr)
declare ptr @mc_PyArray_NewCopy(ptr, i32)
declare void @mc_free(ptr)
@mc_ndarray = external global i8
@mc_None = external global i8
@mc_TypeError = external global i8
@mc_failure = external global i8
"""

# Arrays for the program own their memory, as NumPy's do: they are copies.  The stack, which is far
# larger, and which only the way back sees, stays where it is; a capsule frees it.
MADE = """
define internal void @mc_forget(ptr %capsule) {
  %data = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr @mc_name)
  call void @mc_free(ptr %data)
  ret void
}

define internal ptr @mc_view(ptr %data, ptr %lengths, i64 %axes, i64 %type) {
  %n = trunc i64 %axes to i32
  %t = trunc i64 %type to i32
  %a = call ptr @mc_PyArray_New(ptr @mc_ndarray, i32 %n, ptr %lengths, i32 %t, ptr null,
    ptr %data, i32 0, i32 <FLAGS>, ptr null)
  ret ptr %a
}

define internal ptr @mc_made(ptr %data, ptr %lengths, i64 %axes, i64 %type) {
  %a = call ptr @mc_view(ptr %data, ptr %lengths, i64 %axes, i64 %type)
  %failed = icmp eq ptr %a, null
  br i1 %failed, label %free, label %copy
copy:
  %made = call ptr @mc_PyArray_NewCopy(ptr %a, i32 0)
  call void @Py_DecRef(ptr %a)
  br label %free
free:
  %found = phi ptr [ null, %0 ], [ %made, %copy ]
  call void @mc_free(ptr %data)
  ret ptr %found
}

define internal ptr @mc_held(ptr %data, ptr %lengths, i64 %axes, i64 %type) {
  %capsule = call ptr @PyCapsule_New(ptr %data, ptr @mc_name, ptr @mc_forget)
  %none = icmp eq ptr %capsule, null
  br i1 %none, label %free, label %make
free:
  call void @mc_free(ptr %data)
  ret ptr null
make:
  %a = call ptr @mc_view(ptr %data, ptr %lengths, i64 %axes, i64 %type)
  %failed = icmp eq ptr %a, null
  br i1 %failed, label %drop, label %hold
drop:
  call void @Py_DecRef(ptr %capsule)
  ret ptr null
hold:
  %set = call i32 @mc_PyArray_SetBaseObject(ptr %a, ptr %capsule)
  %bad = icmp ne i32 %set, 0
  br i1 %bad, label %undo, label %done
undo:
  call void @Py_DecRef(ptr %a)
  ret ptr null
done:
  ret ptr %a
}
"""

# One output: its words of the descriptor, its slot, the arguments, and if it is the stack.
RESULT = """
define internal ptr @mc_result(ptr %o, ptr %slot, ptr %args, i1 %is_stack) {
  %kind = load i64, ptr %o
  %axes_at = getelementptr i64, ptr %o, i64 1
  %axes = load i64, ptr %axes_at
  %is_number = icmp eq i64 %axes, 0
  br i1 %is_number, label %number, label %array
array:
  %data = load ptr, ptr %slot
  %same = icmp eq ptr %data, null
  br i1 %same, label %given, label %new
given:
  %source_at = getelementptr i64, ptr %o, i64 3
  %source = load i64, ptr %source_at
  %old_at = getelementptr ptr, ptr %args, i64 %source
  %old = load ptr, ptr %old_at
  call void @Py_IncRef(ptr %old)
  ret ptr %old
new:
  %type_at = getelementptr i64, ptr %o, i64 2
  %type = load i64, ptr %type_at
  %lengths = getelementptr i64, ptr %slot, i64 1
  %count = sub i64 %axes, 1
  br i1 %is_stack, label %stack, label %array_of_its_own
stack:
  %held = call ptr @mc_held(ptr %data, ptr %lengths, i64 %count, i64 %type)
  ret ptr %held
array_of_its_own:
  %made = call ptr @mc_made(ptr %data, ptr %lengths, i64 %count, i64 %type)
  ret ptr %made
number:
  switch i64 %kind, label %float [ i64 1, label %single i64 2, label %int i64 3, label %bool ]
float:
  %f = load double, ptr %slot
  %of_f = call ptr @PyFloat_FromDouble(double %f)
  ret ptr %of_f
single:
  %g = load float, ptr %slot
  %wide = fpext float %g to double
  %of_g = call ptr @PyFloat_FromDouble(double %wide)
  ret ptr %of_g
int:
  %i = load i64, ptr %slot
  %of_i = call ptr @PyLong_FromLongLong(i64 %i)
  ret ptr %of_i
bool:
  %b = load i64, ptr %slot
  %of_b = call ptr @PyBool_FromLong(i64 %b)
  ret ptr %of_b
}
"""

# Free the arrays among some outputs.
DROP = """
define internal void @mc_drop(ptr %outputs, ptr %out, i64 %first, i64 %place, i64 %end) {
entry:
  br label %loop
loop:
  %k = phi i64 [ %first, %entry ], [ %k1, %next ]
  %at = phi i64 [ %place, %entry ], [ %at1, %next ]
  %more = icmp ult i64 %k, %end
  br i1 %more, label %one, label %done
one:
  %word = mul i64 %k, <PER_OUTPUT>
  %word1 = add i64 %word, 1
  %axes_at = getelementptr i64, ptr %outputs, i64 %word1
  %axes = load i64, ptr %axes_at
  %is_number = icmp eq i64 %axes, 0
  br i1 %is_number, label %next, label %array
array:
  %slot = getelementptr i64, ptr %out, i64 %at
  %data = load ptr, ptr %slot
  %null = icmp eq ptr %data, null
  br i1 %null, label %next, label %free
free:
  call void @mc_free(ptr %data)
  br label %next
next:
  %width = select i1 %is_number, i64 1, i64 %axes
  %at1 = add i64 %at, %width
  %k1 = add i64 %k, 1
  br label %loop
done:
  ret void
}
"""

READ = """
define ptr @mc_entry(ptr %self, ptr %args, i64 %given) {
entry:
  %d = call ptr @PyByteArray_AsString(ptr %self)
  %kernel = load ptr, ptr %d
  %inputs_at = getelementptr i64, ptr %d, i64 1
  %inputs = load i64, ptr %inputs_at
  %count_at = getelementptr i64, ptr %d, i64 2
  %count = load i64, ptr %count_at
  %words_in_at = getelementptr i64, ptr %d, i64 3
  %words_in = load i64, ptr %words_in_at
  %words_out_at = getelementptr i64, ptr %d, i64 4
  %words_out = load i64, ptr %words_out_at
  %tells_at = getelementptr i64, ptr %d, i64 5
  %tells = load i64, ptr %tells_at
  %of_inputs = getelementptr i64, ptr %d, i64 <HEAD>
  %skipped = mul i64 %inputs, <PER_INPUT>
  %outputs = getelementptr i64, ptr %of_inputs, i64 %skipped
  %right = icmp eq i64 %given, %inputs
  br i1 %right, label %start, label %number_wrong
number_wrong:
  call void @PyErr_SetString(ptr @mc_TypeError, ptr @mc_number)
  ret ptr null
start:
  %in = alloca i64, i64 %words_in, align 16
  %out = alloca i64, i64 %words_out, align 16
  br label %read
read:
  %k = phi i64 [ 0, %start ], [ %k1, %next ]
  %at = phi i64 [ 0, %start ], [ %at1, %next ]
  %more = icmp ult i64 %k, %inputs
  br i1 %more, label %one, label %run
one:
  %o_at = getelementptr ptr, ptr %args, i64 %k
  %o = load ptr, ptr %o_at
  %word = mul i64 %k, <PER_INPUT>
  %kind_at = getelementptr i64, ptr %of_inputs, i64 %word
  %kind = load i64, ptr %kind_at
  %axes_at = getelementptr i64, ptr %kind_at, i64 1
  %axes = load i64, ptr %axes_at
  %slot = getelementptr i64, ptr %in, i64 %at
  %is_number = icmp eq i64 %axes, 0
  br i1 %is_number, label %number, label %array
array:
  %type_at = getelementptr i8, ptr %o, i64 <TYPE>
  %type = load ptr, ptr %type_at
  %exact = icmp eq ptr %type, @mc_ndarray
  br i1 %exact, label %known, label %other
other:
  %below = call i32 @PyType_IsSubtype(ptr %type, ptr @mc_ndarray)
  %is_other = icmp eq i32 %below, 0
  br i1 %is_other, label %wrong, label %known
known:
  %n_at = getelementptr i8, ptr %o, i64 <AXES>
  %n32 = load i32, ptr %n_at
  %n = zext i32 %n32 to i64
  %n1 = add i64 %n, 1
  %fits = icmp eq i64 %n1, %axes
  br i1 %fits, label %taken, label %wrong
taken:
  %data_at = getelementptr i8, ptr %o, i64 <DATA>
  %data = load ptr, ptr %data_at
  store ptr %data, ptr %slot
  %lengths_at = getelementptr i8, ptr %o, i64 <DIMENSIONS>
  %lengths = load ptr, ptr %lengths_at
  br label %lengthwise
lengthwise:
  %j = phi i64 [ 0, %taken ], [ %j1, %length ]
  %longer = icmp ult i64 %j, %n
  br i1 %longer, label %length, label %next
length:
  %from = getelementptr i64, ptr %lengths, i64 %j
  %long = load i64, ptr %from
  %j1 = add i64 %j, 1
  %to = getelementptr i64, ptr %slot, i64 %j1
  store i64 %long, ptr %to
  br label %lengthwise
number:
  switch i64 %kind, label %float [ i64 1, label %single i64 2, label %int i64 3, label %bool ]
float:
  %f = call double @PyFloat_AsDouble(ptr %o)
  store double %f, ptr %slot
  %f_odd = fcmp oeq double %f, -1.0
  br i1 %f_odd, label %look, label %next
single:
  %g = call double @PyFloat_AsDouble(ptr %o)
  %narrow = fptrunc double %g to float
  store float %narrow, ptr %slot
  %g_odd = fcmp oeq double %g, -1.0
  br i1 %g_odd, label %look, label %next
int:
  %i = call i64 @PyLong_AsLongLong(ptr %o)
  store i64 %i, ptr %slot
  %i_odd = icmp eq i64 %i, -1
  br i1 %i_odd, label %look, label %next
bool:
  %b = call i32 @PyObject_IsTrue(ptr %o)
  %b_wide = sext i32 %b to i64
  store i64 %b_wide, ptr %slot
  %b_odd = icmp slt i32 %b, 0
  br i1 %b_odd, label %fail, label %next
look:
  %error = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %error, null
  br i1 %fine, label %next, label %fail
next:
  %width = select i1 %is_number, i64 1, i64 %axes
  %at1 = add i64 %at, %width
  %k1 = add i64 %k, 1
  br label %read
wrong:
  call void @PyErr_SetString(ptr @mc_TypeError, ptr @mc_kind)
  br label %fail
fail:
  ret ptr null
run:
  %left_at = getelementptr i64, ptr %d, i64 <LEFT>
  %calls = load i64, ptr %left_at
  %calls_left = sub i64 %calls, 1
  store i64 %calls_left, ptr %left_at
  %is_timed = icmp eq i64 %calls_left, 0
  br i1 %is_timed, label %timed, label %compute
timed:
  store i64 1, ptr %left_at
  %begun = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %self, ptr @mc_None, ptr null)
  %not_begun = icmp eq ptr %begun, null
  br i1 %not_begun, label %fail, label %has_begun
has_begun:
  call void @Py_DecRef(ptr %begun)
  br label %compute
compute:
  %state = call ptr @PyEval_SaveThread()
  %code = call i32 %kernel(ptr %in, ptr %out)
  call void @PyEval_RestoreThread(ptr %state)
  %items = add i64 %count, %tells
  %done = icmp eq i32 %code, 0
  br i1 %done, label %give, label %ended
"""

GIVEN = """
give:
  %tuple = call ptr @PyTuple_New(i64 %items)
  %no_tuple = icmp eq ptr %tuple, null
  br i1 %no_tuple, label %lost, label %filled
filled:
  %says = icmp ne i64 %tells, 0
  br i1 %says, label %first, label %item
first:
  %true = call ptr @PyBool_FromLong(i64 1)
  %set_true = call i32 @PyTuple_SetItem(ptr %tuple, i64 0, ptr %true)
  br label %item
item:
  %m = phi i64 [ 0, %filled ], [ 0, %first ], [ %m1, %set ]
  %out_at = phi i64 [ 0, %filled ], [ 0, %first ], [ %out_at1, %set ]
  %some = icmp ult i64 %m, %count
  br i1 %some, label %output, label %finished
output:
  %o_word = mul i64 %m, <PER_OUTPUT>
  %of_output = getelementptr i64, ptr %outputs, i64 %o_word
  %o_slot = getelementptr i64, ptr %out, i64 %out_at
  %o_axes_at = getelementptr i64, ptr %of_output, i64 1
  %o_axes = load i64, ptr %o_axes_at
  %o_number = icmp eq i64 %o_axes, 0
  %o_width = select i1 %o_number, i64 1, i64 %o_axes
  %out_at1 = add i64 %out_at, %o_width
  %m1 = add i64 %m, 1
  %in_front = icmp ult i64 %m, %tells
  %result = call ptr @mc_result(ptr %of_output, ptr %o_slot, ptr %args, i1 %in_front)
  %broken = icmp eq ptr %result, null
  br i1 %broken, label %rest, label %set
set:
  %place = add i64 %m, %tells
  %set_item = call i32 @PyTuple_SetItem(ptr %tuple, i64 %place, ptr %result)
  br label %item
rest:
  call void @mc_drop(ptr %outputs, ptr %out, i64 %m1, i64 %out_at1, i64 %count)
  call void @Py_DecRef(ptr %tuple)
  ret ptr null
lost:
  call void @mc_drop(ptr %outputs, ptr %out, i64 0, i64 0, i64 %count)
  ret ptr null
finished:
  br i1 %is_timed, label %after, label %whole
after:
  %noted = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %self, ptr %tuple, ptr null)
  %not_noted = icmp eq ptr %noted, null
  br i1 %not_noted, label %unnoted, label %has_noted
unnoted:
  call void @Py_DecRef(ptr %tuple)
  ret ptr null
has_noted:
  call void @Py_DecRef(ptr %noted)
  br label %whole
whole:
  ret ptr %tuple
"""

# Only the stack is there, the first output of those that tell.
ENDED = """
ended:
  %no_memory = icmp slt i32 %code, 0
  br i1 %no_memory, label %memory, label %check
memory:
  call void @mc_drop(ptr %outputs, ptr %out, i64 0, i64 0, i64 %tells)
  %interrupted = icmp eq i32 %code, <INTERRUPTED>
  br i1 %interrupted, label %fail, label %full
full:
  %never = call ptr @PyErr_NoMemory()
  ret ptr null
check:
  %silent = icmp eq i64 %tells, 0
  br i1 %silent, label %cannot, label %tell
cannot:
  call void @PyErr_SetString(ptr @mc_failure, ptr @mc_ended)
  ret ptr null
tell:
  %told = call ptr @PyTuple_New(i64 %items)
  %no_told = icmp eq ptr %told, null
  br i1 %no_told, label %untold, label %falsely
untold:
  call void @mc_drop(ptr %outputs, ptr %out, i64 0, i64 0, i64 %tells)
  ret ptr null
falsely:
  %false = call ptr @PyBool_FromLong(i64 0)
  %set_false = call i32 @PyTuple_SetItem(ptr %told, i64 0, ptr %false)
  %stack = call ptr @mc_result(ptr %outputs, ptr %out, ptr %args, i1 true)
  %no_stack = icmp eq ptr %stack, null
  br i1 %no_stack, label %unmade, label %stacked
stacked:
  %set_stack = call i32 @PyTuple_SetItem(ptr %told, i64 1, ptr %stack)
  %code_wide = sext i32 %code to i64
  %number_of = call ptr @PyLong_FromLongLong(i64 %code_wide)
  %no_number = icmp eq ptr %number_of, null
  br i1 %no_number, label %unmade, label %numbered
numbered:
  %set_number = call i32 @PyTuple_SetItem(ptr %told, i64 2, ptr %number_of)
  br label %nothing
nothing:
  %q = phi i64 [ 3, %numbered ], [ %q1, %none ]
  %left = icmp ult i64 %q, %items
  br i1 %left, label %none, label %all
none:
  call void @Py_IncRef(ptr @mc_None)
  %set_none = call i32 @PyTuple_SetItem(ptr %told, i64 %q, ptr @mc_None)
  %q1 = add i64 %q, 1
  br label %nothing
unmade:
  call void @Py_DecRef(ptr %told)
  ret ptr null
all:
  ret ptr %told
}
"""
