"""Brings a package's wheel from the index. To download a source package, pip would run its build."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

_PATIENCE = 1800  # seconds


class NoPackage(Exception):
    """A wheel that the index does not have, and why."""


def wheel(requirement: str, target: Path, sha256: str = "") -> Path:
    """Puts the wheel of a package where `target` says; with a hash it must be that one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        wanted = Path(scratch, "wanted.txt")
        wanted.write_text(f"{requirement} --hash=sha256:{sha256}\n" if sha256 else f"{requirement}\n")
        pip = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        pip += [*(["--require-hashes"] if sha256 else []), "--dest", scratch, "--requirement", str(wanted)]
        done = subprocess.run(pip, capture_output=True, timeout=_PATIENCE, cwd=scratch, env={**os.environ})
        if done.returncode:
            raise NoPackage(f"pip: {done.stderr.decode(errors='replace').strip()[-300:]}")
        (found,) = Path(scratch).glob("*.whl")
        found.rename(target)
    return target
