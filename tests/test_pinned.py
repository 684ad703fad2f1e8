"""What only a later torch refuses than the one that a project is kept at is a remark."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
ORDER = """\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
decay = torch.optim.lr_scheduler.StepLR(optimizer, 9)
for epoch in range(9):
    decay.step()
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
"""
CHANNEL = "https://conda.anaconda.org/pytorch/linux-64"
NUMBER = """\
import torch

loss = torch.nn.functional.mse_loss(torch.zeros(2), torch.ones(2))
print(loss.data[0])
"""


def severities(code: str, **settings) -> set[str]:
    everything = Settings(selections=(Selection(None, (), ("ALL",)),), **settings)
    return {f.severity for f in check(["."], everything).findings if f.code == code}


@pytest.mark.parametrize(
    ("beside", "severity"),
    [
        ({"requirements.txt": "numpy==1.14\npytorch==0.3.0\n"}, "info"),
        ({"requirements.txt": "torch == 1.0.1.post2\n"}, "info"),
        ({"env.yml": "dependencies:\n  - pytorch=1.0.1\n"}, "info"),
        ({"pyproject.toml": '[project]\ndependencies = [\n    "torch==1.0.1",\n]\n'}, "info"),
        ({"pyproject.toml": '[project]\ndependencies = [\n    "torch>=1.0.1",\n]\n'}, "warning"),
        ({"environment.yml": "dependencies:\n  - python=3.6\n  - pytorch=1.0=py3.6_cuda9\n"}, "info"),
        ({"setup.py": "setup(install_requires=[\n    'torch==1.0.0',\n])\n"}, "info"),
        ({"spec-file.txt": f"@EXPLICIT\n{CHANNEL}/pytorch-1.0.1-py3.6_cuda8.tar.bz2\n"}, "info"),
        ({"spec-file.txt": f"@EXPLICIT\n{CHANNEL}/pytorch-1.1.0-py3.6_cuda8.tar.bz2\n"}, "warning"),
        ({"spec-file.txt": f"@EXPLICIT\n{CHANNEL}/pytorch-lightning-0.5.0-py_0.tar.bz2\n"}, "warning"),
        (
            {
                "requirements.txt": "http://download.pytorch.org/whl/cu80/torch-0.2.0.post3-cp35-cp35m-linux_x86_64.whl\n"
            },
            "info",
        ),
        ({"requirements.txt": "https://download.pytorch.org/whl/torch-1.4.0-cp38-cp38-linux_x86_64.whl\n"}, "warning"),
        ({"requirements.txt": "torch==1.1.0\n"}, "warning"),
        ({"requirements.txt": "torch>=0.4\n"}, "warning"),
        ({"requirements.txt": "torchvision==0.2.0\n# torch==0.3\n"}, "warning"),
        ({"README.md": "Written with Python 3.6 and PyTorch 0.3.1 (and torchvision 0.5).\n"}, "info"),
        ({"README.md": "* torch==1.0.0\n"}, "info"),
        ({"README.md": "* **PyTorch version: 1.0**\n"}, "info"),
        ({"README.md": "It was written with PyTorch 0.3 and runs with PyTorch 1.4 now.\n"}, "warning"),
        ({"README.md": "PyTorch 1.0+\n"}, "warning"),
        ({"README.md": "pytorch >= 0.4\n"}, "warning"),
        ({"README.md": "PyTorch 1.0 or later\n"}, "warning"),
        ({"README.md": "PyTorch 1.0\n", "requirements.txt": "torch==1.7\n"}, "warning"),
        ({"README.md": "conda env create -f cuda_env.yml\n", "cuda_env.yml": "- pytorch=1.0=py3.6_cuda9\n"}, "info"),
        (
            {"README.md": "`--file=a.yml`, `-f b.yaml`\n", "a.yml": "- pytorch=1.0\n", "b.yaml": "- pytorch=1.7\n"},
            "warning",
        ),
        ({"README.md": "bash get.sh\n", "get.sh": "pip install torch==1.0.0+cu90 numpy\n"}, "info"),
        ({"install.sh": "pip install torch==1.0.0\n"}, "info"),
        ({"download.sh": "pip install torch==1.0.0\n"}, "warning"),
        ({"README.md": "see cuda_env.yml\n", "cuda_env.yml": "- pytorch=1.0\n"}, "warning"),
    ],
)
def test_an_order_that_was_right_in_the_torch_of_the_project_is_a_remark(tree, beside, severity):
    tree({"train.py": ORDER, **beside})
    assert severities("TL506", dry_run=False) == {severity}


def test_a_manual_speaks_of_files_beside_it(tree):
    manual = "conda env create -f gpu.yml\n"
    tree({"a/train.py": ORDER, "README.md": manual, "gpu.yml": "- pytorch=1.0\n", ".git/HEAD": ""})
    assert severities("TL506", dry_run=False) == {"info"}


def test_the_nearest_folder_says_what_is_meant_and_a_target_that_is_given_is_meant_above_all(tree):
    tree({"a/train.py": ORDER, "a/requirements.txt": "torch==2.1\n", "requirements.txt": "torch==0.3\n"})
    assert severities("TL506", dry_run=False) == {"warning"}
    tree({"a/requirements.txt": "torch==1.0\n"})
    assert severities("TL506", dry_run=False) == {"info"}
    assert severities("TL506", dry_run=False, target_torch="2.5") == {"warning"}


def test_programs_of_before_numbers_without_axes_are_not_judged_by_a_run(tree):
    tree({"show.py": NUMBER})
    assert severities("TL802") == {"warning"} and severities("TL907") == set()
    tree({"requirements.txt": "torch==0.3.1\n"})
    assert severities("TL802") == set() and severities("TL907") == {"info"}


def test_what_is_written_for_python_2_is_not_read(tree):
    tree({"show.py": NUMBER, "old.py": "import torch\nprint 'a'\n", "new.py": "import torch\nx = (\n"})
    assert severities("TL001") == {"error"}
    tree({"environment.yml": "dependencies:\n  - python=2.7.16\n"})
    result = check(["."], Settings(dry_run=False))
    assert result.findings == []
    assert any("Python 2" in notice for notice in result.notices)
    assert severities("TL907") == {"info"}


REMOVED = """\
import torch
from torchvision import models

