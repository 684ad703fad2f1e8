"""Configuration files beside the program, YAML and JSON: what they say is a fact, as its own constants are."""

from __future__ import annotations

import json
import os
from typing import Any

from torchlint.project import SETTINGS_KINDS
from torchlint.shapes.core.standins import Library, StandIn
from torchlint.shapes.core.values import Special, Unknown, from_unknown, machines
from torchlint.shapes.libraries import dumped, plain_yaml, temporary, written_files
from torchlint.shapes.libraries.open_files import FileOfParts, OpenFile
from torchlint.shapes.libraries.path_texts import path_text

_DEPTH = 20
_READING = ("r", "rt", "rb")
_JSON_HOOKS = ("object_hook", "object_pairs_hook", "parse_float", "parse_int", "parse_constant")


class AttributeSettings(StandIn):
    """A mapping whose keys are attributes, as OmegaConf and EasyDict make it."""

    def __init__(self, values: dict[Any, Any]):
        self.__dict__.update({"_held": {key: as_settings(value) for key, value in values.items()}})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._held:
            raise AttributeError(name)
        return self._held[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._held[name] = as_settings(value)

    def __delattr__(self, name: str) -> None:
        self._held.pop(name, None)

    def __getitem__(self, name: Any) -> Any:
        return self._held[name]

    def __setitem__(self, name: Any, value: Any) -> None:
        self._held[name] = as_settings(value)

    def __contains__(self, name: Any) -> bool:
        return name in self._held

    def __iter__(self):
        return iter(list(self._held))

    def __len__(self) -> int:
        return len(self._held)

    def get(self, name: Any, default: Any = None) -> Any:
        return self._held.get(name, default)

    def pop(self, name: Any, *default: Any) -> Any:
        return self._held.pop(name, *default)

    def keys(self):
        return self._held.keys()

    def values(self):
        return self._held.values()

    def items(self):
        return self._held.items()


def as_settings(value: Any) -> Any:
    """The same with attributes for keys, all the way down."""
    machines[-1].budget.spend(4)
    if type(value) is dict:
        return AttributeSettings(value)
    return [as_settings(part) for part in value] if type(value) is list else value


def as_plain(value: Any) -> Any:
    machines[-1].budget.spend()
    if isinstance(value, AttributeSettings):
        return {key: as_plain(part) for key, part in value.items()}
    return [as_plain(part) for part in value] if type(value) is list else value


def text_at(machine, path: Any) -> str | None:
    """The text of a configuration file of the project that a literal path means, wherever the program is started;
    None if there is none, or there are several.
    """
    path = path_text(path)
    script = machine.script or (machine.place[0] if machine.place is not None else None)
    if type(path) is not str or len(path) > 400 or not path.endswith(SETTINGS_KINDS) or script is None or "\0" in path:
        return None
    root, folder = str(machine.view.project.root), os.path.dirname(script)
    folders = [folder]
    while folder != root and folder.startswith(root) and len(folders) < _DEPTH:
        folder = os.path.dirname(folder)
        folders.append(folder)
    texts = {}
    for one in folders:
        place = os.path.normpath(os.path.join(one, path))
        if place.startswith(root.rstrip(os.sep) + os.sep) and place not in texts:
            texts[place] = machine.view.document(place)
    found = [text for text in texts.values() if text is not None]
    machine.starts.reads_settings |= bool(found)
    return found[0] if len(found) == 1 else None


def open_file(machine, path=None, mode="r", *args, **options):
    """`open`: what is read of other files than the program's own, nobody knows."""
    name = path_text(path)
    if type(mode) is str and type(name) is str and len(args) < 2:
        named = {**options, **({"buffering": args[0]} if args else {})}
        own = written_files.open_path(machine, name, mode, named)
        if own is not None:
            return own
    elif type(mode) is not str or mode not in _READING:
        written_files.forget_all(machine)
    text = text_at(machine, path) if mode in _READING else None
    if text is None:
        temporary.written(machine, [path])
        return Unknown("open() is not run")
    machine.budget.spend(len(text) >> 4)
    return OpenFile(text)


def _text_of(machine, source: Any) -> Any:
    """The text of a file or of a text, or the value from which it was made."""
    source = written_files.reader_of(source)
    if isinstance(source, (OpenFile, FileOfParts)):
        source = source.read()
    found = machine.files_written.part_of(source)
    if type(found) is written_files.Dumped:
        return found
    text = source.decode() if type(source) is bytes and source.isascii() else source
    return text if type(text) is str else from_unknown(text, "a configuration")


def read_json(machine, source, **options):
    """`json.load` and `json.loads`: what the program makes of each object or number, it makes here, too."""
    text = _text_of(machine, source)
    if type(text) is written_files.Dumped and text.how == "json" and not options:
        return dumped.as_json(machine, text.data)
    if type(text) is not str or len(text) > 100_000:
        return from_unknown(text, "data from a text")
    if not options.keys() <= {*_JSON_HOOKS, "strict"}:
        return Unknown("data from a text, read by a decoder of the program")
    machine.budget.spend(len(text) >> 2)
    hooks = {name: options[name] for name in _JSON_HOOKS if options.get(name) is not None}
    made_by = {name: lambda part, hook=hook: machine.call(hook, [part], {}) for name, hook in hooks.items()}
    try:
        return json.loads(text, strict=options.get("strict", True) is not False, **made_by)
    except RecursionError:
        return Unknown("data of great depth")


def _read_yaml(machine, source, *args, **options):
    text = _text_of(machine, source)
    if type(text) is not str:
        return from_unknown(text, "a configuration")
    machine.budget.spend(len(text) >> 1)
    return plain_yaml.load(text)


def _read_settings(machine, source, *args, **options):
    """`OmegaConf.load`"""
    text = text_at(machine, source)
    if text is None:
        return Unknown("a configuration file")
    return as_settings(_read_yaml(machine, text))


def _create(machine, source=None, *args, **options):
    """`OmegaConf.create` and `EasyDict`."""
    if isinstance(source, (dict, type(None))):
        return AttributeSettings({**(source or {}), **{k: v for k, v in options.items() if k != "flags"}})
    return from_unknown(source, "settings")


def _to_container(machine, source, *args, **options):
    return as_plain(source) if isinstance(source, AttributeSettings) else from_unknown(source, "settings")


JSON = {f"json.{name}": written_files.knowing(Special(name, read_json)) for name in ("load", "loads")}
SETTINGS: dict[str, Any] = {
    **{f"yaml.{name}": Special(name, _read_yaml) for name in ("load", "safe_load", "full_load")},
    **{f"yaml.{name}": Unknown("a loader of YAML") for name in ("Loader", "SafeLoader", "FullLoader", "CLoader")},
    "omegaconf.OmegaConf": Library("omegaconf.OmegaConf"),
    "omegaconf.OmegaConf.load": Special("load", _read_settings),
    "omegaconf.OmegaConf.create": Special("create", _create),
    "omegaconf.OmegaConf.to_container": Special("to_container", _to_container),
    "easydict.EasyDict": Special("EasyDict", _create),
}
