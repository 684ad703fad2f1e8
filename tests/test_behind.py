"""What stands behind a file: what its imports name, and of a package only what is asked of it; and what that costs."""

from __future__ import annotations

import os

import pytest
from effort import calls_of

from torchlint.config import Settings
from torchlint.linter import Job, lint
from torchlint.project import Project
from torchlint.rule import load_rules
from torchlint.source.flow import module
from torchlint.source.text.behind import behind, imported
from torchlint.source.text.surface import Surface

PACKAGE = {
    "main.py": "",
    "pkg/__init__.py": "from .a import Net, helper as help_out\nfrom .b import *\nfrom . import c\nimport pkg.inner.deep\n",
    "pkg/a.py": "class Net: ...\n",
    "pkg/b.py": "def build(): ...\n",
    "pkg/c.py": "def loss(): ...\n",
    "pkg/inner/__init__.py": "from .deep import Deep\nfrom .other import Other\n",
    "pkg/inner/deep.py": "class Deep: ...\n",
    "pkg/inner/other.py": "class Other: ...\n",
    "own/__init__.py": "from .x import X\nfrom .y import Y\ndef make():\n    return X()\n",
    "own/x.py": "",
    "own/y.py": "",
}


def names(found, folder) -> set[str]:
    return {os.path.relpath(path, folder).replace(os.sep, "/") for path in found.paths}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("from pkg import Net", "pkg/__init__ pkg/a"),
        ("from pkg import help_out", "pkg/__init__ pkg/a"),
        ("from pkg import (\n    build,  # a comment\n)", "pkg/__init__ pkg/b"),
        ("from pkg import c", "pkg/__init__ pkg/c"),
        ("from pkg import c, \\\n    a, \\\n  b", "pkg/__init__ pkg/a pkg/b pkg/c"),
        ("import os, \\\n    pkg.a", "pkg/a"),
        ("from pkg.inner import Other", "pkg/inner/__init__ pkg/inner/other"),
        ("import pkg\npkg.c.loss()", "pkg/__init__ pkg/b pkg/c pkg/inner/deep"),  # `pkg` stands in the text
        ("import own\nown.Y", "own/__init__ own/y"),
        ("from own import make", "own/__init__ own/x own/y"),  # it is made there, of whatever it imports
        ("from pkg.a import Net", "pkg/a"),
        ("import os, torch", ""),
    ],
)
def test_a_package_passes_on_what_is_wanted(tree, text, expected):
    folder = tree(PACKAGE)
    found = behind(Project(folder), str(folder / "main.py"), text)
    assert names(found, folder) == {f"{name}.py" for name in expected.split()}


def test_what_is_not_wanted_is_not_behind_it_but_may_be_imported(tree):
    folder = tree(PACKAGE)
    assert names(imported(Project(folder), str(folder / "main.py"), "from pkg import Net"), folder) == {
        "pkg/__init__.py"
    }


def test_it_depends_on_what_is_there_and_on_what_is_not(tree):
    folder = tree({"main.py": "", "pkg/__init__.py": "from .a import Net\n"})
    project = Project(folder)
    found = behind(project, str(folder / "main.py"), "from pkg import Net")
    assert found.consulted[str(folder / "pkg" / "a.py")] == "missing"
    project.overlay = {str(folder / "pkg" / "a.py"): "class Net: ...\n"}
    assert "pkg/a.py" in names(behind(project, str(folder / "main.py"), "from pkg import Net"), folder)


def test_packages_that_import_each_other_come_to_an_end(tree):
    """Those on the way only pass on: nothing of them stands behind the file."""
    files = {f"p{i}/__init__.py": f"from p{(i + 1) % 300} import *\n" for i in range(300)}
    folder = tree({"main.py": "", **files, "p299/__init__.py": "from p0 import *\nNet = make()\n"})
    found = behind(Project(folder), str(folder / "main.py"), "from p0 import Net")
    assert names(found, folder) == {"p0/__init__.py", "p299/__init__.py"}
    assert str(folder / "p150" / "__init__.py") in found.consulted


