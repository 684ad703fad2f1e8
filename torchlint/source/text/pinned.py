"""The versions of torch and Python that a project keeps itself at: what only later ones refuse does it no harm."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cached_property

from torchlint.project import View

_FILES = (
    *("requirements.txt", "environment.yml", "environment.yaml", "env.yml", "env.yaml", "conda.yml", "conda.yaml"),
    *("setup.py", "setup.cfg", "pyproject.toml", "spec-file.txt", "spec_file.txt"),
)
_TORCH = re.compile(  # by name, or the address of a package, as `conda list --explicit` gives it
    r"""^(?:[ \t"'-]*(?:py)?torch[ \t]*={1,3}[ \t]*|https?://\S*/(?:py)?torch-)(\d{1,3})\.(\d{1,3})""",
    re.MULTILINE | re.IGNORECASE,
)
_MANUALS = ("README.md", "readme.md", "README.rst", "README.txt", "README")
_TORCH_SAID = re.compile(  # in a manual; with what shows that more than that one is meant
    r"torch(?P<at>[^\w\n]{0,6}(?:version[^\w\n]{0,3})?)v?(\d{1,3})\.(\d{1,3})[\d.]*"
    r"(?P<more>\+|\W{1,4}(?:(?:or|and)\W{1,4})?(?:later|newer|higher|above|up|over|greater|more)\b)?",
    re.IGNORECASE,
)
_ENVIRONMENT = re.compile(
    r"(?<![\w-])(?:-f|--file)[= ][ \t]*((?!\S{120})[\w./-]+\.ya?ml)\b"
)  # of `conda env create -f`
_INSTALLING = re.compile(r"(?<![\w-])(?:sh|bash|source|\./)[ \t]*((?!\S{120})[\w./-]+\.sh)\b")
_INSTALLERS = ("install.sh", "install_packages.sh", "setup.sh", "Dockerfile")
_INSTALLED = re.compile(r"(?<![\w-])torch==(\d{1,3})\.(\d{1,3})")  # by `pip install`
_LIGHTNING = re.compile(
    r"""^[ \t"'-]*pytorch[-_]lightning[ \t]*={1,3}[ \t]*(\d{1,3})\.(\d{1,3})""", re.MULTILINE | re.IGNORECASE
)
_PYTHON_2 = re.compile(r"""^[ \t"'-]*python[ \t]*={1,2}[ \t]*2\b""", re.MULTILINE | re.IGNORECASE)
_VERSION = re.compile(r"(\d+)\.(\d+)")
_VISION_OF_TWO = 15  # torchvision 0.15 came with torch 2.0, 0.14 with torch 1.13
_NUMBERS = (0, 4)  # the torch in which a loss became a number, and variables became tensors


class Pinned:
    """What lies beside a file, or in a folder around it, says which versions its programs run with."""

    def __init__(self, view: View):
        self._view = view

    @cached_property
    def _folders(self) -> list[str]:
        """The one of the file, and those around it."""
        folders, root = [os.path.dirname(self._view.path)], str(self._view.project.root)
        while len(folders[-1]) > len(root):
            folders.append(os.path.dirname(folders[-1]))
        return folders

    def _named(self, names: Sequence[str]) -> list[str]:
        """What stands in files of these names, the nearest first."""
        return [self._view.document(os.path.join(folder, name)) or "" for folder in self._folders for name in names]

    @cached_property
    def _manuals(self) -> list[str]:
        return self._named(_MANUALS)

    @property
    def _environments(self) -> list[str]:
        """What stands in the files of which manuals say that `conda` makes an environment."""
        return self._named(self._named_by_manuals(_ENVIRONMENT))

    @property
    def _scripts(self) -> list[str]:
        """What stands in the scripts that install what is needed."""
        return self._named([*_INSTALLERS, *self._named_by_manuals(_INSTALLING)])

    def _named_by_manuals(self, names: re.Pattern[str]) -> list[str]:
        """The files in the project of which manuals speak in a way."""
        found = dict.fromkeys(name for text in self._manuals for name in names.findall(text))
        return [name for name in found if ".." not in name and not name.startswith("/")]

    @cached_property
    def _texts(self) -> list[str]:
        return self._named(_FILES)

    @cached_property
    def _torch(self) -> tuple[int, int] | None:
        """The nearest one that is named; else the newest of environments that manuals make, or of which they speak,
        unless they mean later ones, too.
        """
        if nearest := next(filter(None, map(_TORCH.search, self._texts)), None):
            return int(nearest[1]), int(nearest[2])
        made = [*map(_TORCH.search, self._environments), *map(_INSTALLED.search, self._scripts)]
        if found := [(int(one[1]), int(one[2])) for one in made if one is not None]:
            return max(found)
        said = [one for text in self._manuals for one in _TORCH_SAID.finditer(text)]
        if any(one["more"] or ">" in one["at"] for one in said):
            return None
        return max(((int(one[2]), int(one[3])) for one in said), default=None)

    def is_lightning_before(self, first: int, second: int) -> bool:
        """Is the Lightning that is named nearest one from before a version?"""
        found = next(filter(None, map(_LIGHTNING.search, self._texts)), None)
        return found is not None and (int(found[1]), int(found[2])) < (first, second)

    @cached_property
    def is_for_python_2(self) -> bool:
        return any(map(_PYTHON_2.search, self._texts))

    def is_before(self, since: str) -> bool:
        """Is torch one from before a version?"""
        return self._torch is not None and self._torch < tuple(map(int, since.split(".")))

    def is_before_release(self, said: str) -> bool:
        """The same for `torch 2.0`, or `torchvision 0.15`, which came with that."""
        library, _, version = said.partition(" ")
        numbers = _VERSION.match(version)
        if numbers is None or library not in ("torch", "torchvision"):
            return False
        first, second = int(numbers[1]), int(numbers[2])
        if library == "torchvision":
            first, second = (1, second - 1) if second < _VISION_OF_TWO else (2, second - _VISION_OF_TWO)
        return self._torch is not None and self._torch < (first, second)

    @property
    def runs_otherwise(self) -> bool:
        """Does a program mean something else there, so that how it runs here says nothing?"""
        return self.is_for_python_2 or self._torch is not None and self._torch < _NUMBERS
