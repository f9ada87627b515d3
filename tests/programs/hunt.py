"""Look for defects: ``python -m tests.programs.hunt FIRST COUNT [SIZE]``.

With ``second`` at the end it looks at forward mode and second derivatives; with ``brought`` at
programs with what users bring (constants of other packages, classes with protocols, solvers whose
callbacks have state), in reverse mode and three other modes each.  Without either every second
program is of these.

Prints the smallest program found for each seed that shows a defect, and at the end how many
programs were right, untestable and so on.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from random import Random

from tests.programs.brought.checking import check_brought
from tests.programs.brought.generator import brought_program
from tests.programs.checking import check
from tests.programs.generator import random_program
from tests.programs.program import Program
from tests.programs.second import check_second
from tests.programs.shrinking import Check, shrink
from tests.programs.truth import Untestable

__all__ = ["hunt"]

Make = Callable[[Random, int], Program]
BROUGHT: tuple[Make, Check] = brought_program, check_brought


def hunt(
    first: int, count: int, size: int = 8, check: Check = check, brought: float = 0.0
) -> Counter[str]:
    """Check the programs of `count` seeds, print the defects and return how many of each kind.

    `brought` is the part of the programs that have what users bring.
    """
    outcomes: Counter[str] = Counter()
    plain: tuple[Make, Check] = random_program, check
    for seed in range(first, first + count):
        make, check = BROUGHT if Random(f"{seed}").random() < brought else plain
        try:
            finding = check(make(Random(seed), size))
        except Untestable:
            outcomes["untestable"] += 1
            continue
        outcomes[finding.kind if finding else "right"] += 1
        if finding is not None:
            print(f"--- seed {seed}\n{shrink(finding, check=check)}", flush=True)
    return outcomes


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:] if text.isdigit()]
    part = 1.0 if "brought" in sys.argv else 0.0 if "second" in sys.argv else 0.5
    chosen = check_second if "second" in sys.argv else check
    print(dict(hunt(*numbers, check=chosen, brought=part)))
