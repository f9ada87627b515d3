"""Random loops that call functions on whole arrays, in addition to `random_arrays`."""

from __future__ import annotations

from random import Random

from tests.programs.random_arrays import HEAD, NAMES, STARTS, TAIL, name, number, row, statement

__all__ = ["random_loop_of_calls"]

OWN_HEAD = (
    "    weights = np.array([0.25, 0.5, 0.25])\n    kernel = x[:3] * 0.5\n"
    "    grid = np.arange(6.0)\n"
)
PADDING = ("edge", "wrap", "constant")
OWN_TAIL = "    kernel *= 0.5\n    grid[1] = 7.0\n    weights[0] = 0.1 * x[0]\n"


def random_loop_of_calls(seed: int) -> str:
    """Return the text of a function ``f(x, y, m, a)``; see `slice_arguments`."""
    random = Random(seed)
    head = HEAD.replace(
        "def f(", "def spread(q, r):\n    return np.roll(q, 1) - 2.0 * q + np.cumsum(r)\n\ndef f("
    )
    head += OWN_HEAD
    head += "".join(f"    {name} = {random.choice(STARTS)}\n" for name in NAMES)
    first = random.choice(("range(1, n)", "range(n)", "range(5)", "range(n - 1, 0, -1)"))
    lines: list[str] = []
    for _ in range(random.randint(1, 4)):
        own = random.random() < 0.65
        lines += calls(random, ["i"]) if own else statement(random, ["i"])
    body = "".join(f"        {line}\n" for line in lines)
    return f"{head}    for i in {first}:\n{body}{OWN_TAIL}{TAIL}"


def calls(random: Random, counters: list[str]) -> list[str]:
    """Return statements in which functions are called."""
    kind = random.random()
    target = random.choice(NAMES)
    if kind < 0.45:
        value = call(random, counters)
        return [random.choice((
            f"{target} = {value}", f"{target} = 0.5 * {value} - 0.2 * {name(random)}",
            f"{target} = 0.4 * {name(random)} + 0.1 * ({value}) * {call(random, counters)}",
            f"{target} += 0.1 * {value}", f"{row(random, counters)} = 0.4 * {value}",
            f"{row(random, counters)} -= 0.2 * {value}", f"z += 0.1 * {value}",
            f"s += np.sum({value}) * 0.1",
        ))]  # fmt: skip
    if kind < 0.65:
        value = number_of(random, counters)
        return [random.choice((
            f"s = 0.3 * s + 0.1 * {value}", f"t = 0.2 * np.sin({value})", f"s += 0.1 * {value}",
            f"{target} = {name(random)} * (0.1 * {value})",
            f"x[{random.choice(('i - 1', '0', '-1'))}] *= 0.3 * np.tanh({value})",
            f"{target} = {name(random)} / (1.5 + ({value}) ** 2)",
        ))]  # fmt: skip
    if kind < 0.85:
        return of_other_shape(random, counters)
    own = f"g{random.randrange(10**6)}"
    value = random.choice((
        f"np.zeros_like({name(random)})", "np.zeros(n)", "np.ones(n)", f"np.cumsum({name(random)})",
        f"np.roll({name(random)}, 2)", f"np.sort({name(random)})", "np.full(n, t)",
        f"np.reshape({name(random)}, -1)", f"np.clip({name(random)}, -0.4, t)",
        f"np.array([{', '.join(number(random, counters) for _ in range(5))}, 0.5])",
    ))  # fmt: skip
    change = random.choice((
        f"{own}[1:-1] = {name(random)}[2:] - 0.4 * {name(random)}[:-2]", f"{own}[0] = 0.3 * t",
        f"{own}[2:] += 0.2 * {name(random)}[:-2]", f"{own} *= 0.7", f"{own}[-1] = {own}[1] * 0.5",
    ))  # fmt: skip
    use = random.choice((f"{target} = {own}", f"{target} = 0.5 * {own} + {name(random)} * 0.3",
                         f"s += 0.1 * np.sum({own} * {name(random)})"))  # fmt: skip
    return [f"{own} = {value}", change, use]


