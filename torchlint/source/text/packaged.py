"""Which files of a project are a library's: anybody may take from them what nothing in the project leads to.

A library tells others how to get it, or has pages for them. Who only installs their own code (`pip install -e .`) has a
program, whatever its settings copy from those of libraries. Where no manual tells anything, the settings do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from torchlint.project import Project
from torchlint.source.text.sketch import sketch

_PACKAGED = re.compile(r"\bsetup\(|^\[(?:project|tool\.poetry|metadata)\]", re.MULTILINE)
_INSTALLED = re.compile(r"[^/\\]+\.dist-info[/\\]METADATA|PKG-INFO")
_FOR_OTHERS = re.compile(r"\b(?:classifiers|keywords|long_description|project_urls)\b|\.urls\]")
_SHOWING = re.compile(r"example|tutorial|doc|test|benchmark|demo|sample")  # folders of a library
_FOLDERS_OF_ALL = frozenset({"src", "test", "tests", "docs", "examples", "scripts", "tools", "utils", "models"})
_SETTINGS = ("setup.py", "setup.cfg", "pyproject.toml")
_CALLED = re.compile(r"\bname\s*=\s*[\"']?([\w.-]+)")
_NAME = re.compile(r"\w+")
_MANUALS = (".md", ".rst", ".ipynb")
_FIRST = re.compile(r"[\"'<]*([\w.-]+)")  # of what is told to be installed: before a version, and extras
_INSTALLING = re.compile(
    r"\b(?:pip3?|uv|conda|mamba|micromamba|poetry|pdm)(?: pip)?(?: -\S{1,40}){0,4} (?:install|add)\b([^\n#`;&|]*)"
)
_WITH_PAGES = re.compile(r"mkdocs\.ya?ml|docs?[/\\](?:\w+[/\\])?conf\.py")


def packaged(project: Project, paths: Collection[str]) -> set[str]:
    """Of some files those that a library installs: those in packages, what its settings name, or else those at its top;
    all where it lies as it is installed, or as it is sent.
    """
    documents = project.documents() or ()
    if any(_INSTALLED.fullmatch(os.path.relpath(path, project.root)) for path in documents):
        return set(paths)
    texts = (project.document(os.path.join(project.root, name)) or "" for name in _SETTINGS)
    said = "\n".join(text for text in texts if _PACKAGED.search(text))
    if not said or not _is_for_others(project, said, paths, documents):
        return set()
    words = {"src", *_NAME.findall(said)} - {"setup"}
    parts = {path: os.path.relpath(path, project.root).removesuffix(".py").split(os.sep) for path in paths}
    found = {path for path in paths if os.path.join(os.path.dirname(path), "__init__.py") in paths}
    found |= {path for path in paths if not words.isdisjoint(parts[path])}
    return found or {path for path in paths if len(parts[path]) == 1}


def _is_for_others(project: Project, said: str, paths: Collection[str], documents: Collection[str]) -> bool:
    """Does anybody else get what is installed? `said` is what the settings of its package say."""
    if any(_WITH_PAGES.fullmatch(os.path.relpath(path, project.root)) for path in (*paths, *documents)):
        return True
    manuals = {path: project.document(path) or "" for path in documents if path.endswith(_MANUALS)}
    if not any(text for path, text in manuals.items() if not path.endswith(".ipynb")):
        return _FOR_OTHERS.search(said) is not None or not any(_is_training(project, path) for path in paths)
    folders = {os.path.dirname(path) for path in paths if os.path.basename(path) == "__init__.py"}
    outer = {os.path.basename(folder) for folder in folders if os.path.dirname(folder) not in folders}
    names = {*map(_plain, _CALLED.findall(said)), *map(_plain, outer - _FOLDERS_OF_ALL)}
    return any(_installs(text, names, path.endswith(".ipynb")) for path, text in manuals.items())


def _installs(manual: str, names: set[str], is_notebook: bool) -> bool:
    """Does a manual tell to install a project, by its name or from where it lies? A notebook brings that for itself."""
    for word in (word for told in _INSTALLING.findall(manual) for word in told.split()):
        plain = _plain(word)
        if "git+" in word:
            if not is_notebook and any(name in plain for name in names):
                return True
        elif first := _FIRST.match(plain):
            if first[1] in names or any(first[1].endswith(f"-{name}") for name in names):
                return True
    return False


def _plain(name: str) -> str:
    """A name as the package index takes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_training(project: Project, path: str) -> bool:
    """Is a file a program that trains, and no example of it?"""
    *folders, own = os.path.relpath(path, project.root).split(os.sep)
    if "train" not in own or any(map(_SHOWING.match, folders)):
        return False
    return not sketch(project, path).only_defines
