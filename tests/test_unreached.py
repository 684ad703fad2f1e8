"""What is wrong in code to which nothing in a project leads is a remark; what anything may lead to is a finding."""

import time

import pytest

from torchlint.config import Selection, Settings
from torchlint.project import Project
from torchlint.run import check
from torchlint.source.text.sketch import sketch

pytestmark = pytest.mark.usefixtures("alone")
ALL = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
LOSS = """\
import torch
from torch.nn import functional as F


def sharp_loss(x, y):
    p = F.softmax(x, dim=1)
    return F.cross_entropy(p, y)


class Trainer:
    def plain_step(self, x, y):
        return F.cross_entropy(F.softmax(x, dim=1), y)
"""
PROGRAM = {"loss.py": LOSS, "main.py": "import loss\nloss.Trainer()\n"}


def said(settings: Settings = ALL) -> list[tuple[int, str]]:
    return [(f.span.line, f.severity) for f in check(["."], settings).findings if f.code == "TL101"]


def test_what_nothing_names_is_a_remark(tree):
    tree(PROGRAM)
    assert said() == [(7, "info"), (12, "info")]
    assert said(Settings(dry_run=False)) == []


@pytest.mark.parametrize(
    "more",
    [
        {"main.py": "import loss\nloss.sharp_loss(1, 2)\nloss.Trainer().plain_step(3, 4)\n"},
        {"run.ipynb": '{"cells": [{"source": ["import loss\\n", "loss.sharp_loss(x, y)", "t.plain_step()"]}]}'},
        {"README.md": "Call `sharp_loss` or `plain_step`.\n"},
        {"settings/base.yaml": "loss: sharp_loss\nstep: plain_step\n"},
        {"names.py": 'KNOWN = ["sharp_loss", "plain_step"]\n'},
        {"names.py": 'KNOWN = "# sharp_loss plain_step"\n'},
        {"choose.py": "import loss\nchosen = getattr(loss, name)\n"},
        {"choose.py": "from loss import *\nchosen = globals()[name]\n"},
        {"loss.py": LOSS.replace("\n\n\ndef", "\n\n\n@register\ndef").replace("class", "@register\nclass")},
        {
            "loss.py": LOSS.replace("Trainer:", "Trainer(Base):").replace("sharp_loss", "test_loss"),
            "pytest.ini": "[pytest]\npython_files = *.py\n",
        },
        {"setup.py": "from setuptools import setup\nsetup(name='losses')\n"},
        {"pyproject.toml": '[project]\nname = "losses"\n'},
    ],
    ids="calls notebook manual settings text hash getattr globals decorator hooks setup project".split(),
)
def test_what_anything_may_name_is_a_finding(tree, more):
    tree(PROGRAM | more)
    assert [severity for _, severity in said()] == ["warning", "warning"]


def test_comments_definitions_and_what_it_says_itself_name_nothing(tree):
    again = "# sharp_loss(x, y)\n\n\ndef sharp_loss(x, y):  # plain_step\n    return x\n"
    recursive = LOSS.replace("    p =", "    x = sharp_loss(x, y - 1) if y else x\n    p =")
    tree(PROGRAM | {"other.py": again, "loss.py": recursive})
    assert said() == [(8, "info"), (13, "info")]


@pytest.mark.parametrize(
    ("other", "severity"),
    [
        ("class Other:\n    def step(self):\n        self.plain_step()\n", "info"),
        ("class Other:\n    def step(self):\n        self.trainer.plain_step()\n", "warning"),
        ("def step(itself):\n    itself.plain_step()\n", "warning"),
        ("import loss\n\n\nclass Other(loss.Trainer):\n    def step(self):\n        self.plain_step()\n", "warning"),
    ],
)
def test_what_an_object_of_another_class_calls_is_its_own(tree, other, severity):
    tree(PROGRAM | {"other.py": other})
    assert said()[1] == (12, severity)


def test_what_nobody_imports_is_called_by_hand(tree):
    tree({"loss.py": LOSS, "main.py": "x = 1\n"})
    assert [severity for _, severity in said()] == ["warning", "warning"]


