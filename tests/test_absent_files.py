"""A file that a program imports and that is not there ends the program, so that nothing behind it is worth a warning."""

import pytest

from torchlint.config import Selection, Settings
from torchlint.run import check

pytestmark = pytest.mark.usefixtures("alone")
ALL = Settings(dry_run=False, selections=(Selection(None, (), ("ALL",)),))
MODELS = {
    "models/__init__.py": "",
    "models/encoder.py": "import torch\n\n\nclass Encoder(torch.nn.Linear):\n    pass\n",
}
LOSS = "\nimport torch.nn.functional as F\n\n\ndef loss(x, y):\n    return F.cross_entropy(F.softmax(x, dim=1), y)\n\n\nloss(*batch)\n"
BOTH = "from models.encoder import Encoder\n{}\n"


def found(tree, head: str, **more: str) -> dict[str, str]:
    tree(
        {
            **MODELS,
            "main.py": BOTH.format(head) + LOSS,
            **{name.replace("__", "."): text for name, text in more.items()},
        }
    )
    return {f.code: f.severity for f in check(["."], ALL).findings if f.code in ("TL725", "TL101")}


def test_what_stands_in_a_file_that_cannot_be_imported_is_a_remark(tree):
    assert found(tree, "from models.decoder import Decoder") == {"TL725": "warning", "TL101": "info"}


@pytest.mark.parametrize(
    "head",
    [
        "from models import encoder",
        "try:\n    from models.decoder import Decoder\nexcept ImportError:\n    Decoder = None",
        "from models_of_others.decoder import Decoder",
    ],
)
def test_nothing_is_missing(tree, head):
    assert found(tree, head) == {"TL101": "warning"}


def test_so_is_what_stands_behind_an_import_of_what_torch_no_longer_has(tree):
    tree({"main.py": "from torch._six import string_classes\n" + LOSS})
    said = {f.code: f.severity for f in check(["."], ALL).findings if f.code in ("TL802", "TL101")}
    assert said == {"TL802": "warning", "TL101": "info"}
    tree({"requirements.txt": "torch==1.8\n"})
    said = {f.code: f.severity for f in check(["."], ALL).findings if f.code in ("TL802", "TL101")}
    assert said == {"TL802": "info", "TL101": "warning"}


def test_an_import_that_only_a_function_makes_ends_nothing_else(tree):
    head = "def decode(x):\n    from models.decoder import Decoder\n    return Decoder()(x)\n\n\ndecode(1)"
    assert found(tree, head) == {"TL725": "warning", "TL101": "warning"}


def test_what_stands_behind_it_in_that_function_is_a_remark(tree):
    inner = "def load(x, y):\n    {}\n    return F.cross_entropy(F.softmax(x, dim=1), y)\n\n\nload(*batch)\n"
    head = "import torch.nn.functional as F\nfrom models.encoder import Encoder\n\n\n"
    tree({**MODELS, "main.py": head + inner.format("from models.decoder import Decoder")})
    assert {f.severity for f in check(["."], ALL).findings if f.code == "TL101"} == {"info"}
    tree({"main.py": head + inner.format("if y: from models.decoder import Decoder")})
    assert {f.severity for f in check(["."], ALL).findings if f.code == "TL101"} == {"warning"}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("models/decoder.pyx", "cdef class Decoder: pass"),
        ("README.md", "Put the decoder of the authors into `models/`."),
        (".gitmodules", '[submodule "models/decoder"]\n'),
        (".gitignore", "models/decoder.py\n"),
        ("setup.py", "Extension('models.decoder', ['src/decoder.c'])"),
    ],
)
def test_what_is_made_or_brought_by_somebody_is_not_missing(tree, file, text):
    tree({**MODELS, "main.py": BOTH.format("from models.decoder import Decoder") + LOSS, file: text})
    assert not [f for f in check(["."], ALL).findings if f.code == "TL725"]


def test_a_name_in_other_letters_is_said_to_be_so(tree):
    tree({**MODELS, "main.py": BOTH.format("from models.Encoder import Encoder as Other") + LOSS})
    (found,) = [f for f in check(["."], ALL).findings if f.code == "TL725"]
    assert "`encoder.py`" in found.help


@pytest.mark.parametrize(("init", "said"), [("", set()), ("from .parts import *\n", {"TL718"})])
def test_a_folder_of_examples_is_called_like_the_library_that_they_show(tree, init, said):
    tree(
        {
            "examples/gymlike/__init__.py": init,
            "examples/gymlike/parts.py": "import torch\nsize = 3\n",
            "examples/gymlike/run.py": "import torch\nimport gymlike\n\nenv = gymlike.make_env(torch.device('cpu'))\n",
        }
    )
    assert {f.code for f in check(["."], ALL).findings if f.code == "TL718"} == said
