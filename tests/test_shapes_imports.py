"""Files that import each other, and modules that are asked for their names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

pytest.importorskip("torch")

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

PACKAGE = {
    "pkg/__init__.py": "from .blocks import block\nfrom .nets import Net\n",
    "pkg/blocks.py": "from torch import nn\n\ndef block(size):\n    return nn.Linear(size, 10)\n",
    "pkg/nets.py": """
from torch import nn
from pkg import block

SIZE = 4

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = block(SIZE)

    def forward(self, x):
        return self.first(x)
""",
}


def lines(tmp_path: Path, text: str, files: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """The lines that are found in a script beside some files."""
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    found = dry_run(text, str(tmp_path / "train.py"), Project(tmp_path).view(tmp_path / "train.py")).faults
    return [text.split("\n")[f.span.line - 1] for f in found]


@pytest.mark.parametrize("size, found", [(5, ["Net()(torch.zeros(2, 5))"]), (4, [])])
def test_files_that_import_each_other_get_their_names(tmp_path, size, found):
    """Python would run the package first; here its file comes first, and the package asks for what is behind its
    import."""
    text = f"import torch\nfrom pkg.nets import SIZE\nfrom pkg import Net\nNet()(torch.zeros(2, {size}))"
    assert lines(tmp_path, text, PACKAGE) == found


@pytest.mark.parametrize("names", ["vars(layers)", "layers.__dict__"])
def test_a_module_of_the_project_says_its_names(tmp_path, names):
    files = {"layers.py": "from torch import nn\n\nclass Small(nn.Linear):\n    pass\n"}
    text = f"import torch\nimport layers\nkinds = [k for k in {names}.values() if isinstance(k, type)]\n"
    assert lines(tmp_path, text + "kinds[0](4, 2)(torch.zeros(1, 3))", files) == ["kinds[0](4, 2)(torch.zeros(1, 3))"]
    assert lines(tmp_path, text + "kinds[0](3, 2)(torch.zeros(1, 3))", files) == []


def test_a_module_of_torch_says_its_names(tmp_path):
    text = """
import torch
found = {n.lower(): k for n, k in vars(torch.nn.modules.activation).items() if isinstance(k, type)}
layer = torch.nn.Sequential(found["relu"](), torch.nn.Linear(4, 2))
layer(torch.zeros(1, 3))
"""
    assert lines(tmp_path, text) == ["layer(torch.zeros(1, 3))"]


ABSTRACT = """
from abc import abstractmethod
import torch
from torch import nn

class Passing(nn.Module):
    def __init__(self):
        super().__init__()
        self.fuses = not getattr(self.fused, "__isabstractmethod__", False)

    @abstractmethod
    def fused(self, x):
        return x

    def forward(self, x):
        y = self.fused(x) if self.fuses else x[:, :2]
        return y @ torch.zeros(3, 2)

class Fast(Passing):
    def fused(self, x):
        return x

"""


@pytest.mark.parametrize("kind, found", [("Passing", ["        return y @ torch.zeros(3, 2)"]), ("Fast", [])])
def test_what_is_abstract_is_not_implemented(tmp_path, kind, found):
    assert lines(tmp_path, f"{ABSTRACT}{kind}()(torch.zeros(1, 3))") == found


GRAPHS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.second = nn.Linear({size}, 4)

    def forward(self, data):
        y = self.second(torch.relu(self.first(data.x)))
        source, target = data.edge_index
        return torch.zeros_like(y).index_add(0, target, y[source] * data.edge_weight.unsqueeze(-1))
"""


@pytest.mark.parametrize("size, found", [(30, ["        y = self.second(torch.relu(self.first(data.x)))"]), (32, [])])
def test_an_input_that_is_asked_for_attributes_is_an_object(tmp_path, size, found):
    text = GRAPHS.format(size=size)
    assert lines(tmp_path, text) == found
    view = Project(tmp_path).view(tmp_path / "train.py")
    assert dry_run(text, str(tmp_path / "train.py"), view).statistics["modules_run"] == (size == 32)


def test_what_a_decorator_may_change_is_forgotten_with_the_run(tmp_path):
    """The same file in the same process, once behind an unknown decorator and once behind a known one."""
    files = {
        "layers.py": "import torch\nfrom deco import checked\n\n@checked\ndef made(**sizes):\n    return torch.zeros(**sizes)\n",
        "deco.py": "from nowhere import checked\n",
    }
    text = "import torch\nfrom layers import made\nmade(size=(2, 3)) @ torch.zeros(4, 2)\n"
    assert lines(tmp_path, text, files) == []
    files = {"deco.py": "def checked(function):\n    return function\n"}
    assert lines(tmp_path, text, files) == ["made(size=(2, 3)) @ torch.zeros(4, 2)"]


