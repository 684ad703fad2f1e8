"""What is given on the command line of `torchlint check`: kinds of values, and the configuration they amount to."""

from __future__ import annotations

import os
from typing import Any

import click

from torchlint.config_file import Configurations, Layer, inline_layer
from torchlint.frontends.output import Failure
from torchlint.options import options
from torchlint.printable import printable
from torchlint.source.text.suppress import says_something


class Codes(click.ParamType):
    """Selectors separated by commas."""

    name = "rules"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[str]:
        return value if isinstance(value, list) else [part.strip() for part in value.split(",") if part.strip()]


def switch(name: str, text: str, **more: Any):
    return click.option(f"--{name}/--no-{name}", default=None, help=text, **more)


def codes(name: str, text: str):
    return click.option(f"--{name}", type=Codes(), metavar="RULES", multiple=True, help=text)


def noqa_reason(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """Why findings are silenced: words that stand in a comment and mean nothing there. None if nobody asks for it."""
    if text and (text != printable(" ".join(text.split())) or says_something(text)):
        raise Failure(f"--add-noqa={text!r}: a reason is one line of plain words")
    return text


def configurations(given: dict[str, Any]) -> Configurations:
    """What the command line says about configuration."""
    explicit, inline = "", []
    for value in given["config"]:
        if "=" in value and not os.path.isfile(value):
            inline.append(inline_layer(value))
        elif explicit:
            raise Failure("--config names two configuration files")
        elif not os.path.exists(value):
            raise Failure(f"--config {value}: no such file, and no KEY=VALUE either")
        else:
            explicit = value
    table: dict[str, Any] = {}
    for key in ("select", "ignore", "extend_select", "extend_ignore", "fixable", "extend_fixable", "unfixable"):
        if given[key]:
            table[key] = [code for codes in given[key] for code in codes]
    for key in ("exclude", "extend_exclude"):
        if given[key]:
            table[key] = [pattern for patterns in given[key] for pattern in patterns.split(",") if pattern]
    switches = ("preview", "unsafe_fixes", "force_exclude", "respect_gitignore", "dry_run")
    for key in (*switches, "cache_dir", "output_format", "target_torch", "fail_on"):
        if given[key] is not None:
            table[key] = given[key]
    if given["rule_path"]:
        table["rule_paths"] = list(given["rule_path"])
    if given["per_file_ignores"]:
        table["per_file_ignores"] = _per_file(",".join(given["per_file_ignores"]))
    layer = Layer(options({k.replace("_", "-"): v for k, v in table.items()}, "command line"), os.getcwd(), "", True)
    return Configurations([*inline, layer], explicit, given["isolated"], noqa=not given["ignore_noqa"])


def _per_file(text: str) -> dict[str, list[str]]:
    """`PATTERN:RULE,RULE,PATTERN:RULE` as a table."""
    table: dict[str, list[str]] = {}
    pattern = ""
    for part in filter(None, (part.strip() for part in text.split(","))):
        if ":" in part:
            pattern, part = part.rsplit(":", 1)
        if not pattern:
            raise Failure(f"--per-file-ignores {text}: PATTERN:RULE is expected")
        table.setdefault(pattern, []).append(part)
    return table
