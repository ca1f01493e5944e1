"""Far upper tails on tilted lattices, against other methods, bounds and simulation."""

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.linalg.blas import daxpy
from scipy.special import logsumexp

from prframe.stats import APNull
from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.stats.null.average_precision.tails.first_ranks.tails import FirstRanks
from prframe.stats.null.average_precision.tails.plain.lattice import lattice_tails
from prframe.stats.null.average_precision.tails.plain.plans import Retrieved
from prframe.stats.null.average_precision.tails.tilted import lattice as tilted_lattice
from prframe.stats.null.average_precision.tails.tilted.lattice import TiltedLattice
from prframe.typing import Floats


def tilted(n: int, n_pos: int, depth: int | None = None) -> TiltedLattice:
    """Return the tilted lattice of a group without ties."""
    depth = n if depth is None else depth
    return TiltedLattice(Items(n, depth), n_pos, n_pos * float(APNull(n, n_pos).mean()))


def rounded(ap: ArrayLike, n_pos: int) -> Floats:
    """Return the value of T that stands for a value of AP, less its rounding."""
    return np.asarray(ap, dtype=np.float64) * n_pos * (1 - 1e-12)


@pytest.mark.parametrize(("n", "n_pos"), [(2_000, 40), (20_000, 24), (1_500, 12)])
def test_agrees_with_walks_that_merge_states(n: int, n_pos: int) -> None:
    ap = np.array([0.2, 0.35, 0.5, 0.7])
    tails = tilted(n, n_pos).tails(rounded(ap, n_pos))
    expected = [APNull(n, n_pos, method="lattice").logsf(x) for x in ap]
    good = ~tails.lumpy
    assert good.sum() >= 3
    assert tails.reached[good] == pytest.approx(np.array(expected)[good], abs=0.02)


def test_is_within_certified_bounds() -> None:
    n, n_pos = 100_000, 20
    lattice = tilted(n, n_pos)
    for ap in (0.19, 0.41):
        low, high = APNull(n, n_pos).sf_bounds(ap)
        tail = float(np.exp(lattice.tails(rounded([ap], n_pos)).reached[0]))
        assert low * 0.999 < tail < high * 1.001
        assert high < 1.2 * low


def simulated(
    n: int, n_pos: int, total: float, draws: int, seed: int, depth: int | None = None
) -> tuple[float, float]:
    """Return log P(T >= total) from draws with many hits at the top, and its relative error.

    The first ranks hold hits independently of each other, with chances that differ from one
    component of a mixture to the next. The other hits are anywhere below. Each draw is weighted by
    what its ranking is more likely under random ranking.
    """
    rng = np.random.default_rng(seed)
    ranks = np.arange(1, 61)
    lengths = total + np.arange(-1.0, 9.0)
    chances = np.clip(0.97 / (1 + (ranks / lengths[:, None]) ** 12), 0.02, 0.95)
    of = rng.integers(lengths.size, size=draws)
    hits = rng.random((draws, ranks.size)) < chances[of]
    number = hits.sum(axis=1)
    kept = number <= n_pos
    hits, number = hits[kept], number[kept]
    log_proposal = logsumexp(
        hits @ np.log(chances).T + ~hits @ np.log1p(-chances).T, axis=1
    ) - np.log(lengths.size)
    below = n - ranks.size
    log_null = log_binomial(below, n_pos - number) - log_binomial(n, n_pos)
    value = (np.cumsum(hits, axis=1) * hits / ranks).sum(axis=1)
    for place in np.flatnonzero(value > total - 1.0).tolist():
        rest = np.sort(ranks.size + 1 + rng.choice(below, n_pos - number[place], replace=False))
        added = (number[place] + np.arange(1, rest.size + 1)) / rest
        value[place] += added[rest <= (n if depth is None else depth)].sum()
    weight = np.where(value >= total, np.exp(log_null - log_proposal - log_null.max()), 0.0)
    mean = weight.sum() / draws
    error = np.sqrt(((weight**2).sum() / draws - mean**2) / draws) / mean
    return float(np.log(mean) + log_null.max()), float(error)


@pytest.mark.parametrize(("n", "n_pos", "ap"), [(100_000, 30, 0.5), (1_000_000, 30, 0.62)])
def test_agrees_with_simulation_of_tilted_rankings(n: int, n_pos: int, ap: float) -> None:
    (total,) = rounded([ap], n_pos).tolist()
    expected, error = simulated(n, n_pos, total, 60_000, seed=5)
    assert error < 0.1
    found = float(APNull(n, n_pos).logsf(ap))
    assert expected < -100
    assert found == pytest.approx(expected, abs=4 * error)


