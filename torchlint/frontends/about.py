"""`torchlint config` and `torchlint clean`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import click
from msgspec.inspect import LiteralType, type_info

from torchlint import cache_files, user
from torchlint.boundary import leads_out, tree_of
from torchlint.config import Settings, suggestion
from torchlint.config_file import Configurations
from torchlint.frontends.output import Failure, put
from torchlint.options import Options
from torchlint.project import IGNORED_FOLDERS
from torchlint.result import shown

FOLDER = ".torchlint_cache"
_TYPES = {"StrType": "str", "BoolType": "bool", "ListType": "list[str]", "DictType": "dict[str, {}]"}
_CONTEXT = {"help_option_names": ["-h", "--help"]}


@click.command(context_settings=_CONTEXT)
@click.argument("option", required=False)
@click.option("--output-format", type=click.Choice(("text", "json", "schema")), default="text", help="How to print.")
def config(option: str | None, output_format: str) -> int:
    """List the configuration options, or explain one; `--output-format schema` is their JSON schema."""
    if output_format == "schema":
        from torchlint.config_schema import schema

        put(json.dumps(schema(), indent=2) + "\n")
        return 0
    table = describe_options()
    if option and option not in table:
        raise Failure(f"no option is called `{option}`{suggestion(option, table)}")
    chosen = {option: table[option]} if option else table
    if output_format == "json":
        put(json.dumps(chosen[option] if option else chosen, indent=2) + "\n")
    elif option:
        about = chosen[option]
        put(f"{about['description']}\n\nDefault: {about['default']}\nType: {about['type']}\nExample:\n\n")
        put(f"    [tool.torchlint]\n    {option} = {about['example']}\n")
    else:
        put("".join(f"{name}\n" for name in chosen))
    return 0


def describe_options() -> dict[str, dict[str, str]]:
    """What can be configured: description, default, type and an example of each option."""
    defaults = Settings()
    table = {}
    known: Any = type_info(Options)
    for field in known.fields:
        schema = field.type.extra_json_schema
        default = getattr(defaults, field.name, None)
        table[field.encode_name] = {
            "description": schema["description"],
            "default": "none" if default is None else json.dumps(default),
            "type": _words(field.type.type),
            "example": schema["examples"][0],
        }
    return table


def _words(kind: Any) -> str:
    """The type of an option as one writes it."""
    if isinstance(kind, LiteralType):
        return " | ".join(json.dumps(value) for value in kind.values)
    return _TYPES[type(kind).__name__].format(_words(kind.value_type) if hasattr(kind, "value_type") else "")


@click.command(context_settings=_CONTEXT)
@click.option("--cache-dir", metavar="FOLDER", envvar="TORCHLINT_CACHE_DIR", help="The cache folder to clean.")
def clean(cache_dir: str | None) -> int:
    """Remove what torchlint remembers: the files in your cache folder, and in the .torchlint_cache folders below the
    working folder."""
    here = os.getcwd()
    if cache_dir and leads_out(os.path.abspath(cache_dir), [tree_of(here, "") or here]):
        raise Failure(f"--cache-dir {cache_dir}: a link leads from there out of the project")
    # What a project's configuration says is not asked for: only the user says where something is removed.
    named = cache_dir or Configurations().users_own().cache_dir or user.cache_folder()
    for folder in (*([os.path.abspath(named)] if named else ()), *_caches_below(here)):
        if cache_files.clean(folder):
            click.echo(f"Removed the cache in {shown(folder)}", err=True)
    return 0


def _caches_below(start: str) -> Iterator[str]:
    """The folders of the usual name; links are not followed."""
    stack = [start]
    while stack:
        try:
            with os.scandir(stack.pop()) as entries:
                folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        yield from (entry.path for entry in folders if entry.name == FOLDER)
        stack += [entry.path for entry in folders if entry.name not in IGNORED_FOLDERS]
