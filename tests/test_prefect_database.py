"""Set-up makes Prefect's database of this checkout, and leaves alone what the user's environment names."""

import os
import subprocess
import sys
from pathlib import Path


def test_a_database_of_the_users_own_stays_untouched(checkout: Path, tmp_path: Path) -> None:
    theirs = {
        "PREFECT_HOME": str(tmp_path / "home"),
        "PREFECT_API_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{tmp_path}/theirs.db",
        "PREFECT_API_URL": "http://127.0.0.1:9/api",
    }
    made = subprocess.run(
        [sys.executable, "-m", "flows.prefect_database"],
        cwd=checkout,
        env=dict(os.environ) | theirs,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert made.returncode == 0, made.stderr
    assert (checkout / ".turtle" / "prefect" / "prefect.db").exists()
    assert list(tmp_path.iterdir()) == []
