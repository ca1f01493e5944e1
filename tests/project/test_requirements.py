"""What the tests import is installed by the extras of the tests and of Spark."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODULES = {"pyyaml": "yaml", "pytrec-eval-terrier": "pytrec_eval", "scikit-learn": "sklearn"}
_NAMED = re.compile(r"^\s*(?:import|from)\s+(\w+)", re.MULTILINE)
OURS = {"benchmarks", "prframe", "tests"}


def declared() -> set[str]:
    """Return the modules that come with the project, its tests and Spark."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = {
        re.match(r"[\w.-]+", line).group()
        for line in project["dependencies"] + extras["test"] + extras["spark"]
    }
    return {MODULES.get(name.lower(), name.replace("-", "_")) for name in names}


def imported(path: Path, known: set[str]) -> set[str]:
    """Return the modules that a file imports, inside its functions too, beside known ones."""
    text = path.read_text(encoding="utf-8")
    # Few files name others, in text or in code, and only these are parsed.
    if set(_NAMED.findall(text)) <= known:
        return set()
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names - known


def test_imports_of_tests_are_declared():
    known = declared() | OURS | set(sys.stdlib_module_names)
    unknown = {
        str(path.relative_to(ROOT)): sorted(names)
        for path in (ROOT / "tests").rglob("*.py")
        if (names := imported(path, known))
    }
    assert not unknown
