"""What one version of torchlint says about fetched sources: a version is an interpreter or a revision of this
repository.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
from pathlib import Path

from sources import HERE, Source, place

REPOSITORY = HERE.parent.parent


class NotLinted(Exception):
    """A version that does not exist, or that failed on a source."""


def lint(sources: list[Source], corpus: Path, python: Path, options: list[str]) -> dict[Source, list[dict]]:
    """The findings in some sources, in the ledger's words; one run, since starting the dry run takes seconds."""
    folders = {place(corpus, source).resolve(): source for source in sources}
    for folder, source in folders.items():
        if not folder.is_dir():
            raise NotLinted(f"{source.name} is not fetched")
    check = ["check", "--isolated", "--no-cache", "--no-respect-gitignore", "--exit-zero", "--quiet"]
    # Neither the sources nor this folder may be where Python looks for modules: hence -I and an empty working folder.
    command = [str(python), "-I", "-m", "torchlint", *check, *options, "--output-format=json-lines"]
    with tempfile.TemporaryDirectory() as nowhere:
        done = subprocess.run([*command, *map(str, folders)], capture_output=True, cwd=nowhere)
        if done.returncode:
            names = ", ".join(source.name for source in sources)
            raise NotLinted(f"{names}: exit {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
        found: dict[Source, list[dict]] = {source: [] for source in sources}
        for finding in map(json.loads, done.stdout.splitlines()):
            path = Path(os.path.abspath(os.path.join(nowhere, finding["filename"])))
            folder = next(folder for folder in path.parents if folder in folders)
            found[folders[folder]].append(
                _record(finding, folders[folder], folder, path.relative_to(folder).as_posix())
            )
        return found


def _record(finding: dict, source: Source, source_folder: Path, path: str) -> dict:
    record = {"source": source.name, "version": source.version, "path": path}
    if finding["cell"]:
        record["cell"] = _code_cell(source_folder / path, finding["cell"])
    return {**record, "line": finding["location"]["row"], "code": finding["code"], "message": finding["message"]}


def _code_cell(path: Path, number: int) -> int:
    """The number of a cell among the code cells: that is how verdicts count."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return sum(cell["cell_type"] == "code" for cell in cells[:number])


def save(findings: list[dict], source: Source, folder: Path) -> None:
    """JSON lines, a file for each source."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(finding, ensure_ascii=False) + "\n" for finding in findings)
    (folder / f"{source.folder_name}.jsonl").write_text(text, encoding="utf-8")


def load(sources: list[Source], folder: Path) -> dict[Source, list[dict]]:
    """The saved findings of those sources that were linted."""
    files = {source: folder / f"{source.folder_name}.jsonl" for source in sources}
    return {
        source: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for source, file in files.items()
        if file.exists()
    }


def interpreter(version: str, corpus: Path) -> Path:
    """The Python that runs a version of torchlint: an interpreter as it is, or one made for a git revision."""
    if not version:
        return Path(sys.executable)
    if os.access(version, os.X_OK) and not os.path.isdir(version):
        return Path(version).absolute()  # not resolved: a virtual environment's Python is a link
    asked = [
        "git",
        "-C",
        str(REPOSITORY),
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        version + "^{commit}",
    ]
    commit = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    if not re.fullmatch("[0-9a-f]{40,}", commit):
        raise NotLinted(f"{version} is neither a Python interpreter nor a revision")
    tree = (corpus / "revisions" / commit).absolute()
    if not tree.exists():
        _unpack(commit, tree)
    return tree / "python" / "bin" / "python"


def _unpack(commit: str, tree: Path) -> None:
    """A revision's files, and an environment whose torchlint is theirs, with what ours has installed besides."""
    archive = subprocess.run(["git", "-C", str(REPOSITORY), "archive", commit], capture_output=True, check=True)
    tree.parent.mkdir(parents=True, exist_ok=True)
    # Made elsewhere and renamed: two runs may want the same revision at once, and one may be stopped half-way.
    with tempfile.TemporaryDirectory(dir=tree.parent) as scratch:
        part = Path(scratch, "tree")
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(part)  # our own repository's
        venv.create(part / "python", symlinks=True)
        (packages,) = (part / "python" / "lib").glob("python*/site-packages")
        (packages / "torchlint-revision.pth").write_text(f"{tree}\n{sysconfig.get_path('purelib')}\n")
        try:
            part.rename(tree)
        except OSError:
            if not tree.exists():
                raise
