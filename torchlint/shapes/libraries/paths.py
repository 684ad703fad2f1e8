"""Paths as `pathlib` writes them: texts with slashes. What is on the disk nobody looks at, but for settings."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from torchlint.shapes.core.standins import StandIn, maker
from torchlint.shapes.core.values import Special, Unknown, machines
from torchlint.shapes.libraries import settings_files, temporary
from torchlint.shapes.libraries.open_files import FileOfParts, OpenFile
from torchlint.shapes.libraries.path_texts import LONGEST, PathText, path_text
from torchlint.shapes.libraries.written_files import WrittenFile, knowing

_GIVES_ITSELF = ("name", "stem", "suffix")
_DONE = ("mkdir", "touch", "chmod", "rmdir", "symlink_to")


class FilePath(PathText, StandIn):
    """`Path("runs") / "a.yaml"`"""

    takes_unknown = frozenset({"write_text", "write_bytes"})

    def __init__(self, *parts: Any):
        texts = [path_text(part) for part in parts]
        if sum(map(len, texts)) > LONGEST or not all(type(text) is str for text in texts):
            raise ValueError("a path that is too long")
        machines[-1].budget.length(sum(map(len, texts)))
        self._pure = PurePosixPath(*texts)
        self.as_text = str(self._pure)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_pure":
            raise AttributeError(name)
        if name in _DONE:
            return Special(name, lambda machine, *args, **options: temporary.made(machine, [self]))
        return Unknown(f"{name} of a path") if name not in _GIVES_ITSELF else getattr(self._pure, name)

    def __truediv__(self, other: Any) -> FilePath:
        return FilePath(self, other)

    def __rtruediv__(self, other: Any) -> FilePath:
        return FilePath(other, self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FilePath) and other.as_text == self.as_text

    def __hash__(self) -> int:
        return hash(self.as_text)

    @property
    def parent(self) -> FilePath:
        return FilePath(str(self._pure.parent))

    @property
    def parents(self) -> tuple[FilePath, ...]:
        return tuple(FilePath(str(one)) for one in self._pure.parents)

    @property
    def parts(self) -> tuple[str, ...]:
        return self._pure.parts

    def as_posix(self) -> str:
        return self.as_text

    def is_absolute(self) -> bool:
        return self._pure.is_absolute()

    def joinpath(self, *others: Any) -> FilePath:
        return FilePath(self, *others)

    def with_suffix(self, suffix: str) -> FilePath:
        return FilePath(str(self._pure.with_suffix(suffix)))

    def with_name(self, name: str) -> FilePath:
        return FilePath(str(self._pure.with_name(name)))

    def with_stem(self, stem: str) -> FilePath:
        return FilePath(str(self._pure.with_stem(stem)))

    def expanduser(self) -> Any:
        return Unknown("the home of somebody") if self.as_text.startswith("~") else self

    def absolute(self) -> Any:
        return self if self.is_absolute() and ".." not in self.parts else Unknown("a path")

    resolve = absolute

    def open(self, *args: Any, **options: Any) -> Any:
        return settings_files.open_file(machines[-1], self, *args, **options)

    def read_text(self, *args: Any, **options: Any) -> Any:
        return self._read("r", args, options)

    def read_bytes(self) -> Any:
        return self._read("rb", (), {})

    def _read(self, mode: str, args: tuple, options: dict[str, Any]) -> Any:
        named = {**options, **({"encoding": args[0]} if args else {})}
        file = self.open(mode, **named)
        return file.read() if isinstance(file, (OpenFile, FileOfParts)) else file

    def write_text(self, data: Any = None, *args: Any, **options: Any) -> Any:
        return self._write("w", data, {**options, **({"encoding": args[0]} if args else {})})

    def write_bytes(self, data: Any = None) -> Any:
        return self._write("wb", data, {})

    def _write(self, mode: str, data: Any, options: dict[str, Any]) -> Any:
        file = self.open(mode, **options)
        if not isinstance(file, WrittenFile):
            return Unknown("how much was written")
        written = file.write(data)
        file.close()
        return written

    def exists(self) -> Any:
        return temporary.exists(machines[-1], self)

    is_file = exists

    def unlink(self, *args: Any, **options: Any) -> None:
        temporary.remove(machines[-1], self)

    def rename(self, target: Any) -> Any:
        temporary.move(machines[-1], self, target)
        return target

    replace = rename


def _path(machine, *parts: Any) -> Any:
    if any(type(part) is not str and not isinstance(part, PathText) for part in parts):
        return Unknown("a path")
    return FilePath(*parts)


def _text(machine, path: Any = None) -> Any:
    text = path_text(path)
    return text if type(text) is str else Unknown("a path")


PATHS: dict[str, Any] = {}
for _name in ("Path", "PosixPath", "PurePath", "PurePosixPath"):
    PATHS[f"pathlib.{_name}"] = knowing(maker(FilePath))
    PATHS[f"pathlib.{_name}"].function = _path
PATHS["os.fspath"] = Special("fspath", _text)
