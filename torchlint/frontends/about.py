"""`torchlint rule`, `torchlint config` and `torchlint clean`."""

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
@click.argument("which", required=False)
@click.option("--all", "everything", is_flag=True, help="Explain all rules.")
@click.option("--rule-path", metavar="FOLDER", multiple=True, help="A folder with rules of your own.")
@_format
def rule(which: str | None, everything: bool, rule_path: tuple[str, ...], output_format: str) -> int:
    """Explain a rule (its code or its name), or all of them."""
    from torchlint.rule import load_rules

    rules = load_rules((*Configurations().of_file(os.getcwd()).rule_paths, *rule_path))
    if not everything and not which:
        raise Failure("which rule? `torchlint rule CODE`, or `torchlint rule --all`")
    chosen = [r for r in rules.values() if everything or which in (r.name, r.code) or which.upper() == r.code]
    if not chosen:
        names = [name for r in rules.values() for name in (r.code, r.name)]
        raise Failure(f"no rule is called `{which}`{suggestion(which, names)}")
    if output_format == "json":
        records = [_record(r) for r in chosen]
        click.echo(json.dumps(records if everything else records[0], indent=2))
    else:
        click.echo("\n\n".join(_page(r) for r in chosen))
    return 0


def _page(rule) -> str:
    state = "on by default" if rule.default else "off by default"
    state += ", only with --preview" if rule.preview else ""
    return f"# {rule.code} {rule.name}\n\n{rule.group}, {state}\n\n{rule.manual.strip()}"


def _record(rule) -> dict:
    return {
        "code": rule.code,
        "name": rule.name,
        "group": rule.group,
        "summary": rule.summary,
        "explanation": rule.manual.strip(),
        "default": rule.default,
        "preview": rule.preview,
        "dry_run": rule.dry,
    }


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
