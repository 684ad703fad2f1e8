"""Devices of extensions of torch are none that torch refuses, where a file speaks of the extension."""

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

USE = "import torch\nfrom torch import nn\nnet = nn.Linear(4, 2)\n"


def said(tmp_path, text: str) -> list[str]:
    path = tmp_path / "train.py"
    return [fault.message for fault in dry_run(USE + text, str(path), Project(tmp_path).view(path)).faults]


@pytest.mark.parametrize(
    "text",
    [
        "import torch_npu\ntorch.device('npu:0')\n",
        "import torch_npu\nnet = net.to('npu:0')\nx = torch.zeros(3, 4, device='npu')\nnet(x).sum().backward()\n",
        "torch.musa.set_device(0)\nx = torch.ones(3, 4).to('musa')\n",
        "torch.utils.rename_privateuse1_backend('mine')\ntorch.ones(3, device='mine:1')\n",
    ],
)
def test_an_extension_has_its_device(tmp_path, text):
    assert said(tmp_path, text) == []


def test_other_words_are_no_devices(tmp_path):
    [message] = said(tmp_path, "import torch_npu\nx = torch.zeros(3, device='gpu:0')\n")
    assert "device='gpu:0'" in message


def test_what_is_moved_is_still_what_it_is(tmp_path):
    [message] = said(tmp_path, "import torch_npu\nnet = net.to('npu')\nnet(torch.ones(3, 5))\n")
    assert "5" in message and "4" in message
