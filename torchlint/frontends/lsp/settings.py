"""What the editor says about linting, on top of the configuration files of each folder of the workspace."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from torchlint.config import ConfigError, Settings
from torchlint.config_file import Configurations, Layer
from torchlint.options import Options


class EditorSettings(Struct, rename="camel"):
    """The section `torchlint` of an editor's settings. What is None is left to the configuration files."""

    enable: bool = True
    shape_hints: bool = True
    code_lens: bool = True
    dry_run: bool | None = None
    preview: bool | None = None
    select: list[str] | None = None
    ignore: list[str] | None = None
    extend_select: list[str] | None = None
    configuration: str | None = None

    def options(self) -> Options:
        named = {name: getattr(self, name) for name in ("dry_run", "preview", "select", "ignore", "extend_select")}
        return Options(**{name: value for name, value in named.items() if value is not None})


def read(section: Any) -> EditorSettings:
    """Settings as the client sent them; one that makes no sense is as if it were absent."""
    if not isinstance(section, Mapping):
        return EditorSettings()
    if isinstance(section.get("torchlint"), Mapping):
        section = section["torchlint"]
    elif isinstance(section.get("settings"), Mapping):
        section = section["settings"]
    sound = {}
    for field in msgspec.structs.fields(EditorSettings):
        value = section.get(field.encode_name)
        if value is not None:
            try:
                sound[field.name] = msgspec.convert(value, field.type)
            except msgspec.ValidationError:
                pass
    return EditorSettings(**sound)


class Workspace:
    """The folders that are open and the settings in force in them. `problems` are lines for the user."""

    def __init__(self, folders: list[str], fallback: str, rule_paths: tuple[str, ...] = ()):
        self.folders = folders
        self.fallback = fallback
        self.rule_paths = rule_paths
        self.everywhere = EditorSettings()
        self.by_folder: dict[str, EditorSettings] = {}
        self.problems: list[str] = []
        self._configurations: dict[str, Configurations] = {}
        self._overrides: dict[str, list[Layer]] = {}
        self._warned: set[str] = set()
        self._broken: dict[str, str] = {}  # why the configuration of a folder cannot be read
        self._good: dict[str, tuple[EditorSettings, Settings]] = {}  # the last ones of a folder that could

    def folder_of(self, path: str) -> str:
        """The innermost workspace folder that holds a file."""
        holding = [folder for folder in self.folders if path.startswith(os.path.join(folder, ""))]
        return max(holding, key=len, default=self.fallback)

    def editor(self, path: str) -> EditorSettings:
        """What the editor says about a file."""
        return self.by_folder.get(self.folder_of(path), self.everywhere)

    def settings(self, path: str) -> Settings:
        """The settings in force for a file.

        A configuration that cannot be read is reported once, and the last good one stays.
        """
        folder, editor = self.folder_of(path), self.editor(path)
        home = os.path.dirname(path)
        if folder not in self._overrides:
            self._overrides[folder] = self._usable(editor, folder)
        overrides = self._overrides[folder]
        try:
            if folder not in self._configurations:
                named = editor.configuration and os.path.join(folder, os.path.expanduser(editor.configuration))
                self._configurations[folder] = Configurations(overrides, named or "")
            configurations = self._configurations[folder]
            settings = configurations.of_file(path)
        except (ConfigError, OSError, ValueError) as error:  # of a null character in the name of somebody's home
            if str(error) not in self._broken.values():
                self.problems.append(str(error))
            self._broken[home] = str(error)
            before, good = self._good.get(home, (None, None))
            return good if good and before == editor else Configurations(overrides, isolated=True).of_file(path)
        self._broken.pop(home, None)
        self._good[home] = (editor, settings)
        for line in configurations.warnings:
            self._warn(line)
        return settings

    def _usable(self, editor: EditorSettings, folder: str) -> list[Layer]:
        """What stands above all files. Of an editor that selects what is no rule it is as if it selected nothing."""
        rules = [Layer(Options(rule_paths=list(self.rule_paths)), folder, "--rule-path", trusted=True)]
        layers = [Layer(editor.options(), folder, "the editor's settings"), *(rules if self.rule_paths else [])]
        try:
            Configurations(layers, isolated=True).users_own()
        except ConfigError as error:
            self._warn(f"the editor's settings: {error}")
            plain = Options(dry_run=layers[0].options.dry_run, preview=layers[0].options.preview)
            layers[0] = Layer(plain, folder, "the editor's settings")
        return layers

    def _warn(self, line: str) -> None:
        """Says something once."""
        if line not in self._warned:
            self.problems.append(line)
            self._warned.add(line)

    def forget(self) -> None:
        """Settings or configuration files have changed."""
        self._configurations.clear()
        self._overrides.clear()

    def take_problems(self) -> list[str]:
        problems, self.problems = self.problems, []
        return problems