@pytest.mark.parametrize("size, found", [(4, []), (3, ["    found = x @ torch.zeros(4, 2)"])])
def test_what_a_function_takes_is_known_to_a_decorator(tmp_path, size, found):
    text = f"""
import inspect
import torch

def checked(function):
    if "x" not in inspect.getfullargspec(function).args:
        raise ValueError("there is no x")
    return function

@checked
def run(x, **more):
    found = x @ torch.zeros(4, 2)
    return found

run(torch.zeros(1, {size}))
"""
    assert lines(tmp_path, text) == found


ZOO = """
from torch import nn
KINDS = {}

def made(size):
    def make():
        return nn.Linear(size, 10)
    return make

for size in range(1, SIZES):
    for kind in ("small", "large"):
        name = f"{kind}_{size}"
        KINDS[name] = made(size)
"""


@pytest.mark.parametrize("sizes, found", [(20, 2), (5000, 0)])
def test_a_table_that_an_imported_file_fills_is_known_if_it_is_short(tmp_path, sizes, found):
    """What comes later in a long one is unknown: neither wrong nor missing."""
    text = """import torch
from zoo import KINDS
KINDS["small_LAST"]()(torch.zeros(2, 5))
KINDS["large_LAST"]()(torch.zeros(2, 5))
assert len(KINDS) == 2 * LAST
torch.relu(torch.zeros(2)) @ torch.zeros(3)
"""
    wrong = lines(tmp_path, text.replace("LAST", str(sizes - 1)), {"zoo.py": ZOO.replace("SIZES", str(sizes))})
    assert len(wrong) == found + 1


def test_a_table_that_an_imported_file_fills_costs_little(tmp_path):
    (tmp_path / "zoo.py").write_text(ZOO.replace("SIZES", "5000"))
    result = dry_run(
        "import zoo\nprint(zoo)", str(tmp_path / "train.py"), Project(tmp_path).view(tmp_path / "train.py")
    )
    assert result.statistics["work"] < 30_000


REGISTRY = {
    "pkg/__init__.py": "from .nets import Net, small\n",
    "pkg/registry.py": """
KNOWN = {}

def register(build):
    if build.__name__ in KNOWN:
        raise ValueError(f"{build.__name__} is there already")
    KNOWN[build.__name__] = build
    return build
""",
}
REGISTERED = """
import torch
from torch import nn
from .registry import register
import pkg

class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.first = nn.Linear(sizes["in"], sizes["out"])
        self.last = nn.Linear(sizes["last"], 2)

    def forward(self, x):
        return self.last(self.first(x))

@register
def small():
    return Net({"in": 4, "out": 6, "last": 6})
"""


@pytest.mark.parametrize("last, found", [(6, []), (7, ["        return self.last(self.first(x))"])])
def test_what_a_package_makes_of_its_file_is_made_once(tmp_path, last, found):
    """The file imports its package, which imports it: what registers itself there would be refused the second time."""
    text = REGISTERED.replace('"last": 6', f'"last": {last}')
    files = {**REGISTRY, "pkg/nets.py": text}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    path = tmp_path / "pkg" / "nets.py"
    result = dry_run(text, str(path), Project(tmp_path).view(path))
    assert [text.split("\n")[f.span.line - 1] for f in result.faults] == found
    assert (result.statistics["modules"], result.statistics["functions_run"]) == (1, 1)


@pytest.mark.parametrize(
    "name, imports, found", [("small", "import nets", 0), ("tiny", "import nets", 0), ("tiny", "", 1)]
)
def test_a_table_may_be_filled_by_the_package_around_it(tmp_path, name, imports, found):
    """Files are run without the packages around them, in which others register themselves."""
    files = {
        "pkg/__init__.py": f"from . {imports}\n" if imports else "",
        "pkg/tables.py": f"{REGISTRY['pkg/registry.py']}\ndef make(name):\n    return KNOWN[name]()\n",
        "pkg/nets.py": "from pkg.tables import register\n\n@register\ndef small():\n    return 1\n",
        "train.py": f"from pkg.tables import make\n\nprint(make('{name}'))\n",
    }
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    path = tmp_path / "train.py"
    assert len(dry_run(files["train.py"], str(path), Project(tmp_path).view(path)).faults) == found


@pytest.mark.parametrize(
    "statement, remark",
    [
        ("from net import Net, Gone", True),
        ("from net import Net", False),
        ("from net import Net\ntry:\n    from net import Gone\nexcept ImportError:\n    Gone = None", False),
    ],
)
def test_behind_an_import_of_what_a_file_has_not_nothing_runs(tmp_path, statement, remark):
    (tmp_path / "net.py").write_text(
        "from torch import nn\nclass Net(nn.Sequential):\n"
        "    def __init__(self, width): super().__init__(nn.Linear(width, 3))\n"
    )
    text = f"import torch\n{statement}\nNet(4)(torch.zeros(2, 5))\n"
    path = tmp_path / "train.py"
    path.write_text(text)
    (fault,) = dry_run(text, str(path), Project(tmp_path).view(path)).faults
    assert fault.presumed == remark
