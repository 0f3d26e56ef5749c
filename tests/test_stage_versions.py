"""A stage whose source changed has to say whether its outputs may differ.

`stage_fingerprints.json` holds, for each stage, its declared version and a hash of its module's syntax
tree (comments, docstrings and formatting apart). Accept a change with `python -m tests.test_stage_versions`.
"""

import ast
import hashlib
import importlib
import json
import sys
from pathlib import Path

from tasks.stage import STAGES

ACCEPTED = Path(__file__).parent / "stage_fingerprints.json"
MODULES = ("ingest", "mutate", "verify", "solve", "feedback", "score", "selection", "judge")
MODULES += ("embed", "label", "confirmation")
ALSO = {
    "solve": ("tasks.agents.code_cells", "tasks.agents.dialogue", "tasks.agents.solving"),
    "embed": ("tasks.llm.local_embedder",),
}
"""Modules that are a stage's own work in another file."""


def fingerprints() -> dict[str, dict[str, str]]:
    """Version and source hash of every stage."""
    for module in MODULES:
        importlib.import_module(f"tasks.{module}")
    return {
        name: {"version": stage.version, "source": _source_hash(name, stage.module)}
        for name, stage in sorted(STAGES.items())
    }


def _source_hash(stage: str, module: str) -> str:
    digest = hashlib.sha256()
    for name in (module, *ALSO.get(stage, ())):
        path = importlib.import_module(name).__file__
        assert path is not None
        tree = ast.parse(Path(path).read_text(encoding="utf-8"))
        digest.update(ast.dump(_Bare().visit(tree)).encode())
    return digest.hexdigest()[:16]


class _Bare(ast.NodeTransformer):
    """Drops docstrings and other bare strings."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        literal = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if literal else node


def test_a_changed_stage_has_said_whether_its_outputs_may_differ() -> None:
    accepted = json.loads(ACCEPTED.read_text(encoding="utf-8"))
    changed = [name for name, now in fingerprints().items() if accepted.get(name) != now]
    assert not changed, (
        f"the source of {', '.join(changed)} changed: raise version= in the stage's decorator if outputs "
        "may differ for equal inputs, then run: python -m tests.test_stage_versions"
    )


def test_every_stage_is_looked_at() -> None:
    fingerprints()
    assert set(STAGES) == set(json.loads(ACCEPTED.read_text(encoding="utf-8")))


if __name__ == "__main__":
    ACCEPTED.write_text(json.dumps(fingerprints(), indent=2) + "\n", encoding="utf-8")
    sys.exit(0)
