"""Which words of a project name a definition, so that it is reached, and which only sound like it."""

import ast
import time

import pytest

from torchlint.config import Selection, Settings
from torchlint.project import Project
from torchlint.run import check
from torchlint.source.text.unreached import Unreached

pytestmark = pytest.mark.usefixtures("alone")
ALL = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
LOSS = """\
import torch
from torch.nn import functional as F


def sharp_loss(x, y):
    p = F.softmax(x, dim=1)
    return F.cross_entropy(p, y)


class Trainer:
    pass
"""
PROGRAM = {"loss.py": LOSS, "main.py": "import loss\nloss.Trainer()\n"}
OTHER = "import loss\nprint(loss.Other().step(1))\n"
METHOD = "class Other:\n    def sharp_loss(self, x):\n        return x\n\n    def step(self, x):\n        return self.sharp_loss(x)\n"
BESIDE = {"old.py": LOSS, **{f"{name}.py": "import torch\n" for name in ("use", "net", "data")}}
MADE = "import argparse\nimport loss\n\n{}\nloss.Trainer()\n"


def said() -> str:
    """How the finding in the function is told."""
    (severity,) = {f.severity for f in check(["."], ALL).findings if f.code == "TL101"}
    return severity


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ({"loss.py": LOSS + "\n\n" + METHOD, "more.py": OTHER}, "info"),  # a method of the same name
        (
            {"loss.py": LOSS + "\n\n" + METHOD.replace("self.sharp_loss(x)", "sharp_loss(x, x)"), "more.py": OTHER},
            "warning",
        ),
        (
            {
                "net.py": "class Net:\n    from loss import sharp_loss\n\n    def step(self):\n        self.sharp_loss()\n"
            },
            "warning",
        ),
        ({"main.py": MADE.format("argparse.ArgumentParser(description='Trains by sharp_loss')")}, "info"),
        ({"main.py": MADE.format("print(f'It is {loss.sharp_loss(1, 2)} now')")}, "warning"),
        ({"main.py": MADE.format("names = 'plain sharp_loss'.split()")}, "warning"),
        ({"main.py": MADE.format('"""Old code:\nloss.sharp_loss(1, 2)\n"""')}, "info"),
        ({"main.py": MADE.format('"""Take it:\n>>> loss.sharp_loss(1, 2)\n"""')}, "warning"),
        ({"main.py": MADE.format('run("""\nloss.sharp_loss(1, 2)\n""")')}, "warning"),
        ({"main.py": MADE.format("def look(net):\n    'It calls eval() at once.'\n    return net.eval()\n")}, "info"),
        ({"main.py": MADE.format("from loss import *\neval(argparse.name)")}, "warning"),
    ],
)
def test_what_only_sounds_like_it_does_not_name_it(tree, more, severity):
    tree(PROGRAM | more)
    assert said() == severity


def test_a_package_does_something_for_who_imports_it(tree):
    tree(
        BESIDE
        | {"main.py": "import use, net, data\n", "more/__init__.py": "from old import sharp_loss\nsharp_loss(1, 2)\n"}
    )
    assert said() == "warning"
    tree({"other.py": "import more\n\n\ndef other():\n    return more.x\n"})  # which nobody imports
    assert said() == "info"


@pytest.mark.parametrize(("place", "severity"), [("nets/blocks/old.py", "info"), ("papers/old.py", "warning")])
def test_the_parts_of_a_project_are_read_one_by_one(tree, place, severity):
    nets = {f"nets/{name}.py": "import torch\n" for name in ("__init__", "loss", "net", "data")}
    tree(nets | {place: LOSS, "main.py": "from nets import loss, net, data\nloss.Trainer = net.Trainer\n"})
    assert said() == severity


