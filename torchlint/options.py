"""What may stand in a configuration file: the options, their documentation, and what is wrong with a table of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

import torchlint
from torchlint.config import ConfigError, suggestion
from torchlint.finding import SEVERITIES, Severity
from torchlint.installed import is_version
from torchlint.reports import FORMATS

LONGEST_TEXT = 1000  # characters of a pattern, a path, a selector
LOOSE_LISTS = ("per-file-ignores", "extend-per-file-ignores", "inputs")  # tables of lists, or of one text each
_MOST_TEXT = 64 << 10  # and of all of them


class Options(Struct, rename="kebab", forbid_unknown_fields=True, omit_defaults=True):
    """What one configuration file, or the command line, may say. The annotations are the text of `torchlint config`."""

    extend: Annotated[
        str | UnsetType,
        Meta(
            description="Another configuration file whose options count unless this one says otherwise.",
            examples=['"../pyproject.toml"'],
        ),
    ] = UNSET
    required_version: Annotated[
        str | UnsetType, Meta(description="The versions of torchlint that may lint this project.", examples=['">=0.1"'])
    ] = UNSET
    select: Annotated[
        list[str] | UnsetType,
        Meta(
            description="The rules that are on, instead of the usual ones: codes, their beginnings, names, or ALL.",
            examples=['["TL1", "TL501"]'],
        ),
    ] = UNSET
    ignore: Annotated[
        list[str] | UnsetType,
        Meta(
            description="The rules that are off. Of two selectors that mean a rule the longer one decides.",
            examples=['["TL301"]'],
        ),
    ] = UNSET
    extend_select: Annotated[
        list[str] | UnsetType, Meta(description="Rules that are on besides the others.", examples=['["TL906"]'])
    ] = UNSET
    extend_ignore: Annotated[
        list[str] | UnsetType, Meta(description="Rules that are off besides the others.", examples=['["TL102"]'])
    ] = UNSET
    per_file_ignores: Annotated[
        dict[str, list[str]] | UnsetType,
        Meta(
            description="Rules that are off in the files a pattern means; `!` at its start means all other files.",
            examples=['{"tests/*" = ["TL5"]}'],
        ),
    ] = UNSET
    extend_per_file_ignores: Annotated[
        dict[str, list[str]] | UnsetType,
        Meta(
            description="Like per-file-ignores, added to those of an extended configuration.",
            examples=['{"*.ipynb" = ["TL7"]}'],
        ),
    ] = UNSET
    fixable: Annotated[
        list[str] | UnsetType, Meta(description="The rules whose fixes `--fix` may apply.", examples=['["TL1"]'])
    ] = UNSET
    extend_fixable: Annotated[
        list[str] | UnsetType,
        Meta(description="Rules whose fixes `--fix` may apply besides those of `fixable`.", examples=['["TL301"]']),
    ] = UNSET
    unfixable: Annotated[
        list[str] | UnsetType, Meta(description="The rules whose fixes `--fix` never applies.", examples=['["TL401"]'])
    ] = UNSET
    preview: Annotated[
        bool | UnsetType,
        Meta(description="Turns on rules that are still being tried out, where they are selected.", examples=["true"]),
    ] = UNSET
    unsafe_fixes: Annotated[
        bool | UnsetType,
        Meta(description="Lets `--fix` apply fixes that may change what the program does.", examples=["true"]),
    ] = UNSET
    include: Annotated[
        list[str] | UnsetType, Meta(description="The files to lint in folders.", examples=['["*.py"]'])
    ] = UNSET
    exclude: Annotated[
        list[str] | UnsetType,
        Meta(description="Files and folders to leave out, instead of the usual ones.", examples=['["generated"]']),
    ] = UNSET
    extend_exclude: Annotated[
        list[str] | UnsetType,
        Meta(description="Files and folders to leave out besides the usual ones.", examples=['["third_party"]']),
    ] = UNSET
    force_exclude: Annotated[
        bool | UnsetType,
        Meta(description="Leaves excluded files out even if they are named on the command line.", examples=["true"]),
    ] = UNSET
    respect_gitignore: Annotated[
        bool | UnsetType, Meta(description="Leaves out what .gitignore files name.", examples=["false"])
    ] = UNSET
    src: Annotated[
        list[str] | UnsetType,
        Meta(
            description="Folders, besides the project's own and `src`, in which imports look for modules.",
            examples=['["lib"]'],
        ),
    ] = UNSET
    dry_run: Annotated[
        bool | UnsetType,
        Meta(
            description="Runs modules and scripts on tensors without data to find what torch would refuse.",
            examples=["false"],
        ),
    ] = UNSET
    target_torch: Annotated[
        str | UnsetType,
        Meta(
            description="The torch that the program is to run on; without it the one that is installed here.",
            examples=['"2.6"'],
        ),
    ] = UNSET
    inputs: Annotated[
        dict[str, list[str]] | UnsetType,
        Meta(
            description="Sizes of the inputs of a module's forward, for the dry run.",
            examples=['{"pkg.model:Net" = ["B,3,224,224"]}'],
        ),
    ] = UNSET
    severity: Annotated[
        dict[str, Severity] | UnsetType,
        Meta(
            description="How much the findings of rules matter: error, warning or info.",
            examples=['{"TL9" = "error", "TL709" = "info"}'],
        ),
    ] = UNSET
    fail_on: Annotated[
        Severity | UnsetType,
        Meta(
            description="The mildest severity that makes the exit code 1: error, warning, or info for any finding.",
            examples=['"error"'],
        ),
    ] = UNSET
    rule_paths: Annotated[
        list[str] | UnsetType,
        Meta(
            description="Folders with rules of your own: only in your own configuration or on the command line.",
            examples=['["~/rules"]'],
        ),
    ] = UNSET
    cache_dir: Annotated[
        str | UnsetType,
        Meta(
            description="Where results are remembered: only in your own configuration or on the command line.",
            examples=['"~/.cache/torchlint"'],
        ),
    ] = UNSET
    output_format: Annotated[
        str | UnsetType,
        Meta(
            description="How findings are printed, such as concise, full, json, sarif or github.",
            examples=['"concise"'],
        ),
    ] = UNSET


def options(table: Mapping[str, Any], source: str) -> Options:
    """A TOML table as options; a key or value that is none is one clear line."""
    _check_size(table, source)
    known = Options.__struct_encode_fields__  # `fields` finds the types of each out again, in a millisecond
    for key in table:
        if key not in known:
            raise ConfigError(f"{source}: unknown option `{key}`{suggestion(key.replace('_', '-'), known)}")
    style = table.get("output-format")
    if isinstance(style, str) and style not in FORMATS:
        raise ConfigError(f"{source}: no output format is called `{style}`{suggestion(style, FORMATS)}")
    target = table.get("target-torch")
    if isinstance(target, str) and not is_version(target):
        raise ConfigError(f'{source}: target-torch: {target!r} is not a version of torch, such as "2.6"')
    levels = table.get("severity")
    for place, level in (*(levels.items() if isinstance(levels, dict) else ()), ("fail-on", table.get("fail-on"))):
        if isinstance(level, str) and level not in SEVERITIES:
            raise ConfigError(
                f"{source}: {place}: no severity is called `{level}`; there are {', '.join(SEVERITIES[::-1])}"
            )
    table = dict(table)
    for key in LOOSE_LISTS:
        if isinstance(table.get(key), dict):
            table[key] = {name: [value] if isinstance(value, str) else value for name, value in table[key].items()}
    try:
        return msgspec.convert(table, Options)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        raise ConfigError(f"{source}: {where.replace('$.', '').strip('`')}: {what.lower().replace('`', '')}") from None


def _check_size(table: Mapping[str, Any], source: str) -> None:
    """Patterns and selectors are tried on every file: nobody needs so many of them."""
    left = _MOST_TEXT
    stack: list[Any] = [table]
    while stack:
        value = stack.pop()
        if isinstance(value, Mapping):
            stack += [*value, *value.values()]
        elif isinstance(value, list):
            stack += value
        elif isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise ConfigError(f"{source}: `{value[:20]}...` has more than {LONGEST_TEXT} characters")
        left -= len(value) + 1 if isinstance(value, str) else 1
    if left < 0:
        raise ConfigError(f"{source}: more than {_MOST_TEXT >> 10} KB of options")


def check_version(options: Options, source: str) -> None:
    """`required-version` refuses to lint with another version."""
    if options.required_version is UNSET:
        return
    mine = _numbers(torchlint.__version__)
    for part in options.required_version.split(","):
        match = re.fullmatch(r"\s*(==|>=|<=|!=|~=|>|<)?\s*(\d+(?:\.\d+)*)\s*", part)
        if not match:
            raise ConfigError(f"{source}: required-version: {options.required_version!r} is not a version")
        wanted = _numbers(match[2])
        holds = {
            "==": mine == wanted,
            "!=": mine != wanted,
            ">=": mine >= wanted,
            "<=": mine <= wanted,
            ">": mine > wanted,
            "<": mine < wanted,
            "~=": mine >= wanted and mine[: match[2].count(".")] == wanted[: match[2].count(".")],
        }
        if not holds[match[1] or "=="]:
            required = options.required_version
            raise ConfigError(f"{source}: torchlint {required} is required, this is {torchlint.__version__}")


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(n) for n in re.findall(r"\d+", version)][:4]
    return (*numbers, *[0] * (4 - len(numbers)))