def test_what_is_imported_for_nobody_is_not_named(tree):
    tree(PROGRAM | {"main.py": "import loss\nfrom loss import Trainer, sharp_loss\n"})
    assert said()[0] == (7, "info")
    tree(PROGRAM | {"main.py": "from loss import Trainer, sharp_loss as criterion\ncriterion(1, 2)\n"})
    assert said()[0] == (7, "warning")


WIDTHS = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.conv = nn.Conv2d(width, out, 3, padding=1)

    def forward(self, x):
        return self.conv(x) + x


class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block(8, 64)

    def forward(self, x):
        return self.block(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block(8, 8)

    def forward(self, x):
        return self.block(x)
"""


@pytest.mark.usefixtures("without_workers")
@pytest.mark.parametrize(("named", "severity"), [("Net", "info"), ("Wide", "error")])
def test_what_fails_in_a_class_that_nothing_names_is_a_remark(tree, named, severity):
    tree({"net.py": WIDTHS, "main.py": f"import net\nmodel = net.{named}()\n"})
    everything = Settings(selections=(Selection(None, (), ("ALL",)),))
    assert [f.severity for f in check(["."], everything).findings if f.code == "TL901"] == [severity]


UNUSED = {
    **PROGRAM,
    "loss.py": "import torch\n",
    "old.py": LOSS.replace("class Trainer", "INF = torch._six.inf\n\n\nclass Trainer"),
    "net.py": "import torch\n",
    "data.py": "import torch\n",
    "main.py": "import loss, net, data\nloss.Trainer = net.Trainer\n",  # of a newer copy
}
REGISTERED = UNUSED["old.py"].replace("class Trainer", "@MODELS.register()\nclass Trainer")


def test_a_file_that_nobody_imports_among_files_that_are_is_left_over_as_a_whole(tree):
    tree(UNUSED)
    assert said() == [(7, "info"), (15, "info")]
    assert [f.severity for f in check(["."], ALL).findings if f.code == "TL802"] == ["info"]


@pytest.mark.parametrize(
    "more",
    [
        {"main.py": "import loss, net\n"},
        {"old.py": UNUSED["old.py"] + "\n\nif __name__ == '__main__':\n    Trainer(sharp_loss).plain_step()\n"},
        {"old.py": UNUSED["old.py"] + "\n\nregister(Trainer, sharp_loss)\n"},
        {"old.py": UNUSED["old.py"].replace("class Trainer", "@app.command()\nclass Trainer")},
        {"old.py": REGISTERED, "nets.py": "for found in walk_packages(folder):\n    found.load()\n"},
        {"old.py": REGISTERED, "nets.py": "__all__ = [f[:-3] for f in os.listdir(here)]\n"},
        {"old.py": UNUSED["old.py"].replace("sharp_loss", "test_loss"), "setup.cfg": "python_files = *.py\n"},
        {"README.md": "Then `import old` and call `sharp_loss`.\n"},
        {"cog.yaml": 'predict: "old.py:Trainer"\n'},
        {"net.py": "LOSSES = ['old']\nMODULE = importlib.import_module('nets.' + name)\n"},
        {"net.py": "LOSSES = ['old.Trainer']\n"},
        {"choose.py": "import importlib\nlosses = importlib.import_module(name)\n"},
    ],
    ids="few script calls decorator walked listed test manual settings text place by-name".split(),
)
def test_a_file_that_may_be_used_is_not(tree, more):
    tree(UNUSED | more)
    assert {severity for _, severity in said()} == {"warning"}


@pytest.mark.parametrize(
    "more",
    [
        {"nets.py": "def run_path(name):\n    return name\n\n\nrun_path('x')\n"},
        {"nets.py": "import glob\n\n__all__ = [\n    'one',\n]\nprint(glob.glob('*'))\n"},
        {"nets.py": "import glob\nimport net\n\nprint(net.__all__, glob.glob('*'))\n"},
        {"setup.py": "import runpy\n\nprint(runpy.run_path('about.py')['__version__'])\n"},
        {"nets.py": "import pkgutil\n\nprint([one.name for one in pkgutil.iter_modules()])\n"},  # all that is installed
        {"nets.py": "__all__ = [name for name in globals() if name.isupper()]\n"},
        {"net.py": "LOSSES = ['old']\n", "README.md": "The old weights. An old model.\n"},
        {"bak/loss.py": "import old\nold.sharp_loss(1, 2)\n"},
    ],
    ids="own-function written-list list-of-another told installed own-names words backup".split(),
)
def test_what_only_sounds_like_imports_by_any_name_leads_nowhere(tree, more):
    tree(UNUSED | more)
    assert {severity for _, severity in said()} == {"info"}


IN_A_FOLDER = {
    "losses/__init__.py": "",
    **{f"losses/{name}": text for name, text in UNUSED.items() if name != "main.py"},
    "main.py": "from losses import loss, net, data\nloss.Trainer = net.Trainer\n",
}
CHOICE = "import importlib\n\n\ndef choose(name):\n    return {}\n"


@pytest.mark.parametrize(
    ("place", "choice", "severity"),
    [
        ("tools/choose.py", "importlib.import_module(name)", "info"),
        ("tools/choose.py", "importlib.import_module('losses.' + name)", "warning"),
        ("tools/choose.py", "importlib.import_module('.'.join(['losses', name]))", "warning"),
        ("losses/choose.py", "importlib.import_module(name)", "warning"),
        ("choose.py", "importlib.import_module(name)", "warning"),
        ("losses/__init__.py", "[one for one in pkgutil.iter_modules(__path__)]", "warning"),
        ("losses/__init__.py", "[one for one in pkgutil.iter_modules([os.path.dirname(__file__)])]", "warning"),
        ("tools/__init__.py", "[one for one in pkgutil.iter_modules(__path__)]", "info"),
        ("tools/__init__.py", "[one for one in pkgutil.iter_modules(losses.__path__)]", "warning"),
        ("tools/choose.py", "spec.loader.exec_module(name)", "info"),
        ("losses/choose.py", "spec.loader.exec_module(name)", "warning"),
        ("tools/choose.py", "runpy.run_path(os.path.join('losses', name))", "warning"),
    ],
)
def test_a_name_of_which_nothing_is_known_may_be_of_the_folder_and_those_below(tree, place, choice, severity):
    tree(IN_A_FOLDER | {place: CHOICE.format(choice)})
    assert said()[0] == (7, severity)


def test_a_name_that_a_text_says_may_be_imported_from_anywhere(tree):
    more = {
        "tools/choose.py": CHOICE.format("importlib.import_module(name)"),
        "a.yaml": "target: losses.old.sharp_loss\n",
    }
    tree(IN_A_FOLDER | more)
    assert {severity for _, severity in said()} == {"warning"}


@pytest.mark.parametrize(
    ("method", "severity"),
    [
        ("plain_step(self, x, y)", "info"),
        ("plain_step(cls, x, y)", "info"),
        ("plain_step(x, y)", "info"),
        ("plain_step(self, name, x, y)", "warning"),
    ],
)
def test_methods_are_taken_by_who_has_them(tree, method, severity):
    """Of another class's `getattr(self, name)` they know nothing."""
    by = {"cls": "    @classmethod\n", "x, ": "    @staticmethod\n"}.get(method[11:14], "")
    loss = LOSS.replace("    def plain_step(self, x, y)", f"{by}    def {method}")
    taking = "class Other:\n    def step(self, name):\n        return getattr(self, name)()\n\n\nOther().step('x')\n"
    if "name" in method:
        loss = loss.replace("        return", "        x = getattr(self, name)\n        return")
    tree(PROGRAM | {"loss.py": loss, "other.py": taking})
    assert said()[1][1] == severity


def test_a_registry_has_what_somebody_imports(tree):
    tree(UNUSED | {"old.py": REGISTERED})
    assert {severity for _, severity in said()} == {"info"}
    tree({"net.py": "import torch\nimport old\n"})
    assert [severity for _, severity in said()] == ["info", "warning"]  # nobody names the first


@pytest.mark.parametrize("folder", ["bak", "old", "legacy_nets", "src/archive", "trash", "temp", "tmp"])
def test_what_is_set_aside_is_left_over(tree, folder):
    script = LOSS + "\n\nprint(sharp_loss(1, 2), Trainer().plain_step(3, 4))\n"
    tree({f"{folder}/train.py": script, "train.py": "import torch\n", ".git/HEAD": ""})
    assert said() == [(7, "info"), (12, "info")]
    tree({"README.md": f"Run `python {folder}/train.py`.\n"})
    assert said() == [(7, "warning"), (12, "warning")]


def test_a_test_that_pytest_is_not_to_find_is_left_over(tree):
    wrong = "import torch\n\n\ndef half(x):\n    return torch.ones(x) / 2\n\n\ndef test_it():\n    half(1, 2)\n"
    tree({"tests/_test_old.py": wrong, "tests/__init__.py": "", "setup.py": "setup(name='halves')\n", ".git/HEAD": ""})
    assert [(f.code, f.severity) for f in check(["."], ALL).findings] == [("TL617", "info")]
    tree({"tests/test_new.py": "import torch\nfrom _test_old import test_it\n"})
    assert [(f.code, f.severity) for f in check(["."], ALL).findings] == [("TL617", "warning")]


@pytest.mark.parametrize("folder", ["older", "golden", "bakery", "archives_of_faces", "temp_of_rooms", "template"])
def test_what_only_sounds_so_is_not(tree, folder):
    script = LOSS + "\n\nprint(sharp_loss(1, 2), Trainer().plain_step(3, 4))\n"
    tree({f"{folder}/train.py": script, ".git/HEAD": ""})
    assert {severity for _, severity in said()} == {"warning"}


@pytest.mark.parametrize(
    ("place", "more", "severity"),
    [
        ("losses/bak/sharp.py", {}, "info"),
        ("losses/archive/sharp.py", {}, "info"),
        ("losses/archives/sharp.py", {}, "warning"),  # which it may read
        ("losses/bak/sharp.py", {"configs/a.yaml": "target: losses.bak.sharp.Trainer\n"}, "warning"),
        ("losses/bak/sharp.py", {"losses/plain.py": "from .bak import sharp\n"}, "warning"),
        ("losses/nets_old/sharp.py", {}, "info"),
        ("losses/old/sharp.py", {"losses/old/net.py": "from losses.old import sharp\n"}, "info"),
        ("losses/old/sharp.py", {"losses/net.py": "from .old import sharp\n"}, "warning"),
        ("losses/nets_old/sharp.py", {"README.md": "See losses/nets_old/sharp.py\n"}, "warning"),
        ("losses/golden/sharp.py", {}, "warning"),
        ("losses/legacy/sharp.py", {}, "warning"),  # what a library keeps for those who use it
    ],
)
def test_a_library_has_no_use_for_a_backup_that_nobody_names(tree, place, more, severity):
    tree({place: LOSS, "losses/__init__.py": "", "setup.py": "setup(name='losses')\n", ".git/HEAD": "", **more})
    assert {found for _, found in said()} == {severity}


@pytest.mark.parametrize(
    ("manual", "severity"),
    [
        ("Note: the `first` folder is outdated, use second/train.py.\n", "info"),
        ("The first/ directory is no longer used (see first/train.py).\n", "info"),
        ("The other folder is outdated, and the first folder is not.\n", "warning"),
        ("The first folder is never outdated.\n", "warning"),
    ],
)
def test_what_a_manual_calls_outdated_is_left_over(tree, manual, severity):
    script = LOSS + "\n\nprint(sharp_loss(1, 2), Trainer().plain_step(3, 4))\n"
    tree({"first/train.py": script, "second/train.py": "import torch\n", "README.md": manual, ".git/HEAD": ""})
    assert {found for _, found in said()} == {severity}


@pytest.mark.parametrize(
    ("said_of_it", "more", "severity"),
    [
        ("Sharpens (DEPRECATED)", {}, "info"),
        ("Deprecated: use another one.", {}, "info"),
        ("This function is deprecated.", {}, "info"),
        ("Sharpens.", {}, "warning"),
        ("Sharpens.\n\n    size_average: deprecated", {}, "warning"),
        ("Sharpens (DEPRECATED)", {"show.py": "from loss import sharp_loss\nsharp_loss(1, 2)\n"}, "warning"),
        ("Sharpens (DEPRECATED)", {"README.md": "Call sharp_loss.\n"}, "warning"),
    ],
)
def test_what_is_deprecated_and_called_by_nobody_is_a_remark_in_a_library_too(tree, said_of_it, more, severity):
    text = LOSS.replace("sharp_loss(x, y):\n", f'sharp_loss(x, y):\n    """{said_of_it}"""\n').partition("class")[0]
    tree({"loss.py": text, "setup.py": "setup(name='losses')\n", ".git/HEAD": "", **more})
    assert {found for _, found in said()} == {severity}


def test_what_is_imported_from_there_is_used(tree):
    tree(
        {
            "old/__init__.py": "",
            "old/loss.py": LOSS,
            "main.py": "from old.loss import *\nTrainer(sharp_loss).plain_step()\n",
        }
    )
    assert {severity for _, severity in said()} == {"warning"}


CLUSTER = {
    **UNUSED,
    "old.py": "import torch\n",
    "nets/__init__.py": "from .sharp import Trainer, sharp_loss\n",
    "nets/sharp.py": LOSS,
}


def test_a_package_that_only_imports_itself_is_left_over(tree):
    tree(CLUSTER)
    assert said() == [(7, "info"), (12, "info")]
    tree({"net.py": "import torch\nfrom nets import Trainer, sharp_loss\nTrainer.plain_step(sharp_loss)\n"})
    assert [severity for _, severity in said()] == ["warning", "warning"]


def test_what_only_such_code_names_is_unreached_itself(tree):
    inner = "\n\ndef outer_loss(x, y):\n    return sharp_loss(x, y) + Trainer().plain_step(x, y)\n"
    tree(PROGRAM | {"loss.py": LOSS + inner, "main.py": "import loss\n"})
    assert said() == [(7, "info"), (12, "info")]
    tree({"main.py": "import loss\nloss.outer_loss(1, 2)\n"})
    assert [severity for _, severity in said()] == ["warning", "warning"]


def test_a_function_for_which_a_script_has_no_call_is_unreached(tree):
    tree({"main.py": LOSS + "\n\nif __name__ == '__main__':\n    # sharp_loss(1, 2)\n    Trainer().plain_step(1, 2)\n"})
    assert said() == [(7, "info"), (12, "warning")]


def test_a_script_without_a_main_block_may_be_an_excerpt(tree):
    tree({"main.py": LOSS + "\n\nTrainer().plain_step(1, 2)\n"})
    assert [severity for _, severity in said()] == ["warning", "warning"]


def test_what_a_file_names_that_is_there_to_be_imported_by_hand_may_be_used(tree):
    tree(
        PROGRAM
        | {"extra.py": "import torch\nfrom loss import sharp_loss\n\n\ndef more(x, y):\n    return sharp_loss(x, y)\n"}
    )
    assert said() == [(7, "warning"), (12, "info")]


def test_a_name_counts_only_where_the_file_is_imported(tree):
    tree(PROGRAM | {"other.py": "import torch\n\n\ndef main(sharp_loss):\n    sharp_loss()\n\n\nmain()\n"})
    assert said() == [(7, "info"), (12, "info")]


TAKING = {
    "main.py": "import loss\nloss.Trainer().plain_step(3, 4)\n",
    "choose.py": "import torch\n\n\ndef choose(name):\n    return {}\n\n\nchoose('x')\n",
}


@pytest.mark.parametrize(
    ("taking", "severity"),
    [
        ("eval(name)", "info"),  # of its own names, and of what it imports
        ("eval('1 + 2')", "info"),
        ("[getattr(loss, name) for loss in name]", "info"),
        ("model.eval()", "info"),
        ("getattr(args, name)", "info"),
        ("args.__dict__", "info"),
        ("__import__('json')", "info"),
        ("importlib.import_module('nets.' + name)", "info"),
        ("importlib.import_module(name)", "warning"),
        ("importlib.import_module('loss')", "warning"),
        ("importlib.import_module(f'loss.{name}')", "warning"),
        ("importlib.import_module(f'{name}.loss')", "warning"),
        ("getattr(loss, name)", "warning"),
        ("vars(loss)[name]", "warning"),
        ("loss.__dict__[name]", "warning"),
        ("[one for one in dir(loss)]", "warning"),
    ],
)
def test_who_takes_things_by_names_that_are_put_together_takes_of_what_it_says(tree, taking, severity):
    choose = TAKING["choose.py"].format(taking)
    if ("(loss" in taking or "loss." in taking) and "for loss" not in taking:
        choose = choose.replace("import torch", "import torch, loss")
    tree({"loss.py": LOSS, **TAKING, "choose.py": choose})
    assert said()[0] == (7, severity)


@pytest.mark.parametrize(
    "taking",
    [
        "eval(name)",
        "exec(f'from loss import {name}')",
        "globals()[name]",
        "getattr(losses, name)",
        "vars(losses)[name]",
    ],
)
def test_it_may_take_of_all_that_it_imports_by_any_name(tree, taking):
    choose = "import loss as losses\n" + TAKING["choose.py"].format(taking)
    tree({"loss.py": LOSS, **TAKING, "choose.py": choose})
    assert said()[0] == (7, "warning")


def test_a_function_that_goes_by_eval_takes_nothing_by_name(tree):
    choose = "from loss import *\n\n\ndef eval(model):\n    return model\n\n\neval(1)\n"
    tree({"loss.py": LOSS, **TAKING, "choose.py": choose})
    assert said()[0] == (7, "info")


def test_a_class_that_a_base_knows_of_may_be_made(tree):
    base = "class Base:\n    def all(self):\n        return [one().plain_step for one in Base.__subclasses__()]\n"
    tree(PROGRAM | {"base.py": base, "loss.py": LOSS.replace("Trainer:", "Trainer(Base):"), "main.py": "import loss\n"})
    assert said() == [(7, "info"), (12, "warning")]


def test_what_stands_in_a_long_text_begins_no_definition(tree):
    manual = '    """How to call it.\n\ndef sharp_loss(x): as before\n    """\n    return sharp_loss\n'
    tree(PROGRAM | {"main.py": f"import loss\n\n\ndef choose():\n{manual}\n\nchoose()\n"})
    assert said()[0] == (7, "warning")


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        (
            {
                "net.py": "import torch\n\n\ndef build(name):\n    register(entry_point='old:Trainer')\n\n\nbuild('sharp_loss')\n"
            },
            "warning",
        ),
        (
            {"old.py": LOSS + "\n__all__ = ['Trainer', 'sharp_loss']\n", "net.py": "import torch\nfrom old import *\n"},
            "info",
        ),
        ({"net.py": "import torch\nfrom old import sharp_loss\n__all__ = ['sharp_loss']\n"}, "info"),
        (
            {
                "old.py": '# """ now\n\n\n' + LOSS + '\n# """ end\n',
                "net.py": "import torch\nimport old\nold.Trainer.x = old.sharp_loss\n",
            },
            "warning",
        ),
        ({"old.py": LOSS.replace("sharp_loss", "model_fn"), "net.py": "import torch\nimport old\n"}, "warning"),
    ],
    ids="entry-point list-of-all brought comment served".split(),
)
def test_what_is_named_in_quotes_or_by_a_name_that_others_know(tree, more, severity):
    tree(UNUSED | more)
    assert said()[0][1] == severity


