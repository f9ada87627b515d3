"""The benchmarks' arithmetic and text: agreement of gradients, turns, means, marks."""

import dataclasses

import numpy as np
import pytest

from benchmarks import report
from benchmarks.__main__ import main
from benchmarks.kernel import Kernel
from benchmarks.measure import Measurement, require_agreement
from benchmarks.pullback_cases import PULLBACKS, Pullback
from benchmarks.pullbacks import PullbackTimes, times
from benchmarks.timing import FEWEST_ROUNDS, interleaved_medians
from tests.support.pairs import rotating

MEASURED = Measurement(
    kernel="stencil",
    group="vector",
    size=50,
    primal=2e-4,
    gradient=6.0,
    adjoint=2.0,
    autograd=None,
    autograd_modified=False,
    limit=9.0,
    problem="",
)


@pytest.mark.slow
def test_candidates_take_turns_on_fresh_arguments() -> None:
    calls: list[str] = []

    def overwrite(x: np.ndarray) -> None:
        assert np.all(x == 1.0)
        x[:] = 0.0
        calls.append("overwrite")

    def look(x: np.ndarray) -> None:
        assert np.all(x == 1.0)
        calls.append("look")

    medians = interleaved_medians({"overwrite": overwrite, "look": look}, (np.ones(3),), 0.0)
    assert calls == ["overwrite", "look"] * FEWEST_ROUNDS
    assert all(taken > 0.0 for taken in medians.values())
    calls.clear()
    interleaved_medians({"overwrite": overwrite, "look": look}, (np.ones(3),), 0.0, warm=True)
    assert calls == ["overwrite", "overwrite", "look", "look"] * FEWEST_ROUNDS


def test_gradients_that_differ_are_refused() -> None:
    x = np.ones(3)
    require_agreement("here", {"gradient": (1.0, (x, [x])), "adjoint": (1.0, (x + 1e-12, [x]))})
    with pytest.raises(ArithmeticError, match="here: adjoint and gradient"):
        require_agreement("here", {"gradient": (1.0, (x,)), "adjoint": (1.0, (x + 1e-3,))})
    with pytest.raises(ArithmeticError):
        require_agreement("here", {"gradient": (1.0, (x,)), "adjoint": (1.0, (x * np.nan,))})


def test_geometric_mean_leaves_out_what_is_missing() -> None:
    assert report.geometric_mean([2.0, None, 8.0]) == pytest.approx(4.0)
    assert report.geometric_mean([None]) is None


def test_sizes_of_short_operations_have_a_limit_of_their_own() -> None:
    kernel = Kernel("k", "vector", np.sum, lambda size: (np.ones(size),), (100,), tiny=(10,))
    assert [kernel.limit(size) for size in (10, 100)] == [7.0, 4.5]


def test_row_marks_what_is_slower_than_an_adjoint_by_hand_where_numbers_are_many() -> None:
    limited = dataclasses.replace(MEASURED, adjoint_limit=1.3)
    assert "3.0!" in report.row(limited)
    assert "!" not in report.row(dataclasses.replace(limited, adjoint=5.0))


def test_row_marks_what_is_above_its_limit() -> None:
    assert MEASURED.gradient_over_adjoint == 3.0
    assert "!" not in report.row(MEASURED)
    assert "9.5!" in report.row(dataclasses.replace(MEASURED, gradient=9.5))
    failed = dataclasses.replace(MEASURED, gradient=None, problem="MissingRuleError: no rule")
    assert "error!" in report.row(failed)
    assert "MissingRuleError" in report.row(failed)


def test_group_means_mark_the_vector_group() -> None:
    (line,) = report.group_means([dataclasses.replace(MEASURED, gradient=7.0)])
    assert "7.0!" in line


def test_chains_have_a_limit_for_each_size() -> None:
    chain = Kernel("chain", "chain", np.sum, lambda size: (np.ones(size),), (1,))
    assert [chain.limit(size) for size in (1, 100, 10_000, 7)] == [6.0, 5.0, 3.3, None]


@pytest.mark.slow
def test_command_prints_a_table_and_writes_the_numbers(tmp_path, capsys) -> None:
    file = tmp_path / "numbers.json"
    main(["--quick", "--filter", "jacobi", "--json", str(file)])
    printed = capsys.readouterr().out
    assert "jacobi_2d" in printed
    assert "geometric mean, vector" in printed
    assert "import mooncake_py after numpy" in printed
    assert '"gradient": null' not in file.read_text()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("case", "size"), rotating(PULLBACKS, [9, 16]))
def test_pullbacks_agree_with_their_adjoints(case: Pullback, size: int) -> None:
    if case.name == "median" and size % 2:
        pytest.skip("the adjoint is for an even number of elements")
    assert min(times(case, size, 0.0).ratios) > 0


def test_adjoint_that_differs_is_an_error() -> None:
    wrong = dataclasses.replace(PULLBACKS[0], adjoint=lambda g, x: (g * x,))
    with pytest.raises(ArithmeticError, match="exp: pullback and adjoint differ"):
        times(wrong, 9, 0.0)


def test_rows_and_means_of_pullbacks() -> None:
    measured = [PullbackTimes(PULLBACKS[0], 100, r * 1e-6, 1e-6, 1e-6, 1e-6) for r in (2.5, 1.6)]
    rows = [report.pullback_row(m).split() for m in measured]
    assert [row[-4] for row in rows] == ["2.5!", "1.6"]
    assert report.pullback_means(measured)[0].split() == ["geometric", "mean", "100", "2.0", "1.0"]
