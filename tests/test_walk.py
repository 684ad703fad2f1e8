"""Which files a run is about: folders, exclusions, ignore files, links."""

import os

import pytest

from torchlint.config import Settings
from torchlint.config_file import Configurations
from torchlint.project import Project
from torchlint.walk import Walk, project_of

pytestmark = pytest.mark.usefixtures("alone")


def walked(*paths: str, **options) -> list[str]:
    return [os.path.relpath(path) for path in Walk(paths, Configurations(**options)).files()]


def test_folders_are_searched_for_python_and_notebooks(tree):
    tree({"a.py": "", "b/c.pyi": "", "b/d.ipynb": "{}", "b/e.txt": "", "b/py": ""})
    assert walked(".") == ["a.py", "b/c.pyi", "b/d.ipynb"]


def test_named_files_are_taken_whatever_they_are_called(tree):
    tree({"script": "", "build/x.py": ""})
    assert walked("script", "build/x.py") == ["build/x.py", "script"]


def test_usual_and_configured_exclusions(tree):
    tree(
        {
            "a.py": "",
            "build/b.py": "",
            ".venv/c.py": "",
            "gen/d.py": "",
            "sub/gen/e.py": "",
            "sub/old_f.py": "",
            "sub/deep/g.py": "",
            "torchlint.toml": 'extend-exclude = ["gen", "old_*.py", "sub/deep"]',
        }
    )
    assert walked(".") == ["a.py"]
    assert walked("sub/deep/g.py", "gen") == ["gen/d.py", "sub/deep/g.py"]


def test_force_exclude_counts_for_named_files(tree):
    tree({"a.py": "", "gen/b.py": "", "torchlint.toml": 'extend-exclude = ["gen"]\nforce-exclude = true'})
    assert walked("a.py", "gen/b.py", "gen") == ["a.py"]


def test_ignore_files_are_respected_nested_and_with_exceptions(tree):
    tree(
        {
            ".git/HEAD": "",
            ".git/info/exclude": "secret.py\n",
            ".gitignore": "*_pb2.py\n/top.py\nout/\n",
            "a.py": "",
            "x_pb2.py": "",
            "top.py": "",
            "secret.py": "",
            "out/b.py": "",
            "sub/top.py": "",
            "sub/.gitignore": "!keep_pb2.py\nlocal.py\n",
            "sub/keep_pb2.py": "",
            "sub/local.py": "",
            "local.py": "",
        }
    )
    assert walked(".") == ["a.py", "local.py", "sub/keep_pb2.py", "sub/top.py"]
    assert walked("sub") == ["sub/keep_pb2.py", "sub/top.py"]
    assert "top.py" in walked(".", settings=Settings(respect_gitignore=False))


def test_links_in_circles_end(tree):
    root = tree({"a/b.py": ""})
    (root / "a/loop").symlink_to(root)
    (root / "a/self.py").symlink_to("self.py")
    (root / "a/gone.py").symlink_to("nowhere.py")
    (root / "a/link.py").symlink_to("b.py")
    assert walked(".") == ["a/b.py", "a/link.py"]


@pytest.fixture
def beside(tree):
    """A repository with links of every kind, and a folder beside it that is none of its business."""
    root = tree(
        {
            "home/secret.py": "import torch\nPASSWORD = 1\n",
            "repo/.git/HEAD": "",
            "repo/.git/config.py": "",
            "repo/.env": "import torch",
            "repo/build/made.py": "",
            "repo/pkg/a.py": "",
            "repo/tools/b.py": "",
        }
    )
    links = {
        "out": "../../home/secret.py",
        "env": "../.env",
        "git": "../.git/config.py",
        "made": "../build/made.py",
        "zero": "/dev/zero",
        "inside": "../tools/b.py",
    }
    for name, to in links.items():
        (root / f"repo/pkg/{name}.py").symlink_to(to)
    (root / "repo/away").symlink_to("../home")
    return root


def test_links_are_followed_to_what_is_linted_anyway(beside):
    walk = Walk(["repo"], Configurations())
    assert [os.path.relpath(path) for path in walk.files()] == [
        "repo/pkg/a.py",
        "repo/pkg/inside.py",
        "repo/tools/b.py",
    ]
    assert walk.missing == [] and len(walk.notices) == 1 and "5 links are left out" in walk.notices[0]
    assert walked("repo/pkg/out.py", "repo/away") == ["repo/away/secret.py", "repo/pkg/out.py"]  # they were named


def test_imports_do_not_follow_links_out_of_the_repository(beside):
    view = Project(beside / "repo").view(beside / "repo/pkg/a.py")
    found = {name: view.resolve(name) for name in ("out", "env", "zero", "inside", "away.secret")}
    assert found == {**dict.fromkeys(found), "inside": str(beside / "repo/pkg/inside.py")}
    assert view.mentions("PASSWORD") == []


def test_a_configuration_that_is_broken_loses_only_its_own_folder(tree):
    tree({"a.py": "", "b/torchlint.toml": "select = [", "b/c.py": "", "b/d/e.py": "", "f/g.py": ""})
    walk = Walk(["."], Configurations())
    assert [os.path.relpath(path) for path in walk.files()] == ["a.py", "f/g.py"]
    assert len(walk.missing) == 1 and "not valid TOML" in walk.missing[0]


def test_what_lies_deep_is_found(tree):
    deep = "/".join("d" * 450)
    root = tree({f"{deep}/__init__.py": "", f"{deep}/a.py": "import torch\n"})
    path = root / deep / "a.py"
    assert Walk([str(path)], Configurations()).files() == [str(path)]
    assert str(path) in Walk(["."], Configurations()).files() and str(path) in Project(root).files()


def test_the_project_of_an_archive_is_what_describes_it(tree):
    tree({"one/nets/__init__.py": "", "one/requirements.txt": "torch", "one/scripts/run.py": ""})
    tree({"two/nets/__init__.py": "", "two/nets/parts/__init__.py": "", "lib/nets/__init__.py": "", "lib/README": ""})
    tree({"lib/nets-1.0.dist-info/METADATA": "", "lib/six.py": "", "lib/setup.py": ""})
    tree({"three/README.md": "", "three/src/train.py": "", "three/src/nets/README.md": "", "three/src/nets/net.py": ""})
    tree({"four/LICENSE": "", "four/src/nets/README.md": "", "four/src/data/set.py": "", "five/src/train.py": ""})

    def root_of(folder):
        return os.path.relpath(project_of(os.path.abspath(folder), Settings())[0])

    assert root_of("one/nets") == "one"
    assert root_of("two/nets/parts") == os.path.join("two", "nets")
    assert root_of("lib/nets") == os.path.join("lib", "nets")
    assert root_of("three/src") == "three"
    assert root_of("three/src/nets") == os.path.join("three", "src", "nets")
    assert {root_of("four/src/nets"), root_of("four/src/data")} == {"four"}
    assert root_of("five/src") == os.path.join("five", "src")
