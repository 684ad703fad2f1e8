"""Which files a run is about: folders, exclusions, ignore files, links."""

import os

import pytest

from torchlint.config import Settings
from torchlint.config_file import Configurations
from torchlint.walk import Walk

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
