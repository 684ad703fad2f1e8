"""For pytest, `-p torchlint.frontends.pytest`: a test that fails inside torch is explained where it is reported."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from torchlint.explain.known import known

_PATIENCE = 60  # seconds for an explanation
_EXPLAIN = "import sys; from torchlint.frontends import cli; sys.exit(cli.main(['explain', '--color', 'never']))"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Iterator[None]:
    """Adds a section to the report of a test that torch, or Python in the middle of a model, has refused."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.failed and call.excinfo is not None and _is_of_torch(call.excinfo.value):
        explained = _explained(call.excinfo.value)
        if explained:
            report.sections.append(("torchlint explains", explained))


def _is_of_torch(error: BaseException) -> bool:
    """Whether the error came out of torch's own code, or is one that its kernels raise."""
    modules = (frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(error.__traceback__))
    if any(isinstance(name, str) and name.partition(".")[0] == "torch" for name in modules):
        return True
    try:
        return known(str(error)) is not None
    except Exception:  # of the error's own `__str__`: pytest itself must not fail with it
        return False


def _explained(error: BaseException) -> str:
    """What `torchlint explain` says of it; nothing where it finds nothing."""
    told = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    command = [sys.executable, "-I", "-c", _EXPLAIN]  # the working folder may have a module of any name
    try:
        child = subprocess.run(command, input=told.encode(errors="replace"), capture_output=True, timeout=_PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return child.stdout.decode(errors="replace").strip() if child.returncode == 0 else ""
