"""Statements that draw random numbers, from global and from own generators."""

from __future__ import annotations

from tests.programs.brought.fragments import Fragment, Statement, written_of

__all__ = ["STATEMENTS"]

GENERATOR = "GENERATOR{k} = np.random.default_rng(3)"
LEGACY = "GENERATOR{k} = np.random.RandomState(5)"
OWN = "GENERATOR{k} = random.Random(7)"
OF_NUMPY = (
    "{r} = {a} * np.random.standard_normal({n})", "{r} = {a} + 0.2 * np.random.rand({n})",
    "{o} = {s} * np.random.uniform(0.5, 1.0)", "{r} = {a}[np.random.permutation({n})]",
    "np.random.shuffle({a})\n{o} = {a}[0] * {s}", "{o} = {a}[np.random.randint({n})] * {s}",
    "{o} = np.random.choice({a}) * 1.0", "{o} = {s} * random.random() + random.gauss(0.0, 1.0)",
    "{r} = np.random.permutation({a})", "{o} = random.choice(list({a})) * {s}",
    "{o} = {s} if random.random() < 0.5 else {t} * 2.0", "{o} = random.uniform(0.2, {s}) * 1.0",
    "q{k} = list({a})\nrandom.shuffle(q{k})\n{o} = q{k}[0] * {s}",
    "{o} = sum(random.sample(list({a}), 2)) * {s}",
    "np.random.seed(3)\n{o} = {s} * np.random.rand()",
    "q{k} = np.random.get_state()\n{o} = {s} * np.random.rand()\nnp.random.set_state(q{k})",
    "{o} = scipy.stats.norm.rvs() * 0.1 + {s}",
    "{r} = {a} * (np.random.rand({n}) < 0.6)",
)  # fmt: skip
OF_GENERATOR = (
    "{r} = {a} * GENERATOR{k}.standard_normal({n})", "{o} = GENERATOR{k}.uniform(0.2, 1.0) * {s}",
    "{r} = {a}[GENERATOR{k}.permutation({n})]", "GENERATOR{k}.shuffle({a})\n{o} = {a}[1] * {s}",
    "{o} = {s} + GENERATOR{k}.normal(0.5, 0.1)", "{o} = GENERATOR{k}.choice({a}) * 1.0",
    "{r} = GENERATOR{k}.permutation({a})",
)  # fmt: skip
OF_NEW = (
    "{r} = GENERATOR{k}.permuted({a})\n{o} = seen({r}, {a})", "{o} = GENERATOR{k}.normal({s}, 0.2)",
    "{r} = GENERATOR{k}.normal({a}, 0.3)", "{o} = {s} * GENERATOR{k}.beta(2.0, 3.0)",
    "{o} = {s} * copy.deepcopy(GENERATOR{k}).random() + GENERATOR{k}.random()",
    "GENERATOR{k}.random(out={a})\n{o} = {a}[0] * {s}",
)  # fmt: skip
OF_OWN = (
    "{o} = GENERATOR{k}.random() * {s}", "{o} = GENERATOR{k}.gauss(0.4, 0.1) * {s}",
    "{o} = GENERATOR{k}.choice(list({a})) * 1.0", "{o} = GENERATOR{k}.uniform({s}, 0.7)",
)  # fmt: skip

STATEMENTS: dict[Statement, int] = {
    written_of("draw_from_global_state", [Fragment(body) for body in OF_NUMPY]): 2,
    written_of(
        "draw_from_a_generator",
        [
            *(Fragment(body, module) for body in OF_GENERATOR for module in (GENERATOR, LEGACY)),
            *(Fragment(body, GENERATOR) for body in OF_NEW),
            *(Fragment(body, OWN) for body in OF_OWN),
        ],
    ): 2,
}
