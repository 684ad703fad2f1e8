"""Runs the real pre-commit with a clone of this repository on a small one: check_precommit.py BIN SYSTEM_BIN

BIN has pre-commit; SYSTEM_BIN has the torchlint that the hook `torchlint-system` is to find on the PATH.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
BAD = """import torch.nn.functional as F


def loss_of(logits, target):
    return F.cross_entropy(F.softmax(logits, dim=1), target)
"""
# A comment that silences nothing: its fix is safe, and a hook applies no others.
FIXABLE = BAD.replace("F.softmax(logits, dim=1), target)", "logits, target)  # noqa: TL105")


def main(bin_folder: str, system_bin: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        clone, work = Path(scratch, "clone"), Path(scratch, "work")
        git(Path(scratch), "clone", "--quiet", "--no-hardlinks", str(HERE), str(clone))
        work.mkdir()
        git(work, "init", "--quiet")
        (work / "bad.py").write_text(BAD)
        (work / "clean.py").write_text("import torch\n\nprint(torch.zeros(2))\n")
        (work / "vendored.py").write_text(BAD)
        (work / "pyproject.toml").write_text('[tool.torchlint]\nexclude = ["vendored.py"]\n')
        git(work, "add", ".")

        environment = {**os.environ, "PRE_COMMIT_HOME": str(Path(scratch, "cache"))}
        environment["PATH"] = os.pathsep.join((system_bin, environment["PATH"]))

        def hook(name: str) -> subprocess.CompletedProcess:
            command = [Path(bin_folder, "pre-commit"), "try-repo", clone, name, "--all-files", "--verbose"]
            return subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True)

        for name in ("torchlint", "torchlint-system"):
            ran = hook(name)
            assert ran.returncode == 1 and "bad.py" in ran.stdout and "TL101" in ran.stdout, ran
            assert "vendored.py" not in ran.stdout, f"{name} linted an excluded file:\n{ran.stdout}"
            assert (work / "bad.py").read_text() == BAD, f"{name} changed a file"
            print(f"{name}: reports, changes nothing, leaves excluded files alone")

        (work / "bad.py").write_text(FIXABLE)
        ran = hook("torchlint-fix")
        fixed = (work / "bad.py").read_text()
        assert ran.returncode == 1 and fixed == FIXABLE.replace("  # noqa: TL105", ""), (ran, fixed)
        assert (work / "vendored.py").read_text() == BAD
        again = hook("torchlint-fix")
        assert again.returncode == 0 and (work / "bad.py").read_text() == fixed, again
        print("torchlint-fix: repairs, then is content")


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=ci", "-c", "user.email=ci@localhost")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
