"""Statements that define and call functions: helpers, closures, generators."""

from __future__ import annotations

from collections.abc import Callable

from tests.programs.scope import Scope, Shape
from tests.programs.views import random_view
from tests.programs.writer import Writer

__all__ = ["function_statements"]

Fill = Callable[[Writer, int], None]


def function_statements(fill: Fill) -> dict[Callable[[Writer], bool | None], int]:
    """Return the statements about functions; `fill` writes a number of statements."""

    def define_helper(w: Writer) -> bool:
        """Define a function of two arrays and a number in the module."""
        array = w.name("array")
        if array is None or w.within != "f":
            return False
        name = f"helper{len(w.prelude)}"
        shape = w.rng.choice((array.shape, random_view(w.rng, array.text, array.shape)[1]))
        scope = Scope()
        scope.add("u", "array", shape)
        scope.add("v", "array", shape)
        scope.add("c", "float")
        inner = Writer(w.rng, scope, w.prelude, "helper")
        fill(inner, w.rng.choice((1, 2, 3)))
        returned = w.pick(inner.scalar(1), "u", "u[::-1]", "u * c", "None", "(c, u)", "v")
        default = w.pick("", "=0.4")
        w.prelude.append(
            "\n".join([f"def {name}(u, v, c{default}):", *inner.lines, f"    return {returned}"])
        )
        kind = {"u": "array", "u[::-1]": "array", "u * c": "array", "v": "array", "None": "none",
                "(c, u)": "pair"}.get(returned, "float")  # fmt: skip
        w.scope.add(f"{name}:{kind}", "helper", shape, rebinds=False)
        call_helper(w)
        return True

    def call_helper(w: Writer) -> bool:
        """Call a helper with views that may overlap."""
        helper = w.name("helper")
        if helper is None:
            return False
        name, kind = helper.text.split(":")
        shape = helper.shape
        arguments = [w.array_leaf(shape), w.array_leaf(shape), w.scalar(1)]
        if w.chance(0.2):
            arguments[1] = arguments[0]
        keyword = w.pick("", "c=")
        call = f"{name}({arguments[0]}, {arguments[1]}, {keyword}{arguments[2]})"
        bind_result(w, call, kind, shape)
        return True

    def bind_result(w: Writer, call: str, kind: str, shape: Shape) -> None:
        if kind == "none":
            w.write(call)
        elif kind == "float":
            name = w.fresh("s")
            w.write(f"{name} = {call}")
            w.scope.add(name, "float")
        elif kind == "array":
            name = w.fresh("a")
            w.write(f"{name} = {call}")
            w.scope.add(name, "array", shape)
        else:
            number, name = w.fresh("s"), w.fresh("a")
            w.write(f"{number}, {name} = {call}")
            w.scope.add(number, "float")
            w.scope.add(name, "array", shape)

    def define_closure(w: Writer) -> bool:
        """Define a function that changes captured arrays and numbers, and call it."""
        if w.depth > 3:
            return False
        name = w.fresh("g")
        numbers = [n for n in w.scope.of("float", rebinds=True) if n.text.isidentifier()]
        outer = w.scope
        w.scope = outer.captured()
        with w.block(f"def {name}(c):"):
            w.scope.add("c", "float")
            if numbers and w.within == "f" and w.depth == 2 and w.chance(0.6):
                number = w.rng.choice(numbers).text
                w.write(f"nonlocal {number}")
                w.write(f"{number} = {number} * 0.7 + {w.scalar(1)}")
            within, w.within = w.within, "helper"
            fill(w, w.rng.choice((1, 2)))
            w.within = within
            w.write(f"return {w.scalar(1)}")
        w.scope = outer
        w.scope.add(name, "closure", rebinds=False)
        return call_closure(w)

    def call_closure(w: Writer) -> bool:
        closure = w.name("closure")
        if closure is None:
            return False
        name, s = w.fresh("s"), w.scalar(1)
        w.write(w.pick(f"{name} = {closure.text}({s})",
                       f"{name} = {closure.text}({closure.text}({s}))",
                       f"{name} = sum([{closure.text}(k * {s}) for k in (1, 2)])",
                       f"{name} = sum(map({closure.text}, (0.3, {s})))"))  # fmt: skip
        w.scope.add(name, "float")
        return True

    def define_generator(w: Writer) -> bool:
        """Loop over a generator that changes an array between its yields."""
        array = w.name("array")
        if array is None or array.shape[0] < 3:
            return False
        t = array.text
        name, value, total = w.fresh("gen"), w.fresh("y"), w.fresh("s")
        outer = w.scope
        w.scope = outer.captured()
        with w.block(f"def {name}(b):"):
            with w.block("for k in range(2):"):
                w.write(w.pick("b[k] *= 0.5", "b[1:] += b[:-1]", f"b *= {w.scalar(1)}"))
                w.write(f"yield {w.pick('b[k] * 2', 'b[k:]', 'np.sum(b)', 'b')}")
            w.write(w.pick("b[0] = 0.3", "return", "b += 0.1"))
        w.scope = outer
        w.write(f"{total} = 0.0")
        with w.block(f"for {value} in {name}({t}):"):
            w.write(f"{total} += np.sum({value}) * {w.scalar(1)}")
            if w.chance(0.3):
                w.write(f"{t}[-1] *= 0.9")
        w.scope.add(total, "float")
        return True

    def use_lambda(w: Writer) -> bool:
        """Call a lambda or a builtin of higher order."""
        array = w.name("array")
        if array is None:
            return False
        name, t = w.fresh("s"), array.text
        w.write(
            w.pick(
                f"{name} = (lambda b, c=0.4: np.sum(b * c))({t})",
                f"{name} = sum(map(lambda r: np.sum(r ** 2), {t}))",
                f"{name} = (lambda *b: b[0].sum() * {w.scalar(1)})({t}, 1)",
                f"{name} = np.sum([np.sum(r) * k for k, r in enumerate({t})])",
                f"{name} = [{t}[k] for k in range(2)][1].sum()",
                f"{name} = max((np.sum(r) for r in {t}), key=lambda q: q * q)",
            )
        )
        w.scope.add(name, "float")
        return True

    return {define_helper: 3, call_helper: 4, define_closure: 3, call_closure: 3,
            define_generator: 2, use_lambda: 2}  # fmt: skip
