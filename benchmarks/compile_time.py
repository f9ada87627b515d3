"""How the time to compile a gradient grows with the program, phase by phase.

    python -m benchmarks.compile_time [--sizes 100 300 1000] [--filter NAME] [--build]

Prints a line for each phase: seconds at each size, and how they grow from the one before to the
last: 1 for time in proportion to the program.  ``--build`` has the text compiled as well.
"""

from __future__ import annotations

import argparse
import gc
import linecache
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mooncake_py.compiler.native import form
from mooncake_py.compiler.native.building.types import type_of
from mooncake_py.compiler.native.reading.reader import read_function
from mooncake_py.compiler.native.region_site import RegionSite
from mooncake_py.compiler.native.sweeps.adjoint import adjoint

HEAD = "import math\nimport numpy as np\n"


@dataclass(frozen=True)
class Program:
    """A program that grows.

    Attributes
    ----------
    name : str
    text : callable
        From a size to the text of a function `f`.
    arguments : callable
        From a size to its arguments.
    most : int
        The greatest size that Python itself reads.
    degree : int
        By which power of the size the time may grow: blocks in blocks are looked through.
    """

    name: str
    text: Callable[[int], str]
    arguments: Callable[[int], tuple[Any, ...]] = lambda n: (0.3,)
    most: int = 10**9
    degree: int = 1


def _lines(first: str, line: Callable[[int], str], last: str, n: int) -> str:
    return first + "".join(line(k) for k in range(n)) + last


def _summed(n: int) -> str:
    return "def f(x):\n    return " + " + ".join(f"{k}.5 * x * math.sin(x)" for k in range(n))


def _multiplied(n: int) -> str:
    return "def f(x):\n    return " + " * ".join(f"(x + {k}.5)" for k in range(n))


def _on_arrays(n: int) -> str:
    terms = " + ".join(f"{k}.5 * x * np.sin(x)" for k in range(n))
    return f"def f(x):\n    return ({terms}).sum()"


def _in_each_other(n: int) -> str:
    text = "x"
    for k in range(n):
        text = f"({text} * x + {k}.0)"
    return f"def f(x):\n    return {text}"


def _numbers(n: int) -> str:
    return _lines(
        "def f(x):\n    a, b = x, x * x\n",
        lambda k: f"    v{k} = a * math.sin(b) + {k}.0\n    a, b = b, v{k}\n",
        "    return b",
        n // 2,
    )


def _vectors(n: int) -> str:
    return _lines(
        "def f(x):\n    y = x * x\n",
        lambda k: f"    v{k} = y * np.sin(x) + {k}.0\n    y = x * v{k}\n",
        "    return y.sum()",
        n // 2,
    )


def _elements(n: int) -> str:
    return _lines(
        f"def f(x):\n    y = np.zeros({n + 1})\n",
        lambda k: f"    y[{k + 1}] = x[{k}] * y[{k}] + x[{k + 1}]\n",
        "    return y.sum()",
        n,
    )


def _in_a_loop(n: int) -> str:
    return _lines(
        "def f(x):\n    y = np.zeros(x.size)\n    for i in range(3, x.size):\n        v = x[i]\n",
        lambda k: f"        v = v * y[i - 1] + x[i - {k % 3}]\n",
        "        y[i] = v\n    return y.sum()",
        n,
    )


def _branches(n: int) -> str:
    return _lines(
        "def f(x):\n    s = x\n",
        lambda k: f"    if s > {k}.0:\n        s = s * x + {k}.0\n    else:\n        s = s - x\n",
        "    return s",
        n // 4,
    )


def _loops(n: int) -> str:
    return _lines(
        "def f(x):\n    s = 0.0\n",
        lambda k: f"    for i in range(x.size):\n        s = s + x[i] * s * {k}.0\n",
        "    return s",
        n // 2,
    )


def _nested_loops(n: int) -> str:
    return _lines(
        "def f(x, n=2):\n    s = x\n",
        lambda k: "    " * (k + 1) + f"for i{k} in range(n):\n" + "    " * (k + 2) + "s = s * x\n",
        "    return s",
        n,
    )


def _nested_branches(n: int) -> str:
    return _lines(
        "def f(x):\n    s = x\n",
        lambda k: "    " * (k + 1) + f"if s > -{k}.0:\n" + "    " * (k + 2) + "s = s * x\n",
        "    return s",
        n,
    )


def _calls(n: int) -> str:
    called = "".join(f"def g{k}(x):\n    return x * x + {k}.0\n" for k in range(n))
    return called + _lines(
        "def f(x):\n    s = x\n", lambda k: f"    s = s + g{k}(s)\n", "    return s", n
    )


