"""Statements with blocks: loops, branches, exceptions, early returns."""

from __future__ import annotations

from collections.abc import Callable

from tests.programs.writer import Writer

__all__ = ["control_statements"]

Fill = Callable[[Writer, int], None]


def control_statements(fill: Fill) -> dict[Callable[[Writer], bool | None], int]:
    """Return the statements with blocks; `fill` writes a number of statements into one."""

    def count(w: Writer) -> int:
        return w.rng.choice((1, 2, 2, 3))

    def for_range(w: Writer) -> bool:
        """Loop over a range."""
        if w.loops >= 2:
            return False
        name = w.fresh("i")
        steps = w.pick("2", "3", "1, 3", "2, -1, -1")
        with w.block(f"for {name} in range({steps}):"):
            w.scope.add(name, "counter")
            w.loops += 1
            fill(w, count(w))
            w.loops -= 1
        return True

    def for_values(w: Writer) -> bool:
        """Loop over elements of vectors, or over numbers."""
        vectors = [n.text for n in w.scope.of("array") if len(n.shape) == 1]
        if w.loops >= 2 or not vectors:
            return False
        value, counter = w.fresh("e"), w.fresh("j")
        vector = w.rng.choice(vectors)
        # fmt: off
        head = w.pick(f"for {value} in {vector}:",
                      f"for {counter}, {value} in enumerate({vector}):",
                      f"for {value} in {vector}.tolist():", f"for {value} in (0.3, {w.scalar(1)}):",
                      f"for {counter}, {value} in zip(range(2), {vector}):",
                      f"for {value} in sorted({vector}):", f"for {value} in {vector}[::-1].flat:")
        # fmt: on
        with w.block(head):
            w.scope.add(value, "float")
            if counter in head:
                w.scope.add(counter, "counter")
            w.loops += 1
            fill(w, count(w))
            w.loops -= 1
        return True

    def while_value(w: Writer) -> bool:
        """Loop while a number that shrinks is large."""
        if w.loops >= 2:
            return False
        name = w.fresh("q")
        w.write(f"{name} = 1.1 + ({w.scalar(1)}) ** 2")
        with w.block(f"while {name} > 0.6:"):
            w.scope.add(name, "float", rebinds=False)
            w.loops += 1
            fill(w, count(w))
            w.loops -= 1
            w.write(f"{name} = 0.45 * {name} / (1.0 + 0.1 * {name})")
            if w.chance(0.3):
                with w.block(f"if {w.scalar(1)} > 0.31:"):
                    w.write(w.pick("break", "continue"))
        w.scope.add(name, "float")
        return True

    def branch(w: Writer) -> None:
        """Branch on a value."""
        with w.block(f"if {w.scalar(1)} > {w.pick('0.07', '0.33', '-0.21')}:"):
            fill(w, count(w))
        if w.chance(0.5):
            with w.block("else:"):
                fill(w, count(w))

    def attempt(w: Writer) -> bool:
        """Change something, fail, and go on."""
        array = w.name("array")
        if array is None:
            return False
        with w.block("try:"):
            fill(w, count(w))
            failure, caught = w.rng.choice(
                (
                    (f"{array.text}[99] = {w.scalar(1)}", "IndexError"),
                    (f"{array.text}[...] = np.ones((7, 7, 7, 7))", "ValueError"),
                    ("raise KeyError('k')", "KeyError"),
                    (f"{array.text} @ np.ones(77)", "ValueError"),
                    ("[1.0].pop(3)", "IndexError"),
                    ("{}['missing']", "KeyError"),
                )
            )
            w.write(failure)
        with w.block(f"except {caught}:"):
            fill(w, 1)
        if w.chance(0.4):
            with w.block("finally:"):
                fill(w, 1)
        return True

    def leave_early(w: Writer) -> bool:
        """Return in the middle."""
        if w.within != "f":
            return False
        with w.block(f"if {w.scalar(1)} > 0.47:"):
            fill(w, 1)
            w.write(f"return np.sum({w.some_array()}) + {w.scalar(1)}")
        return True

    return {for_range: 9, for_values: 3, while_value: 3, branch: 5, attempt: 2, leave_early: 1}