def test_a_draft_that_is_not_python_and_that_nothing_imports_is_only_noted(tree):
    tree(UNUSED | {"old.py": LOSS + "\n\ndef draft(x):\n    y =\n"})
    result = check(["."], ALL)
    assert [f.code for f in result.findings] == []
    assert result.notices == ["not linted, as it is not Python, and nothing in the project leads to it (old.py)"]
    tree({"data.py": "import old\n"})
    assert [f.code for f in check(["."], ALL).findings] == ["TL001"]


@pytest.mark.parametrize(
    "copy, more, is_noted",
    [
        ("test_", {"test.yaml": "way: 5  # as test_*\n"}, True),
        ("test_old2", {}, True),
        ("test_", {"main.py": "import test_\n"}, False),
        ("test_", {"README.md": "Run `python test_.py`.\n"}, False),
        ("test_loss", {}, False),
        ("tests_", {}, False),
    ],
)
def test_a_copy_that_is_not_python_is_not_found_by_its_name(tree, copy, more, is_noted):
    tree({"test.py": LOSS, f"{copy}.py": LOSS + "\n\ndef draft(x):\n    y =\n"} | more)
    broken = [f.code for f in check(["."], ALL).findings if f.path.endswith(f"{copy}.py")]
    assert broken == ([] if is_noted else ["TL001"])


