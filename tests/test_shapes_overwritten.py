"""Values that may have been overwritten under a name that nobody knows, or by a statement that was not run to its end."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of

USE = "import copy\nimport json\nimport torch\nfrom torch import nn\n"
CONFIG = """
class Config:
    def __init__(self, words=-3):
        self.words = words
        self.layers = [1, 2]

read = json.load(open("config.json"))
config = Config()
plain = {"words": -3}
layers = nn.ModuleDict()
"""


def run(tmp_path, text: str):
    return [f.message for f in faults_of(tmp_path, text, USE)]


@pytest.mark.parametrize(
    "use",
    [
        "for key, value in read.items():\n    config.__dict__[key] = value\ntorch.ones(6).view(config.words + 10)",
        "for key, value in read.items():\n    setattr(config, key, value)\ntorch.ones(6).view(config.words + 10)",
        "config.__dict__.update(read)\ntorch.ones(6).view(config.words + 10)",
        "vars(config).update(read)\ntorch.ones(6).view(config.words + 10)",
        "config.__dict__.update(read)\nnn.Embedding(config.more_words, 8)",
        "setattr(config, read['name'], 20)\ntorch.ones(6).view(config.words + 10)",
        "for key, value in read.items():\n    plain[key] = value\ntorch.ones(6).view(plain['words'] + 10)",
        "plain.update(read)\ntorch.ones(6).view(plain['words'] + 10)",
        "plain.update(**read)\ntorch.ones(6).view(plain['words'] + 10)",
        "torch.ones(6).view({**plain, **read}['words'] + 10)",
        "plain[read['name']] = 20\nnn.Embedding(copy.deepcopy(plain)['more_words'], 8)",
        "config.layers[read['place']] = 4\nnn.Linear(3, config.layers[0])(torch.ones(2, 3)).view(2, 4)",
        "for name in read:\n    layers[name] = nn.Linear(3, 4)\nlayers['first'](torch.ones(2, 3))",
    ],
)
def test_what_an_unknown_name_may_set_is_not_known(tmp_path, use):
    assert run(tmp_path, CONFIG + use) == []


@pytest.mark.parametrize(
    "use",
    [
        "plain[read['name']] = 'a text'\ntorch.ones(6).view(plain['words'] + 10)",  # no number is overwritten by a text
        "torch.ones(6).view({**read, **plain}['words'] + 10)",
        "plain.setdefault(read['name'], 20)\ntorch.ones(6).view(plain['words'] + 10)",
        "setattr(config, read['name'], nn.Linear(2, 2))\ntorch.ones(6).view(config.words + 10)",
        "plain.update(read)\nplain['words'] = -3\ntorch.ones(6).view(plain['words'] + 10)",
    ],
)
def test_what_it_cannot_have_set_is_known(tmp_path, use):
    assert len(run(tmp_path, CONFIG + use)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.ones(2, 3)\nx = torch.ones(2, 5).no_such_method()\nnn.Linear(5, 4)(x)",
        "x, y = torch.ones(2, 3), 1\nx, y = torch.ones(2, 5).no_such_method()\nnn.Linear(5, 4)(x)",
        "x = torch.ones(2, 3)\nx += torch.ones(2, 3).no_such_method()\nnn.Linear(5, 4)(x)",
        "config.words = 1.5 .no_such_method()\ntorch.ones(6).view(config.words + 10)",
        "plain['words'] = 1.5 .no_such_method()\ntorch.ones(6).view(plain['words'] + 10)",
        "x = torch.ones(2, 3)\nif plain:\n    torch.no_such_name.x()\n    ''.no_such_method()\n    x = torch.ones(2, 5)\nnn.Linear(5, 4)(x)",
        "x = torch.ones(2, 3)\nfor i in range(3):\n    ''.no_such_method()\n    x = torch.ones(2, 5)\nnn.Linear(5, 4)(x)",
    ],
)
def test_what_a_statement_that_failed_would_have_set_is_not_known(tmp_path, text):
    assert [m for m in run(tmp_path, CONFIG + text) if "no_such" not in m] == []


def test_what_it_has_set_is_known(tmp_path):
    text = "if plain:\n    x = torch.ones(2, 3)\n    ''.no_such_method()\nnn.Linear(5, 4)(x)"
    assert [m for m in run(tmp_path, CONFIG + text) if "no_such" not in m] == [
        "Linear takes 5 features but gets 3 in `x` (2, 3)"
    ]


THINGS = """
class Things:
    def __init__(self):
        self.kept = []
        self.x = torch.zeros(2)
        self.layer = nn.Linear(2, 3)
    def renew(self):
        ''.no_such_method()
        self.kept.append(torch.ones(2))
        self.x = torch.zeros(3)
        self.layer = nn.Linear(5, 3)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 3)
    def forward(self, x):
        return self.layer(x)

def renew(things):
    ''.no_such_method()
    things.layer = nn.Linear(5, 3)

def fill():
    global kept
    ''.no_such_method()
    kept.append(torch.ones(2, 3))

things, net, kept, named = Things(), Net(), [], {"a": []}
"""


@pytest.mark.parametrize(
    "text",
    [
        "for i in range(3):\n    ''.no_such_method()\n    kept.append(torch.ones(2, 3))\nnp.array(kept).transpose(1, 0, 2)",
        "for i in range(3):\n    ''.no_such_method()\n    named['a'].append(torch.ones(2))\nnp.array(named['a']).transpose(1, 0)",
        "fill()\nnp.array(kept).transpose(1, 0, 2)",
        "things.renew()\nnp.array(things.kept).transpose(1, 0)",
        "things.renew()\nthings.x.view(3)",
        "result = things.renew()\nthings.x.view(3)",
        "if kept is not None:\n    ''.no_such_method()\n    things.x = torch.zeros(3)\nthings.x.view(3)",
        "things.renew()\nthings.layer(torch.ones(2, 5))",
        "renew(net)\nnet(torch.ones(2, 5))",
    ],
)
def test_what_a_statement_that_failed_had_hold_of_is_not_known(tmp_path, text):
    assert [m for m in run(tmp_path, "import numpy as np\n" + THINGS + text) if "no_such" not in m] == []


@pytest.mark.parametrize("text", ["renew(things)\nnet(torch.ones(2, 5))", "renew(net)\nthings.x.view(3)"])
def test_what_it_had_not_is_known(tmp_path, text):
    assert len([m for m in run(tmp_path, THINGS + text) if "no_such" not in m]) == 1
