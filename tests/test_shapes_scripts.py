"""What scripts do with tensors that have sizes but no values: windows at random positions, NumPy, distributions, sizes
of real life.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

PRELUDE = (
    "import random\nimport numpy as np\nimport torch\nfrom torch import nn\nfrom torch.distributions import"
    " Categorical, Normal\n"
)


def faults(tmp_path, program: str) -> list[str]:
    """The lines at which something is found."""
    text = PRELUDE + program
    found = dry_run(text, str(tmp_path / "program.py"), Project(tmp_path).view(tmp_path / "program.py")).faults
    return [text.split("\n")[f.span.line - 1] for f in found]


HEAD = "data, other = torch.zeros(90, 3), torch.zeros(9, 3)\ni, n = random.randint(0, 70), 8\n"
WRONG = {
    "sizes that no machine has memory for": "w = torch.Tensor(2**20, 2**20)\nw[:3] @ torch.zeros(3, 3)",
    "the sizes of what no machine has memory for": (
        "w = torch.Tensor(torch.zeros(2**20, 2**20).size())\nw[:3] @ torch.zeros(3, 3)"
    ),
    "batches of what was moved": (
        "data = torch.utils.data.TensorDataset(torch.zeros(8, 3).cuda())\nfor (x,) in"
        " torch.utils.data.DataLoader(data):\n    x + torch.zeros(1, 3)"
    ),
    "the number in a tensor": "n = torch.tensor((1, 28, 28)).prod()\nnn.Linear(int(n), 2)(torch.zeros(2, 783))",
    "random whole numbers": (
        "y = np.random.randint(2)\nlabels = np.hstack([[y] * 10, [y] * 10])\ntorch.from_numpy(labels).view(7)"
    ),
    "samples of a distribution": (
        "mean = (0, 0)\nmean += np.random.random_sample(2) * (3, 4)\n"
        "x = np.random.multivariate_normal(mean, np.diag(mean), 10)\nnn.Linear(3, 2)(torch.from_numpy(x).float())"
    ),
    "a loader of one's own": (
        "class Shown(torch.utils.data.DataLoader):\n    def __iter__(self):\n        return iter(super().__iter__())\n"
        "for x in Shown(torch.zeros(8, 3), batch_size=4):\n    x @ torch.zeros(4, 1)"
    ),
    "a number that item made": (
        "loss = nn.Linear(3, 1)(torch.zeros(2, 3)).mean().item()\nprint(loss.hex())\nprint(loss.detach())"
    ),
    "three parts of a largest value": "a, b = torch.zeros(2, 3).max(1)\na, b, c = torch.zeros(2, 3).topk(2)",
    "what is written and loaded while it runs": (
        "import importlib.util, sys\ndef load(name):\n    if name in sys.modules:\n        return sys.modules[name]\n"
        "    spec = importlib.util.spec_from_file_location(name, 'x.py')\n"
        "    return importlib.util.module_from_spec(spec)\n"
        "try:\n    layer = load('made').layer\nexcept ImportError:\n    layer = nn.Linear(3, 2)\nlayer(torch.zeros(2, 4))"
    ),
    "an option that a namespace has": (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--width', default=3)\n"
        "w = 3 if 'width' in p.parse_args() else 4\nnn.Linear(w, 2)(torch.zeros(2, 4))"
    ),
    "a window": HEAD + "data[i:i + n] + other",
    "the next window": HEAD + "data[i + 1:i + n + 1] + other",
    "a numbered window": HEAD + "data[i * n:(i + 1) * n] + other",
    "a window that ends somewhere": HEAD + "data[i - n:i, :] + other",
    "a window of an array": HEAD + "torch.from_numpy(np.zeros((90, 3))[i:i + n]) + other",
    "a window at each of some positions": (
        HEAD + "torch.stack([data[j:j + n] for j in torch.randint(80, (4,))]) + torch.zeros(5, 1, 1)"
    ),
    "a GPU's tensor for NumPy": "x = nn.Linear(3, 2).cuda()(torch.zeros(2, 3).cuda())\nx.detach().numpy()",
    "a GPU's tensor in an array": "x = torch.zeros(3, device='cuda')\nnp.array(x)",
    "a generator of the CPU": "g = torch.Generator().manual_seed(0)\ntorch.randn(3, device='cuda', generator=g)",
    "a generator of the GPU": "g = torch.Generator(device='cuda')\ntorch.zeros(3).normal_(generator=g)",
    "new tensors on the GPU": "with torch.device('cuda'):\n    x = torch.zeros(3)\nx + torch.zeros(3)",
    "new tensors on the CPU again": (
        "with torch.device('cuda'):\n    pass\ntorch.zeros(3) + torch.zeros(3, device='cuda')"
    ),
    "a gradient of the CPU": "x = torch.rand(3, device='cuda', requires_grad=True)\n(x * 2).backward(torch.ones(3))",
    "gradients of the CPU": (
        "x = torch.rand(3, device='cuda', requires_grad=True)\n"
        "torch.autograd.grad(x * 2, x, grad_outputs=torch.ones(3))"
    ),
    "samples of what a network gives": (
        "m = nn.Linear(4, 6)(torch.rand(2, 4))\nx = Normal(m, m.exp()).rsample()\nnn.Linear(5, 1)(x)"
    ),
    "another number of actions": (
        "d = Categorical(logits=nn.Linear(4, 2)(torch.rand(20, 4)))\nd.log_prob(torch.zeros(21))"
    ),
    "the rest of the samples": (
        "loader = torch.utils.data.DataLoader(torch.zeros(70, 5, 4), batch_size=32)\nrnn = nn.GRU(4, 8,"
        " batch_first=True)\nfor x in loader:\n    rnn(x, torch.zeros(1, 32, 8))"
    ),
    "rows that are written": "memory = torch.zeros(10, 4)\nmemory[torch.tensor([0, 2, 5])] = torch.ones(2, 4)",
    "a layer with another norm": (
        "x = nn.utils.weight_norm(nn.Conv1d(4, 8, 3))(torch.rand(2, 4, 9))\nnn.Linear(8, 2)(x)"
    ),
    "random numbers of a size": (
        "lam = torch.from_numpy(np.random.beta(1.0, 1.0, size=8)).float()\nlam * torch.rand(8, 3, 32, 32)"
    ),
    "output and state together": "out = nn.LSTM(4, 8)(torch.rand(2, 5, 4))\nprint(out.shape)",
    "the last of output and state": "out = nn.GRU(4, 8)(torch.rand(2, 5, 4))\nnn.Linear(8, 2)(out[:, -1])",
    "lengths on a GPU": (
        "n = torch.tensor([5, 3]).cuda()\nnn.utils.rnn.pack_padded_sequence(torch.rand(2, 5, 4).cuda(), n,"
        " batch_first=True)"
    ),
    "images of real size": "x = torch.rand(64, 3, 224, 224)\nnn.Conv2d(1, 8, 3)(x)",
    "a layer of real size": "x = torch.rand(8, 512, 8, 8)\nnn.Linear(512 * 7 * 7, 4096)(x.flatten(1))",
    "doubles of real size": "x = torch.rand(64, 3, 224, 224, dtype=torch.float64)\nnn.Conv2d(3, 8, 3)(x)",
    "a view of real size": "x = torch.rand(64, 64, 112, 112)\nx.view(64, 64, 55, -1)",
    "a sum in place of real size": "x = torch.rand(64, 64, 112, 112)\nx += torch.rand(64, 64, 56, 56)",
    "rows of real size": "x = torch.rand(4096, 8192)\nx @ torch.rand(4096, 8)",
    "an attention of real size": (
        "x = torch.rand(16, 197, 512)\nnn.TransformerEncoderLayer(768, 12, batch_first=True)(x)"
    ),
}
RIGHT = {
    "an array of arrays of several shapes": (
        "net = nn.Linear(4, 6)\nnoise = np.array([np.random.normal(size=p.data.size()) for p in net.parameters()],"
        " dtype=object)\nfor n, p in zip(noise, net.parameters()):\n    p.data += torch.FloatTensor(n * 0.1)"
    ),
    "pictures of tensors": (
        "from torchvision.transforms import Compose, Resize, ToPILImage, ToTensor\nshow, image = ToPILImage(),"
        " torch.randn(3, 32, 32)\nshow(image).resize((100,"
        " 100)).save('picture.png')\nshow(image).show()\nCompose([ToPILImage(), Resize((16, 16)),"
        " ToTensor()])(image).view(3, 256)"
    ),
    "a window": HEAD + "data[i:i + n] + other[1:]",
    "no window": HEAD + "data[i:n] + other",
    "a window of a short tensor": HEAD + "other[i:i + 20] + other",
    "a list": (
        HEAD
        + "names = list('abcdefghijklmnop')\nassert len(names[i:i + n]) < 5\ndata[len(names[i:i + n]):][:9] + other"
    ),
    "another value each time": HEAD + "data[random.randint(0, 5):random.randint(0, 5) + n] + other",
    "a GPU's tensor comes back": "x = torch.zeros(3, device='cuda')\nx.cpu().numpy(), np.array(x.cpu())",
    "a generator where it draws": (
        "g = torch.Generator(device='cuda').manual_seed(0)\nx = torch.randn(3, device='cuda', generator=g)\n"
        "x.normal_(generator=g)\ntorch.randperm(3, generator=torch.Generator())"
    ),
    "a generator of the device that new tensors are on": (
        "g = torch.Generator(device='cuda')\nwith torch.device('cuda'):\n    x = torch.randn(3, generator=g)\n"
        "x + torch.zeros(3, device='cuda')"
    ),
    "a generator for what is somewhere": (
        "import records\nx = torch.as_tensor(records.read()).float()\n"
        "x.normal_(generator=torch.Generator(device='cuda'))"
    ),
    "a gradient without dimensions comes to its tensor": (
        "x = torch.rand((), device='cuda', requires_grad=True)\n(x * 2).backward(torch.tensor(1.0))"
    ),
    "samples of what a network gives": (
        "m = nn.Linear(4, 6)(torch.rand(2, 4))\nx = Normal(m, m.exp()).rsample()\nnn.Linear(6, 1)(x)"
    ),
    "actions": "d = Categorical(logits=nn.Linear(4, 2)(torch.rand(20, 4)))\nd.log_prob(d.sample()) + torch.zeros(20)",
    "all but the rest of the samples": (
        "rnn = nn.GRU(4, 8, batch_first=True)\nfor x in torch.utils.data.DataLoader(torch.zeros(70, 5, 4),"
        " batch_size=32, drop_last=True):\n    rnn(x, torch.zeros(1, 32, 8))\nfor x in"
        " torch.utils.data.DataLoader(torch.zeros(64, 5, 4), batch_size=32):\n    rnn(x, torch.zeros(1, 32, 8))"
    ),
    "rows that are written": (
        "memory, at = torch.zeros(10, 6), torch.tensor([0, 2, 5])\nmemory[at] = torch.ones(3, 6)\nmemory[at] ="
        " torch.ones(1, 1, 6)\nmemory[at, 1] = 2.0\nmemory[:, at] = torch.ones(3)"
    ),
    "output or state": (
        "out = nn.LSTM(4, 8)(torch.rand(2, 5, 4))\nout.index(3) if hasattr(out, 'shape') else"
        " out[0].shape\ngetattr(out, 'size', None)\ntry:\n    out = out.data\nexcept AttributeError:\n   "
        " pass\nprint(out[0][:, -1])"
    ),
    "what a switch makes several": (
        "import sys\nboth = len(sys.argv) > 2\n\ndef run(x):\n    return (x, x) if both else x\n\n"
        "out = run(torch.rand(2, 3))\nif not both:\n    print(out.shape)"
    ),
    "lengths where they belong": (
        "n = torch.tensor([5, 3])\nnn.utils.rnn.pack_padded_sequence(torch.rand(2, 5, 4).cuda(), n, batch_first=True)"
    ),
    "real sizes": (
        "x = nn.Conv2d(3, 64, 3, 2, 1)(torch.rand(64, 3, 224, 224))\nx += torch.rand(64, 64, 112, 112)\nx.view(64, 64,"
        " 56, -1)"
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_fails_is_found_in_the_last_line(tmp_path, name):
    assert faults(tmp_path, WRONG[name]) == [WRONG[name].split("\n")[-1]]


@pytest.mark.parametrize("name", RIGHT)
def test_what_works_is_silent(tmp_path, name):
    assert faults(tmp_path, RIGHT[name]) == []


def test_a_class_given_for_layers_may_be_of_another_rank(tmp_path):
    block = (
        "class Block(nn.Module):\n    def __init__(self, width, conv_builder):\n        super().__init__()\n       "
        " self.a = nn.Conv3d(width, width, 1)\n        self.b = conv_builder(width, width, 1)\n\n    def forward(self,"
        " x):\n        return self.b(self.a(x))\n"
    )
    assert faults(tmp_path, block) == []
    assert (
        faults(
            tmp_path, block.replace("conv_builder(", "nn.Conv2d(").replace(", nn.Conv2d(width", ", conv_builder(width")
        )
        != []
    )


@pytest.mark.parametrize(
    "program, notice",
    [
        (
            "import numpy as np\nx = np.apply_along_axis(len, 1, np.zeros((4, 8)))\nnn.ReLU()(x)\n",
            "the dry run stopped at <this file>:5: numpy.apply_along_axis is not known",
        ),
        (
            "import rasterio\nimage = rasterio.open('cat.tif')\nnn.Flatten()(image)\n",
            "the dry run stopped at <this file>:5: the module rasterio is not known",
        ),
        (
            "class Tree(nn.Module):\n    def forward(self, x, deep=30):\n        if deep == 0:\n            return x\n"
            "        return self(x, deep - 1) + self(x, deep - 1)\nTree()(torch.zeros(2))\n",
            "the dry run gave up at <this file>:8, in `Tree.forward`: it takes more than 250,000 steps; fewer layers or"
            " rounds would let it end",
        ),
        ("x = torch.zeros(2, 3)\nfor _ in range(9):\n    x = nn.Linear(3, 3)(x)\n", None),
        ("import cv2\nimage = cv2.imread('cat.png')\nnn.Conv2d(3, 8, 3)(torch.tensor(image)[None])\n", None),
        ("import cv2\nprint(cv2.imread('cat.png'))\nnn.Linear(3, 2)(torch.zeros(2, 3))\n", None),
    ],
)
def test_where_a_script_stopped_is_said(tmp_path, program, notice):
    path = tmp_path / "program.py"
    result = dry_run("import torch\nfrom torch import nn\n\n" + program, str(path), Project(tmp_path).view(path))
    assert result.notices == ((notice,) if notice else ())


@pytest.mark.parametrize(
    ("give", "is_known"),
    [
        ("globals()['size'] = SIZE", True),
        ("for name in args:\n        globals()[name] = args[name]", True),
        ("globals().update(args)", True),
        ("globals().update(**args)", True),
        ("globals()[elsewhere.name()] = SIZE", False),
        ("globals().update(elsewhere.names())", False),
        ("globals().update(size=SIZE)", True),
    ],
)
@pytest.mark.parametrize("size", [4, 5])
def test_names_that_are_given_to_the_file_as_to_a_table_have_these_values(tmp_path, give, is_known, size):
    program = (
        f"import elsewhere\nSIZE, size = {size}, None\n\n\ndef set_all(args):\n    {give}\n    print(torch.zeros(size))"
        "\n\n\nset_all({'size': SIZE})\ntorch.zeros(size) @ torch.zeros(4)"
    )
    fails = size == 5 and is_known
    assert faults(tmp_path, program) == ["torch.zeros(size) @ torch.zeros(4)"] * fails
