"""One word for one thing, in every name: classes, functions, parameters and fields of the product.

Two collisions would make the code unreadable: *task* is Prefect's word and the benchmarks', *seed* is ours
and the random generator's.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]

INSTEAD = {
    "rollout": "attempt",
    "rollouts": "attempts",
    "episode": "attempt",
    "episodes": "attempts",
    "trial": "attempt",
    "trials": "attempts",
    "candidate": "variant",
    "candidates": "variants",
    "mutation": "variant",
    "mutations": "variants",
    "mutant": "variant",
    "reward": "outcome",
    "rewards": "outcomes",
    "critique": "note",
    "critiques": "notes",
    "iteration": "step",
    "iterations": "steps",
    "job": "stage",
    "jobs": "stages",
    "experiment": "campaign",
    "experiments": "campaigns",
    "benchmark": "suite",
    "benchmarks": "suites",
    "config": "plan (frozen, in keys) or settings (this machine's)",
    "configuration": "plan (frozen, in keys) or settings (this machine's)",
    "tag": "label",
    "tags": "labels",
    "utils": "a name for what it holds",
    "helpers": "a name for what it holds",
    "misc": "a name for what it holds",
}
"""Words that stand in no name, and what to say instead."""

WHOLE_NAME_INSTEAD = {
    "task": "item, or stage",
    "task_id": "item_id",
    "sample": "item",
    "scenario": "item",
    "original": "seed",
    "solution": "gold",
    "domain": "suite",
    "model": "llm_id, or spec or the role's name for an LLMSpec",
    "model_id": "llm_id",
    "model_name": "llm_id",
    "random_seed": "rng_seed",
}
"""Names that mislead only when they stand alone."""

FOREIGN = {
    "model_config",  # pydantic's
    "experiment_name",  # AppWorld's
}
"""Names that a library prescribes."""

Named = tuple[ast.AST, str, ast.expr | None]


def parameters(arguments: ast.arguments) -> Iterator[Named]:
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    for argument in every:
        yield argument, argument.arg, argument.annotation


def names(tree: ast.AST) -> Iterator[Named]:
    """Everything a module names for others: (node, name, annotation or None)."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef():
                yield node, node.name, None
                for part in node.body:
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        yield part, part.target.id, part.annotation
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node, node.name, None
                yield from parameters(node.args)


def words(name: str) -> list[str]:
    """`SolveRate_perItem` is solve, rate, per, item."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_")


def faults(text: str, ours: bool) -> Iterator[tuple[int, str]]:
    """Line and advice for each misleading name of a module.

    Args:
        text: the module's source.
        ours: whether it speaks our vocabulary alone; a simulator's program speaks that of the simulated
            package as well, and only its attempts and its random integers are looked at.
    """
    for node, name, annotation in names(ast.parse(text)):
        if name in FOREIGN:
            continue
        integer = annotation is not None and re.match(r"int\b", ast.unparse(annotation))
        if name in {"seed", "random_seed"} and integer:
            yield node.lineno, f"{name}: int -> rng_seed (a seed is an item)"
        for word in words(name):
            if word in INSTEAD and (ours or INSTEAD[word] in {"attempt", "attempts"}):
                yield node.lineno, f"{name} -> {INSTEAD[word]}"
        if ours and name in WHOLE_NAME_INSTEAD:
            yield node.lineno, f"{name} -> {WHOLE_NAME_INSTEAD[name]}"


@pytest.mark.parametrize("folder", ["flows", "tasks", "warehouse", "deployments"])
def test_names_use_our_words(folder: str) -> None:
    found = [
        f"{file.relative_to(CHECKOUT)}:{line}: {advice}"
        for file in sorted((CHECKOUT / folder).rglob("*.py"))
        for line, advice in faults(file.read_text(encoding="utf-8"), ours=folder != "deployments")
    ]
    assert not found, "say instead:\n" + "\n".join(found)


@pytest.mark.parametrize("folder", ["flows", "tasks", "warehouse", "deployments", "tests"])
def test_files_are_named_after_what_they_hold(folder: str) -> None:
    for file in sorted((CHECKOUT / folder).rglob("*.py")):
        empty = {"utils", "util", "helpers", "helper", "misc", "common", "lib"} & set(
            words(file.stem)
        )
        assert not empty, f"{file.relative_to(CHECKOUT)}: name it after the noun that it holds"


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("def draw(seed: int): ...", "rng_seed"),
        ("class RolloutPool: ...", "attempt"),
        ("class Plan:\n    candidates: list[str]", "variants"),
        ("def run(task: str): ...", "item"),
        ("async def ask(*, model: str): ...", "llm_id"),
        ("def load_config(): ...", "plan"),
    ],
)
def test_a_misleading_name_is_found(source: str, advice: str) -> None:
    assert advice in " ".join(text for _, text in faults(source, ours=True))


@pytest.mark.parametrize(
    "source",
    [
        "def draw(rng_seed: int): ...",
        "def keep(seed: Item): ...",
        "class Stage:\n    model_config = {}",
        "def f():\n    task = start()",
    ],
)
def test_our_own_words_are_left_alone(source: str) -> None:
    assert list(faults(source, ours=True)) == []
