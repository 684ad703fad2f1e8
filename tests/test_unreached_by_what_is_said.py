"""Who says a name need not mean it: a manual in a program, who asks a library for it, who has another of that name."""

import json

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
ALL = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
LOSS = """\
import torch
from torch.nn import functional as F


def sharp_loss(x, y):
    return F.cross_entropy(F.softmax(x, dim=1), y)


class Trainer:
    def plain_step(self, x, y):
        return F.cross_entropy(F.softmax(x, dim=1), y)
"""
PROGRAM = {"loss.py": LOSS, "main.py": "import loss\nloss.Trainer()\n"}
FUNCTION, METHOD = 6, 11  # lines of it


def said(file: str = "loss.py") -> dict[int, str]:
    found = [f for f in check(["."], ALL).findings if f.code == "TL101"]
    return {f.span.line: f.severity for f in found if f.path.endswith(file)}


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ('def go():\n    """Makes a\n    plain_step at a time."""\n\n\ngo()\n', "info"),
        ('"""\nfor x in data:\n    trainer.plain_step(x, y)\n"""\n', "info"),  # in place of a comment
        ('def go():\n    """Like this:\n\n    >>> trainer.plain_step(x, y)\n    """\n\n\ngo()\n', "warning"),
        ('STEPS = """\nplain_step\n"""\n', "warning"),
        ('run("""\ntrainer.plain_step(x, y)""")\n', "warning"),
    ],
)
def test_a_text_that_is_only_said_calls_nothing(tree, text, severity):
    tree(PROGRAM | {"other.py": "import loss\n" + text})
    assert said()[METHOD] == severity


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("from transformers import Model\nModel.plain_step(1, 2)\n", "info"),
        ("import transformers\ntransformers.models.Model.plain_step(1, 2)\n", "info"),
        ("import transformers as tr\nx = [tr.plain_step(1, 2)]\n", "info"),
        ("from loss import Trainer\nTrainer.plain_step(None, 1, 2)\n", "warning"),
        ("from transformers import Model\nModel().plain_step(1, 2)\n", "warning"),  # of what comes of it
        ("from transformers import Model\nimport loss\nModel = loss.Trainer\nModel.plain_step(1, 2)\n", "warning"),
        ("try:\n    from transformers import Trainer\nexcept ImportError:\n    from loss import Trainer\nTrainer.plain_step(1)\n", "warning"),
        ("from transformers import model\nfor model in MODELS:\n    model.plain_step(1, 2)\n", "warning"),
        ("from transformers import model\ndef go(model):\n    model.plain_step(1, 2)\ngo(1)\n", "warning"),
        ("from transformers import model\nwith loss() as model:\n    model.plain_step(1, 2)\n", "warning"),
        ("from transformers import model\nimport loss\nloss.model.plain_step(1, 2)\n", "warning"),
    ],
)  # fmt: skip
def test_what_is_asked_of_a_library_is_nothing_of_the_project(tree, text, severity):
    tree(PROGRAM | {"other.py": text})
    assert said()[METHOD] == severity


