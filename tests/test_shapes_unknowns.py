"""One thing that nobody knows does not blind what follows: statements that are left out, and what stays unknown then."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from torchlint.config import Selection, Settings
from torchlint.linter import Job, lint
from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

PRELUDE = "import torch, elsewhere\nimport numpy as np\nfrom torch import nn\nfrom torch.nn import functional as F\n"


def result(tmp_path, program: str):
    return dry_run(PRELUDE + program, str(tmp_path / "program.py"), Project(tmp_path).view(tmp_path / "program.py"))


def lines(tmp_path, program: str) -> list[str]:
    """The lines at which something is found."""
    text = PRELUDE + program
    return [text.split("\n")[f.span.line - 1].strip() for f in result(tmp_path, program).faults]


def body(*statements: str) -> str:
    """A function with these statements that the script calls."""
    return "def main():\n" + "".join(f"    {s}\n" for s in statements) + "main()\n"


WRONG = "nn.Linear(3, 1)(torch.zeros(2, 4))"
REFUSED = "nn.Linear(5, 1)(torch.zeros(2, 4))"
GOES_ON = {
    "what has no length": body("n = len((i for i in [1]))", WRONG),
    "what is not there": body("n = (1).foo", WRONG),
    "in a branch": body("if 1 < 2:", "    n = (1).foo", WRONG),
    "in a loop": body("for i in range(2):", "    (1).foo", f"    {WRONG}"),
    "in a round over nothing known": body("for i in elsewhere.items(3):", "    (1).foo", f"    {WRONG}"),
    "in a class": "class A:\n    n = (1).foo\n    def go(self):\n        " + WRONG + "\nA().go()\n",
    "an error that nobody can read": (
        "class Failed(Exception):\n    def __str__(self):\n        return elsewhere.text()\n"
        "def main():\n    raise Failed\nmain()\n" + WRONG + "\n"
    ),
    "what a decorator gives": "@elsewhere.main(config='x')\ndef main(config):\n    " + WRONG + "\nmain()\n",
}
SILENT = {
    "what it would have set": body("n = 4", "n = (1).foo", "nn.Linear(n, 1)(torch.zeros(2, 3))"),
    "several": body("a, b = 4, 4", "a, b = (1).foo, 2", "nn.Linear(a, 1)(torch.zeros(2, 3))"),
    "a layer of what it would have set": body(
        "hidden = (1).foo",
        "scores = nn.Linear(3, 6)(hidden).transpose(1, 2)",
        "nn.CrossEntropyLoss()(scores, torch.zeros(7, 9, dtype=torch.long))",
    ),
    "what it would have returned": "def size():\n    return (1).foo\nnn.Linear(size(), 1)(torch.zeros(2, 3))\n",
    "what it would have filled": body(
        "layers = [nn.Linear(4, 3)]",
        "layers.append((1).foo)",
        "nn.Sequential(*layers)(torch.zeros(2, 4)) @ torch.zeros(5, 1)",
    ),
    "an answer to it": body(
        "try:", "    n = (1).foo", "except AttributeError:", "    n = 3", "nn.Linear(n, 1)(torch.zeros(2, 3))"
    ),
    "an attribute that may be missing": body("n = getattr(1, 'foo', 3)", "nn.Linear(n, 1)(torch.zeros(2, 3))"),
    "where a shuffled item is": body(
        "import random",
        "sizes, pairs = [3, 4], [(3, torch.zeros(1)), (4, torch.zeros(1))]",
        "random.shuffle(sizes), random.shuffle(pairs)",
        "for size in (sizes[0], pairs[0][0], random.choice(pairs)[0], random.sample(pairs, 2)[1][0]):",
        "    torch.zeros(2, size) @ torch.zeros(4, 5)",
    ),
    "which of the items it is": body(
        "import random",
        "order = random.sample(range(7), 7)",
        "order.index(2), order.remove(3), (order[0], 5).index(4)",
        "nn.Linear(3, 1)(torch.zeros(2, 3 + order.count(4)))",
    ),
    "the end of a sequence": (
        "class Items:\n    def __init__(self):\n        self.items = [3]\n    def __getitem__(self, i):\n"
        "        return self.items[i]\nfor n in Items():\n    nn.Linear(n, 1)(torch.zeros(2, 3))\n"
    ),
    "a base that was not made": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__((1).foo)\n        self.fc = nn.Linear(1, 1)\nNet()\n"
    ),
}


@pytest.mark.parametrize(
    "row",
    [
        "rows[order[:4]]",
        "rows[random.randrange(9)][None]",
        "torch.utils.data.TensorDataset(rows)[random.choice(order)][0][None]",
        "[rows, rows][random.randint(0, 1)]",
    ],
)
def test_a_row_that_is_drawn_looks_like_the_others(tmp_path, row):
    wrong = f"{row} @ torch.zeros(2, 1)"
    program = body("import random", "rows, order = torch.zeros(9, 3), list(range(9))", "random.shuffle(order)", wrong)
    assert lines(tmp_path, program) == [wrong]


@pytest.mark.parametrize("name", GOES_ON)
def test_the_next_statement_runs(tmp_path, name):
    assert lines(tmp_path, GOES_ON[name]) == [WRONG]


@pytest.mark.parametrize(
    "program",
    [
        body(REFUSED, WRONG),
        body("for i in range(9):", f"    {REFUSED}", f"    {WRONG}"),
        (
            "class Net(nn.Module):\n    def forward(self, x):\n        x = nn.Linear(5, 1)(x)\n        return self.end(x)\n"
            f"    def end(self, x):\n        {WRONG}\nNet()(torch.zeros(2, 4))\n"
        ),
    ],
)
def test_behind_what_torch_refuses_the_next_statement_runs(tmp_path, program):
    assert lines(tmp_path, program)[1:] == [WRONG]


def test_a_training_that_is_refused_in_each_round_comes_to_its_steps(tmp_path):
    said = result(
        tmp_path, TRAINING.format("torch.zeros(2, 4)").replace("loss =", "net(torch.zeros(2, 3))\n    loss =")
    )
    assert [f.message.partition(" in ")[0] for f in said.faults] == ["net takes 4 features but gets 3"]
    assert said.statistics["scripts_stepped_twice"] == 1


@pytest.mark.parametrize("name", SILENT)
def test_what_was_left_out_is_unknown(tmp_path, name):
    assert not lines(tmp_path, SILENT[name])


TRAINING = """
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    loss = net({}).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "program",
    [
        "from PIL import Image\nimage = Image.open('x.png', mode='r')\nsides = torch.FloatTensor([image.width, 3])\n",
        "from collections import ChainMap\nn = ChainMap({'n': 2}, {'n': 9})['n']\nsides = torch.ones(n)\n",
        (
            "from PIL import Image\nfrom torchvision import transforms\n"
            "sides = transforms.ToTensor()(Image.open('x.png'))[0, :, :2]\n"
        ),
        (
            "from PIL import Image\nfrom torchvision import transforms as T\n"
            "small = T.Compose([T.ToPILImage(), T.Resize((4, 2)), T.ToTensor()])\n"
            "sides = small(torch.from_numpy(elsewhere.frame()))[0]\n"
        ),
        (
            "from PIL import Image\nfrom torchvision import transforms as T\n"
            "sides = T.ToTensor()(Image.fromarray(np.zeros((4, 2, 3), dtype=np.uint8)))\n"
        ),
    ],
)
def test_what_is_known_of_it_is_kept(tmp_path, program):
    assert lines(tmp_path, f"{program}nn.Linear(3, 1)(sides)\n") == ["nn.Linear(3, 1)(sides)"]