@pytest.mark.parametrize(
    "end, more, is_noted",
    [
        ("    for name, layer in self.layers:\n", {}, True),
        ("    def forward(self, x):  # to be written\n\n    # as in the paper\n", {}, True),
        ("    for name, layer in self.layers:\n", {"main.py": "import sketchy\n"}, False),
        ("    for name, layer in self.layers:\n", {"README.md": "Run `python sketchy.py`.\n"}, False),
        ("    for name, layer in self.layers:\n    print(name)\n", {}, False),
        ("    layers = [\n", {}, False),
    ],
)
def test_what_ends_at_the_head_of_a_block_is_unfinished_where_nothing_names_it(tree, end, more, is_noted):
    tree({"sketchy.py": f"import torch\n\n\nclass Net(torch.nn.Module):\n{end}", "net.py": "import torch\n"} | more)
    result = check(["."], ALL)
    assert [f.code for f in result.findings] == [] if is_noted else ["TL001"]
    noted = "not linted, as it ends where a block begins, and nothing names it (sketchy.py)"
    assert result.notices == ([noted] if is_noted else [])


def test_who_imports_it_later_is_seen_by_the_cache(tree):
    root = tree(UNUSED)
    assert said() == [(7, "info"), (15, "info")]
    (root / "data.py").write_text("import old\n\nold.Trainer().plain_step(3, 4)\n")
    assert said() == [(7, "info"), (15, "warning")]


