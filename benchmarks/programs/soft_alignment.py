"""Soft edit distance of sequences with affine gaps, on tables filled cell by cell.

Style: a bioinformatician's dynamic programming: nested lists, dicts of scores, double loops.
"""

import math
import random

from benchmarks.programs.program import Program

ALPHABET = "ACGT"
PURINES = {"A", "G"}


def soft_min(values, temperature):
    """Return a smooth minimum; infinite values do not count."""
    low = min(values)
    if low == math.inf:
        return math.inf
    total = 0.0
    for v in values:
        if v < math.inf:
            total += math.exp((low - v) / temperature)
    return low - temperature * math.log(total)


def substitution_costs(transition, transversion, bonus):
    """Return the cost of each pair of letters."""
    costs = {}
    for a in ALPHABET:
        for b in ALPHABET:
            if a == b:
                costs[a, b] = -bonus[a]
            elif (a in PURINES) == (b in PURINES):
                costs[a, b] = transition
            else:
                costs[a, b] = transversion
    return costs


def distance(s, t, costs, opening, extension, temperature):
    """Return the soft distance: tables of matches, and of gaps in either sequence."""
    n, m = len(s), len(t)
    match = [[math.inf] * (m + 1) for _ in range(n + 1)]
    gap_s = [[math.inf] * (m + 1) for _ in range(n + 1)]
    gap_t = [[math.inf] * (m + 1) for _ in range(n + 1)]
    match[0][0] = 0.0
    for i in range(1, n + 1):
        gap_t[i][0] = opening + extension * (i - 1)
    for j in range(1, m + 1):
        gap_s[0][j] = opening + extension * (j - 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = (match[i - 1][j - 1], gap_s[i - 1][j - 1], gap_t[i - 1][j - 1])
            match[i][j] = costs[s[i - 1], t[j - 1]] + soft_min(diagonal, temperature)
            left = (match[i][j - 1] + opening, gap_s[i][j - 1] + extension)
            gap_s[i][j] = soft_min(left, temperature)
            above = (match[i - 1][j] + opening, gap_t[i - 1][j] + extension)
            gap_t[i][j] = soft_min(above, temperature)
    return soft_min((match[n][m], gap_s[n][m], gap_t[n][m]), temperature)


def pairwise(sequences, costs, gaps, temperature):
    """Return the distances of all pairs by their names."""
    table = {}
    names = sorted(sequences)
    for k, a in enumerate(names):
        for b in names[k + 1 :]:
            table[a, b] = distance(sequences[a], sequences[b], costs, *gaps, temperature)
    return table


def separation(transition, transversion, bonus, gaps, temperature, sequences, families):
    """How much farther sequences of different families are than those of one family."""
    costs = substitution_costs(transition, transversion, bonus)
    table = pairwise(sequences, costs, gaps, temperature)
    within, between = [], []
    for (a, b), d in table.items():
        (within if families[a] == families[b] else between).append(d)
    gap = sum(between) / len(between) - sum(within) / len(within)
    spread = sum((d - sum(within) / len(within)) ** 2 for d in within)
    return gap / math.sqrt(1.0 + spread / len(within))


def mutate(sequence, draw):
    """Return a copy with substitutions, insertions and deletions."""
    out = []
    for letter in sequence:
        u = draw.random()
        if u < 0.08:
            continue
        out.append(draw.choice(ALPHABET) if u < 0.25 else letter)
        if u > 0.93:
            out.append(draw.choice(ALPHABET))
    return "".join(out)


def arguments():
    """Return costs, and two families of sequences."""
    draw = random.Random(15)
    sequences, families = {}, {}
    for family in "xy":
        ancestor = "".join(draw.choice(ALPHABET) for _ in range(24))
        for n in range(3):
            sequences[f"{family}{n}"] = mutate(ancestor, draw)
            families[f"{family}{n}"] = family
    bonus = {"A": 1.0, "C": 1.2, "G": 1.1, "T": 0.9}
    return 0.8, 1.3, bonus, (1.5, 0.4), 0.3, sequences, families


PROGRAM = Program(run=separation, arguments=arguments, argnums=(0, 1, 2, 3, 4), group="scalars")
