"""Ignore files: the same answers as git's own, for patterns of every kind, in time that nobody notices."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from torchlint.config_file import Configurations
from torchlint.ignores import WILDCARDS, Ignores, Rules, is_ignored
from torchlint.walk import DEEPEST, Walk

NAMES = [
    "a",
    "b",
    "ab",
    "ba",
    "aab",
    "a.py",
    "b.py",
    "A",
    "é.py",
    "a b",
    "a ",
    "[a]",
    "a]",
    "*",
    "a*b",
    "\\",
    "a\\b",
    "!a",
    "#a",
    "a\nb",
    "-",
    "^",
    "0",
]
PARTS = [
    "a", "b", "a", "b", "ab", "/", "/", "*", "**", "**/", "/**", "?", "[ab]", "[!a]", "[^b]", "[a-z]", "[[:alpha:]]", "[]a]", "[a", "\\*", "\\a", "\\",
    "é", ".py", "*.py", " ", "!", "#", "[[:foo:]]", "[a-]", "[\\]]", "[/]", "[!/]", "-", "***", "[[:punct:]]", "x", "\\/", "[b-a]", "[[:a]", "[[:]", "*/",
]  # fmt: skip
ENDS = ["", "", "", "", "  ", "\\ ", "\r", "\t", " \\ "]
ROUNDS = 60


def a_pattern(chance: random.Random) -> str:
    text = "".join(chance.choice(PARTS) for _ in range(chance.randint(1, 6)))
    text = chance.choice(["", "", "", "/"]) + text + chance.choice(["", "", "", "/"])
    return chance.choice(["", "", "", "!"]) + text + chance.choice(ENDS)


def a_tree(root: Path, chance: random.Random) -> list[str]:
    """Some folders in each other and files in them: their paths, folders before what is in them."""
    paths, folders = [], [""]
    for folder in folders:
        for name in chance.sample(NAMES, 7):
            is_folder = chance.random() < 0.4 and folder.count("/") < 3 and len(folders) < 30
            (root / folder / name).mkdir() if is_folder else (root / folder / name).touch()
            paths.append(folder + name)
            if is_folder:
                folders.append(f"{folder}{name}/")
    return paths


def ignored(root: Path, paths: list[str]) -> set[str]:
    """What is ignored, as a walk from the root finds it."""
    inside = {"": Ignores().below(str(root))}
    found = set()
    for path in paths:
        folder, place = os.path.dirname(path), str(root / path)
        if folder not in inside or inside[folder].ignores(place, os.path.isdir(place)):
            found.add(path)
        elif os.path.isdir(place):
            inside[path] = inside[folder].below(place)
    return found


@pytest.mark.skipif(not shutil.which("git"), reason="git is not here")
def test_patterns_mean_what_they_mean_to_git(tmp_path):
    chance = random.Random(0)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    root = tmp_path / "repository"
    root.mkdir()
    paths = a_tree(root, chance)
    subprocess.run(["git", "init", "-q"], cwd=root, env=environment, check=True)
    folders = [path for path in paths if (root / path).is_dir()]
    hits = 0
    for _ in range(ROUNDS):
        written = {}
        for folder in ("", *chance.sample(folders, 2)):
            written[folder] = "\n".join(a_pattern(chance) for _ in range(chance.randint(1, 3))) + chance.choice(
                ["", "\n"]
            )
            (root / folder / ".gitignore").write_bytes(written[folder].encode())
        asked = ["git", "check-ignore", "--no-index", "--stdin", "-z"]
        done = subprocess.run(asked, cwd=root, env=environment, input="\0".join(paths).encode(), capture_output=True)
        expected = {name.decode() for name in done.stdout.split(b"\0") if name}
        assert ignored(root, paths) == expected, written
        one = chance.choice(paths)
        assert is_ignored(str(root / one), str(root)) == (one in expected), (one, written)
        hits += len(expected)
        for folder in written:
            (root / folder / ".gitignore").unlink()
    assert hits > 500  # it was about something


@pytest.mark.parametrize(
    "pattern, path, is_match",
    [
        ("a**/b", "ax/y/b", True),  # git compares what comes before the first wildcard by itself
        ("a/**", "a/b/c", True),
        ("a/**", "a", False),
        ("x/a**", "x/a/b", True),
        ("**/a/**/b", "a/b", True),
        ("a*/b", "ax/y/b", False),
        ("?", "é", False),  # git counts bytes
        ("[!b]/c", "a/c", True),
        ("a[!b]c", "a/c", False),
        ("\ufeff/a", "a", True),
        ("a\\", "a\\", False),
    ],
)
def test_corners(pattern, path, is_match):
    encoded = path.encode()
    assert Rules(pattern.encode()).ignores(encoded.rpartition(b"/")[2], encoded, False, False) == is_match


HOSTILE = {
    "stars": "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b",
    "many_stars": "*a" * 120 + "b",
    "folders": "**/" + "a*/**/" * 30 + "b",
    "folders_of_stars": "**/*a*/**/*a*a*a*/**/*a*a*b",
    "sets": "[a-z]*" * 100 + "[!a-z]",
    "many_patterns": "\n".join(f"*a*a*{i}b" for i in range(100_000)),
    "many_plain_patterns": "\n".join(f"a{i}/b" for i in range(20_000)) + "\n!x",
    "a_long_pattern": "[a-z]" * 200_000,
}


def test_no_pattern_takes_long(tree):
    """Each in an ignore file and in a configuration of its own, with long names to try it on."""
    names = [f"{'a/' * 40}{'a' * 200}{i}.py" for i in range(5)]
    files = {
        f"{kind}/{one}/{name}": "import torch\n"
        for kind in ("ignore", "configure")
        for one in HOSTILE
        for name in names
    }
    for one, pattern in HOSTILE.items():
        files[f"ignore/{one}/.gitignore"] = pattern
        if len(pattern) < 1000:
            files[f"configure/{one}/torchlint.toml"] = (
                f"extend-exclude = ['{pattern}']\ninclude = ['{pattern}', '*.py']\nper-file-ignores = {{ '{pattern}' ="
                " ['TL1'] }\n"
            )
    root = tree({**files, ".git/HEAD": ""})
    command = [sys.executable, "-m", "torchlint", "check", "--no-dry-run", "--no-cache", "-j", "1"]
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, timeout=60, env={**os.environ, "XDG_CONFIG_HOME": str(root)}
    )
    assert done.returncode == 0, done.stderr


def walk(*paths: str) -> tuple[list[str], list[str], list[str]]:
    found = Walk(paths, Configurations(isolated=True))
    return [os.path.relpath(path) for path in found.files()], found.missing, found.notices


@pytest.mark.usefixtures("alone")
def test_ignore_files_that_are_not_read_are_said(tree):
    root = tree(
        {
            "a.py": "",
            "rules": "a.py\n",
            "link/b.py": "",
            "pipe/c.py": "",
            "large/d.py": "",
            "many/e.py": "",
            "folder/.gitignore/x": "",
        }
    )
    (root / "link/.gitignore").symlink_to("../rules")  # git does not follow it either
    os.mkfifo(root / "pipe/.gitignore")
    (root / "large/.gitignore").write_bytes(b"d.py\n" * 300_000)
    (root / "many/.gitignore").write_text(("x" * 100 + "*\n") * (WILDCARDS // 100) + "e.py\n")
    files, missing, notices = walk(".")
    assert files == ["a.py", "large/d.py", "link/b.py", "many/e.py", "pipe/c.py"] and missing == []
    said = dict(zip(("large", "link", "many", "pipe"), sorted(notices)))
    assert "larger than 1 MB" in said["large"] and "this is a link" in said["link"]
    assert "more than 16 KB" in said["many"] and "named pipe" in said["pipe"]
    assert len(notices) == 4


@pytest.mark.usefixtures("alone")
def test_a_folder_that_is_named_is_linted_although_it_is_ignored(tree):
    tree({".git/HEAD": "", ".gitignore": "out/\n*_pb2.py\n", "out/a.py": "", "out/b_pb2.py": ""})
    assert walk(".")[0] == []
    assert walk("out")[0] == ["out/a.py"]


@pytest.mark.usefixtures("alone")
def test_a_tree_without_a_bottom_is_given_up_with_a_line(tree):
    root = tree({"a.py": ""})
    here = os.open(root, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("dddd", dir_fd=here)
        below = os.open("dddd", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    try:
        files, missing, _ = walk(".")
    finally:
        subprocess.run(["rm", "-rf", str(root / "dddd")], check=True)
    assert files == ["a.py"] and len(missing) == 1 and f"more than {DEEPEST} characters" in missing[0]