def test_who_names_it_later_is_seen_by_the_cache(tree):
    root = tree(PROGRAM)
    assert said() == [(7, "info"), (12, "info")]
    (root / "README.md").write_text("Call `sharp_loss`.\n")
    assert said() == [(7, "warning"), (12, "info")]
    (root / "main.py").write_text("import loss\nloss.Trainer().plain_step(3, 4)\n")
    assert said() == [(7, "warning"), (12, "warning")]
    (root / "README.md").unlink()
    assert said() == [(7, "info"), (12, "warning")]


def test_a_severity_that_is_asked_for_stays(tree):
    tree(PROGRAM)
    errors = Settings(dry_run=False, severity={"TL101": "error"})
    assert said(errors) == [(7, "error"), (12, "error")]


def test_many_unreached_definitions_cost_no_more_than_some(tree, monkeypatch):
    asked = []
    monkeypatch.setattr("torchlint.project.View.naming", lambda view, word, ends=(): asked.append(word) or [])
    many = "\n\n".join(f"def loss_{i}(x, y):\n    return F.cross_entropy(x.softmax(1), y)\n" for i in range(300))
    tree({**PROGRAM, "loss.py": LOSS + "\n\n" + many})
    assert len(said()) == 302
    assert len(set(asked)) < 60


@pytest.mark.parametrize("text", ['"""\\', "'''\\", "@a\n", "eval( import "])
def test_a_sketch_of_what_does_not_end_is_drawn_soon(text, tmp_path):
    (tmp_path / "a.py").write_text(text * 150_000)
    started = time.process_time()
    sketch(Project(tmp_path), str(tmp_path / "a.py"))
    assert time.process_time() - started < 10
