"""`torchlint config` and `torchlint clean`."""

from __future__ import annotations

import json
import os
import shutil

import click
from msgspec.inspect import type_info

from torchlint.cache import TAG
from torchlint.config import Settings, suggestion
from torchlint.config_file import Configurations
from torchlint.frontends.cli import Failure
from torchlint.options import Options
from torchlint.project import IGNORED_FOLDERS
from torchlint.result import shown

FOLDER = ".torchlint_cache"
_TYPES = {"StrType": "str", "BoolType": "bool", "ListType": "list[str]", "DictType": "dict[str, list[str]]"}
_CONTEXT = {"help_option_names": ["-h", "--help"]}
_format = click.option("--output-format", type=click.Choice(("text", "json")), default="text", help="How to print.")


@click.command(context_settings=_CONTEXT)
@click.argument("option", required=False)
@_format
def config(option: str | None, output_format: str) -> int:
    """List the configuration options, or explain one."""
    table = describe_options()
    if option and option not in table:
        raise Failure(f"no option is called `{option}`{suggestion(option, table)}")
    chosen = {option: table[option]} if option else table
    if output_format == "json":
        click.echo(json.dumps(chosen[option] if option else chosen, indent=2))
    elif option:
        about = chosen[option]
        click.echo(f"{about['description']}\n\nDefault: {about['default']}\nType: {about['type']}\nExample:\n")
        click.echo(f"    [tool.torchlint]\n    {option} = {about['example']}")
    else:
        click.echo("\n".join(chosen))
    return 0


def describe_options() -> dict[str, dict[str, str]]:
    """What can be configured: description, default, type and an example of each option."""
    defaults = Settings()
    table = {}
    for field in type_info(Options).fields:
        schema = field.type.extra_json_schema
        default = getattr(defaults, field.name, None)
        table[field.encode_name] = {
            "description": schema["description"],
            "default": "none" if default is None else json.dumps(default),
            "type": _TYPES[type(field.type.type).__name__],
            "example": schema["examples"][0],
        }
    return table


@click.command(context_settings=_CONTEXT)
def clean() -> int:
    """Remove the caches below the working folder, and the one that is configured."""
    folders = [Configurations().of_file(os.getcwd()).cache_dir]
    for folder, below, _ in os.walk(os.getcwd()):
        if FOLDER in below:
            folders.append(os.path.join(folder, FOLDER))
        below[:] = [name for name in below if name not in IGNORED_FOLDERS]
    for folder in folders:
        if folder and _is_cache(folder):
            click.echo(f"Removing cache at: {shown(folder)}", err=True)
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def _is_cache(folder: str) -> bool:
    """Only what carries our mark is removed: a configured folder can be any folder."""
    try:
        with open(os.path.join(folder, "CACHEDIR.TAG"), encoding="utf-8") as file:
            return file.read() == TAG
    except (OSError, UnicodeDecodeError):
        return False
