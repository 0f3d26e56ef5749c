"""`--tau2-root`: what is refused, in one line, before τ-bench is installed or started."""

from pathlib import Path

import pytest

from flows.requirements import require_data
from flows.settings import Settings
from flows.suites import suite_of
from tasks.errors import InputError
from tests.tau_checkout import empty_checkout
from tests.toy.__main__ import toy_plan


def checkout_named(root: Path, name: str, version: str) -> Path:
    return empty_checkout(root / "made", name, version)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda root: root, "is no checkout of tau2-bench"),
        (
            lambda root: checkout_named(root, "tau2", "0.2.1-dev"),
            "is tau2 0.2.1-dev; wanted is tau2 1.0.x",
        ),
        (lambda root: checkout_named(root, "tau2", "2.4.0"), "is tau2 2.4.0; wanted is tau2 1.0.x"),
        (lambda root: checkout_named(root, "tau-bench", "1.0.1"), "is tau-bench 1.0.1"),
        (lambda root: checkout_named(root, "tau2", "1.0.1"), "lacks data/tau2/domains/"),
    ],
)
@pytest.mark.parametrize("suite", ["tau-telecom", "tau-banking-golden"])
def test_what_is_no_checkout_that_is_known_is_refused(
    tmp_path: Path, suite: str, made: object, told: str
) -> None:
    root = made(tmp_path)
    with pytest.raises(InputError, match=told) as refused:
        suite_of(suite, Settings(state=tmp_path / "state", tau2_root=root))
    assert str(root) in str(refused.value) and "\n" not in str(refused.value)
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize(
    ("suite", "data", "roots", "told"),
    [
        ("tau-telecom", "official", {}, r"--tau2-root DIR \(a checkout"),
        (
            "tau-telecom",
            None,
            {"tau2_root": "t"},
            "--tau2-root: this campaign stands on the packages'",
        ),
        (
            "tau-telecom",
            "official",
            {"appworld_root": "a"},
            "--appworld-root: holds nothing of suite",
        ),
        (
            "appworld",
            "official",
            {"tau2_root": "t"},
            "--tau2-root: holds nothing of suite appworld",
        ),
        ("appworld", "official", {}, "--appworld-root DIR"),
    ],
)
def test_a_plan_and_the_roots_go_together(
    suite: str, data: str | None, roots: dict[str, str], told: str
) -> None:
    settings = Settings(**{name: Path(path) for name, path in roots.items()})
    with pytest.raises(InputError, match=told):
        require_data(toy_plan(suite=suite, data=data), settings)