def test_a_size_is_known_behind_as_many_dimensions_as_there_may_be(tmp_path):
    program = "words = nn.Embedding(100, 8)(elsewhere.ids())\nnn.Linear({}, 2)(words)\n"
    assert lines(tmp_path, program.format(9)) == ["nn.Linear(9, 2)(words)"]
    assert lines(tmp_path, program.format(8)) == []


PICTURES = """
import cv2
frame = cv2.cvtColor(cv2.resize(elsewhere.frame(), (48, 32)), cv2.COLOR_BGR2GRAY)
picture = cv2.resize(cv2.imread("a.png")[:, :, ::-1], (48, 32), interpolation=cv2.INTER_CUBIC)
grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
colours = torch.from_numpy(picture.astype(np.float32).transpose(2, 0, 1)).unsqueeze(0)
"""


def test_pictures_that_are_read_have_sides_and_colours(tmp_path):
    right = "nn.Conv2d(3, 8, 3)(colours)\nnn.Linear(48, 2)(torch.from_numpy(grey).float())\n"
    wrong = "nn.Conv2d(1, 8, 3)(colours)\nnn.Linear(32, 2)(torch.from_numpy(grey).float())\n"
    assert lines(tmp_path, PICTURES + right) == []
    assert lines(tmp_path, PICTURES + wrong) == wrong.splitlines()


