"""Which files of a project are a library's: anybody may take from them what nothing in the project leads to.

A library tells others how to get it, or has pages for them. Who only installs their own code (`pip install -e .`) has a
program, whatever its settings copy from those of libraries. Where no manual tells anything, the settings do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator

from torchlint.project import Project
from torchlint.source.text.sketch import sketch

_PACKAGED = re.compile(r"\bsetup\(|^\[(?:project|tool\.poetry|metadata)\]", re.MULTILINE)
_INSTALLED = re.compile(r"[^/\\]+\.dist-info[/\\]METADATA|PKG-INFO")
_FOR_OTHERS = re.compile(r"\b(?:classifiers|keywords|long_description|project_urls)\b|\.urls\]")
_SHOWING = re.compile(r"example|tutorial|doc|test|benchmark|demo|sample")  # folders of a library
_SETTINGS = ("setup.py", "setup.cfg", "pyproject.toml")
_CALLED = re.compile(r"\bname\s*=\s*[\"']?([\w.-]+)")
_NAME = re.compile(r"\w+")
_MANUALS = (".md", ".rst")
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
    manuals = [project.document(path) or "" for path in documents if path.endswith(_MANUALS)]
    if not any(manuals):
        return _FOR_OTHERS.search(said) is not None or not any(_is_training(project, path) for path in paths)
    folders = {os.path.basename(os.path.dirname(path)) for path in paths if os.path.basename(path) == "__init__.py"}
    names = {*map(_plain, _CALLED.findall(said)), *map(_plain, folders)}
    return any(_names_it(word, names) for text in manuals for word in _installed(text))


def _installed(manual: str) -> Iterator[str]:
    """What a manual tells to install."""
    for told in _INSTALLING.findall(manual):
        yield from told.split()


def _names_it(word: str, names: set[str]) -> bool:
    """Is it a project by its name, or from where it lies?"""
    word = word.strip("\"'<>")
    if "git+" in word:
        return any(name in _plain(word) for name in names)
    return _plain(re.split(r"[\[=<>~!@]", word)[0]) in names


def _plain(name: str) -> str:
    """A name as the package index takes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_training(project: Project, path: str) -> bool:
    """Is a file a program that trains, and no example of it?"""
    *folders, own = os.path.relpath(path, project.root).split(os.sep)
    if "train" not in own or any(map(_SHOWING.match, folders)):
        return False
    return not sketch(project, path).only_defines
