"""Turn measurements into lines of text."""

import math
from collections.abc import Iterable, Sequence

from benchmarks.kernel import MEAN_LIMITS
from benchmarks.measure import Measurement
from benchmarks.memory import MEMORY_LIMIT, Memory
from benchmarks.modes import HVP_LIMIT, JACOBIAN_LIMIT, JVP_LIMITS, RATES, ModeTimes
from benchmarks.overheads import DERIVE_LIMIT, IMPORT_LIMIT, NEW_LIMIT
from benchmarks.pullbacks import LIMITS, PullbackTimes

HEADER = (
    f"{'kernel':<24}{'size':>7}{'primal':>11}{'gradient':>10}{'adjoint':>10}"
    f"{'grad/adj':>10}{'autograd':>11}"
)
LEGEND = (
    "gradient, adjoint, autograd: time over the primal's.  ! above its limit.  "
    "f functional variant of the kernel.\n"
    "slices: loops over rows, columns, windows and masks of arrays.  calls, attributes, items: "
    "loops\nover numbers that call functions of their own, step an object, or step items of lists."
)


def row(measured: Measurement) -> str:
    """Return the line of one measurement."""
    gradient = "error" if measured.gradient is None else f"{measured.gradient:.1f}"
    gradient += "!" if measured.exceeds_limit else " "
    over_adjoint = _ratio(measured.gradient_over_adjoint)
    over_adjoint += "!" if measured.exceeds_adjoint_limit else " "
    autograd = "cannot" if measured.autograd is None else f"{measured.autograd:.1f}"
    autograd += "f" if measured.autograd_modified else " "
    line = (
        f"{measured.kernel:<24}{measured.size:>7}{duration(measured.primal):>11}{gradient:>10}"
        f"{_ratio(measured.adjoint):>10}{over_adjoint:>10}{autograd:>11}"
    )
    return f"{line}\n    {measured.problem}" if measured.problem else line


PULLBACK_HEADER = (
    f"{'pullback of':<32}{'size':>9}{'adjoint':>11}{'vjp/adjoint':>14}"
    f"{'adjoint +=':>13}{'rule/adjoint':>15}"
)
PULLBACK_LEGEND = (
    "vjp: what `vjp` returns, over a handwritten adjoint.  rule: pullback of the rule, over that "
    "adjoint added to arrays."
)


def pullback_row(measured: PullbackTimes) -> str:
    """Return the line of one pullback."""
    name = f"{measured.case.family}: {measured.case.name}"
    ours, rule = (
        f"{ratio:.1f}{'!' if ratio > LIMITS[measured.size] else ' '}" for ratio in measured.ratios
    )
    return (
        f"{name:<32}{measured.size:>9}{duration(measured.adjoint):>11}{ours:>14}"
        f"{duration(measured.added_adjoint):>13}{rule:>15}"
    )


def pullback_means(measurements: Sequence[PullbackTimes]) -> list[str]:
    """Return a line for each size: the geometric means of both ratios."""
    lines = []
    for size in dict.fromkeys(m.size for m in measurements):
        pairs = zip(*[m.ratios for m in measurements if m.size == size], strict=True)
        ours, rule = map(geometric_mean, pairs)
        lines.append(
            f"{'geometric mean':<32}{size:>9}{'':>11}{_ratio(ours):>13}{'':>14}{_ratio(rule):>14}"
        )
    return lines


MODES_HEADER = (
    f"{'modes of':<24}{'size':>7}{'primal':>11}{'jvp':>10}{'manual':>10}{'gradient':>11}"
    f"{'hvp/gradient':>15}"
)
MODES_LEGEND = (
    "jvp, manual (a handwritten tangent in NumPy), gradient: time over the primal's.  "
    "hvp: time over the gradient's."
)


def mode_row(measured: ModeTimes) -> str:
    """Return the line of the derivatives of one kernel."""
    return (
        f"{measured.kernel:<24}{measured.size:>7}{duration(measured.primal):>11}"
        f"{_marked(measured.jvp, JVP_LIMITS[measured.kind]):>10}{_ratio(measured.by_hand):>9} "
        f"{measured.gradient:>10.1f} "
        f"{_marked(measured.hvp, HVP_LIMIT):>15}"
    )


def mode_means(measurements: Sequence[ModeTimes]) -> list[str]:
    """Return a line for each kind of kernels: the geometric means of its ratios."""
    lines = []
    for kind in dict.fromkeys(m.kind for m in measurements):
        members = [m for m in measurements if m.kind == kind]
        lines.append(
            f"{'geometric mean, ' + kind:<42}{_ratio(geometric_mean(m.jvp for m in members)):>9} "
            f"{_ratio(geometric_mean(m.by_hand for m in members)):>9} "
            f"{_ratio(geometric_mean(m.gradient for m in members)):>10} "
            f"{_ratio(geometric_mean(m.hvp for m in members)):>14}"
        )
    return lines


def jacobian_row(steps: int, run: float, ratio: float) -> str:
    """Return the line of the Jacobian of the integrator."""
    return (
        f"Jacobian of {steps} steps ({duration(run)}) by {len(RATES)} parameters, over "
        f"{len(RATES) + 1} runs: {_marked(ratio, JACOBIAN_LIMIT)}"
    )


MEMORY_HEADER = f"{'memory of':<24}{'size':>7}{'measured':>12}{'counted':>12}{'ratio':>8}"


def memory_row(case: Memory, measured: int, counted: int) -> str:
    """Return the line of one peak of memory beyond the primal's."""
    ratio = measured / counted
    mark = "!" if ratio > MEMORY_LIMIT else " "
    return (
        f"{case.kernel:<24}{case.size:>7}{measured / 1e6:>9.2f} MB{counted / 1e6:>9.2f} MB"
        f"{ratio:>8.2f}{mark}"
    )


def group_means(measurements: Sequence[Measurement]) -> list[str]:
    """Return a line for each group: the geometric means of its ratios."""
    lines = []
    for group in dict.fromkeys(m.group for m in measurements):
        members = [m for m in measurements if m.group == group]
        ours = geometric_mean(m.gradient for m in members)
        limit = MEAN_LIMITS.get(group)
        mark = "!" if ours is not None and limit is not None and ours > limit else " "
        lines.append(
            f"{'geometric mean, ' + group:<42}{_ratio(ours) + mark:>10}"
            f"{_ratio(geometric_mean(m.adjoint for m in members)):>10}"
            f"{_ratio(geometric_mean(m.gradient_over_adjoint for m in members)):>10}"
            f"{_ratio(geometric_mean(m.autograd for m in members)):>10}"
        )
    return lines


def overheads(derive: float, derive_new: float, importing: float) -> list[str]:
    """Return the lines about what is paid once."""
    new = f"{duration(derive_new)}{'!' * (derive_new > NEW_LIMIT)}"
    return [
        f"derive a solver of a hundred lines: {duration(derive)}{'!' * (derive > DERIVE_LIMIT)}",
        f"the same where no statement is like one of an earlier function: {new}",
        f"import mooncake_py after numpy: {duration(importing)}{'!' * (importing > IMPORT_LIMIT)}",
    ]


def geometric_mean(ratios: Iterable[float | None]) -> float | None:
    """Return the geometric mean of those that are there, None if none is."""
    logarithms = [math.log(ratio) for ratio in ratios if ratio is not None]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else None


def duration(seconds: float) -> str:
    """Return a time in milliseconds or microseconds."""
    return f"{1e3 * seconds:.2f} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.1f} us"


def _marked(ratio: float, limit: float) -> str:
    return f"{ratio:.1f}{'!' if ratio > limit else ' '}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