@pytest.mark.parametrize(
    ("n", "n_pos"), [(100_000, 100), (1_000_000, 100), (1_000_000, 1_000), (10_000_000, 100)]
)
def test_far_tails_fall_with_ap_and_are_no_bounds(n: int, n_pos: int) -> None:
    null = APNull(n, n_pos)
    ap = np.array([0.0861, 0.1233, 0.1234, 0.1784, 0.3121])
    tails = null._log_tails(ap, ("upper",))
    assert (np.diff(tails.upper) < 0).all()
    assert {"bound", "estimate"}.isdisjoint(tails.method.tolist())


@pytest.mark.slow
@pytest.mark.parametrize(("n", "ap"), [(1_000_000, 0.3121), (3_000_000, 0.25)])
def test_many_positives_agree_with_an_inversion(n: int, ap: float) -> None:
    # Their rows are widened where the first ones do not suffice.
    found = tilted(n, 1_000).tails(rounded([ap], 1_000))
    inverted = APNull(n, 1_000, method="transform").tails(ap)
    assert inverted.method == "transform"
    assert not found.lumpy.any()
    assert found.reached == pytest.approx([inverted.log_sf], rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos"), [(1_000_000, 30), (100_000, 100), (1_000_000, 150)])
def test_agrees_with_plain_lattices_where_these_are_fine(n: int, n_pos: int) -> None:
    total = np.array([3.21, 4.3, 5.4])
    plain = lattice_tails([Retrieved(n, n_pos, n)] * 3, total)
    null = APNull(n, n_pos)
    found = np.array([null.logsf(x) for x in total / n_pos])
    assert (~plain.lumpy).any()
    assert found[~plain.lumpy] == pytest.approx(plain.reached[~plain.lumpy], abs=0.02)


def test_tails_have_the_same_digits_in_every_company() -> None:
    total = rounded([0.1784, 0.18, 0.3121], 100)
    together = tilted(1_000_000, 100).tails(total)
    alone = [tilted(1_000_000, 100).tails(total[k : k + 1]).reached[0] for k in range(3)]
    assert together.reached.tolist() == alone


def test_there_is_no_answer_where_the_rough_tail_was_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    total = rounded([0.3], 24)
    assert np.isfinite(tilted(20_000, 24).tails(total).reached).all()
    monkeypatch.setattr(tilted_lattice, "likely_log_tails", lambda *_: np.array([-30.0]))
    assert np.isnan(tilted(20_000, 24).tails(total).reached).all()


def test_walks_of_many_values_are_not_all_kept() -> None:
    lattice = tilted(20_000, 24)
    first = lattice.tails(rounded([0.3], 24)).reached
    lattice.tails(rounded(np.linspace(0.3, 0.8, 40), 24))
    assert len(lattice._ranges) == 4
    assert lattice.tails(rounded([0.3], 24)).reached == first


def test_items_that_are_not_retrieved_add_nothing() -> None:
    n, n_pos, depth = 50_000, 40, 1_000
    total = rounded([0.3], n_pos)
    assert tilted(n, n_pos, depth).tails(total).reached == pytest.approx(
        [APNull(n, n_pos, depth=depth, method="lattice").logsf(0.3)], abs=0.02
    )


def test_values_near_the_mean_have_no_answer() -> None:
    null = APNull(100_000, 30)
    tails = tilted(100_000, 30).tails(30 * np.array([0.5, 1.0]) * float(null.mean()))
    assert np.isnan(tails.reached).all()
    assert tails.lumpy.all()


def test_quantiles_far_out_are_where_the_tail_is() -> None:
    for n, n_pos, q in (
        (1_000_000, 100, 1e-100),
        (100_000, 100, 1e-70),
        # Right below a front a first lattice is too coarse, and leads there roughly.
        (1_000_000, 30, 1e-20),
        (10_000_000, 100, 1e-100),
    ):
        null = APNull(n, n_pos)
        assert null.logsf(null.isf(q)) == pytest.approx(np.log(q), abs=1e-3)


@pytest.mark.slow
def test_more_than_a_thousand_positives() -> None:
    # Importance sampling of hits gives -492.255, with a standard error of .050.
    null = APNull(20_000_000, 1500)
    assert null.logsf(0.035047779484546654) == pytest.approx(-492.255, abs=0.15)
    assert null.tails(0.035047779484546654).method == "lattice"
    # An inversion with other steps gives -308.5114 after ten seconds, and calls it an estimate.
    null = APNull(20_000_000, 3000)
    assert null.logsf(0.012) == pytest.approx(-308.5114, abs=1e-3)


@pytest.mark.parametrize(
    ("n", "n_pos", "total", "expected", "error"),
    [
        # By importance sampling of hits, with the standard errors in the last column.
        (4_000_000, 17, 14.001, -185.388, 0.029),
        (4_000_000, 17, 14.0001, -183.004, 0.021),
        (4_000_000, 17, 14.00003, -181.668, 0.010),
        (4_000_000, 17, 16.001, -215.007, 0.035),
        (20_000_000, 60, 14.0005, -181.458, 0.025),
        (1_000_000, 30, 24.001, -264.362, 0.029),
    ],
)
def test_right_above_a_whole_value(
    n: int, n_pos: int, total: float, expected: float, error: float
) -> None:
    found = APNull(n, n_pos).tails(total / n_pos)
    assert found.log_sf == pytest.approx(expected, abs=3 * error)
    assert found.method == "estimate"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_pos", "depth"), [(20_000_000, 700, 2_000), (1_000_000, 200, 500)]
)
def test_at_a_whole_value_to_a_depth(n: int, n_pos: int, depth: int) -> None:
    # A run of 14 hits alone makes a T of 14, as mostly no others are retrieved.
    (total,) = rounded([14 / n_pos], n_pos).tolist()
    expected, error = simulated(n, n_pos, total, 60_000, seed=6, depth=depth)
    assert error < 0.05
    found = APNull(n, n_pos, depth=depth).logsf(14 / n_pos)
    assert found == pytest.approx(expected, abs=3 * error)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos"), [(1_000_000, 100), (10_000_000, 100), (100_000, 50)])
