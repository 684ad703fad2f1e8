"""The project that a file belongs to, and so what its imports mean, does not depend on where somebody stands."""

import json
import os

import pytest
from samples import MODEL, USER

pytestmark = pytest.mark.usefixtures("alone")
PROBABILITIES = MODEL.format(".softmax(-1)")
TRAIN = USER.replace("from model", "from pkg.model")
REPOSITORY = {"repo/.git/HEAD": ""}
CONFIGURED = {"repo/pyproject.toml": "[tool.torchlint]\n"}
LAYOUTS = {
    "a repository": {**REPOSITORY, "repo/pkg/model.py": PROBABILITIES, "repo/tools/deep/train.py": TRAIN},
    "a repository with a source folder": {**REPOSITORY, "repo/src/pkg/model.py": PROBABILITIES, "repo/tools/deep/train.py": TRAIN},
    "a configured project": {**CONFIGURED, "repo/pkg/model.py": PROBABILITIES, "repo/tools/deep/train.py": TRAIN},
    "a project configured in a repository": {"repo/.git/HEAD": "", "repo/tools/torchlint.toml": "", "repo/tools/pkg/model.py": PROBABILITIES, "repo/tools/deep/train.py": TRAIN},
    "a package with scripts": {"repo/main.py": "", "repo/pkg/__init__.py": "", "repo/pkg/model.py": PROBABILITIES, "repo/pkg/tools/__init__.py": "", "repo/pkg/tools/train.py": TRAIN},
    "a package alone": {"repo/pkg/__init__.py": "", "repo/pkg/model.py": PROBABILITIES, "repo/pkg/tools/train.py": TRAIN},
    "scripts": {"repo/model.py": PROBABILITIES, "repo/train.py": USER},
}  # fmt: skip
PLACES = (".", "repo", "elsewhere", "elsewhere/pkg", "/")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "how",
    [[], ["--isolated"], ["--select", "TL1"], ["--config", "{root}/elsewhere/ci.toml"], ["the user's own"]],
    ids=" ".join,
)
def test_findings_are_the_same_from_everywhere(tree, run, monkeypatch, layout, how):
    root = tree(
        {
            **LAYOUTS[layout],
            "elsewhere/pkg/model.py": MODEL.format(""),
            "elsewhere/ci.toml": 'select = ["TL1"]',
            "elsewhere/.git/HEAD": "",
        }
    )
    if how == ["the user's own"]:
        tree({".home/torchlint/torchlint.toml": 'select = ["TL1"]'})
        how = []
    (train,) = root.glob("repo/**/train.py")
    heard = set()
    for place in PLACES:
        monkeypatch.chdir(root / place)
        for path in (root / "repo", train.parent, train):
            words = [word.format(root=root) for word in how]
            code, out, err = run(os.path.relpath(path), "--output-format", "json", "--no-cache", *words)
            assert code < 2, err
            heard.add(
                tuple((finding["filename"], finding["code"], finding["location"]["row"]) for finding in json.loads(out))
            )
    assert len(heard) == 1
    if "configured" in layout and how and "--select" not in how:
        return  # without that configuration it is another project, in which the package is not seen
    assert heard == {((str(train), "TL101", 8),)}


def test_a_configuration_that_is_named_makes_its_folder_a_project_only_for_what_lies_in_it(tree, run):
    root = tree(
        {**LAYOUTS["a repository"], "repo/tools/ci.toml": 'select = ["TL1"]', "repo/tools/deep/pkg/other.py": ""}
    )
    assert run("repo/tools", "--config", "repo/ci.toml")[0] == 2
    (root / "repo/tools/ci.toml").rename(root / "repo/ci.toml")
    assert "TL101" in run("repo/tools", "--config", "repo/ci.toml")[1]


def test_shapes_are_the_same_from_everywhere(tree, run, monkeypatch):
    pytest.importorskip("torch")
    layer = (
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n       "
        " super().__init__()\n        self.layer = nn.Linear({}, 3)\n\n    def forward(self, x):\n        return"
        " self.layer(x)\n"
    )
    model = layer.format("WIDTH").replace("import torch\n", "import torch\nfrom pkg.sizes import WIDTH\n", 1)
    root = tree(
        {
            "repo/.git/HEAD": "",
            "repo/pkg/sizes.py": "WIDTH = 7\n",
            "repo/tools/model.py": model,
            "elsewhere/pkg/sizes.py": "WIDTH = 9\n",
        }
    )
    for place in (".", "repo", "elsewhere"):
        monkeypatch.chdir(root / place)
        code, out, err = run("shapes", os.path.relpath(root / "repo/tools/model.py"))
        assert code == 0 and "Linear(7, 3)" in out, err