OWN = "def sharp_loss(x):\n    return x\n"
GO = "def go():\n    return sharp_loss(1)\n"


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (f"from loss import sharp_loss\n{GO}{OWN}go()\n", "info"),
        (f"from loss import sharp_loss\n{OWN}{GO}go()\n", "info"),
        (f"from loss import sharp_loss\n{GO}go()\n", "warning"),
        (f"{OWN}from loss import sharp_loss\n{GO}go()\n", "warning"),  # which is the later one
        (f"from loss import sharp_loss\nsharp_loss(1)\n{OWN}{GO}go()\n", "warning"),
        (f"import loss\n{OWN}{GO}go()\nloss.sharp_loss(1)\n", "warning"),
        (f"from loss import sharp_loss\nfirst = sharp_loss\n{OWN}{GO}go()\n", "warning"),
        (f"from loss import sharp_loss\ndef first(by=sharp_loss):\n    by(1)\n{OWN}{GO}first()\n", "warning"),
        (f"from loss import sharp_loss as sharp\n{OWN}{GO}go(sharp)\n", "warning"),
        (f"{OWN}def go():\n    from loss import sharp_loss\n    sharp_loss(1)\ngo()\n", "warning"),
    ],
)
def test_a_name_means_the_definition_that_hides_what_is_imported(tree, text, severity):
    tree(PROGRAM | {"other.py": text})
    assert said()[FUNCTION] == severity


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("if 'ready' not in globals():\n    ready = 1\n", "info"),
        ('print("ready" in locals())\n', "info"),
        ("module = __import__('nets.' + name,\n    globals(), locals(), ['x'], 0)\n", "info"),
        ("exec(name, globals(), locals())\n", "warning"),
        ("globals()[name](1)\n", "warning"),
        ("if 'ready' in globals(): globals()[name](1)\n", "warning"),
        ("if 'ready' in globals()[name]: print(1)\n", "warning"),
        ("for name in globals(): print(name)\n", "warning"),
    ],
)
def test_who_asks_whether_there_is_a_name_takes_nothing(tree, text, severity):
    tree(PROGRAM | {"other.py": "from loss import *\n" + text})
    assert said()[FUNCTION] == severity


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("torch.set_default_dtype(torch.float64)\n", "info"),
        ("torch.backends.cuda.set_flags(True)\n", "warning"),  # too deep to be told from a call of one's own
        ("np.set_printoptions(precision=3)\n", "info"),
        ("torch.set_default_dtype(torch.float64)\nsharp_loss(1, 2)\n", "warning"),
        ("settings.set_default(1)\n", "warning"),
    ],
)
def test_a_file_that_only_sets_how_a_library_is_does_nothing(tree, line, severity):
    others = {f"{name}.py": "import torch\n" for name in ("use", "net", "data")}
    tree({**others, "old.py": LOSS + "\n\n" + line, "main.py": "import use, net, data\n"})
    assert said("old.py")[FUNCTION] == severity


CLASS = (
    LOSS
    + "\n    def new_step(self):\n        return Other()\n\n\nclass Other(torch.nn.Module):\n    def forward(self, x, y):\n"
)
CLASS_LINE = 19
CLASS += "        return F.cross_entropy(F.softmax(x, dim=1), y)\n"


@pytest.mark.parametrize(
    ("main", "severity"),
    [
        ("import loss\nloss.Trainer()\n", "info"),
        ("import loss\nloss.Trainer().new_step()\n", "warning"),
        ("import loss\nloss.Trainer()\nloss.Other()\n", "warning"),
        ("import loss\nloss.Trainer()\ngetattr(loss, name)()\n", "warning"),
        ("import loss\nfor one in torch.nn.Module.__subclasses__(): print(one)\n", "warning"),
    ],
)
def test_a_class_that_only_unused_methods_make_is_unused(tree, main, severity):
    tree({"loss.py": CLASS, "main.py": main})
    assert said()[CLASS_LINE] == severity


def test_nothing_in_a_settings_text_is_unused(tree):
    tree({"loss.py": CLASS, "main.py": "import loss\nloss.Trainer()\n", "base.yaml": "net: Other\n"})
    assert said()[CLASS_LINE] == "warning"


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("'/out/sharp_loss,_all.csv'", "info"),
        ("'results/sharp_loss.png'", "info"),
        ("'losses/sharp_loss.json'", "warning"),
        ("'losses.sharp_loss'", "warning"),
        ("'sharp_loss'", "warning"),
        ("f'{losses}/sharp_loss.csv'", "warning"),
    ],
)
def test_a_file_of_data_names_nothing_that_is_called(tree, text, severity):
    tree(PROGRAM | {"other.py": f"import loss\nPLACE = {text}\nprint(PLACE)\n"})
    assert said()[FUNCTION] == severity


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("PLACE = '/out/sharp_loss,_all.csv'\nprint(PLACE)\n", "info"),  # a script
        ("kind = sharp_loss\nprint(kind)\n", "warning"),
        ("setup(entry_points=['go=loss:sharp_loss'])\n", "warning"),
        ("LOSS = 'sharp_loss'\nprint(LOSS)\n", "warning"),
        ("loss = dict(type=sharp_loss)\n", "warning"),  # settings
    ],
)
def test_what_imports_nothing_of_the_project_may_be_settings(tree, text, severity):
    tree(PROGRAM | {"other.py": text})
    assert said()[FUNCTION] == severity