@pytest.mark.parametrize(
    ("text", "severity"), [("from losses import old\nold.sharp_loss(1, 2)\n", "warning"), ("import torch\n", "info")]
)
def test_an_import_from_another_folder_leads_to_what_ends_so(tree, text, severity):
    beside = {f"paper/losses/{name}": more for name, more in BESIDE.items()}
    tree(
        beside
        | {
            "paper/losses/old.py": LOSS,
            "paper/runs/main.py": f"{text}import losses.use, losses.net, losses.data, losses.more\n",
            "paper/losses/more.py": "",
            ".git/HEAD": "",
        }
    )
    assert said() == severity


KERNELS = """\
import torch
from torch import nn


class Blurs(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.conv = kind(8, 8, 1)

    def forward(self, x):
        batch, channels, height, width = x.shape
        return self.conv(x).view(batch, -1)


class Blurs1d(Blurs):
    def __init__(self):
        super().__init__(nn.Conv1d)


class Blurs2d(Blurs):
    def __init__(self):
        super().__init__(nn.Conv2d)


class BlursToo(Blurs):
    def __init__(self):
        super().__init__(nn.Conv1d)
"""


@pytest.mark.usefixtures("without_workers")
@pytest.mark.parametrize(("named", "severity"), [("Blurs2d", "info"), ("Blurs1d", "error"), ("BlursToo", "error")])
def test_what_fails_in_a_base_of_classes_that_nobody_makes_is_a_remark(tree, named, severity):
    text = KERNELS if named == "BlursToo" else KERNELS.partition("\n\nclass BlursToo")[0]
    tree({"net.py": text, "main.py": f"import net\nprint(net.{named}, net.Blurs)\n"})
    everything = Settings(selections=(Selection(None, (), ("ALL",)),))
    assert [f.severity for f in check(["."], everything).findings if f.code == "TL901"] == [severity]


CHAIN = """\
import torch
from torch.nn import functional as F


class Trainer:
    def whole(self, x, y):
        return self.part(x, y)

    def part(self, x, y):
        return F.cross_entropy(F.softmax(x, dim=1), y)

    def plain(self, x):
        return x
"""


@pytest.mark.parametrize(
    ("loss", "main", "severity"),
    [
        (CHAIN, "loss.Trainer().plain(1)", "info"),
        (CHAIN, "loss.Trainer().whole(1, 2)", "warning"),
        (CHAIN.replace("return x\n", "return self.whole(x, x)\n"), "loss.Trainer().plain(1)", "warning"),
        (CHAIN.replace("def whole", "def forward"), "loss.Trainer()(1, 2)", "warning"),
        (
            CHAIN.replace("return x\n", "return self.exec(x)\n\n    def exec(self, x):\n        return x\n"),
            "loss.Trainer()",
            "info",
        ),
        (CHAIN.replace("return x\n", "return exec(x)\n"), "loss.Trainer()", "warning"),
    ],
)
def test_a_method_that_only_methods_call_which_nobody_calls(tree, loss, main, severity):
    tree({"loss.py": loss, "main.py": f"import loss\n{main}\n"})
    assert said() == severity


def test_a_method_that_is_called_on_each_line_is_asked_for_in_no_time(tree):
    folder = tree({"loss.py": CHAIN.replace("return x\n", "self.part(x, x)\n" + 40_000 * "        self.part(x, x)\n")})
    project, path = Project(folder), str(folder / "loss.py")
    program = ast.parse(project.text(path))
    unreached = Unreached(project.view(path), lambda: program)
    tree({"main.py": "import loss\nloss.Trainer().plain(1)\n"})
    started = time.process_time()
    assert not unreached.has(10)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ({"README.md": "It is said to be whole, and works.\n"}, "info"),  # a sentence names no method
        ({"README.md": "Call `Trainer().whole(x, y)`.\n"}, "warning"),
        ({"README.md": "`whole` does it.\n"}, "warning"),
        ({"a.yaml": "step: whole\n"}, "warning"),
        ({"run.ipynb": '{"cells": [{"source": ["class Trainer:\\n",\n"    def whole(self):"]}]}'}, "info"),
        ({"run.ipynb": '{"cells": [{"source": ["trainer.whole(x, y)"]}]}'}, "warning"),
    ],
)
def test_a_manual_names_a_method_as_code(tree, more, severity):
    tree({"loss.py": CHAIN, "main.py": "import loss\nloss.Trainer().plain(1)\n"} | more)
    assert said() == severity


