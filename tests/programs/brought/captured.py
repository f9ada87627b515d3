"""Statements with what was made before the call: iterators, and memory that objects share."""

from __future__ import annotations

from tests.programs.brought.fragments import Fragment, Statement, written_of

__all__ = ["STATEMENTS"]

MADE = (
    "iter(DATA{k})", "iter(DATA{k}.tolist())", "map(lambda v: v * {c}, DATA{k})",
    "filter(lambda v: v > 0.3, DATA{k})", "itertools.chain(DATA{k}, [0.3])",
    "itertools.cycle(DATA{k})", "itertools.islice(DATA{k}, 1, None)", "reversed(DATA{k})",
    "itertools.accumulate(DATA{k})", "(v * v for v in DATA{k})", "itertools.repeat({c})",
    "itertools.count(1)", "itertools.tee(DATA{k})[1]", "iter(tuple(DATA{k}))", "DATA{k}.flat",
    "itertools.starmap(lambda u, v: u * v, zip(DATA{k}, DATA{k}))", "iter({{0.3: 1, 0.6: 2}})",
    "itertools.takewhile(lambda v: v < 0.8, DATA{k})", "iter(deque(DATA{k}))", "iter(range(1, 9))",
)  # fmt: skip
ITERATORS = [
    Fragment(
        f"{{o}} = next(ITER{{k}}) * {{s}}\n{use}",
        f"DATA{{k}} = np.linspace(0.3, 0.9, {{n}})\nITER{{k}} = {made}",
    )
    for made in MADE
    for use in (
        "{o} = {o} + next(ITER{k}) * {t}",
        "DATA{k}[-1] = {s}\n{o} = {o} + next(ITER{k})",
        "DATA{k}[1] = {s}\n{o} = {o} + sum(itertools.islice(ITER{k}, 2))",
        "for v, w in zip({a}, ITER{k}):\n    {o} = {o} + v * w",
    )
]
SHARED = [
    "np.from_dlpack(BASE{k})", "np.frombuffer(BASE{k})", "np.asarray(memoryview(BASE{k}))",
    "BASE{k}[::-1]", "BASE{k}.reshape(1, -1)[0]", "np.lib.stride_tricks.as_strided(BASE{k})",
    "np.ctypeslib.as_array((ctypes.c_double * {n}).from_buffer(BASE{k}))", "BASE{k}.view()",
    "np.ndarray({n}, float, BASE{k})", "np.ndarray({n}, float, BASE{k}.data)",
    "np.asarray(Interface{k}())", "np.from_dlpack(np.from_dlpack(BASE{k})[:])",
    "np.frombuffer(memoryview(BASE{k})[1:])", "np.from_dlpack(BASE{k}[1:])",
]  # fmt: skip
INTERFACE = (
    "class Interface{k}:\n    @property\n    def __array_interface__(self):\n"
    "        return BASE{k}.__array_interface__\n"
)
MEMORY = [
    Fragment(use, f"BASE{{k}} = np.linspace(0.2, 0.8, {{n}})\n{INTERFACE}VIEW{{k}} = {made}")
    for made in SHARED
    for use in (
        "BASE{k}[1] = {s}\n{o} = VIEW{k}[0] * {t} + VIEW{k}[1] + seen(VIEW{k}, BASE{k})",
        "BASE{k}[:] = {a}\n{o} = np.sum(VIEW{k} ** 2) * {t}",
        "VIEW{k}[0] = {s}\n{o} = np.sum(BASE{k} * {a}) + seen(VIEW{k}, BASE{k})",
        "BASE{k} *= {s}\n{o} = np.sum(VIEW{k}) + BASE{k}[1]".replace("BASE{k} *=", "BASE{k}[:] *="),
        "{r} = VIEW{k}[0] * {a}\nVIEW{k}[1:] += {t}\n{o} = np.sum(np.sin(BASE{k}))",
    )
]
WITHIN = [  # memory that is shared behind the back of what the program makes itself
    Fragment(f"q{{k}} = {{a}} * 1.0\nv{{k}} = {made}\n{use}")
    for made in (
        "np.from_dlpack(q{k})", "np.frombuffer(q{k})", "np.asarray(memoryview(q{k}))",
        "np.lib.stride_tricks.as_strided(q{k})", "np.ndarray({n}, float, q{k})",
        "np.ndarray({n}, float, q{k}.data)", "q{k}.data.obj",
    )
    for use in (
        "q{k}[0] = {s}\n{o} = v{k}[0] * v{k}[1] + seen(v{k}, q{k})",
        "q{k}[1:] *= {s}\n{o} = np.sum(v{k}) * {t}",
    )
]  # fmt: skip

STATEMENTS: dict[Statement, int] = {
    written_of("captured_iterator", ITERATORS): 3,
    written_of("captured_shared_memory", MEMORY): 3,
    written_of("own_shared_memory", WITHIN): 1,
}
