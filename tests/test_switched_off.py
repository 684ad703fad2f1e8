"""What a switch guards that nobody in a project turns on is a remark."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
ALL = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
NET = """\
import torch
from torch import nn
from torch.utils import checkpoint


class Net(nn.Module):
    def __init__(self, size, use_checkpoint: bool = False):
        super().__init__()
        self.layer = nn.Linear(size, size)
        self.use_checkpoint = use_checkpoint

    def forward(self, x):
        if self.use_checkpoint and self.training:
            return checkpoint.checkpoint(self.layer, x)
        return self.layer(x)
"""
MAIN = (
    "import net\n\n\ndef build(size, use_checkpoint=None):\n    return net.Net(size, use_checkpoint={})\n\n\nbuild(3)\n"
)


def severities() -> set[str]:
    return {f.severity for f in check(["."], ALL).findings if f.code == "TL803"}


@pytest.mark.parametrize("given", ["False", "use_checkpoint", "0"])
def test_nobody_turns_it_on(tree, given):
    tree({"net.py": NET, "main.py": MAIN.format(given)})
    assert severities() == {"info"}
    tree({"README.md": "`net.Net` is what `build` makes.\n"})
    assert severities() == {"info"}


OTHER = (
    "class Other(nn.Module):\n    def __init__(self, *args, **options):\n        super().__init__(*args, **options)\n"
)


def test_what_a_class_hands_to_another_base_turns_nothing_on(tree):
    more = f"import functools\nimport net\nfrom torch import nn\n\n\n{OTHER}\nprint(net.Net, functools.partial(int, *[]))\n"
    tree({"net.py": NET + "\n\n" + OTHER, "main.py": MAIN.format("False"), "more.py": more})
    assert severities() == {"info"}
    tree({"more.py": more.replace("(nn.Module)", "(net.Net)")})
    assert severities() == {"warning"}


@pytest.mark.parametrize(
    "more",
    [
        {"main.py": MAIN.format("True")},
        {"main.py": MAIN.format("size > 9")},
        {"main.py": MAIN.format("use_checkpoint").replace("build(3)", "build(3, use_checkpoint=True)")},
        {"main.py": MAIN.format("use_checkpoint").replace("None", "True")},
        {"main.py": MAIN.format("use_checkpoint").replace("=None", "")},
        {"main.py": MAIN.format("use_checkpoint") + "parser.add_argument('--use-checkpoint', action='store_true')\n"},
        {"main.py": MAIN.format("False") + "net.Net(3).use_checkpoint = sys.argv[1] == 'x'\n"},
        {"main.py": MAIN.format("False") + "options = {'use_checkpoint': True}\n"},
        {"main.py": MAIN.format("False") + "net.Net(9, True)\n"},
        {"main.py": MAIN.format("use_checkpoint") + "build(9, sys.argv)\n"},
        {"main.py": MAIN.format("False") + "net.Net(*sizes)\n"},
        {"main.py": MAIN.format("False") + "functools.partial(net.Net, *sizes)\n"},
        {"main.py": MAIN.format("False") + "net.Net.__init__(made, *sizes)\n"},
        {"main.py": MAIN.format("use_checkpoint"), "more.py": "from main import build\nbuild(9, 1)\n"},
        {
            "main.py": MAIN.format("False"),
            "more.py": "import net\nclass Big(net.Net):\n    def __init__(self):\n        super().__init__(9, True)\n",
        },
        {"main.py": MAIN.format("False") + "for use_checkpoint in (False, True):\n    net.Net(3, use_checkpoint)\n"},
        {
            "main.py": MAIN.format("False")
            + "@dataclass\nclass Options:\n    use_checkpoint: bool = False\n\n\nnet.Net(3, Options(True).use_checkpoint)\n"
        },
        {
            "net.py": NET.replace("forward(self, x)", "forward(self, x, use_checkpoint=False)").replace(
                "if self.", "if "
            )
        },
        {"net.py": NET.replace("if self.use_checkpoint and ", "if ")},
        {"big.yaml": "use_checkpoint: true\n"},
        {"setup.py": "from setuptools import setup\nsetup(name='nets')\n"},
        {"net.py": NET.replace("if self.use_checkpoint and", "if self.use_checkpoint or")},
        {"net.py": NET.replace("if self.use_checkpoint", "if not self.use_checkpoint")},
        {"net.py": NET.replace("if self.use_checkpoint and self.training:", "if not self.training or len(x):")},
        {"net.py": NET.replace("use_checkpoint", "on"), "main.py": "import net\nprint([net.Net])\n"},
    ],
    ids="on test caller default required option attribute dict class place stars partial by-hand imported super loop field forward training settings library or not other short".split(),
)
def test_somebody_may(tree, more):
    tree({"net.py": NET, "main.py": MAIN.format("False")} | more)
    assert severities() == {"warning"}


def test_who_turns_it_on_later_is_seen_by_the_cache(tree):
    tree({"net.py": NET, "main.py": MAIN.format("False")})
    assert severities() == {"info"}
    tree({"main.py": MAIN.format("True")})
    assert severities() == {"warning"}


def test_a_line_in_a_case_is_asked_about_too(tree):
    cases = (
        "        match size:\n            case 1 if self.use_checkpoint:\n                return x\n            case _:\n"
        "                if self.use_checkpoint and self.training:\n"
        "                    return checkpoint.checkpoint(self.layer, x)\n                return x\n"
    )
    net = NET[: NET.index("        if self.use")].replace("forward(self, x)", "forward(self, x, size)") + cases
    tree({"net.py": net, "main.py": MAIN.format("False")})
    assert severities() == {"info"}


ONLY_NAMED = "import net\n\n\nprint([net.Net])\n"  # nobody sees what is made of it


@pytest.mark.parametrize(
    "lines, other",
    [
        (
            "if not self.use_checkpoint:\n            return x\n        ",
            "if not self.use_checkpoint and len(x):\n            return x\n        ",
        ),
        (
            "if not self.use_checkpoint:\n            pass\n        else:\n            ",
            "if self.use_checkpoint:\n            pass\n        else:\n            ",
        ),
        (
            "if not (x.is_cuda and self.use_checkpoint):\n            raise ValueError\n        ",
            "if not (x.is_cuda or self.use_checkpoint):\n            raise ValueError\n        ",
        ),
        (
            "if self.use_checkpoint:\n            pass\n        else:\n            return x\n        ",
            "if self.use_checkpoint:\n            pass\n        else:\n            print(x)\n        ",
        ),
        (
            "if x.is_cuda:\n            return x\n        elif not self.use_checkpoint:\n            return 2\n        ",
            "if x.is_cuda:\n            print(x)\n        elif not self.use_checkpoint:\n            return 2\n        ",
        ),
    ],
    ids="return else raise out chain".split(),
)
def test_what_is_left_where_it_is_off(tree, lines, other):
    net = NET[: NET.index("if self.use")] + "{}return checkpoint.checkpoint(self.layer, x)\n"
    tree({"net.py": net.format(lines), "main.py": ONLY_NAMED})
    assert severities() == {"info"}
    tree({"net.py": net.format(lines).replace("= False", "= True")})
    assert severities() == {"warning"}
    tree({"net.py": net.format(other)})
    assert severities() == {"warning"}


@pytest.mark.parametrize(
    "default, test, severity",
    [
        ("None", "if self.use_checkpoint is not None:", "info"),
        ("None", "if self.use_checkpoint is None:\n            return x\n        else:", "info"),
        ("None", "if self.use_checkpoint is None:", "warning"),
        ("False", "if self.use_checkpoint is not None:", "warning"),
        ("None", "if x is not self.use_checkpoint:", "warning"),
    ],
)
def test_what_nobody_gives_at_all(tree, default, test, severity):
    net = NET.replace("= False", f"= {default}").replace("if self.use_checkpoint and self.training:", test)
    tree({"net.py": net, "main.py": ONLY_NAMED})
    assert severities() == {severity}


@pytest.mark.parametrize("kept, severity", [("None", "info"), ("layer.use_checkpoint", "warning")])
def test_what_comes_from_the_object_of_another(tree, kept, severity):
    net = NET.replace("use_checkpoint: bool = False", "layer").replace("= use_checkpoint", f"= {kept}")
    tree({"net.py": net.replace("if self.use_checkpoint and self.training:", "if self.use_checkpoint is not None:")})
    tree({"main.py": ONLY_NAMED, "more.py": "def other(use_checkpoint=None):\n    return use_checkpoint\n"})
    assert severities() == {severity}


METHOD = """\
    def forward(self, x):
        if self.use_checkpoint and self.training:
            return self.saving(x)
        return self.layer(x)

    @torch.jit.unused
    def saving(self, x):
        return checkpoint.checkpoint(self.layer, x)
"""
OPTIONS = "import net\n\n\ndef build(size, **options):\n    return net.Net(size, **options)\n\n\nbuild(3{})\n"


@pytest.mark.parametrize(
    ("given", "severity"), [("", "info"), (", use_checkpoint=False", "info"), (", use_checkpoint=True", "warning")]
)
def test_a_method_that_only_such_lines_call_and_options_by_name(tree, given, severity):
    inside = NET[: NET.index("    def forward")] + METHOD
    tree({"net.py": inside, "main.py": OPTIONS.format(given)})
    assert severities() == {severity}
    tree({"net.py": inside.replace("@torch.jit.unused", "@registered")})
    assert severities() == {"warning"}
