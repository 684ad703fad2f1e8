"""Finds and reads configuration: the nearest `[tool.torchlint]` or `torchlint.toml` of a file, `extend`, overrides."""

from __future__ import annotations

import os
import re
import sys
from typing import Any, Collection

from msgspec import UNSET, Struct
from msgspec.structs import replace

from torchlint.config import ConfigError, Selection, Settings, check_selectors
from torchlint.options import Options, check_version, options
from torchlint.reading import SETTINGS, read
from torchlint.rule import rule_names

NAMES = (".torchlint.toml", "torchlint.toml", "pyproject.toml")


class Layer(Struct):
    """Options, the folder their paths are relative to, where they come from, and whether they may name code to run."""

    options: Options
    root: str
    source: str
    trusted: bool = False


class Configurations:
    """The settings of every folder. `overrides` (the command line) are applied on top of whatever file is found.

    `explicit` is a configuration file for everything, `settings` stand for all configuration, `isolated` reads none.
    `warnings` are lines for the user.
    """

    def __init__(
        self,
        overrides: Collection[Layer] = (),
        explicit: str = "",
        isolated: bool = False,
        settings: Settings | None = None,
        noqa: bool = True,
    ):
        self.overrides = list(overrides)
        self.explicit = explicit
        self.isolated = isolated
        self.settings = settings
        self.noqa = noqa
        self.warnings: list[str] = []
        self._folders: dict[str, Settings] = {}
        self._files: dict[str, Settings] = {}

    def of_file(self, path: str) -> Settings:
        """The settings in force for a file or folder."""
        path = os.path.abspath(path)
        return self.of_folder(path if os.path.isdir(path) else os.path.dirname(path))

    def of_folder(self, folder: str, names: Collection[str] | None = None) -> Settings:
        """The settings in force for a folder; `names` are its entries if they are known."""
        if folder not in self._folders:
            self._folders[folder] = self._look(folder, names)
        return self._folders[folder]

    def _look(self, folder: str, names: Collection[str] | None) -> Settings:
        if self.settings is not None:
            return self.settings
        if self.isolated:
            return self._settings("")
        if self.explicit:
            return self._settings(os.path.abspath(self.explicit), os.getcwd())
        for name in NAMES:
            path = os.path.join(folder, name)
            if (name in names if names is not None else os.path.isfile(path)) and is_ours(path):
                return self._settings(path)
        parent = os.path.dirname(folder)
        return self.of_folder(parent) if parent != folder else self._settings("")

    def _settings(self, path: str, root: str | None = None) -> Settings:
        if path not in self._files:
            layers = self._read(path, root, ()) if path else []
            user = "" if self.isolated else user_file()
            if user:
                theirs = read_layer(user, os.getcwd(), trusted=True)
                home = os.path.dirname(user)
                rules = [os.path.join(home, os.path.expanduser(p)) for p in theirs.options.rule_paths or ()]
                theirs.options.rule_paths = rules
                # Without a project's configuration the user's own counts; with one only the rules it adds do.
                layers.insert(0, Layer(Options(rule_paths=rules), home, user, True) if path else theirs)
            settings, warnings = combine([*layers, *self.overrides], path)
            settings = replace(settings, noqa=self.noqa)
            self.warnings += [w for w in warnings if w not in self.warnings]
            check_selectors(settings, rule_names(settings.rule_paths))
            self._files[path] = settings
        return self._files[path]

    def _read(self, path: str, root: str | None, seen: tuple[str, ...]) -> list[Layer]:
        """A file's layers: what it extends first."""
        if path in seen:
            raise ConfigError(f"{path}: `extend` leads back to the file itself")
        layer = read_layer(path, root or os.path.dirname(path))
        if layer.options.extend is UNSET:
            return [layer]
        base = os.path.expanduser(os.path.expandvars(layer.options.extend))
        base = os.path.normpath(os.path.join(os.path.dirname(path), base))
        return [*self._read(base, None, (*seen, path)), layer]


def user_file() -> str:
    """The user's own configuration, empty if there is none."""
    if sys.platform == "win32":
        home = os.environ.get("APPDATA", "")
    else:
        home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    path = os.path.join(home, "torchlint", "torchlint.toml")
    return path if os.path.isfile(path) else ""


