"""Statements whose conditions combine bools of Python with those of NumPy.

``x[0] > 0.1`` is a bool of NumPy, ``0.3 > 0.1`` one of Python: ``~``, ``+`` and ``is`` tell them
apart, and a list of conditions may hold both.
"""

from __future__ import annotations

from tests.programs.writer import Writer

__all__ = ["STATEMENTS"]

LIMITS = ("0.07", "0.33", "-0.21", "0.52", "-0.4")


def condition(w: Writer, depth: int = 2) -> str:
    """Return an expression for a bool, of Python or of NumPy, in brackets."""
    if depth > 0 and w.chance(0.6):
        first, second = condition(w, depth - 1), condition(w, depth - 1)
        return w.pick(
            f"({first} & {second})", f"({first} | {second})", f"({first} ^ {second})",
            f"({first} and {second})", f"({first} or {second})", f"(not {first})",
            f"({first} is True)", f"({first} == {second})", f"({first} != {second})",
            f"any([{first}, {second}])", f"all(({first}, {second}))",
            f"(~np.bool_({first}))", f"bool({first} & {second})", f"({first} is not False)",
            f"np.logical_and({first}, {second})", f"np.logical_or({first}, {second})",
            f"np.logical_not({first})", f"np.logical_xor({first}, {second})",
            f"({first} if {second} else True)",
        )  # fmt: skip
    limit, s = w.rng.choice(LIMITS), w.scalar(1)
    known = w.name("truth")
    if known is not None and w.chance(0.4):
        return known.text
    forms = [
        f"({s} > {limit})", f"({s} <= {limit})", f"({limit} < {s} < 0.9)", "(1 < 2)",
        f"(-0.5 <= {s} <= {limit} + 0.3)", f"(float({s}) > {limit})", f"({s} != {limit})",
        f"bool({s} > {limit})", "True", f"isinstance({s}, float)",
    ]  # fmt: skip
    array = w.name("array")
    if array is not None:
        t, element = array.text, w.element()
        forms += [
            f"np.any({t} > {limit})", f"np.all({t} > {limit})", f"({t} > {limit}).any()",
            f"({element} > {limit})", f"({element} < {limit})", f"({t}.ravel()[0] < {limit})",
            f"any(v > {limit} for v in np.ravel({t}))", f"(({t} > {limit}).ravel()[-1])",
            f"all([v < 0.9 for v in np.ravel({t})])",
        ]  # fmt: skip
    return w.rng.choice(forms)


def new_truth(w: Writer) -> None:
    """Bind a bool."""
    name = w.fresh("ok")
    w.write(f"{name} = {condition(w)}")
    w.scope.add(name, "truth")


def collect_truth(w: Writer) -> bool:
    """Change a bool in a loop over elements: it begins as one of Python and may become NumPy's."""
    array = w.name("array")
    if array is None or w.loops >= 2:
        return False
    name, value = w.fresh("ok"), w.fresh("e")
    w.write(f"{name} = {w.pick('True', 'False', condition(w, 1))}")
    with w.block(f"for {value} in np.ravel({array.text})[:3]{w.pick('', '.tolist()')}:"):
        test = f"{value} {w.pick('>', '<')} {w.rng.choice(LIMITS)}"
        w.write(w.pick(f"{name} &= {test}", f"{name} |= {test}", f"{name} ^= {test}",
                       f"{name} = {name} and {test}", f"{name} = {name} & ({test})",
                       f"{name} = not {name} or {test}", f"{name} &= not {test}"))  # fmt: skip
    w.scope.add(name, "truth")
    return True


def branch_on_truth(w: Writer) -> None:
    """Choose between numbers by a bool."""
    name, first, second = w.fresh("s"), w.scalar(1), w.scalar(1)
    c, d = condition(w), condition(w, 1)
    w.write(
        w.pick(
            f"{name} = {first} if {c} else {second}",
            f"{name} = {first} if {c} is True else {second}",
            f"{name} = {first} if not {c} else {second}",
            f"{name} = {first} * ({c} + 0.5)",
            f"{name} = {first} * ({c} + {d})",
            f"{name} = {first} + {c} * {second}",
            f"{name} = ({second}, {first})[{c} is not False]",
            f"{name} = ({second}, {first})[int({c})]",
            f"{name} = {{True: {first}, False: {second}}}[bool({c})]",
            f"{name} = np.where({c}, {first}, {second})[()]",
            f"{name} = {first} * float({c}) + {second} * (not {c})",
            f"{name} = {first} * sum([{c}, {d}])",
            f"{name} = {c} and {first} or {second}",
            f"{name} = {first} if ~np.bool_({c}) else {second}",
            f"{name} = {first} ** ({c} + 1)",
            f"{name} = {first} if min({c}, {d}) else max({c}, {d}) * {second}",
        )
    )
    w.write(f"{name} = float({name}) if isinstance({name}, bool) else {name} * 1.0")
    w.scope.add(name, "float")


def index_by_truth(w: Writer) -> bool:
    """Choose parts of an array by a bool."""
    array = w.name("array")
    if array is None:
        return False
    t, name, c, s = array.text, w.fresh("s"), condition(w), w.scalar(1)
    limit = w.rng.choice(LIMITS)
    w.write(
        w.pick(
            f"{name} = np.sum({t}[{c}]) * 1.0",
            f"{name} = np.sum({t}[({t} > {limit}) & {c}])",
            f"{name} = np.sum({t}[({t} > {limit}) | ~({t} > 0.4)]) * {s}",
            f"{name} = np.sum({t}, where=({t} < {limit}) ^ {c})",
            f"{name} = np.sum(np.where(({t} > {limit}) & {c}, {t}, {s}))",
            f"{name} = np.sum({t} * ({t} > {limit})) + np.sum({t} * {c})",
            f"{name} = np.sum(np.where(~(({t} > {limit}) == {c}), {t} ** 2, {s} * {t}))",
            f"{name} = np.sum({t}[int({c})])",
            f"{name} = np.sum(np.select([({t} > {limit}) & {c}, {t} < -0.1], "
            f"[{t}, {s} * {t}], 0.3))",
        )
    )
    w.scope.add(name, "float")
    return True


def write_by_truth(w: Writer) -> bool:
    """Change parts of an array where bools say so."""
    array = w.name("array")
    if array is None:
        return False
    t, c, s, limit = array.text, condition(w), w.scalar(1), w.rng.choice(LIMITS)
    w.write(w.pick(
        f"{t}[({t} > {limit}) & {c}] *= 0.7", f"{t}[({t} > {limit}) | {c}] = {s}",
        f"{t}[{c}] += 0.1", f"np.add({t}, {s}, out={t}, where=({t} < {limit}) | {c})",
        f"np.copyto({t}, {s}, where=({t} < {limit}) & {c})",
        f"{t} *= 1.0 + 0.1 * {c}" if array.rebinds else "pass",
        f"{t}[int({c})] *= 0.8", f"np.putmask({t}, ({t} > {limit}) & {c}, {s})",
    ))  # fmt: skip
    return True


STATEMENTS = {
    new_truth: 3, collect_truth: 3, branch_on_truth: 6, index_by_truth: 4, write_by_truth: 3,
}  # fmt: skip
