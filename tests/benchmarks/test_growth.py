"""The growth of times: what is measured, and the slope of a log-log plot."""

from __future__ import annotations

import pytest

from benchmarks.growth import SERIES, Point, Series, exponent, measure, report


@pytest.mark.parametrize("series", SERIES, ids=lambda series: series.title)
def test_function_and_gradient_are_timed(series: Series, capsys) -> None:
    points = [measure(series, number, 0.0) for number in series.numbers[:2]]
    assert all(p.primal > 0 and p.gradient > 0 for p in points)
    report(series, points)
    assert len(capsys.readouterr().out.splitlines()) == 2 + len(points)


def test_exponent_is_the_slope_at_the_end() -> None:
    points = [Point(1, 5.0, 5.0), Point(10, 1.0, 2.0), Point(100, 10.0, 200.0)]
    assert exponent(points, "primal") == pytest.approx(1.0)
    assert exponent(points, "gradient") == pytest.approx(2.0)
