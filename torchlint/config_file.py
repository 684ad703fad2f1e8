"""Finds and reads configuration: the nearest `[tool.torchlint]` or `torchlint.toml` of a file, `extend`, overrides."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from torchlint.boundary import repository, stays_in
from torchlint.config import ConfigError, Selection, Settings, check_selectors
from torchlint.options import Options, check_version, options
from torchlint.reading import SETTINGS, check_kind, read
from torchlint.rule import rule_names
from torchlint.user import configuration_folder

NAMES = (".torchlint.toml", "torchlint.toml", "pyproject.toml")
_LONGEST_CHAIN = 30
_PLAIN = (
    "preview", "unsafe_fixes", "force_exclude", "respect_gitignore", "dry_run", "target_torch", "output_format",
    "fail_on",
)  # fmt: skip
_MOST_PARTS = 3_000_000


class Layer(Struct):
    """Options, the folder their paths are relative to, where they come from, and whether they may name code to run.

    What was found in a linted tree is bound to a folder: none of its paths may lead out of it, and it hears nothing of
    the user's environment. What the user named is free.
    """

    options: Options
    root: str
    source: str
    trusted: bool = False
    bound: str = ""


class Configurations:
    """The settings of every folder. `overrides` (the command line) are applied on top of whatever file is found.

    `explicit` is a configuration file for everything, `settings` stand for all configuration, `isolated` reads none,
    and the user's own is only read where it is `personal`. `warnings` are lines for the user.
    """

    def __init__(
        self,
        overrides: Collection[Layer] = (),
        explicit: str = "",
        isolated: bool = False,
        settings: Settings | None = None,
        noqa: bool = True,
        personal: bool = True,
    ):
        self.overrides = list(overrides)
        self.explicit = explicit
        self.isolated = isolated
        self.settings = settings
        self.noqa = noqa
        self.personal = personal and not isolated
        self.warnings: list[str] = []
        self._folders: dict[str, Settings] = {}
        self._files: dict[str, Settings] = {}

    def of_file(self, path: str) -> Settings:
        """The settings in force for a file or folder."""
        path = os.path.abspath(path)
        return self.of_folder(path if os.path.isdir(path) else os.path.dirname(path))

    def of_folder(self, folder: str, names: Collection[str] | None = None) -> Settings:
        """The settings in force for a folder; `names` are its entries if they are known."""
        climbed = []
        while folder not in self._folders:
            climbed.append(folder)
            found = self._look(folder, names)
            if found is None and os.path.dirname(folder) != folder:
                folder, names = os.path.dirname(folder), None
            else:
                self._folders[folder] = found or self._settings("")
        self._folders.update(dict.fromkeys(climbed, self._folders[folder]))
        return self._folders[folder]

    def _look(self, folder: str, names: Collection[str] | None) -> Settings | None:
        """The settings that a folder itself says, None if it says nothing."""
        if self.settings is not None:
            return self.settings
        if self.isolated:
            return self._settings("")
        if self.explicit:
            return self._settings(os.path.abspath(self.explicit), os.getcwd())
        for name in NAMES:
            path = os.path.join(folder, name)
            if (name in names if names is not None else os.path.lexists(path)) and self._is_ours(path):
                return self._settings(path)
        return None

    def sources(self) -> list[str]:
        """The files that have configured something so far."""
        return [path for path in self._files if path]

    def users_own(self) -> Settings:
        """The settings of somebody who is in no project."""
        return self._settings("")

    def _is_ours(self, path: str) -> bool:
        """Whether a file that was found configures torchlint. One that never says its name is not even parsed."""
        if not stays_in(path, _bound(path)):
            self._warn(f"{path} is not read: it is a link that leads out of its project; name it with --config")
            return False
        try:
            check_kind(os.stat(path))
            return is_ours(path)
        except IsADirectoryError:
            return False
        except OSError as error:
            self._warn(f"{path} is not read: {error.strerror or error}")
            return False

    def _settings(self, path: str, root: str = "") -> Settings:
        """The settings of one file. With a root the user has named it, and paths in it are relative to that."""
        if path not in self._files:
            layers = self._read(path, root or os.path.dirname(path), "" if root else _bound(path)) if path else []
            user = user_file() if self.personal else ""
            if user:
                theirs = self._read(user, os.getcwd(), "", trusted=True)
                # Without a project's configuration the user's own counts; with one only what no project may say does.
                layers = [*(map(_beyond_projects, theirs) if path else theirs), *layers]
            settings, warnings = combine([*layers, *self.overrides], path)
            settings = replace(settings, noqa=self.noqa)
            for warning in warnings:
                self._warn(warning)
            check_selectors(settings, rule_names(settings.rule_paths))
            self._files[path] = settings
        return self._files[path]

    def _read(
        self, path: str, root: str, bound: str, trusted: bool = False, shown: str = "", seen: tuple[str, ...] = ()
    ) -> list[Layer]:
        """A file's layers: what it extends first.

        `shown` is how errors call it: an expanded name could tell a secret.
        """
        shown = shown or path
        if path in seen:
            raise ConfigError(f"{shown}: `extend` leads back to the file itself")
        if len(seen) > _LONGEST_CHAIN:
            raise ConfigError(f"{shown}: more than {_LONGEST_CHAIN} files extend each other")
        layer = Layer(read_options(path, shown), root, shown, trusted, bound)
        folder = os.path.dirname(path)
        if trusted and layer.options.rule_paths:
            layer.options.rule_paths = [_place(p, folder, "") for p in layer.options.rule_paths]
        if layer.options.extend is UNSET:
            return [layer]
        base = _place(layer.options.extend, folder, bound)
        if not base:
            self._warn(_outside(shown, "extend", layer.options.extend))
            return [layer]
        called = f"{shown}: extend = {layer.options.extend!r}" if not bound else base
        return [*self._read(base, os.path.dirname(base), bound, trusted, called, (*seen, path)), layer]

    def _warn(self, line: str) -> None:
        if line not in self.warnings:
            self.warnings.append(line)


def user_file() -> str:
    """The user's own configuration, empty if there is none."""
    folder = configuration_folder()
    path = os.path.join(folder, "torchlint.toml")
    return path if folder and os.path.isfile(path) else ""