def is_ours(path: str) -> bool:
    """Whether a file configures torchlint. A pyproject.toml that never says its name is not even parsed."""
    if os.path.basename(path) != "pyproject.toml":
        return True
    try:
        data = read(path, SETTINGS)
    except OSError:
        return False
    return b"torchlint" in data and "torchlint" in _toml(data, path).get("tool", {})


def read_layer(path: str, root: str, trusted: bool = False) -> Layer:
    """The options of one file."""
    try:
        table = _toml(read(path, SETTINGS), path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot read: {error.strerror or error}") from None
    if os.path.basename(path) == "pyproject.toml":
        table = table.get("tool", {}).get("torchlint", {})
    return Layer(options(table, path), root, path, trusted)


def inline_layer(text: str) -> Layer:
    """The options of `--config 'KEY = VALUE'`."""
    return Layer(options(_toml(text.encode(), "--config"), "--config"), os.getcwd(), "--config", trusted=True)


def combine(layers: Collection[Layer], source: str) -> tuple[Settings, list[str]]:
    """Settings of the layers, a later one wins, and lines about what was refused."""
    values: dict[str, Any] = {
        "source": source,
        "root": next((la.root for la in reversed(layers) if la.source == source), ""),
    }
    defaults = Settings()
    selections: list[Selection] = []
    warnings: list[str] = []

    def extend(name: str, more: list[str]) -> None:
        values[name] = (*values.get(name, getattr(defaults, name)), *more)

    for layer in layers:
        o = layer.options
        check_version(o, layer.source)
        select, ignore = o.select, (*(o.ignore or ()), *(o.extend_ignore or ()))
        if select is not UNSET or ignore or o.extend_select:
            chosen = None if select is UNSET else tuple(select)
            selections.append(Selection(chosen, ignore, tuple(o.extend_select or ())))
        for name in ("preview", "unsafe_fixes", "force_exclude", "respect_gitignore", "dry_run", "output_format"):
            if getattr(o, name) is not UNSET:
                values[name] = getattr(o, name)
        for name in ("fixable", "unfixable"):
            if getattr(o, name) is not UNSET:
                values[name] = tuple(getattr(o, name))
        for name in ("include", "exclude"):
            if getattr(o, name) is not UNSET:
                values[name] = tuple(_pattern(layer, p) for p in getattr(o, name))
        extend("exclude", [_pattern(layer, p) for p in o.extend_exclude or ()])
        if o.per_file_ignores is not UNSET:
            values["per_file_ignores"] = {}
        for pattern, codes in (*(o.per_file_ignores or {}).items(), *(o.extend_per_file_ignores or {}).items()):
            before = values.setdefault("per_file_ignores", {})
            pattern = _pattern(layer, pattern)
            values["per_file_ignores"] = {**before, pattern: (*before.get(pattern, ()), *codes)}
        if o.inputs is not UNSET:
            values["inputs"] = {**values.get("inputs", {}), **{k: tuple(v) for k, v in o.inputs.items()}}
        if o.src is not UNSET:
            values["src"] = tuple(_path(layer, p) for p in o.src)
        if o.cache_dir is not UNSET:
            values["cache_dir"] = _path(layer, o.cache_dir)
        if o.rule_paths and layer.trusted:
            extend("rule_paths", [_path(layer, p) for p in o.rule_paths])
        elif o.rule_paths:
            warnings.append(
                f"{layer.source}: rule-paths is ignored: linting never runs code that the linted project names; "
                "use --rule-path or your own configuration"
            )
    return Settings(selections=tuple(selections), **values), warnings


def _pattern(layer: Layer, pattern: str) -> str:
    """A file pattern with a folder in it becomes absolute: it is relative to where it was written."""
    if "/" not in pattern.rstrip("/"):
        return pattern
    folder = re.sub(r"([*?[])", r"[\1]", layer.root)
    negation = "!" if pattern.startswith("!") else ""
    return negation + os.path.normpath(os.path.join(folder, pattern.removeprefix("!")))


def _path(layer: Layer, path: str) -> str:
    return os.path.normpath(os.path.join(layer.root, os.path.expanduser(os.path.expandvars(path))))


def _toml(data: bytes, source: str) -> dict:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{source}: not valid TOML: {error}") from None