def test_a_method_for_which_a_script_has_no_call_is_unreached(tree):
    more = "\n    def step(self, x, y):\n        return self.plain_step(x, y)\n\n\nif __name__ == '__main__':\n    Trainer(){}\n"
    tree({"main.py": LOSS + more.format("")})
    assert said("main.py")[METHOD] == "info"
    tree({"main.py": LOSS + more.format(".step(1, 2)")})
    assert said("main.py")[METHOD] == "warning"


@pytest.mark.parametrize(
    ("taking", "severity"), [("self.__dict__", "info"), ("dir(self)", "warning"), ("getattr(self, name)", "warning")]
)
def test_what_an_object_was_given_has_no_methods(tree, taking, severity):
    keeping = f"\n    def kept(self, name):\n        return {taking}\n"
    tree({"loss.py": LOSS + keeping, "main.py": "import loss\nloss.Trainer().kept('x')\n"})
    assert said()[METHOD] == severity


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("def plain_step(x):\n    return x\n\n\nplain_step(3)\n", "info"),
        ("from steps import plain_step\n\nplain_step(loss.Trainer(), 3)\n", "info"),
        ("plain_step = loss.Trainer().plain_step\nplain_step(3)\n", "warning"),
        ("print('trainer', 'plain_step(3)')\n", "warning"),
        ("class Fast(loss.Trainer):\n    @plain_step(3)\n    def run(self):\n        pass\n", "warning"),
        ("args.plain_step = False\nprint(args)\n", "info"),
        ("print(args.plain_step)\n", "warning"),
        ("import torch as t\nt = t.optim.plain_step(3)\nt.plain(3)\n", "info"),
        ("import torch as t\nt = loss.Trainer()\nt.plain_step(3)\n", "warning"),
    ],
)
def test_a_method_is_called_on_an_object(tree, text, severity):
    tree({"loss.py": LOSS, "main.py": "import loss\n\nloss.Trainer()\n" + text})
    assert said()[METHOD] == severity


@pytest.mark.parametrize(
    ("base", "more", "severity"),
    [
        ("Steps", "", "info"),
        ("nn.Module", "", "info"),
        ("Steps", "trainer.plain_step(1, 2)\n", "warning"),
        ("Steps", "class Fast:\n    def run(self):\n        self.plain_step(1, 2)\n", "warning"),
        ("Steps", "getattr(trainer, f'plain_{kind}')(1, 2)\n", "warning"),
        ("Steps", "getattr(trainer, kind + '_step')(1, 2)\n", "warning"),
        ("Steps", "getattr(trainer, 'sharp_' + kind)(1, 2)\n", "info"),
        ("pl.LightningModule", "", "warning"),
    ],
)
def test_a_base_of_the_project_calls_what_it_says(tree, base, more, severity):
    steps = "class Steps:\n    def run(self):\n        pass\n"
    based = LOSS.replace("class Trainer", f"from steps import Steps\n\n\nclass Trainer({base})")
    tree({"steps.py": steps, "loss.py": based, "main.py": "import loss\n\nloss.Trainer()\n" + more})
    assert said()[METHOD + 3] == severity


BASE = """\
from torch.nn import functional as F


class Base:
    def plain_step(self, x, y):
        return F.cross_entropy(F.softmax(x, dim=1), y)

    def step(self, x, y):
        return self.plain_step(x, y)


class Own(Base):
    def plain_step(self, x, y):
        return F.cross_entropy(x, y)
"""


@pytest.mark.parametrize(
    ("main", "severity"),
    [
        ("def go(by: base.Base):\n    by.step(1, 2)\ngo(base.Own())\n", "info"),
        ("print(isinstance(base.Own().step(1, 2), base.Base))\n", "info"),
        ("base.Base().step(1, 2)\n", "warning"),
        ("KNOWN = [base.Base, base.Own]\nKNOWN[0]().step(1, 2)\n", "warning"),
        ("class More(base.Base):\n    pass\nMore().step(1, 2)\nbase.Own()\n", "warning"),
        ("class More(base.Own):\n    pass\nMore().step(1, 2)\n", "info"),
        (
            "class More(base.Base):\n    def plain_step(self, x, y):\n"
            "        return super().plain_step(x, y)\nMore().step(1, 2)\nbase.Own()\n",
            "warning",
        ),
        ("base.Base.plain_step(base.Own(), 1, 2)\n", "warning"),
    ],
)
def test_a_method_that_all_heirs_have_anew_is_never_run(tree, main, severity):
    tree({"base.py": BASE, "main.py": "import base\n\n\n" + main})
    assert said("base.py") == {6: severity}