@pytest.mark.parametrize(
    ("cell", "severity"),
    [
        ("import loss\\nloss.sharp_loss(1, 2)", "warning"),
        ("from main import *\\nsharp_loss(1, 2)", "warning"),  # which imports it
        ("from others import sharp_loss", "info"),
    ],
)
def test_a_notebook_names_what_the_files_that_it_names_lead_to(tree, cell, severity):
    tree(PROGRAM | {"run.ipynb": f'{{"cells": [{{"source": "{cell}"}}]}}'})
    assert said() == severity


NETS = {f"nets/{name}.py": "import torch\n" for name in ("__init__", "loss", "net", "data")} | {
    "nets/model.py": LOSS,
    "main.py": "from nets import loss, net, data\nloss.Trainer = net.Trainer\n",
}


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ({}, "info"),
        ({"a.yaml": "model.width: 3\n"}, "info"),  # that of no file in a folder
        ({"a.yaml": "model: nets.model.Trainer\n"}, "warning"),
        ({"README.md": "See nets/model.py\n"}, "warning"),
        ({"README.md": "Run `python model.py` there.\n"}, "warning"),
        ({"README.md": "    from model import Trainer\n"}, "warning"),
        ({"nets/model.py": LOSS + '\n\nNAME = "nets.model"\n'}, "info"),  # of itself
        ({"run.ipynb": '{"cells": [{"source": ["model.eval()"]}]}'}, "info"),
    ],
)
def test_a_text_names_a_file_by_the_way_to_it(tree, more, severity):
    tree(NETS | more)
    assert said() == severity


@pytest.mark.parametrize(
    ("use", "severity"),
    [
        ("net.plain(x)", "info"),
        ("getattr(net, x)", "info"),
        ("getattr(loss, x)", "warning"),
        ("# getattr(loss, x)", "info"),
    ],
)
def test_a_name_that_is_put_together_is_of_what_the_file_imports(tree, use, severity):
    tree(
        PROGRAM
        | {
            "use.py": f"import loss, torch\n\n\ndef use(net, x):\n    return {use}\n\n\nuse(1, 2)\n",
            "net.py": LOSS,
            "loss.py": LOSS,
        }
    )
    files = {f.path.rpartition("/")[2]: f.severity for f in check(["."], ALL).findings if f.code == "TL101"}
    assert files["loss.py"] == severity


def test_what_takes_of_those_near_takes_of_others(tree):
    """By itself it is not begun with."""
    beside = {f"nets/{name}.py": "import torch\n" for name in ("__init__", "use", "net", "data")}
    taking = LOSS + "\n\ndef take(name):\n    return importlib.import_module(name)\n"
    tree(beside | {"nets/old.py": taking, "main.py": "from nets import use, net, data\nuse.run()\n", ".git/HEAD": ""})
    assert said() == "info"
    tree({"nets/more.py": "import importlib\n\n\ndef take(name):\n    return importlib.import_module(name)\n"})
    assert said() == "warning"


INNER = """\
import torch
from torch.nn import functional as F


def train(x, y):
    def sharp(x):
        return F.cross_entropy(F.softmax(x, dim=1), y)

    return fit(x{})


train(1, 2)
"""


@pytest.mark.parametrize(
    ("given", "severity"), [("", "info"), (", sharp", "warning"), (", 'sharp'", "warning"), (")  # (sharp", "info")]
)
def test_a_function_within_another_is_for_that_alone(tree, given, severity):
    tree({"loss.py": INNER.format(given), "setup.py": "setup(name='losses')\n"})
    assert said() == severity