def test_closer_lattices_agree_with_lists(n: int, n_pos: int) -> None:
    # Right below the whole numbers tails are steep, and the first lattice is too coarse.
    total = np.array([4.85, 5.95, 6.1])
    lattice, lists = tilted(n, n_pos), FirstRanks(Retrieved(n, n_pos, n))
    first, closer = lattice.tails(total, is_rough=True), lattice.tails(total)
    listed = np.array([lists.log_tail(x) for x in total.tolist()])
    assert first.lumpy.any()
    assert not closer.lumpy.any()
    assert closer.reached == pytest.approx(listed, abs=0.01)
    # They do not depend on the values before.
    alone = tilted(n, n_pos).tails(total[1:2])
    assert alone.reached[0] == closer.reached[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_pos", "total"),
    [(8_077_416, 11, 5.262827), (18_378_169, 99, 8.5), (9_850_984, 37, 9.1)],
)
def test_few_hits_below_deep_lists(n: int, n_pos: int, total: float) -> None:
    # Lists with coarse lattices were 1 to 5 % off here.
    (lattice,) = tilted(n, n_pos).tails(np.array([total])).reached
    assert FirstRanks(Retrieved(n, n_pos, n)).log_tail(total) == pytest.approx(lattice, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_pos", "total"),
    [(10_000_000, 300, 4.5), (3_000_000, 300, 3.2), (20_000_000, 500, 6.3)],
)
def test_some_hundred_positives_with_steep_fronts(n: int, n_pos: int, total: float) -> None:
    found = APNull(n, n_pos).tails(total / n_pos)
    assert found.method == "lattice"
    expected = FirstRanks(Retrieved(n, n_pos, n)).log_tail(total)
    assert found.log_sf == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("n", "n_pos", "depth", "run"),
    [(4_000_000, 17, 4_000_000, 14), (1_000_000, 30, 1_000_000, 24), (1_000_000, 100, 2_000, 15)],
)
def test_what_others_add_to_a_run(n: int, n_pos: int, depth: int, run: int) -> None:
    rng = np.random.default_rng(1)
    ranks = np.sort(rng.integers(run + 1, n + 1, size=(20_000, n_pos - run)), axis=1)
    place = run + np.arange(1, n_pos - run + 1)
    added = np.where(ranks <= depth, place / ranks, 0).sum(axis=1)
    first_ranks = FirstRanks(Retrieved(n, n_pos, depth))
    for lack in (1e-3, 1e-4):
        share = float((added >= lack).mean())
        error = np.sqrt(max(share * (1 - share), 1e-5) / added.size)
        assert first_ranks.rest_of_run(run, lack) == pytest.approx(share, abs=4 * error)


def test_long_rows_are_added_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    weight, after = rng.random(30_000), rng.random(30_000)
    expected = after.copy()
    expected[700:25_700] += 0.3 * weight[400:25_400]
    columns = [np.array([value]) for value in (25_000, 0.3, 400, 700)]
    sizes = []

    def add(x: Floats, y: Floats, size: int, *rest: float) -> None:
        sizes.append(size)
        daxpy(x, y, size, *rest)

    monkeypatch.setattr(tilted_lattice, "daxpy", add)
    tilted_lattice._add(weight, after, columns, np.array([0]))
    assert after == pytest.approx(expected, rel=1e-15)
    # BLAS libraries start threads for more than 10,000 numbers.
    assert sum(sizes) == 25_000
    assert max(sizes) < 10_000


@pytest.mark.parametrize(
    ("n", "ap", "expected"), [(20_000, 0.1398, -123.9624), (99_999, 0.0631, -88.8224)]
)
def test_coarse_lattices_of_many_positives_give_way(n: int, ap: float, expected: float) -> None:
    # Plain lattices with four times as many points, which take ten seconds, give these numbers.
    found = APNull(n, 256).tails(ap)
    assert found.method == "lattice"
    assert found.log_sf == pytest.approx(expected, abs=1e-3)