@pytest.mark.parametrize(
    "more", [{"setup.py": "from setuptools import setup\nsetup(name='base')\n"}, {"a.yaml": "net: Base\n"}]
)
def test_anybody_may_derive_from_a_class_of_a_library_or_choose_one_in_settings(tree, more):
    tree({"base.py": BASE, "main.py": "import base\nbase.Own().step(1, 2)\n", **more})
    assert said("base.py") == {6: "warning"}


@pytest.mark.parametrize(
    ("cell", "severity"),
    [
        ("import loss\\ndef sharp_loss(x):\\n    return x\\nsharp_loss(1)", "info"),
        ("import loss\\ndef sharp_loss(x):\\n    return loss.sharp_loss(x)", "warning"),
        ("import loss\\nsharp_loss(1)", "warning"),
        ("from loss import sharp_loss\\ndef sharp_loss(x):\\n    return x", "warning"),
        ("from loss import (Trainer,\\n    sharp_loss)\\ndef sharp_loss(x):\\n    return x", "warning"),
    ],
)
def test_a_notebook_means_its_own(tree, cell, severity):
    lines = cell.split("\\n")
    tree(PROGRAM | {"run.ipynb": json.dumps({"cells": [{"source": [f"{line}\n" for line in lines]}]})})
    assert said()[FUNCTION] == severity


@pytest.mark.parametrize(
    ("top", "severity"),
    [
        ("Trainer()\nnet()\ndata()\n", "info"),
        ("net(Trainer(data(1)))\n", "info"),
        ("Trainer()\nnet()\n", "warning"),  # which may be an excerpt
        ("# Trainer()\nnet()\ndata()\n", "warning"),
        ("Trainer()\nnet()\ndata()\nsharp_loss(1, 2)\n", "warning"),
        ("Trainer()\nnet()\ndata(sharp_loss)\n", "warning"),
        ("MADE = Trainer, net, data\n", "warning"),  # it only gives names
    ],
)
def test_a_script_that_uses_several_of_its_definitions_leaves_out_the_others(tree, top, severity):
    tree({"main.py": LOSS + "\n\ndef net(x):\n    return x\n\n\ndef data(x):\n    return x\n\n\n" + top})
    assert said("main.py")[FUNCTION] == severity


def test_a_copy_of_the_method_in_another_class_calls_its_own(tree):
    model = "import base\n\n\nclass {}(base.Net):\n" + LOSS[LOSS.index("    def plain_step") :]
    called = "\n    def run(self, x, y):\n        return self.plain_step(x, y)\n"
    files = {
        "base.py": "from torch import nn\n\n\nclass Net(nn.Module):\n    pass\n",
        "main.py": "import first, second\nfirst.First().run(1, 2)\nsecond.Second().eval()\n",
        "first.py": "from torch.nn import functional as F\n" + model.format("First") + called,
        "second.py": "from torch.nn import functional as F\n" + model.format("Second"),
    }
    tree(files)
    everything = {(str(f.path)[-9:-3], f.severity) for f in check(["."], ALL).findings if f.code == "TL101"}
    assert everything == {("/first", "warning"), ("second", "info")}


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("print('val', phase == 'val', 'best val so far')\n", "info"),
        ("print('val')\nprint(getattr(loss.Trainer(), name)(1, 2))\n", "warning"),
        ("print('val')\nfrom operator import methodcaller\n", "warning"),
        ("print('call val(x, y)')\n", "warning"),
        ("print(loss.Trainer().val(1, 2))\n", "warning"),
        ("hooks = loss.Trainer().val\n", "warning"),
        ("print('long_val')\n", "info"),
    ],
)
def test_a_plain_word_is_data_where_nobody_takes_what_has_a_given_name(tree, text, severity):
    tree({"loss.py": LOSS.replace("plain_step", "val"), "main.py": "import loss\n\nloss.Trainer()\n" + text})
    assert said()[METHOD] == severity
