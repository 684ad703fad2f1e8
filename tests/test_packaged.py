"""What nothing in a project leads to is a remark in a program, and a finding in a library, of which anybody may take it."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

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


def said() -> list[tuple[int, str]]:
    return [(f.span.line, f.severity) for f in check(["."], ALL).findings if f.code == "TL101"]


LIBRARY_FOR_OTHERS = "from setuptools import setup\nsetup(name='sharp', packages=['sharp'], keywords=['loss'])\n"
LIBRARY = {
    "setup.py": "from setuptools import setup, find_packages\nsetup(name='sharp', packages=find_packages())\n",
    "sharp/__init__.py": "",
    "sharp/loss.py": LOSS,
    "sharp/use.py": "import torch\nfrom . import loss\n\n\nclass Use(loss.Trainer):\n    pass\n",
}


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ({}, "warning"),  # anybody may call what a library has
        (
            {f"sharp/{name}.py": "import torch\n" for name in "abc"} | {"sharp/use.py": "from . import a, b, c\n"},
            "warning",
        ),
        (
            {
                "scripts/train.py": "import loss\nloss.Trainer()\n",
                "scripts/loss.py": LOSS,
                "sharp/loss.py": "import torch\n",
            },
            "info",
        ),
        ({"pyproject.toml": "[project]\nname = 'sharp'\n", "setup.py": "import torch\n"}, "warning"),
        ({"sharp-1.0.dist-info/METADATA": "Name: sharp\n", "setup.py": "import torch\n"}, "warning"),
        ({"train.py": "from sharp.use import Use\n\nUse().fit()\n"}, "info"),  # installed by its authors alone
        ({"examples/train.py": "from sharp.use import Use\n\nUse().fit()\n"}, "warning"),
        ({"train.py": "from sharp.use import Use\n\nUse().fit()\n", "setup.py": LIBRARY_FOR_OTHERS}, "warning"),
    ],
    ids="package unused scripts project installed training example for-others".split(),
)
def test_a_library_is_what_it_installs(tree, more, severity):
    tree(LIBRARY | {".git/HEAD": ""} | more)
    assert said()[0][1] == severity


@pytest.mark.parametrize(
    ("manual", "severity"),
    [
        ("Trains a sharp network.\n", "info"),
        ("```\npip install -e .\npip install -r requirements.txt\n```\n", "info"),
        ("`pip install torch sharper`, see sharp\n", "info"),
        ("`pip install torch  # sharp needs it`\n", "info"),
        ("    pip install sharp-losses\n", "warning"),  # by the name of its settings
        ("    pip3 install -U 'sharp[all]>=1.0'\n", "warning"),  # by that of its package
        ("    uv pip install sharp_losses==1.0\n", "warning"),
        ("    conda install -c conda-forge sharp\n", "warning"),
        ("    uv add Sharp.Losses\n", "warning"),
        ("    pip install ada-sharp\n", "warning"),  # as whose name is put together
        ("    pip install git+https://github.com/ada/sharp.git\n", "warning"),
        ("    pip install git+https://github.com/ada/other.git\n", "info"),
    ],
)
def test_a_library_tells_others_how_they_get_it(tree, manual, severity):
    """Whose manual tells nobody has a program, whatever its settings copy from libraries."""
    setup = LIBRARY_FOR_OTHERS.replace("'sharp'", "'sharp-losses'", 1)
    tree(LIBRARY | {"setup.py": setup, "README.md": manual, ".git/HEAD": ""})
    assert said()[0][1] == severity


@pytest.mark.parametrize(("told", "severity"), [("sharp\\n", "warning"), ("git+https://a.org/sharp", "info")])
def test_a_notebook_tells_others_only_what_has_a_name(tree, told, severity):
    """It brings the code of its own authors to where it runs."""
    notebook = f'{{"cells": [{{"cell_type": "code", "source": ["!pip install {told}"]}}]}}'
    tree(LIBRARY | {"README.md": "Sharp.\n", "use.ipynb": notebook, "setup.py": LIBRARY_FOR_OTHERS, ".git/HEAD": ""})
    assert said()[0][1] == severity


@pytest.mark.parametrize(
    "pages",
    [
        {"docs/conf.py": "project = 'sharp'\n"},
        {"docs/source/conf.py": "project = 'sharp'\n"},
        {"mkdocs.yml": "site_name: Sharp\n"},
        {"PKG-INFO": "Name: sharp\n"},
    ],
)
def test_a_library_has_pages_or_was_sent(tree, pages):
    tree(LIBRARY | {"README.md": "A sharp loss.\n", ".git/HEAD": ""})
    assert said()[0][1] == "info"
    tree(pages)
    assert said()[0][1] == "warning"