def test_a_range_of_unknown_length_gives_whole_numbers(tmp_path):
    wrong = "    nn.Linear(3, 1)(x[i])"
    assert lines(tmp_path, f"x = torch.zeros(9, 2, 4)\nfor i in range(0, elsewhere.n, 5):\n{wrong}\n") == [
        wrong.strip()
    ]


def test_a_script_says_how_far_it_came(tmp_path):
    found = result(tmp_path, TRAINING.format("torch.zeros(2, 4)"))
    counts = {key: found.statistics[key] for key in found.statistics if key.startswith("scripts")}
    assert counts == {"scripts": 1, "scripts_ended": 1, "scripts_backward": 1, "scripts_stepped_twice": 1}
    assert not found.unknowns


def test_what_nobody_knew_is_counted(tmp_path):
    found = result(tmp_path, "net = elsewhere.Net()\nnet(nn.Identity()(elsewhere.data())).mean().backward()\n")
    assert found.unknowns == {"a layer: the module elsewhere is not known": 1}
    assert found.statistics["scripts_backward"] == 0


def test_a_file_that_only_defines_is_no_script(tmp_path):
    assert "scripts" not in result(tmp_path, "class Net(nn.Module):\n    pass\n").statistics


ROWS = "rows = []\nfor row in elsewhere.rows():\n    rows.append(torch.tensor([1, 2, 3]))\n"
DATA = "data = torch.from_numpy(elsewhere.load()).float()\n"
PARTLY = {
    "a float index": "nn.Embedding(9, 4)(torch.rand(elsewhere.count(), 3))",
    "an index of another rank": DATA + "nn.Linear(4, 6)(data[:, None]).gather(1, torch.arange(16))",
    "a dimension that is not there": "torch.softmax(nn.Linear(4, 6)(torch.zeros(elsewhere.count(), 4)), dim=2)",
    "a backward of many": DATA
    + "F.mse_loss(nn.Linear(4, 6)(data), elsewhere.wanted(), reduction='none').flatten().backward()",
    "channels": DATA + "nn.Conv2d(8, 4, 3)(nn.Conv2d(3, 16, 3)(data))",
    "features behind an unknown input": "nn.Linear(9, 1)(nn.Linear(4, 8)(elsewhere.batch()))",
    "features behind an unknown vocabulary": (
        "nn.Linear(9, 1)(nn.Embedding(len(elsewhere.words()), 8)(torch.zeros(2, 3).long()))"
    ),
    "a dtype": "nn.Linear(4, 8)(torch.zeros(elsewhere.count(), 4, dtype=torch.float64))",
    "a device": "nn.Linear(4, 8).cuda()(torch.zeros(elsewhere.count(), 4))",
    "a target": "F.nll_loss(nn.Linear(4, 8)(elsewhere.batch()), torch.zeros(5))",
    "shapes that are taken apart": DATA + "b, t, c = data.shape\nnn.Linear(9, 1)(nn.Linear(4, 8)(data.view(b * t, c)))",
    "a state that no input fits": DATA + "nn.LSTM(4, 8)(data, (torch.zeros(1, 1, 7), torch.zeros(1, 1, 7)))",
    "layers of a state": DATA + "nn.GRU(4, 8)(data, torch.zeros(3, 1, 8))",
    "rows of a list": (
        "rows = []\nfor row in elsewhere.rows():\n    rows.append(torch.zeros(3))\nnn.Linear(4, 1)(torch.stack(rows))"
    ),
    "sequences of a list": ROWS
    + "nn.Linear(5, 1)(nn.Embedding(9, 4)(nn.utils.rnn.pad_sequence(rows, batch_first=True)))",
    "columns of a table": (
        "import pandas as pd\nx = torch.tensor(pd.read_csv('a.csv')[['a', 'b', 'c']].values, dtype=torch.float)\nnn.Linear(4, 1)(x)"
    ),
    "numbers of a table": "import pandas as pd\nnn.Linear(2, 1)(torch.tensor(pd.read_csv('a.csv')[['a', 'b']].values))",
    "a part of torch's layer": "nn.Sequential(nn.Linear(4, 2)).in_features",
    "a byte tensor": "nn.Linear(4, 2)(torch.zeros(2, 4).type(torch.ByteTensor))",
    "numbers of a range": "nn.Linear(4, 2)(torch.FloatTensor(range(3)))",
    "a bar": (
        "from tqdm import tqdm\nbar = tqdm(range(3))\nfor i in bar:\n    bar.set_description('a')\n    nn.Linear(4, len(bar))(torch.zeros(2, 3))"
    ),
    "a bar in a notebook": (
        "from tqdm.autonotebook import tqdm\nfor i in tqdm(range(3)):\n    nn.Linear(4, 2)(torch.zeros(2, 3))"
    ),
    "a bar of old": "from tqdm import tnrange\nfor i in tnrange(3):\n    nn.Linear(4, 2)(torch.zeros(2, 3))",
    "an average": "nn.Linear(4, 2)(torch.from_numpy(np.average(np.zeros((5, 2, 3)), axis=0)).float())",
    "a module that was loaded": "import sys\nsize = 3\nnn.Linear(4, 2)(torch.zeros(2, getattr(sys.modules['__main__'], 'size')))",
}
HOOKED = (
    "kept, layer = {}, nn.Conv2d(1, 32, 3)\ndef keep(layer, given, result):\n    kept['a'] = result.detach()\n"
    "layer.register_forward_hook(keep)\nlayer(elsewhere.image().permute(0, 3, 1, 2))\n"
)
TABLE = "import pandas as pd\nt = pd.read_csv('a.csv', usecols=['a', 'b', 'c', 'y'])\n"
THREE = "\nnn.Linear(3, 1)(torch.tensor(t.values).float())"
FITS = {
    "sequences of any length": ROWS
    + "x = nn.utils.rnn.pad_sequence(rows)\nnn.Linear(4, 1)(nn.Embedding(9, 4)(x)).view(len(x), -1) @ torch.zeros(6, 2)",
    "what a hook keeps": HOOKED + "np.array(kept['a']).transpose(1, 2, 3, 0)\nnn.Linear(9, 1)(kept['a'])",
    "what a hook changes": (
        "layer = nn.Linear(3, 4)\nlayer.register_forward_hook(lambda layer, given, result: result[:, :2])\n"
        "nn.Linear(2, 1)(layer(elsewhere.rows().view(-1, 3)))"
    ),
    "a batch of one that is taken away": (
        "def decode(y):\n    y = y.squeeze(0)\n    if y[3, 2, 1] > 0:\n        return torch.FloatTensor([y[3, 2, 1]])\n"
        "decode(nn.Conv2d(3, 8, 3)(elsewhere.image()).permute(0, 2, 3, 1))\n"
    ),
    "an image of any size": DATA + "nn.Linear(512, 3)(nn.Conv2d(3, 8, 3, stride=2)(data).flatten(1))",
    "a sum of parts": DATA + "(data[:, 1:] - data[:, :-1]) @ torch.zeros(7, 2)",
    "two that belong together": DATA + "F.cross_entropy(nn.Linear(4, 8)(data), torch.from_numpy(elsewhere.labels()))",
    "a batch of one": "v = nn.Linear(4, 1)(torch.zeros(elsewhere.count(), 4))\nv.mean().backward()\nv.expand(-1, 3) + torch.zeros(3)",
    "any rank": DATA + "if data.dim() == 3:\n    data = data.mean(1)\nnn.BatchNorm1d(4)(nn.Linear(9, 4)(data))",
    "all sizes in one": "torch.randn(elsewhere.shape()).sum(1)",
    "all sizes in one, by name": "torch.zeros(size=elsewhere.layer().weight.size()).sum(1)",
    "sides that must be alike": DATA
    + "b, c, h, w = data.shape\nassert h == w\ndata.view(b, c, h * w) @ torch.zeros(5, 2)",
    "numbers that may be whole": "F.embedding(torch.from_numpy(elsewhere.ids()), torch.zeros(9, 4))",
    "a table that is changed": (
        "import pandas as pd\nt = pd.read_csv('a.csv')\nt['c'] = 1\nnn.Linear(3, 1)(torch.tensor(t.drop('y', axis=1).values).float())"
    ),
    "a column that is taken out": TABLE + "y = t.pop('y')" + THREE,
    "a column that is deleted": TABLE + "del t['y']" + THREE,
    "a column that is dropped in place": TABLE + "t.drop('y', axis=1, inplace=True)" + THREE,
    "a column that was renamed": TABLE + "t = t.rename(columns={'y': 'z'}).drop(columns='z')" + THREE,
    "a column that becomes the index": TABLE + "t = t.set_index('y')" + THREE,
    "a column that becomes the index in place": TABLE + "t.set_index('y', inplace=True)" + THREE,
    "an index that becomes a column": TABLE + "t = t[['a', 'b']]\nt = t.reset_index()" + THREE,
    "columns without numbers": TABLE + "t = t.dropna(axis=1)" + THREE,
    "a column that is set at its place": TABLE + "t = t[['a', 'b']]\nt.loc[:, 'd'] = 1" + THREE,
    "tables that are added": TABLE + "t = t[['a', 'b']] + t[['b', 'c']]" + THREE,
    "new names": TABLE + "t.columns = ['k', 'l', 'm', 'n']\nt = t.drop('n', axis=1)" + THREE,
    "chosen columns": TABLE + "t = t.iloc[:, [True, True, True, False]]" + THREE,
    "columns from behind": "import pandas as pd\nt = pd.read_csv('a.csv').iloc[:, 4:1:-1]" + THREE,
    "a table of some of a dict": "import pandas as pd\nt = pd.DataFrame({'a': [1], 'b': [2]}, columns=['a', 'c', 'd'])"
    + THREE,
    "the batch of one that a state is for": DATA + "nn.LSTM(4, 8)(data, (torch.zeros(1, 1, 8), torch.zeros(1, 1, 8)))",
    "rows of a state": DATA + "nn.GRU(4, 8, batch_first=True)(data, torch.zeros(1, 2, 8))",
    "rows of a cell's state": DATA + "nn.LSTMCell(5, 9)(data, (torch.zeros(4, 9), torch.zeros(4, 9)))",
    "a matrix beside a matrix": DATA + "torch.addmm(torch.zeros(3, 4), data, torch.zeros(6, 4))",
    "two inputs": DATA + "nn.Bilinear(20, 30, 4)(data, torch.zeros(7, 30))",
    "few channels of a large image": DATA + "F.conv2d(data, torch.zeros(3, 4, 5, 5))",
    "new numbers where the batch is": (
        "x = elsewhere.batch().to('cuda')\nnn.Linear(1, 2).cuda()(torch.empty(x.shape[0], 1, device=x.device) * 2)"
    ),
    "channels of an activation": "x = elsewhere.batch()\nnn.PReLU(16)(torch.add(nn.Conv3d(elsewhere.n, 16, 3)(x), x))",
    "a variable of its own": (
        "from torch.autograd import Variable\nx = torch.zeros(2, 3, requires_grad=True)\nw = Variable(x.sum(0), requires_grad=False)\n"
        "F.cross_entropy(x, torch.zeros(2).long(), weight=w)"
    ),
    "a start in long data": "data = torch.from_numpy(elsewhere.load())\ntorch.randint(0, data.size(0) - 1024, (1,))",
    "as many as there are": "n = elsewhere.n\nnn.Linear(n, 2)(torch.zeros(3, n)) + nn.Linear(n, 2)(torch.zeros(3, 8))",
    "the state that is given": "nn.Linear(8, 2)(nn.LSTM(4, 8)(elsewhere.x(), elsewhere.state())[0])",
    "before any backward": "p = nn.Linear(1, 1).weight\nif p.grad is not None:\n    nn.Linear(4, 2)(torch.zeros(2, 3))",
    "a method of one's own": (
        "class Net(nn.Module):\n    def compile(self, n):\n        return n\nnn.Linear(Net().compile(3), 1)(torch.zeros(2, 3))"
    ),
    "a new tensor beside another": "x = torch.zeros(3).cuda()\nx + x.new_tensor([1.0, 2.0, 3.0])",
    "two networks of one unknown size": (
        "one, other = nn.Linear(elsewhere.n, 4), nn.Linear(elsewhere.n, 4)\n"
        "for p, q in zip(one.parameters(), other.parameters()):\n    p.data.copy_(q.data)"
    ),
    "a copy of what may be on the GPU": "nn.Linear(4, 2).cuda()(torch.as_tensor(elsewhere.data()).float())",
    "a mask": "torch.zeros(3, 4).masked_fill(torch.from_numpy(elsewhere.mask()), 0.0)",
    "a condition": "torch.where(torch.from_numpy(elsewhere.mask()), torch.zeros(3), torch.ones(3))",
    "complex numbers": "torch.view_as_real(torch.from_numpy(elsewhere.spectra()))",
    "doubles": "nn.Linear(4, 2).double()(torch.tensor(elsewhere.rows()))",
    "half floats": "nn.Linear(4, 2).half()(torch.tensor(elsewhere.rows()))",
    "a layer of unknown sizes that is moved": "nn.Linear(elsewhere.n, 4).cuda()(elsewhere.x()) + torch.zeros(3, 4).cuda()",
    "what is computed with its result": (
        "x = nn.Linear(elsewhere.n, 4).cuda()(elsewhere.x()) * elsewhere.y()\n"
        "nn.Linear(4, 2).cuda()(x)\nF.mse_loss(x, elsewhere.z(), reduction='none') + torch.zeros(3, 4).cuda()"
    ),
    "what is hashable": (
        "from collections.abc import Hashable\nif not isinstance((1, 2), Hashable):\n    nn.Linear(4, 2)(torch.zeros(2, 3))"
    ),
}


