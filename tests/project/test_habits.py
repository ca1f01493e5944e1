"""The files that a hosting site reads can be read, and name what is there."""

import re
import runpy
import shutil
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
HOSTED = sorted((ROOT / ".github").rglob("*.yml"))
if not HOSTED:
    pytest.skip("a source distribution has no such files", allow_module_level=True)
WORKFLOWS = [path for path in HOSTED if path.parent.name == "workflows"]


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "path",
    [*HOSTED, ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"],
    ids=lambda path: path.name,
)
def test_they_are_yaml(path):
    assert isinstance(read(path), dict)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_have_steps_with_few_rights(path):
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] > 0
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            for command in (
                word for word in step.get("run", "").split() if word.startswith(".ci/")
            ):
                assert (ROOT / command).exists()


def test_studies_of_the_night_are_there():
    studies = read(ROOT / ".github" / "workflows" / "nightly.yml")["jobs"]["studies"]["strategy"][
        "matrix"
    ]["study"]
    for study in studies:
        assert (ROOT / "benchmarks" / f"{study}.py").exists()


def test_pythons_that_are_promised_are_tested():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tested = read(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]["fast"]["strategy"][
        "matrix"
    ]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert promised
    assert set(promised) <= set(tested["python"])


def test_a_release_is_cut(tmp_path):
    files = ("prframe/__init__.py", "CITATION.cff", "CHANGELOG.md", "docs/cite.md")
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    cut = runpy.run_path(str(ROOT / "scripts" / "cut_release.py"))["cut"]
    cut(tmp_path, "9.8.7", "2031-02-03")
    package, citation, changes, page = (
        (tmp_path / name).read_text(encoding="utf-8") for name in files
    )
    assert '__version__ = "9.8.7"\n' in package
    assert "version: 9.8.7\ndate-released: 2031-02-03\n" in citation
    assert "## [Unreleased]\n\n## [9.8.7] - 2031-02-03\n\n### Added" in changes
    assert "  version = {9.8.7},\n  year    = {2031},\n" in page
