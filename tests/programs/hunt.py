"""Look for defects by hand: ``python -m tests.programs.hunt FIRST COUNT [SIZE]``.

With ``second`` at the end it looks at forward mode and second derivatives.

Prints the smallest program found for each seed that shows a defect, and at the end how many
programs were right, untestable and so on.
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random

from tests.programs.checking import check
from tests.programs.generator import random_program
from tests.programs.second import check_second
from tests.programs.shrinking import Check, shrink
from tests.programs.truth import Untestable

__all__ = ["hunt"]


def hunt(first: int, count: int, size: int = 8, check: Check = check) -> Counter[str]:
    """Check the programs of `count` seeds, print the defects and return how many of each kind."""
    outcomes: Counter[str] = Counter()
    for seed in range(first, first + count):
        try:
            finding = check(random_program(Random(seed), size))
        except Untestable:
            outcomes["untestable"] += 1
            continue
        outcomes[finding.kind if finding else "right"] += 1
        if finding is not None:
            print(f"--- seed {seed}\n{shrink(finding, check=check)}", flush=True)
    return outcomes


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:] if text != "second"]
    chosen = check_second if "second" in sys.argv else check
    print(dict(hunt(*numbers, check=chosen)))