@pytest.mark.parametrize("name", PARTLY)
def test_an_error_for_all_sizes_is_found(tmp_path, name):
    assert lines(tmp_path, PARTLY[name]) == [PARTLY[name].split("\n")[-1].strip()]


@pytest.mark.parametrize("name", FITS)
def test_sizes_that_may_fit_are_no_error(tmp_path, name):
    assert not lines(tmp_path, FITS[name])


@pytest.mark.parametrize(
    "program",
    [
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--score', action='store_true')\n"
        "if not parser.parse_args().score:\n    parser.error('--score is required')",
        "loss = nn.MSELoss()(torch.load('a'), torch.load('b'))\nloss += 1\nloss.backward()",
        "print(nn.MSELoss()(torch.load('a'), torch.load('b')).numpy())",
        "import copy\nscaled = torch.zeros(4, 3) * torch.load('a')\ncopy.deepcopy(scaled)\nscaled.sum().numpy()",
        "y = torch.zeros(torch.load('a').size(0), 3)\nz = torch.FloatTensor(y.size())\ntorch.cat([z, z], 1)",
        "import functools\n@functools.singledispatch\ndef moved(data):\n    return data\n"
        "@moved.register(torch.Tensor)\ndef _(data):\n    return data.cuda()\n"
        "nn.Linear(3, 1).cuda()(moved(torch.ones(2, 3)))",
    ],
)
def test_what_is_only_supposed_is_no_error(tmp_path, program):
    assert lines(tmp_path, program) == []