def _beyond_projects(layer: Layer) -> Layer:
    """What of the user's own configuration counts in every project."""
    o = layer.options
    return replace(layer, options=Options(rule_paths=o.rule_paths, cache_dir=o.cache_dir))


def is_ours(path: str) -> bool:
    """Whether a file says that it configures torchlint."""
    if os.path.basename(path) != "pyproject.toml":
        return True
    data = read(path, SETTINGS)
    return b"torchlint" in data and _own_table(table_of(data, path)) is not None


def _own_table(table: dict) -> Any:
    """What a pyproject.toml says to torchlint, None if nothing."""
    tools = table.get("tool")
    return tools.get("torchlint") if isinstance(tools, dict) else None


def read_options(path: str, shown: str) -> Options:
    """The options of one file."""
    try:
        data = read(path, SETTINGS)
    except OSError as error:
        raise ConfigError(f"{shown}: cannot read: {error.strerror or error}") from None
    table = table_of(data, shown)
    if os.path.basename(path) == "pyproject.toml":
        table = {} if _own_table(table) is None else _own_table(table)
    elif _own_table(table) is not None:
        raise ConfigError(
            f"{shown}: its options stand at the top, without [tool.torchlint]: that table is for a pyproject.toml"
        )
    if not isinstance(table, dict):
        raise ConfigError(f"{shown}: tool.torchlint is not a table")
    return options(table, shown)


def inline_layer(text: str) -> Layer:
    """The options of `--config 'KEY = VALUE'`."""
    return Layer(options(table_of(text.encode(), "--config"), "--config"), os.getcwd(), "--config", trusted=True)


