"""Linting runs nothing of what is linted: trees whose modules have the names of everything that could be imported by
mistake.
"""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from importlib.machinery import PathFinder
from pathlib import Path

import pytest
from lsp_client import LOSS, editor
from samples import BAD

BIN = Path(sys.executable).parent
# What torch and others import if it is there, and what is imported with nobody's asking.
OPTIONAL = (
    "sitecustomize usercustomize triton opt_einsum psutil scipy pandas yaml tqdm torch_xla torchvision optree"
    " expecttest colorama tomli dill".split()
)
NAMES = sorted(
    {*sys.stdlib_module_names, *importlib.metadata.packages_distributions(), *OPTIONAL, "rules", "torchlint"}
    - {"torch", "numpy"}
)
MODEL = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 4), nn.Linear(5, 2)

    def forward(self, x):
        return self.second(self.first(x))
"""
TRAP = "open(__file__ + '.ran', 'w').close()\n"
Finished = subprocess.CompletedProcess


@pytest.fixture
def traps(tree: Callable) -> Callable[..., Path]:
    """A tree with two mistakes, in which whatever else is executed leaves a file."""

    def make(harmless: Iterable[str] = (), names: Iterable[str] = NAMES) -> Path:
        modules = {name: TRAP for name in names if name not in set(harmless)}
        packages = ("torchlint", "msgspec", "rich", "multiprocessing", "concurrent", "json")
        files = {f"{name}/__init__.py" if name in packages else f"{name}.py": text for name, text in modules.items()}
        return tree({**files, "bad.py": BAD, "net.py": MODEL})

    return make


def executed(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.ran"))


def start(root: Path, *command: str | Path, stdin: str | None = None, **environment: str) -> Finished:
    inherited = {
        k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "NO_COLOR", "PYTHONPATH", "PYTHONSAFEPATH")
    }
    own = {"XDG_CONFIG_HOME": str(root / ".config"), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run(
        [*map(str, command)],
        cwd=root,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        env={**inherited, **own},
    )


def before_us(folder: Path, first: str, *command: str) -> set[str]:
    """What Python imports of its own for such a start, before the first line of ours: nobody else can keep a folder off
    its path then.
    """
    folder.mkdir()
    (folder / "probe.py").write_text(
        f"{first}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})\n"
    )
    ran = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=True)
    # Those of other systems are tried.
    elsewhere = {name for name in NAMES if name not in sys.builtin_module_names and PathFinder.find_spec(name) is None}
    return {*ran.stdout.split(), *elsewhere, "torchlint"}


def findings(ran: Finished) -> list[str]:
    assert "Traceback" not in ran.stderr, ran.stderr
    return sorted(" ".join(line.split()[:2]) for line in ran.stdout.splitlines() if " TL" in line)


COMMAND = BIN / "torchlint"
CONCISE = ("--no-cache", "--output-format", "concise", "--jobs", "2")
TEXT, DRY = "bad.py:5:12: TL101", "net.py:11:16: TL901"


def test_the_command(traps: Callable) -> None:
    root = traps()
    ran = start(root, COMMAND, "check", ".", *CONCISE)
    assert (executed(root), findings(ran), ran.returncode) == ([], [TEXT, DRY], 1)


def test_a_python_path_that_leads_there(traps: Callable, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = traps(before_us(tmp_path_factory.mktemp("x") / "probe", "import re", "probe.py"))
    (root / "src").mkdir()
    entries = (".", "", "src/..", str(root), f"{root}/../{root.name}")
    ran = start(root, COMMAND, "check", ".", *CONCISE, PYTHONPATH=os.pathsep.join(entries))
    assert (executed(root), findings(ran), ran.returncode) == ([], [TEXT, DRY], 1)


def test_a_python_path_that_leads_to_a_repository_elsewhere(
    traps: Callable, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("x")
    root = traps(before_us(elsewhere / "probe", "import re", "probe.py"))
    (root / ".git").mkdir()
    (root / "src").mkdir()
    (root / "bad.py").rename(root / "src" / "bad.py")
    ran = start(elsewhere, COMMAND, "check", root / "src", *CONCISE, "--no-dry-run", PYTHONPATH=str(root))
    assert executed(root) == []
    assert [line.endswith(f"src/{TEXT}") for line in findings(ran)] == [True]


def test_python_m(traps: Callable, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = traps(before_us(tmp_path_factory.mktemp("x") / "probe", "", "-m", "probe"))
    ran = start(root, sys.executable, "-m", "torchlint", "check", ".", *CONCISE)
    assert (executed(root), findings(ran), ran.returncode) == ([], [TEXT, DRY], 1)


def test_the_standard_input(traps: Callable) -> None:
    root = traps()
    ran = start(root, COMMAND, "check", "-", *CONCISE, stdin=MODEL)
    assert (executed(root), findings(ran)) == ([], [DRY.replace("net.py", "-")])


FLAKE8 = "from flake8.main.cli import main\nmain(['--isolated', '--select=E9', '--jobs=2', 'probe.py', '.'])"


@pytest.mark.parametrize(
    "command, more",
    [([BIN / "flake8"], []), ([sys.executable, "-m", "flake8"], ["--torchlint-dry-run"])],
    ids=["flake8", "python -m flake8"],
)
def test_flake8(traps: Callable, tmp_path_factory: pytest.TempPathFactory, command: list, more: list) -> None:
    root = traps(before_us(tmp_path_factory.mktemp("x") / "probe", FLAKE8, "-m", "probe") if more else ())
    ran = start(root, *command, "--select=TL", "--jobs=2", "bad.py", "net.py", *more)
    assert (executed(root), findings(ran), ran.returncode) == ([], [TEXT, DRY] if more else [TEXT], 1)


@pytest.mark.asyncio
async def test_the_server(
    traps: Callable, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = traps(before_us(tmp_path_factory.mktemp("x") / "probe", "", "-m", "probe"))
    monkeypatch.chdir(root)
    async with editor(root) as at:
        assert await at.codes(at.open("bad.py", LOSS)) == [("TL101", 6)]
        uri = at.open("net.py", MODEL)
        await at.until(lambda: [found.code for found in at.shown(uri)] == ["TL901"])
    assert executed(root) == []


def test_shapes(traps: Callable) -> None:
    root = traps()
    ran = start(root, COMMAND, "shapes", "net.py:Net")
    assert executed(root) == [] and "second: Linear(5, 2)" in ran.stdout


def test_an_imported_model_finds_its_own_modules_and_shadows_none_of_ours(traps: Callable) -> None:
    """What nobody has installed may be the model's: that alone comes from its folder whoever asks."""
    root = traps(OPTIONAL)
    (root / "app").mkdir()
    (root / "app" / "model.py").write_text("import einops\nimport torch._dynamo\nfrom app.sizes import Net\n")
    (root / "app" / "sizes.py").write_text(MODEL)
    ran = start(root, COMMAND, "shapes", "--import", "app.model:Net", PYTHONPATH="src")
    assert executed(root) == ["einops.py.ran"], ran.stderr
    assert "second: Linear(5, 2)" in ran.stdout


def test_whoever_calls_us(traps: Callable, tmp_path_factory: pytest.TempPathFactory) -> None:
    script = tmp_path_factory.mktemp("x") / "script.py"
    script.write_text(
        "import torchlint\nfor found in torchlint.check(cache=False).findings: print(found.path, found.code)\n"
    )
    root = traps()
    assert [line.split()[1] for line in start(root, sys.executable, script).stdout.splitlines()] == ["TL101", "TL901"]
    assert executed(root) == []