def test_a_graph_that_is_sure_is_one(tmp_path):
    assert lines(tmp_path, "out = nn.Linear(3, 3)(torch.zeros(2, 3))\nprint(out.numpy())\n") == ["print(out.numpy())"]


def test_examples_are_called_so(tmp_path):
    (fault,) = result(tmp_path, PARTLY["channels"]).faults
    assert "`?` may be any number" in fault.help


def test_what_is_refused_of_data_that_nobody_knows_is_said_to_those_who_ask(tmp_path):
    text = (Path(__file__).parent.parent / "fixtures/bugs/data_table_axis.py").read_text()
    for selections, said in ((), []), ((Selection(None, (), ("TL9",)),), ["TL901"]):
        job = Job.of(tmp_path / "table.py", Settings(selections=selections))
        assert [f.code for f in lint(text, job).findings if f.code.startswith("TL9")] == said


def test_the_strides_of_a_pretrained_network_are_found_by_their_names(tmp_path):
    program = (
        "from torchvision import models\nstage = models.resnet50().layer4\n"
        "for name, layer in stage.named_modules():\n"
        "    if 'conv2' in name or 'downsample.0' in name:\n        layer.stride = (1, 1)\n"
        "nn.Linear(8, 1)(stage(torch.zeros(1, 1024, 8, 8)))\nnn.Linear(4, 1)(stage(torch.zeros(1, 1024, 8, 8)))\n"
    )
    assert lines(tmp_path, program) == ["nn.Linear(4, 1)(stage(torch.zeros(1, 1024, 8, 8)))"]


