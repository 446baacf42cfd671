"""The weights of the loss over training."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vpr.errors import VPRError
from vpr.schedule import Curve, Linear, Staged, between


def test_linear_is_the_papers() -> None:
    schedule = Linear()
    assert schedule.weights(0, 2, None).kl == (0.0, 0.0)
    assert schedule.weights(1500, 2, None).kl == (0.5, 0.5)
    assert schedule.weights(9000, 3, None).kl == (1.0, 1.0, 1.0)
    assert schedule.weights(0, 2, None).expected


def test_staged_waits_for_the_curve() -> None:
    schedule = Staged()
    for step in (0, 100_000):
        weights = schedule.weights(step, 3, settled=None)
        assert weights.kl == (schedule.low,) * 3
        assert not weights.expected


def test_staged_raises_level_one_first_and_then_squeezes_the_others() -> None:
    schedule = Staged()
    raised = 1000 + schedule.level_one_steps
    risen = raised + schedule.upper_steps
    squeezed = risen + schedule.squeeze_steps
    betas = [schedule.weights(step, 2, 1000).kl for step in (1000, raised, risen, squeezed, 9999)]
    low, upper = schedule.low, schedule.upper
    assert betas == [(low, low), (1, low), (1, 1), (1, upper), (1, upper)]


def test_of_three_levels_each_pays_what_the_one_below_paid() -> None:
    schedule = Staged(low=2e-4, lift=50.0, upper=4.0)
    rise, shift = schedule.level_one_steps, schedule.shift_steps
    assert schedule.weights(999, 3, None).kl == pytest.approx((0.5, 0.01, 2e-4))
    moments = [1000, 1000 + rise, 1000 + shift, 1000 + shift + rise, 1000 + 2 * shift + rise]
    betas = [schedule.weights(step, 3, 1000).kl for step in moments]
    assert betas[0] == pytest.approx((0.5, 0.01, 2e-4))
    assert betas[1] == pytest.approx((4, 0.5, 0.01))  # level 1 would pay 25: `upper` is the most
    assert betas[2] == pytest.approx((4, 0.5, 0.01))
    assert betas[3] == pytest.approx((4, 4, 0.5))
    assert betas[4] == pytest.approx((4, 4, 4))


def test_rent_rises_with_beta_and_no_further() -> None:
    schedule = Staged(low=2e-4, lift=50.0, rent=0.1)
    assert schedule.weights(0, 3, None).rent == pytest.approx((0.05, 0.001, 0))
    assert schedule.weights(9999, 3, 1000).rent == pytest.approx((0.1, 0.1, 0))
    assert Staged().weights(9999, 3, 1000).rent == ()
    for wrong in ({"rent": -0.1}, {"rent_fade": -1}):
        with pytest.raises(VPRError, match="rent, rent_fade and sorting_power of 0 or more"):
            Staged(**wrong)


def test_rent_may_be_paid_only_while_features_are_sorted() -> None:
    schedule = Staged(rent=0.4, rent_fade=100, shift_steps=50)
    assert schedule.weights(500, 3, None).rent == (0, 0, 0)
    for step, left in ((0, 1), (149, 1), (175, 0.75), (225, 0.25), (250, 0), (999, 0)):
        one, two, three = schedule.weights(1000 + step, 3, 1000).rent
        beta = schedule.weights(1000 + step, 3, 1000).kl
        assert (one, two) == pytest.approx([0.4 * left * min(each, 1) for each in beta[:2]])
        assert three == 0


def test_the_top_is_held_until_features_are_sorted() -> None:
    schedule = Staged(low=2e-4, lift=50.0, hold=True, sorting_power=0.5)
    done = 1000 + schedule.sorting(3)
    moments = [schedule.weights(step, 3, 1000) for step in (1000, done - 1, done, done + 1000)]
    assert [weights.held for weights in moments] == [3, 3, None, None]
    assert [weights.power for weights in moments] == [0.5, 0.5, None, None]
    assert schedule.weights(0, 3, None).held == 3
    assert schedule.weights(0, 2, None).held is None  # two levels have no such stage
    assert Staged().weights(0, 3, None).held is None
    assert Staged().weights(0, 3, None).power is None


def test_of_three_levels_ce_waits_until_the_top_pays_in_full() -> None:
    schedule = Staged(low=2e-4, lift=50.0)
    may = [schedule.weights(step, 3, 1000) for step in range(1000, 1000 + schedule.sorting(3) + 1)]
    pays = [weights.kl[-1] >= 1 for weights in may]
    assert [weights.expected for weights in may] == pays
    assert [weights.explore == 0 for weights in may] == pays
    assert not pays[0]
    assert pays[-1]


@pytest.mark.parametrize("levels", [3, 4, 5])
def test_after_as_many_shifts_as_levels_all_pay_the_same_and_then_the_more_the_higher(
    levels: int,
) -> None:
    for schedule in (Staged(), Staged(lift=50.0)):
        upper, end = schedule.upper, 1000 + schedule.sorting(levels)
        fallen = end + schedule.level_one_steps
        assert schedule.weights(end, levels, 1000).kl == (upper,) * levels
        assert schedule.weights(fallen, levels, 1000).kl == (1.0, *(upper,) * (levels - 1))
        last = schedule.weights(fallen + schedule.squeeze_steps, levels, 1000)
        assert last.kl == (1.0, *(upper * 2**n for n in range(levels - 1)))
        assert last.expected


def test_one_and_two_levels_have_nothing_to_sort() -> None:
    assert [Staged().sorting(levels) for levels in (1, 2)] == [0, 0]


def test_lift_makes_lower_levels_pay_more_while_it_settles() -> None:
    schedule = Staged(low=1e-4, lift=10.0)
    assert schedule.weights(5, 2, None).kl == pytest.approx((1e-3, 1e-4))
    assert schedule.weights(5, 3, None).kl == pytest.approx((1e-2, 1e-3, 1e-4))


def test_staged_explores_until_ce_may_decide() -> None:
    schedule = Staged()
    risen = 1000 + schedule.level_one_steps + schedule.upper_steps
    before, after = (schedule.weights(step, 2, 1000) for step in (risen - 1, risen))
    assert (before.expected, before.explore) == (False, schedule.explore)
    assert (after.expected, after.explore) == (True, 0)


@given(st.floats(-10, 110), st.floats(-5, 5), st.floats(-5, 5))
def test_between_stays_between(step: float, low: float, high: float) -> None:
    value = between(step, 0, 100, low, high)
    assert min(low, high) - 1e-9 <= value <= max(low, high) + 1e-9


def test_curve_settles_after_blocks_without_progress() -> None:
    curve = Curve(window=2, tolerance=0.1, patience=2, after=0)
    plateau = [100, 100, 95, 95]  # one idle block, then progress again
    for step, value in enumerate([*plateau, 50, 50, 48, 48, 46, 46, 1, 1]):
        curve.push(step, value)
    assert curve.settled == 10


def test_curve_waits_through_the_first_plateau() -> None:
    curve = Curve(window=1, tolerance=0.1, patience=2, after=4)
    for step, value in enumerate([100, 100, 100, 100, 50, 50, 50]):
        curve.push(step, value)
    assert curve.settled == 7


def test_curve_goes_on_from_its_state() -> None:
    values = [100.0, 90.0, 50.0, 45.0, 44.0, 43.0, 43.0, 42.0]
    whole, first, second = (Curve(window=3, tolerance=0.1, patience=1, after=0) for _ in range(3))
    for step, value in enumerate(values):
        whole.push(step, value)
    for step, value in enumerate(values[:4]):
        first.push(step, value)
    second.restore(first.state())
    for step, value in enumerate(values[4:], start=4):
        second.push(step, value)
    assert second.state() == whole.state()