def combine(layers: Collection[Layer], source: str) -> tuple[Settings, list[str]]:
    """Settings of the layers, a later one wins, and lines about what was refused."""
    values: dict[str, Any] = {"source": source, "root": os.path.dirname(source)}
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
            chosen = None if select is UNSET else tuple(dict.fromkeys(select))
            selections.append(
                Selection(chosen, tuple(dict.fromkeys(ignore)), tuple(dict.fromkeys(o.extend_select or ())))
            )
        for name in _PLAIN:
            if getattr(o, name) is not UNSET:
                values[name] = getattr(o, name)
        for name in ("fixable", "unfixable"):
            if getattr(o, name) is not UNSET:
                values[name] = tuple(getattr(o, name))
        extend("fixable", o.extend_fixable or [])
        if o.severity is not UNSET:
            values["severity"] = {**values.get("severity", {}), **o.severity}
        for name in ("include", "exclude"):
            if getattr(o, name) is not UNSET:
                values[name] = tuple(_pattern(layer, p) for p in getattr(o, name))
        extend("exclude", [_pattern(layer, p) for p in o.extend_exclude or ()])
        if o.per_file_ignores is not UNSET:
            values["per_file_ignores"] = {}
        for pattern, codes in (*(o.per_file_ignores or {}).items(), *(o.extend_per_file_ignores or {}).items()):
            table = values.setdefault("per_file_ignores", {})
            pattern = _pattern(layer, pattern)
            table[pattern] = tuple(dict.fromkeys((*table.get(pattern, ()), *codes)))
        if o.inputs is not UNSET:
            values["inputs"] = {**values.get("inputs", {}), **{k: tuple(v) for k, v in o.inputs.items()}}
        if o.src is not UNSET:
            places = {p: _place(p, layer.root, layer.bound) for p in o.src}
            values["src"] = tuple(filter(None, places.values()))
            warnings += [_outside(layer.source, "src", p) for p, place in places.items() if not place]
        if o.cache_dir and not layer.bound:
            values["cache_dir"] = _place(o.cache_dir, layer.root, "")
        elif o.cache_dir:
            warnings.append(
                f"{layer.source}: cache-dir is ignored: a linted project does not say where torchlint writes; "
                "use --cache-dir, TORCHLINT_CACHE_DIR or your own configuration"
            )
        if o.rule_paths and layer.trusted:
            extend("rule_paths", [_place(p, layer.root, "") for p in o.rule_paths])
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


def _bound(path: str) -> str:
    """What a configuration that was found in a tree may not lead out of: its repository, else its folder."""
    folder = os.path.realpath(os.path.dirname(path))
    return repository(folder) or folder


def _place(path: str, folder: str, bound: str) -> str:
    """Where a path in a configuration leads; empty if it leads out of what the configuration is bound to."""
    if not bound:
        return os.path.normpath(os.path.join(folder, os.path.expanduser(os.path.expandvars(path))))
    place = os.path.normpath(os.path.join(folder, path))
    return "" if path.startswith("~") or "$" in path or not stays_in(place, bound) else place


def _outside(source: str, option: str, value: str) -> str:
    return (
        f"{source}: {option} = {value!r} is ignored: the configuration of a project does not lead out of its"
        " repository, and is not told the environment; name it with --config"
    )


def table_of(data: bytes, source: str) -> dict:
    """What a TOML file says."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        text = data.decode("utf-8-sig")
        # What Python's own reader needs grows with the square of the parts of a key, which all stand in one line.
        if sum(line.count(".") ** 2 for line in text.split("\n")) > _MOST_PARTS:
            raise ConfigError(f"{source}: not read: its keys have thousands of parts")
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{source}: not valid TOML: nested too deeply") from None
    except ConfigError:
        raise
    except ValueError as error:  # of TOML, of UTF-8, or of a number with too many digits
        raise ConfigError(f"{source}: not valid TOML: {error}") from None
