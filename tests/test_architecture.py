"""The rules of the house, as tests whose message says what to do instead."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import flows
import tasks
import warehouse

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGES = ("flows", "tasks", "warehouse")

# Written in pieces, so that this file does not name what no file may name.
REGISTRY_HOSTS = (
    "pypi" + ".org",
    "python" + "hosted.org",
    "registry." + "npm",
    "npm" + "js.",
    "deb." + "debian",
    "conda" + ".anaconda",
    "crates" + ".io",
)
MACHINE_PATH = re.compile(r"(?<![\w.~$}*`-])/(?:work|farm|root|home/\w+|tmp/[a-z])(?:/|\b)")


def tracked(*patterns: str) -> list[Path]:
    """Files that git knows and that still exist."""
    command = ["git", "-C", str(CHECKOUT), "ls-files", "-z", "--", *patterns]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    files = [CHECKOUT / name for name in names.split("\0") if name]
    return [file for file in files if file.is_file()]


def product() -> list[Path]:
    """Every module that is not a test."""
    files = [*tracked("*.py")]
    return [file for file in files if file.relative_to(CHECKOUT).parts[0] != "tests"]


def shown(file: Path, node: ast.AST | None = None) -> str:
    place = file.relative_to(CHECKOUT)
    return str(place) if node is None else f"{place}:{node.lineno}"


def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def lint_imports(folder: Path) -> str:
    """What import-linter says of the packages in a folder."""
    program = "from importlinter.cli import lint_imports_command as run; run()"
    command = [sys.executable, "-c", program, "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_imports_run_one_way() -> None:
    report = lint_imports(CHECKOUT)
    assert re.search(r"Contracts: \d+ kept, 0 broken", report), (
        "an import breaks a contract of pyproject.toml [tool.importlinter]; move what both sides need to "
        f"a file below them:\n{report}"
    )


def test_every_contract_can_be_broken(tmp_path: Path) -> None:
    """In a copy, one forbidden import is planted for each contract."""
    for package in PACKAGES:
        shutil.copytree(CHECKOUT / package, tmp_path / package)
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path)
    planted = {
        "warehouse/planted.py": "import tasks.errors",  # layers
        "tasks/planted.py": "import duckdb\nimport prefect\nimport openai\nimport warehouse.planted",
        "tasks/ingest.py": "import tasks.label",  # stages
        "tasks/suites/appworld.py": "import tasks.suites.tau_bench",  # suites
        "tasks/suites/tau_bench.py": "",
        "tasks/llm/offline.py": "import tasks.llm.local_embedder",  # clients
        "flows/planted.py": "import deployments",
    }
    for name, text in planted.items():
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    report = lint_imports(tmp_path)
    contracts = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["importlinter"]
    kept = [
        contract["name"]
        for contract in contracts["contracts"]
        if not re.search(re.escape(contract["name"]) + r" BROKEN", report)
    ]
    assert not kept, f"these contracts let everything through: {kept}\n{report}"


def test_the_packages_are_those_of_this_checkout() -> None:
    for package in (flows, tasks, warehouse):
        assert Path(str(package.__file__)).parent.parent == CHECKOUT, (
            f"{package.__name__} comes from {package.__file__}: another project of that name is installed "
            "or another folder comes first on sys.path"
        )


def test_init_files_hold_no_code() -> None:
    for file in tracked("*__init__.py"):
        code = [
            node
            for node in parsed(file).body
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        ]
        assert not code, f"{shown(file)}: put code into a module that is named after what it holds"


def test_no_module_is_named_like_a_standard_one() -> None:
    for file in product():
        assert file.stem not in sys.stdlib_module_names or file.stem.startswith("__"), (
            f"{shown(file)}: run from its folder it would replace the standard module; rename it"
        )


def test_no_file_names_a_package_registry() -> None:
    for file in tracked():
        text = file.read_bytes().decode("utf-8", "replace").lower()
        found = [host for host in REGISTRY_HOSTS if host in text]
        assert not found, (
            f"{shown(file)} names {found}: versions and hashes are enough, the user's pip knows where"
        )


def test_no_file_names_a_path_of_one_machine() -> None:
    for file in tracked():
        if file.suffix == ".lock":
            continue
        for number, line in enumerate(file.read_bytes().decode("utf-8", "replace").split("\n"), 1):
            assert not MACHINE_PATH.search(line) or "MACHINE_PATH" in line, (
                f"{shown(file)}:{number}: a path of one machine; derive it from __file__ or a setting"
            )


def at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that are evaluated when a module is imported: all but the bodies of functions."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in (*node.decorator_list, node.args):
                yield part
                yield from at_import(part)
        elif not isinstance(node, ast.Lambda):
            yield from at_import(node)


def test_nothing_reads_the_environment_at_import() -> None:
    for file in product():
        if file.relative_to(CHECKOUT).parts[0] not in PACKAGES:
            continue
        for node in at_import(parsed(file)):
            read = isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}
            assert not read, f"{shown(file, node)}: settings are built once, at the entry"


Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def undocumented(body: list[ast.stmt]) -> Iterator[Definition]:
    """Public classes, functions and methods without a docstring."""
    for node in body:
        if not isinstance(node, Definition):
            continue
        if node.name.startswith("_"):
            continue
        if ast.get_docstring(node) is None:
            yield node
        if isinstance(node, ast.ClassDef):
            yield from undocumented(node.body)


def test_what_is_public_is_documented() -> None:
    missing = [
        f"{shown(file, node)} {node.name}"
        for file in product()
        for node in undocumented(parsed(file).body)
    ]
    assert not missing, (
        "say in a docstring what it gives, in which units, what None means and what it raises:\n"
        + "\n".join(missing)
    )


def test_modules_say_what_they_hold() -> None:
    for file in product():
        assert ast.get_docstring(parsed(file)) or file.name == "__init__.py", (
            f"{shown(file)}: begin with a docstring that says what it holds"
        )


def test_uv_lock_stays_out_of_git() -> None:
    assert "uv.lock" in (CHECKOUT / ".gitignore").read_text(encoding="utf-8").split("\n")
    assert not tracked("uv.lock", "**/uv.lock"), "uv.lock records addresses; run make lock instead"


@pytest.mark.parametrize(
    "folder", [".", "deployments/simulators/appworld", "deployments/simulators/tau_bench"]
)
def test_the_lock_holds_each_dependency_with_hashes(folder: str) -> None:
    project = tomllib.loads((CHECKOUT / folder / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = project["project"]["dependencies"] + project.get("dependency-groups", {}).get(
        "dev", []
    )
    text = (CHECKOUT / folder / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-z0-9])", re.sub(r"(?m)^ *#.*\n", "", text))
    locked = {re.split(r"[=\[ ]", entry)[0] for entry in entries}
    for requirement in wanted:
        name = re.split(r"[<>=\[ ]", requirement)[0].lower()
        assert name in locked, f"{folder}: {name} is not in requirements.lock; run make lock"
    unpinned = [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry]
    assert not unpinned, f"{folder}: no hash for {unpinned}; run make lock"


@pytest.mark.parametrize(
    "folder", [".", "deployments/simulators/appworld", "deployments/simulators/tau_bench"]
)
def test_each_dependency_has_its_reason(folder: str) -> None:
    lines = (CHECKOUT / folder / "pyproject.toml").read_text(encoding="utf-8").split("\n")
    inside, reason = False, False
    for line in map(str.strip, lines):
        if line.endswith("= ["):
            inside, reason = line.startswith(("dependencies", "dev")), False
        elif line == "]":
            inside = False
        elif inside:
            assert reason or line.startswith("#"), (
                f"{folder}: say in a comment why {line} is needed"
            )
            reason = True


def test_ci_runs_the_command_of_the_readme() -> None:
    commands = [
        line
        for line in (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8").split("\n")
        if line and not line.startswith(("#", "set ", "cd "))
    ]
    assert commands == ["make test"]
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert "make test" in readme and "make demo" in readme


@pytest.mark.parametrize("command", [("format", "--check"), ("check",)])
def test_code_is_formatted_and_clean(command: tuple[str, ...]) -> None:
    files = [str(file) for file in tracked("*.py")]
    ruff = [sys.executable, "-m", "ruff", *command, "--quiet", "--no-cache", *files]
    result = subprocess.run(ruff, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"run make format:\n{result.stdout[-4000:]}{result.stderr}"