@pytest.mark.parametrize(
    "statement",
    [
        "self._modules = {'a': elsewhere.Block(), 'b': nn.Linear(3, 3)}",
        "self._modules['a'] = elsewhere.Block(); self._modules['b'] = nn.Linear(3, 3)",
        "self._modules.update(a=elsewhere.Block(), b=nn.Linear(3, 3))",
        "self._modules.setdefault('a', elsewhere.Block()); self._modules.setdefault('b', nn.Linear(3, 3))",
        "self._modules = 5; self.a, self.b = elsewhere.Block(), nn.Linear(3, 3)",
    ],
)
@pytest.mark.parametrize("width, wrong", [(3, []), (4, ["return self.b(x) + x"])])
def test_a_module_may_fill_its_own_tables_with_what_nobody_knows(statement, width, wrong, tmp_path):
    program = f"""class Own(nn.Module):
    def __init__(self):
        super().__init__()
        {statement}
    def forward(self, x):
        y = self.a(x)
        if y.sum() > 3:
            y = y + 1
        return self.b(x) + x
Own()(torch.zeros(2, {width}))
"""
    assert lines(tmp_path, program) == wrong


@pytest.mark.parametrize("last, wrong", [(4, []), (5, ["return self.last(self.first(x))"])])
def test_a_module_that_got_a_part_under_a_name_that_nobody_knows_is_made_anew(last, wrong, tmp_path):
    program = f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear({last}, 6)
    def forward(self, x):
        return self.last(self.first(x))
net = Net()
net._modules[elsewhere.name] = nn.ReLU()
"""
    assert lines(tmp_path, program) == wrong


def test_a_state_that_no_input_fits_is_refused(tmp_path):
    """A packed sequence is nobody's tensor; layers and directions of the state are told by the layer alone."""
    program = "gru = nn.GRU(2, 20, 2, batch_first=True, bidirectional=True)\ngru(elsewhere.packed(), torch.zeros({}, 12, 20))\n"
    assert lines(tmp_path, program.format(4)) == []
    assert len(lines(tmp_path, program.format(2))) == 1
    (fault,) = result(tmp_path, program.format(2)).faults
    assert "(?, ?, ?)" in fault.message and "must be (4, 12, 20) but is (2, 12, 20)" in fault.message