def _wide(n: int) -> str:
    names = ", ".join(f"a{k}" for k in range(n + 1))
    return _lines(
        f"def f({names}):\n    s = 0.0\n",
        lambda k: f"    s += a{k + 1} * a{k}\n",
        "    return s",
        n,
    )


def _floats(n: int) -> tuple[float, ...]:
    return tuple(float(k) for k in range(n + 1))


PROGRAMS = (
    Program("a sum in one line", _summed),
    Program("a product in one line", _multiplied),
    Program("a sum of arrays in one line", _on_arrays, lambda n: (np.ones(5),)),
    Program("an expression in another", _in_each_other, most=90),
    Program("statements on numbers", _numbers),
    Program("statements on arrays", _vectors, lambda n: (np.ones(5),)),
    Program("statements on elements", _elements, lambda n: (np.ones(n + 1),)),
    Program("statements in a loop", _in_a_loop, lambda n: (np.ones(6),)),
    Program("branches", _branches),
    Program("loops", _loops, lambda n: (np.ones(4),)),
    Program("loops in loops", _nested_loops, lambda n: (0.3, 2), most=18, degree=2),
    Program("branches in branches", _nested_branches, most=90, degree=2),
    Program("calls", _calls),
    Program("wide signature", _wide, _floats),
)


@contextmanager
def function(program: Program, size: int) -> Iterator[Callable[..., Any]]:
    """Yield the function at a size, whose text can be read."""
    text = f"{HEAD}{program.text(size)}\n"
    name = f"<{program.name} {size}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    scope: dict[str, Any] = {"__name__": name}
    exec(compile(text, name, "exec"), scope)
    try:
        yield scope["f"]
    finally:
        del linecache.cache[name]


@dataclass
class Phases:
    """What is done one after another, each by a call that may be watched.

    Attributes
    ----------
    found : dict of str to float
        What `watch` gave for each phase.
    """

    watch: Callable[[Callable[[], Any]], tuple[Any, float]]
    found: dict[str, float] = field(default_factory=dict)

    def run(self, name: str, f: Callable[[], Any]) -> Any:
        """Run a phase; return its result."""
        result, self.found[name] = self.watch(f)
        return result

    def compile(self, f: Callable[..., Any], arguments: Sequence[Any], *, build: bool) -> None:
        """Go through all phases of the gradient of a function."""
        types: Any = tuple(type_of(a) for a in arguments)
        whole = self.run("read", lambda: read_function(f, types))
        site = self.run("prepare", lambda: RegionSite(whole.region))
        region = site.region
        moving = frozenset(n for n in region.inputs if region.kinds[n] == "float")
        active = self.run("what is active", lambda: site.active(moving))
        sweeps = self.run("differentiate", lambda: adjoint(region, active))

        def printed() -> Any:
            made = [n for n in sweeps.values if n not in (*region.inputs, *region.results)]
            printer = form.COMPILER.printer(sweeps.kinds, sweeps.arrays)
            if sweeps.size is not None:
                printer.count(sweeps.size, region.inputs)
            printer.forward(sweeps.forward, region.inputs, (*region.results, *made))
            takes = (*sweeps.values, *sweeps.cotangents)
            printer.reverse(sweeps.reverse, takes, sweeps.gives)
            return printer

        printer = self.run("print", printed)
        if build:
            self.run("build", lambda: form.COMPILER.built(printer))


def timed(f: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result and the process time that it took."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    try:
        return f(), time.process_time() - start
    finally:
        gc.enable()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compile_time", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--filter", default="")
    parser.add_argument("--build", action="store_true")
    options = parser.parse_args()
    sys.setrecursionlimit(100_000)  # else expressions of a thousand terms are left to Python
    for program in PROGRAMS:
        if options.filter not in program.name:
            continue
        sizes = [n for n in options.sizes if n <= program.most]
        sizes = sizes or [program.most // 3, program.most]
        columns = []
        for size in sizes:
            phases = Phases(timed)
            with function(program, size) as f:
                phases.compile(f, program.arguments(size), build=options.build)
            columns.append(phases.found)
        print(f"{program.name}, {', '.join(map(str, sizes))}")
        for phase in columns[0]:
            times = [column[phase] for column in columns]
            shown = "".join(f"{1e3 * t:10.1f} ms" for t in times)
            print(f"  {phase:<16}{shown}  {growth(sizes, times)}", flush=True)


def growth(sizes: Sequence[int], times: Sequence[float]) -> str:
    """Return the slope at the end of a log-log plot, where there is time to speak of."""
    if len(sizes) == 1 or min(times[-2:]) < 0.01:
        return ""
    return f"{math.log(times[-1] / times[-2]) / math.log(sizes[-1] / sizes[-2]):4.1f}"


if __name__ == "__main__":
    main()
