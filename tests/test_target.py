"""The torch a program is written for decides what is removed or deprecated, and which loads are unsafe."""

from __future__ import annotations

import pytest

from torchlint import lint
from torchlint.config import Selection, Settings
from torchlint.installed import NEWEST, installed_version, is_version, target
from torchlint.linter import Job, fix_until_stable
from torchlint.project import Project


def codes(text: str, wanted: str) -> list[str]:
    settings = Settings(selections=(Selection(select=("TL8",)),), dry_run=False, target_torch=wanted)
    return [
        finding.code for finding in lint(f"import torch\n{text}\n", Job.of("<text>.py", settings=settings)).findings
    ]


def fixed(text: str) -> str:
    settings = Settings(selections=(Selection(select=("TL8",)),), dry_run=False, target_torch="2.13")
    return fix_until_stable(text, Job.of("program.py", settings))[0]


@pytest.mark.parametrize(
    "line, before, since, code",
    [
        ("torch.symeig(a, eigenvectors=True)", "1.13", "2.0", "TL802"),
        ("torch.optim.lr_scheduler.StepLR(o, 3, verbose=True)", "2.6", "2.7", "TL802"),
        ("torch.cuda.amp.autocast()", "2.3", "2.4", "TL803"),
        ("torch.cholesky(a)", "1.9", "1.10.2", "TL803"),
    ],
)
def test_what_is_gone_depends_on_the_target(line: str, before: str, since: str, code: str) -> None:
    assert codes(line, before) == []
    assert codes(line, since) == [code]


def test_a_load_is_unsafe_by_default_before_the_version_that_changed_it() -> None:
    assert codes("torch.load(path)", "2.5.1+cu121") == ["TL801"]
    assert codes("torch.load(path)", "2.6") == []


def test_without_a_target_it_is_the_installed_torch_or_the_newest_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert target("1.8.1") == (1, 8)
    assert target("") == tuple(map(int, installed_version("torch").split(".")[:2]))
    monkeypatch.setattr("sys.path", [])
    assert target("") == NEWEST


def test_what_is_a_version() -> None:
    assert all(map(is_version, ("2.6", "2.6.0", "1.13.1+cu117", "2.9.0a0")))
    assert not any(map(is_version, ("", "2", "new", "2.6\n", "2..6", "9" * 99 + ".1")))


# Fixes where the words of the file differ


@pytest.mark.parametrize(
    "before, after",
    [
        (
            "import torch.cuda.amp as amp\n\nscaler = amp.GradScaler(enabled=on)\n",
            'import torch.cuda.amp as amp\nimport torch\n\nscaler = torch.amp.GradScaler("cuda", enabled=on)\n',
        ),
        (
            "import torch\n\nclass F(torch.autograd.Function):\n    @staticmethod\n"
            "    @torch.cuda.amp.custom_fwd\n    def forward(ctx, x):\n        return x\n",
            "import torch\n\nclass F(torch.autograd.Function):\n    @staticmethod\n"
            '    @torch.amp.custom_fwd(device_type="cuda")\n    def forward(ctx, x):\n        return x\n',
        ),
        (
            "from torch.nn.init import normal, constant as fill\n\nnormal(w, 0, 1)\nfill(b, 0)\n",
            "from torch.nn.init import normal_, constant_ as fill\n\nnormal_(w, 0, 1)\nfill(b, 0)\n",
        ),
        (
            "import torch\n\nx = torch.solve(b, a)[0] + torch.solve(b, a).solution\n",
            "import torch\n\nx = torch.linalg.solve(a, b) + torch.linalg.solve(a, b)\n",
        ),
        (
            "from torch.utils.checkpoint import checkpoint\n\ny = checkpoint(f, *args)\nz = checkpoint(f, x)\n",
            "from torch.utils.checkpoint import checkpoint\n\n"
            "y = checkpoint(f, *args)\nz = checkpoint(f, x, use_reentrant=True)\n",
        ),
        (
            "from torchvision.models import vgg16\n\nn = vgg16(pretrained=a or b)\nm = vgg16(pretrained=False)\n",
            "from torchvision.models import vgg16\n\n"
            'n = vgg16(weights="IMAGENET1K_V1" if (a or b) else None)\nm = vgg16(weights=None)\n',
        ),
        # what cannot be mapped stays
        (
            "import torch\n\nr = torch.range(0.5, n)\ns = torch.symeig(a)\n",
            "import torch\n\nr = torch.range(0.5, n)\ns = torch.symeig(a)\n",
        ),
    ],
)
def test_fixes_use_the_words_of_the_file(before: str, after: str) -> None:
    assert fixed(before) == after
    assert fixed(after) == after


def test_an_import_that_nothing_needs_is_told_so() -> None:
    asked = Settings(dry_run=False, selections=(Selection(select=("TL803",)),))
    job = Job.of("/nowhere/a.py", asked, Project("/nowhere"))
    text = "import torch\nfrom torch.autograd import Variable\nprint(torch.zeros(2))\n"
    (finding,) = lint(text, job).findings
    assert finding.code == "TL803" and "detach" not in finding.help and "needs the import" in finding.help


@pytest.mark.parametrize(
    "body, asked",
    [
        ("return models.vgg16(pretrained=True)", False),
        ("return models.vgg16(pretrained=True) if version > 1 else 0", True),
    ],
)
def test_a_parameter_called_version_asks_for_none(body: str, asked: bool) -> None:
    text = f"from torchvision import models\ndef net(name, version=None):\n    {body}\n"
    assert codes(text, "2.13") == ([] if asked else ["TL803"])