net = models.resnet18(pretrained=True)
spectrum = torch.rfft(torch.zeros(2, 3), 1)
with torch.cuda.amp.autocast():
    print(net(spectrum))
"""


@pytest.mark.parametrize(
    ("pin", "removed", "deprecated"),
    [
        ("torch==1.6.0", "info", {4: "info", 6: "info"}),
        ("torch==1.10.0", "warning", {4: "info", 6: "info"}),
        ("torch==1.12.1", "warning", {4: "warning", 6: "info"}),  # with torchvision 0.13
        ("torch==2.3.1", "warning", {4: "warning", 6: "info"}),
        ("torch==2.4.0", "warning", {4: "warning", 6: "warning"}),
        ("torch>=1.6", "warning", {4: "warning", 6: "warning"}),
    ],
)
def test_what_the_torch_of_the_project_still_has_is_a_remark(tree, pin, removed, deprecated):
    tree({"net.py": REMOVED, "requirements.txt": f"{pin}\n", ".git/HEAD": ""})
    everything = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
    found = check(["."], everything).findings
    assert {f.severity for f in found if f.code == "TL802"} == {removed}
    assert {f.span.line: f.severity for f in found if f.code == "TL803"} == deprecated


@pytest.mark.parametrize(("pin", "is_said"), [("==1.2.10", False), ("==1.3.0", True), (">=1.2", True), ("=1.0", False)])
def test_callbacks_of_an_old_lightning_find_their_mode_themselves(tree, pin, is_said):
    program = 'import torch\nfrom pytorch_lightning.callbacks import EarlyStopping\nstop = EarlyStopping("val_acc")\n'
    tree({"net.py": program, "requirements.txt": f"pytorch-lightning{pin}\n", ".git/HEAD": ""})
    found = check(["."], Settings(dry_run=False)).findings
    assert [f.code for f in found if f.code == "TL529"] == ["TL529"] * is_said