@pytest.mark.parametrize(
    ("decorator", "severity"),
    [
        ("@torch.no_grad()", "info"),
        ("@functools.lru_cache(maxsize=None)\n@torch.jit.script", "info"),
        ("@partial(jit, static_argnums=(0,))", "info"),
        ("@partial(LOSSES.add, 'sharp')", "warning"),
        ("@torch.no_grad()\n@app.command()", "warning"),
        ("@app.cache_all", "warning"),
        ("@LOSSES.append", "warning"),
    ],
)
def test_a_decorator_that_only_wraps_gives_a_function_to_nobody(tree, decorator, severity):
    tree(PROGRAM | {"loss.py": LOSS.replace("def sharp", f"{decorator}\ndef sharp")})
    assert said() == severity


@pytest.mark.parametrize(
    ("decorator", "severity"), [("@torch.no_grad()", "info"), ("@partial(jit, x=1)", "info"), ("@app.get()", "warning")]
)
def test_nor_does_that_of_a_method(tree, decorator, severity):
    loss = CHAIN.replace("    def part", f"    {decorator}\n    def part")
    tree({"loss.py": loss, "main.py": "import loss\nloss.Trainer().plain(1)\n"})
    assert said() == severity


RUN = {"net.py": "import torch\n", "data.py": "import torch\n", "main.py": "import loss, net, data\n"}
TEST = LOSS.replace("sharp_loss", "test_loss")


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"loss.py": TEST}, "info"),
        ({"loss.py": LOSS.replace("sharp_loss", "forward")}, "info"),
        ({"loss.py": TEST, "tox.ini": "[pytest]\npython_files = *.py\n"}, "warning"),
        ({"loss.py": LOSS.replace("sharp_loss", "main")}, "warning"),
        ({"loss.py": LOSS.replace("sharp_loss", "sharp_test")}, "info"),  # pytest takes what begins so
    ],
)
def test_functions_are_looked_for_in_tests_and_methods_on_objects(tree, files, severity):
    tree(RUN | files)
    assert said() == severity


DATA = """\
import torch
from torch.nn import functional as F


class Trainer(LightningModule):
    def __init__(self):
        self.lengths = []

    def {}(self, x, y):
        p = F.softmax(x, dim=1)
        return F.cross_entropy(p, y)
"""
PRIVATE = LOSS.replace("sharp_loss", "_sharp_loss")
LIBRARY = {"setup.py": "from setuptools import setup\nsetup(name='losses')\n"}


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({"loss.py": PRIVATE}, "info"),
        ({"loss.py": LOSS}, "warning"),  # of a library anybody takes what is offered
        ({"loss.py": PRIVATE + "    def step(self, x):\n        return _sharp_loss(x, x)\n"}, "warning"),
        ({"loss.py": PRIVATE, "more.py": "from loss import _sharp_loss\n"}, "warning"),
        ({"loss.py": PRIVATE.replace("_sharp_loss", "__init_subclass__")}, "warning"),
        ({"loss.py": DATA.format("_sharp_loss").replace("LightningModule", "torch.nn.Module")}, "info"),
        ({"loss.py": DATA.format("_load_from_state_dict").replace("LightningModule", "torch.nn.Module")}, "warning"),
    ],
)
def test_a_private_part_of_a_library_that_nobody_names_is_nobodys(tree, files, severity):
    tree(LIBRARY | files)
    assert said() == severity


@pytest.mark.parametrize(
    ("name", "severity"),
    [("act_with_teacher", "info"), ("training_step", "warning"), ("on_train_end", "warning"), ("_step", "warning")],
)
def test_a_base_calls_what_it_knows(tree, name, severity):
    tree({"loss.py": DATA.format(name), "main.py": "import loss\nloss.Trainer()\n"})
    assert said() == severity
    tree({"loss.py": DATA.format(name).replace("LightningModule", "others.Base")})
    assert said() == "warning"