def call(random: Random, counters: list[str]) -> str:
    """Return a call whose value is six numbers."""
    u, v = name(random), random.choice((name(random), row(random, counters), "x", "y"))
    c = number(random, counters)
    shift = random.choice(("1", "-1", "2", "i", "-k"))
    ends = random.choice(("0.3", "t", "s", f"{u}[0]", f"x[{random.choice(('i', '0'))}]"))
    return random.choice((
        f"np.roll({v}, {shift})", f"np.roll({u} * {v}, 1)", f"np.roll({u}, -1) + np.roll({v}, 1)",
        f"np.cumsum({v})", f"np.cumsum(0.3 * {u} - {c})", f"np.clip({v}, -0.5, 0.5)",
        f"np.clip({u}, -0.4, {ends})", f"np.clip({u} - {v}, None, {c})", f"np.clip({u}, {v}, 2.0)",
        f"np.concatenate(([{ends}], {v}[1:-1], [0.5]))", f"np.concatenate(({u}[3:], {v}[:3]))",
        f"np.concatenate([{u}[1:], [{ends}]])", f"np.hstack([{ends}, {u}[:-2], {v}[-1]])",
        f"np.convolve({v}, weights, mode='same')", f"np.convolve({u}, kernel, 'same')",
        f"np.convolve({v}, [0.25, {ends}, 0.2], 'same')", f"np.repeat([{ends}, 0.4, {c}], 2)",
        f"np.convolve({u}[1:], kernel[:2])", f"np.interp({u}, grid, {v})",
        f"np.interp(grid - 0.3 * a, grid, {u})", f"np.gradient({v})", f"np.gradient({u}, 0.5)",
        f"np.einsum('ij,j->i', m, {u})", f"np.einsum('i,i->i', {u}, {v})", f"np.flip({u})",
        f"np.repeat({u}[:3], 2)", f"np.tile({v}[1:3], 3)", f"np.sort({u})", f"np.triu(m) @ {u}",
        "np.diag(m @ m)", f"np.minimum({u}, {v})", f"np.maximum({u} * {c}, 0.1)",
        f"spread({u}, {u})", f"spread({v}, {u} * {c})",
        f"np.linalg.solve(m + 4.0 * np.eye(n), {u})",
        f"np.stack([{u}, {v}]).sum(axis=0)", f"np.vstack(({u}, {v}))[i % 2]",
        f"np.cumsum({v}).T", f"np.fft.ifft(np.fft.fft({u})).real", f"{u} * np.diff({v}).size",
    ))  # fmt: skip


def number_of(random: Random, counters: list[str]) -> str:
    """Return a call whose value is a number."""
    u, v = name(random), random.choice((name(random), "x", "y"))
    return random.choice((
        f"np.linalg.norm({u} + 2.0)", f"np.vdot({u}, {v})", f"np.inner({u}, {v})", "np.trace(m)",
        f"np.einsum('i,ij,j->', {u}, m, {v})", f"np.trapezoid({u}, grid)", f"np.max({v})",
        f"np.trapezoid({u}, dx=0.3)", f"np.min({u} * {v})", f"np.std({u} + grid)",
        f"np.prod({u}[:3] + 1.5)", f"{u}[1] * {v}[0] - {u}[i - 1]",
        f"np.trapezoid({u} * {v})",
    ))  # fmt: skip


def of_other_shape(random: Random, counters: list[str]) -> list[str]:
    """Return statements with a name for an array of another shape."""
    own = f"h{random.randrange(10**6)}"
    u, v = name(random), random.choice((name(random), row(random, counters)))
    target = random.choice(NAMES)
    return random.choice((
        [f"{own} = np.diff({v})", f"{target}[1:-1] += 0.1 * np.diff({u}, n=2)",
         f"s += np.sum({own} ** 2)"],
        [f"{own} = np.diff({u})", f"{target} = {v} * 1.0", f"{target}[1:] -= 0.2 * {own}"],
        [f"{own} = np.concatenate(({u}[-1:], {v}, {u}[:1]))",
         f"{target} = 0.4 * ({own}[2:] - 2.0 * {own}[1:-1] + {own}[:-2])"],
        [f"{own} = np.pad({u}, 1, mode='{random.choice(PADDING)}')",
         f"{target} = 0.3 * ({own}[2:] + {own}[:-2])"],
        [f"{own} = np.outer({u}, {v})", f"{target} = 0.2 * np.roll({own}, 1, axis=0)[2] + {u}"],
        [f"{own} = np.roll(m, 1, axis=1) - np.roll(b, -1, 0)", f"b = 0.5 * b + 0.1 * {own}"],
        [f"{own} = np.stack([{u}, {v}, x])", f"{target} = 0.3 * {own}.mean(axis=0)"],
        [f"{own} = np.array([{u}[0] * {v}[1], s - {u}[2], a])", f"s += 0.2 * np.sum({own} ** 2)"],
        [f"{own} = np.ravel(b)", f"s += 0.1 * np.sum({own} * {own})"],
        [f"{own} = np.linalg.inv(m + 4.0 * np.eye(n))", f"{target} = {own} @ {u}"],
    ))  # fmt: skip