def test_what_only_speaks_of_a_name_or_gives_it_a_number_brings_nothing(tree):
    package = "from .a import *\nfrom .b import *\nfrom .c import *\nfrom .d import *\nfrom .e import *\n__version__ = '1.0'\n"
    parts = {
        "pkg/a.py": '"""\n>>> Net()\n"""\n',
        "pkg/b.py": "from nets import (\n    Net,\n)\n",
        "pkg/c.py": "_, Net = 1, 2\n",
        "pkg/e.py": "from nets import Net\n__all__ = ['Big']\n",
    }
    folder = tree({"main.py": "", "pkg/__init__.py": package, **parts, "pkg/d.py": "__version__ = 2\n"})
    main, project = str(folder / "main.py"), Project(folder)
    assert names(behind(project, main, "from pkg import Net"), folder) == {"pkg/__init__.py", "pkg/b.py", "pkg/c.py"}
    assert names(behind(project, main, "from pkg import __version__"), folder) == {"pkg/__init__.py"}


def _library(size: int) -> dict[str, str]:
    """A package that imports all its parts, each of which takes one thing from the package."""
    net = "import torch.nn as nn\nfrom {package} import Part{other}\n\nclass Part{i}(nn.Module):\n    def __init__(self):\n"
    net += "        super().__init__()\n        self.part = Part{other}()\n\n    def forward(self, x):\n"
    net += "        return self.part(x.view(2, -1).softmax(1))\n"
    parts = {f"lib/part{i}.py": net.format(package="lib", i=i, other=(i + 1) % size) for i in range(size)}
    return {"lib/__init__.py": "".join(f"from .part{i} import Part{i}\n" for i in range(size)), **parts}


@pytest.mark.effort
def test_a_file_of_a_large_library_costs_as_much_as_one_of_a_small_one(tree):
    """What stands behind one file is the same however many others its package has."""
    rules = load_rules()

    def calls(size: int) -> int:
        folder = tree({f"{size}/{name}": text for name, text in _library(size).items()}) / str(size)
        project, first, path = Project(folder), folder / "lib" / "part8.py", folder / "lib" / "part3.py"
        lint(first.read_text(), Job.of(first, Settings(dry_run=False), project, rules))  # the package is read once
        return calls_of(
            lambda: lint(path.read_text(), Job.of(path, Settings(dry_run=False), project, rules)), 10_000_000
        )

    calls(10)  # rules are loaded once
    small, large = calls(10), calls(160)
    assert large < 1.3 * small, (small, large)


def test_a_file_before_very_many_others_is_judged_without_a_look_at_all_their_names(tree, monkeypatch):
    main = (
        "import torch\nfrom a import Steps\nfrom b import B\nfrom c import C\n\nsteps = Steps(model)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor x, y in loader:\n"
        "    loss = criterion(model(x), y)\n    steps.one(loss)\n    optimizer.step()\n    steps.measure()\n"
    )
    steps = (
        "import torch\n\nclass Steps:\n    def __init__(self, model):\n        self.model = model\n"
        "    def one(self, loss):\n        loss.backward()\n    def measure(self):\n        self.model.eval()\n"
    )
    others = {f"{name}.py": f"class {name.upper()}:\n    def other(self): ...\n" for name in "bc"}
    folder = tree({"main.py": main, "a.py": steps, **others})
    looked = []
    names = Surface.names.func
    monkeypatch.setattr(Surface, "names", property(lambda self: looked.append(self) or names(self)))
    found = []
    for many in (500, 2):
        monkeypatch.setattr(module, "MANY_BEHIND", many)
        path = folder / "main.py"
        found.append([f.code for f in lint(main, Job.of(path, Settings(dry_run=False), Project(folder))).findings])
        found.append(len(looked))
        looked.clear()
    assert found[0] == found[2] == ["TL501"]
    assert found[1] >= 4 and found[3] == 1  # those of a.py, which has nothing behind it
