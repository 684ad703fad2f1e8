"""What is wrong in a copy that nobody takes is a remark: a name means the copy that is imported, or made there."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
ALL = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
DEPRECATED = "torch.cuda.amp.GradScaler()"
NET = f"import torch\n\n\ndef plain(x):\n    return x\n\n\ndef scaled(x, mode=None):\n    return {DEPRECATED}\n"
CHOOSING = f"import torch\n\n\ndef scaled(x, mode=None):\n    if mode == 'amp':\n        {DEPRECATED}\n    return x\n"


def severities(path: str) -> set[str]:
    return {f.severity for f in check(["."], ALL).findings if f.code == "TL803" and path in str(f.path)}


@pytest.mark.parametrize(
    ("second", "severity"),
    [
        ("from new.net import scaled\nimport old.net\nold.net.plain(1)\nscaled(2)\n", "info"),
        ("import new.net as net, old.net\nold.net.plain(1)\nnet.scaled(2)\n", "info"),
        ("from new import net\nimport old.net\nold.net.plain(1)\nnet.scaled(2)\n", "info"),
        ("import old.net\n\n\ndef scaled(x):\n    return old.net.plain(x)\n\n\nscaled(2)\n", "info"),
        ("from old.net import scaled\nscaled(2)\n", "warning"),
        ("import new.net, old.net\nold.net.plain(1)\nold.net.scaled(2)\n", "warning"),
        ("from old import net\nnet.plain(1)\nnet.scaled(2)\n", "warning"),
        ("from old.net import *\nplain(1)\nscaled(2)\n", "warning"),
        ("try:\n    from new.net import scaled\nexcept ImportError:\n    from old.net import scaled\nscaled(2)\n", "warning"),
        ("from old.net import scaled as s\n\n\ndef scaled(x):\n    return s(x)\n\n\nscaled(2)\n", "warning"),
        ("from new.net import scaled\nimport old.net\nscaled(1)\nprint(getattr(old.net, 'scaled')(2))\n", "warning"),
    ],
)  # fmt: skip
def test_a_name_means_the_copy_that_it_comes_from(tree, second, severity):
    tree({"old/__init__.py": "", "new/__init__.py": "", "old/net.py": NET, "new/net.py": NET, "main.py": second})
    assert severities("old") == {severity}


@pytest.mark.parametrize(
    ("main", "severity"),
    [
        ("from old.net import scaled\nscaled(1)\n", "info"),
        ("from new.net import scaled\nscaled(1, 'amp')\nimport old.net\nold.net.scaled(2)\n", "info"),
        ("from old.net import scaled\nscaled(1, 'amp')\n", "warning"),
        ("import old.net as net\nnet.scaled(1, 'amp')\n", "warning"),
    ],
)
def test_the_calls_of_a_copy_are_its_own(tree, main, severity):
    other = {"other.py": "from new.net import scaled\nscaled(1, 'amp')\n"}
    files = {"old/__init__.py": "", "new/__init__.py": "", "old/net.py": CHOOSING, "new/net.py": CHOOSING}
    tree(files | other | {"main.py": main})
    assert severities("old") == {severity}


OLD = {
    "old.py": f"import torch\n\n\ndef scaled(x):\n    return {DEPRECATED}\n",
    **{f"{name}.py": "import torch\n" for name in ("use", "data")},
    "net.py": "import torch\nplain = torch.relu\n",
    "main.py": "import use, net, data\n",
}
PREPARES = f"import torch\nimport wandb\nfrom .net import plain\n\nwandb.init('x')\n\n\ndef scaled(x):\n    return {DEPRECATED}\n"


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        ({}, "info"),
        ({"README.md": "```\n├── main.py\n│   ├── old.py  # scaled\n```\n"}, "info"),
        ({"README.md": "|-- main.py\n|   |-- old.py\n"}, "info"),
        ({"README.md": "- main.py\n- old.py: scaled values\n"}, "warning"),
        ({"README.md": "|file|use|\n|---|---|\n|old.py|scaled|\n"}, "warning"),
        ({"old.py": PREPARES}, "info"),
        ({"old.py": PREPARES.replace("from .net", "from net")}, "warning"),
        ({"old.py": PREPARES + "\n\nscaled(1)\n"}, "warning"),
        ({"old.py": PREPARES + "\n\nif __name__ == '__main__':\n    scaled(1)\n"}, "warning"),
    ],
)
def test_a_file_that_is_only_drawn_in_a_tree_or_fails_by_hand_is_left_over(tree, files, severity):
    tree(OLD | files)
    assert severities("old") == {severity}


@pytest.mark.parametrize(("folder", "severity"), [("drafts", "info"), ("draft_2", "info"), ("drafting", "warning")])
def test_drafts(tree, folder, severity):
    tree({f"{folder}/old.py": OLD["old.py"] + "\n\nscaled(1)\n", "main.py": "import torch\n", "README.md": "x\n"})
    assert severities("old") == {severity}


CHOSEN = {
    "nets/__init__.py": "from nets.old import Net\n",
    "nets/old.py": f"import torch\n\n\ndef scaled(x):\n    return {DEPRECATED}\n\n\nclass Net:\n    pass\n",
    "main.py": "import yaml\n\nwhole = yaml.load('base')['net']\nfound = __import__(whole)\nfor part in whole.split('.'):\n"
    "    found = getattr(found, part)\nfound()\n",
}


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("net: nets.old.Net\n", "info"),
        ("net: nets.old.Net\nloss: scaled\n", "warning"),
        ("net: nets.old.scaled\n", "warning"),
        ("net: old\n", "warning"),
    ],
)
def test_what_texts_take_of_a_file_are_classes(tree, text, severity):
    tree(CHOSEN | {"base.yaml": text, "README.md": "x\n"})
    assert severities("old") == {severity}
