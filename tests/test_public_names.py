"""The public names are an interface: frozen here. How they are loaded."""

import subprocess
import sys
import zipfile
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import prframe
from prframe import stats

NAMES = """
    AP AP11 AUC AUPRC AUPRG ArgumentError BEDROC BalancedAccuracy Bpref CATALOGUE CoverageWarning DCG
    DependentFoldsWarning EF ERR EffectiveSampleSizeWarning EmptyFrameWarning F F1 GateError IPrec Judged Lift MCC ManyGradesWarning ManyPairsWarning
    MaxF1 Metric MissingColumnError
    MissingQueriesWarning NoCutoffWarning NoNegativesWarning NoPositivesWarning NormalizationWarning NumRel NumRelRet NumRet P
    PooledRankingWarning Prec PrframeError
    PrframeWarning R RBP RR RankOrderWarning RelP Rprec SetAP SetF SetP SetR SharedItemsWarning SkewedDifferencesWarning Specificity
    Success TiePolicyWarning UndefinedMetricWarning UnknownMetricError UnlistedItemsWarning
    UnmatchedIdsWarning UnretrievedWarning W
    ap_test band check compare compare_curves curve datasets evaluate expressions gate infAP interval
    nDCG pAP pAUC parse_metric rank_test report reports roc stats tables topk_test trec vlfeat
"""
STATS = """
    APNull AveragePrecision CellStatistic Confidence CustomFunction DCG LinearRankNull
    LocalAUC Logistic Logrank MannWhitneyWilcoxon Median NullDistribution PNormPush PRBootstrap
    PRPosterior PairedFamily PairedTest PrecisionAt RTB RankStatistic RankedCells RankingComparison RecallAt
    RocArea ScoreGeneratingFunction SignFlipNull TrapezoidArea VanDerWaerden adjust_p_values
    ap_beta_quantile ap_beta_sf ap_minimum ap_normal_sf ap_null_moments auc_covariance
    beta_parameters cells_from_scores cluster_counts cohen_dz compare_rankings concentration_radius
    delta_moments detectable_difference hit_rank_covariance hit_rank_joint_pmf hit_rank_moments
    hit_rank_pmf hypergeometric_topk mean_interval paired_posterior_comparison paired_randomization
    paired_rank_test paired_t_power paired_t_test parse_phi posterior_comparison pr_asymptotic_band
    pr_asymptotic_interval pr_asymptotic_variance pr_bootstrap pr_curve pr_curve_difference
    pr_limit_process pr_posterior precision_null_moments predicted_mean proportion_interval
    queries_for_width queries_needed rank_covariance rank_statistic ranking_interval ranking_levels
    ranking_performance recall_null_moments reciprocal_hit_rank_covariance
    reciprocal_hit_rank_moments roc_distances roc_from_ranks
"""
# The names of other modules, and the library that one needs.
MODULES = {
    "tables": ("Table letters results sentences", None),
    "reports": ("Report report", None),
    "trec": ("evaluate join read_qrels read_results read_run write_run", None),
    "chart": ("PALETTE PALETTE_DARK alt_text curve interval roc style", "altair"),
    "plot": (
        "PALETTE PALETTE_DARK alt_text ap_null curve curve_difference gain groups interval matrix "
        "queries roc scores style",
        "matplotlib",
    ),
}
DOORS = [module.name for module in iter_modules(stats.__path__) if module.ispkg]


def loaded(code: str) -> set[str]:
    """Return the modules of prframe that a fresh interpreter has loaded after some code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name for name in done.stdout.split() if name.startswith("prframe")}


def test_names_of_the_package() -> None:
    assert sorted(prframe.__all__) == NAMES.split()
    assert dir(prframe) == sorted([*prframe.__all__, "chart", "learn", "plot"])


def test_names_of_the_statistics() -> None:
    assert sorted(stats.__all__) == STATS.split()
    assert dir(stats) == sorted(stats.__all__)


@pytest.mark.parametrize("module", MODULES)
def test_names_of_other_modules(module: str) -> None:
    names, library = MODULES[module]
    if library:
        pytest.importorskip(library, reason=f"{library} is not installed")
    assert sorted(getattr(prframe, module).__all__) == names.split()


def test_a_report_is_made_by_its_module() -> None:
    assert prframe.report is prframe.reports.report


@pytest.mark.parametrize("door", DOORS)
def test_doors_lead_to_what_they_name(door: str) -> None:
    package = import_module(f"prframe.stats.{door}")
    modules = {module.name for module in iter_modules(package.__path__)}
    assert package.__all__
    for name in package.__all__:
        assert getattr(package, name) is not None
    # Once such a module is loaded the name would stand for it.
    assert not modules & set(package.__all__)


def test_the_names_of_the_statistics_are_no_rooms() -> None:
    assert not set(DOORS) & set(stats.__all__)


EVALUATE = """
import polars as pl, prframe
frame = pl.DataFrame({"score": [0.1, 0.4, 0.3], "label": [0, 1, 1]})
frame.pr.evaluate(score="score", label="label", metrics=["AP", "nDCG@10", "AUC", "P@2"])
"""


def test_evaluate_loads_no_statistics_but_those_of_the_catalogue() -> None:
    modules = {name for name in loaded(EVALUATE) if name.startswith("prframe.stats.")}
    # Expectations within tie blocks, and the words that the metric W knows.
    parts = {name.split(".")[2] for name in modules}
    assert parts == {"_arrays", "rankings", "score_functions", "tie_expectations"}
    # The catalogue opens this door, and goes through it for intervals alone.
    assert not any(name.startswith("prframe.stats.rankings.") for name in modules)
    assert len(modules) <= 9


def test_evaluate_loads_nothing_of_spark_but_how_its_frames_are_told() -> None:
    modules = {name for name in loaded(EVALUATE) if name.startswith("prframe.spark")}
    assert modules == {"prframe.spark", "prframe.spark.border"}


@pytest.mark.slow
def test_the_package_can_be_imported_from_an_archive(tmp_path) -> None:
    archive, folder = tmp_path / "prframe.zip", Path(prframe.__file__).parent
    with zipfile.ZipFile(archive, "w") as packed:
        for path in folder.rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                packed.write(path, Path("prframe") / path.relative_to(folder))
    code = (
        f"import sys; sys.path.insert(0, {str(archive)!r}); sys.meta_path = [finder for finder in "
        "sys.meta_path if 'editable' not in str(finder)]; "
        + EVALUATE
        + "\nprframe.stats.parse_phi"
        "\nprint(prframe.__file__, prframe.plot.curve, prframe.report)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(archive))


def test_importing_the_package_loads_neither_statistics_nor_verbs() -> None:
    assert loaded("import prframe") == {"prframe", "prframe._doors", "prframe.accessors"}
