"""`torchlint dev`, for people who write rules: why a rule speaks, what is known of a line, and the rules' examples."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchlint.config import suggestion
from torchlint.config_file import Configurations
from torchlint.frontends.output import Failure, put
from torchlint.printable import printable
from torchlint.project import NotText, Project, decode
from torchlint.reading import read

if TYPE_CHECKING:
    from torchlint.dev.program import AskedFile
    from torchlint.rule import Rule

_RULE_PATH = click.option("--rule-path", metavar="FOLDER", multiple=True, help="A folder with rules of your own.")
_HELP = {"help_option_names": ["-h", "--help"]}


@click.group(context_settings=_HELP, invoke_without_command=True)
@click.pass_context
def dev(context: click.Context) -> int:
    """For people who write rules."""
    if context.invoked_subcommand is None:
        put(f"{context.get_help()}\n")
    return 0


@dev.command(context_settings=_HELP)
@click.argument("place", metavar="FILE:LINE")
@click.argument("which", metavar="RULE")
@_RULE_PATH
def why(place: str, which: str, rule_path: tuple[str, ...]) -> int:
    """Why a rule speaks at a line, or does not: what is missing, and what its questions were answered."""
    from torchlint.dev.why import why

    program, rules = _program(place, rule_path)
    _put(why(program, _rule(which, rules), rules))
    return 0


@dev.command(context_settings=_HELP)
@click.argument("place", metavar="FILE:LINE")
@_RULE_PATH
def facts(place: str, rule_path: tuple[str, ...]) -> int:
    """What is known of a line: origins, roles, gradients, devices, the round's acts, shapes."""
    from torchlint.dev.facts import facts

    program, _ = _program(place, rule_path)
    _put(facts(program))
    return 0


@dev.command(context_settings=_HELP)
@click.argument("which", metavar="RULE_OR_FOLDER")
@_RULE_PATH
def test(which: str, rule_path: tuple[str, ...]) -> int:
    """Run the examples in the manual of a rule (a file, a code, or all of a folder)."""
    from importlib.util import find_spec

    from torchlint.examples import cases, differences, shortcomings

    chosen, rules = _chosen(which, rule_path)
    differ = 0
    for rule in chosen:
        if rule.dry and find_spec("torch") is None:
            raise Failure(f"{rule.code} needs torch, which `pip install 'torchlint[torch]'` brings")
        found = list(shortcomings(rule))
        programs = cases(rule)
        with tempfile.TemporaryDirectory() as folder:
            for number, case in enumerate(programs):
                found += differences(case, rules, Path(folder, str(number)).resolve())
        _put(
            [f"{rule.code} {rule.name}: {len(programs)} examples, {'not as they say' if found else 'all as they say'}"]
        )
        _put(f"  {line}" for text in found for line in text.split("\n"))
        differ += bool(found)
    return 1 if differ else 0


def _put(lines: Iterable[str]) -> None:
    put("".join(f"{printable(line)}\n" for line in lines))


def _chosen(which: str, rule_path: tuple[str, ...]) -> tuple[list[Rule], dict[str, Rule]]:
    """The rules to test, and all that run over their examples."""
    from torchlint.rule import Rule, builtin_folder, load_rules

    rules = load_rules(rule_path)
    if not os.path.exists(which):
        return [_rule(which, rules)], rules
    path = Path(which).resolve()
    if path == builtin_folder().resolve():
        return list(load_rules().values()), rules
    if path.is_dir():
        own = load_rules((*rule_path, path))
        return [r for r in own.values() if Path(r.path).resolve().parent == path], own
    ours = [r for r in rules.values() if Path(r.path).resolve() == path]
    if ours:
        return ours, rules
    rule = Rule(path)
    if rule.code in rules:
        raise Failure(f"{which}: {rule.code} is {rules[rule.code].name} already")
    return [rule], {**rules, rule.code: rule}


def _rule(which: str, rules: dict[str, Rule]) -> Rule:
    found = [r for r in rules.values() if which in (r.name, r.code) or which.upper() == r.code]
    if not found:
        names = [name for r in rules.values() for name in (r.code, r.name)]
        raise Failure(f"no rule is called `{which}`{suggestion(which, names)}")
    return found[0]


def _program(place: str, rule_path: tuple[str, ...]) -> tuple[AskedFile, dict[str, Rule]]:
    """The file and line that are asked about, and the rules in force there."""
    from torchlint.dev.program import AskedFile
    from torchlint.rule import load_rules
    from torchlint.source.text.indexes import parsed
    from torchlint.source.text.parse import CannotParse
    from torchlint.walk import project_of

    match = re.fullmatch(r"(.+):(\d+)", place)
    if not match:
        raise Failure(f"{place}: write a file and a line, `train.py:12`")
    name, line = match[1], int(match[2])
    if name.endswith(".ipynb"):
        raise Failure(f"{name} is a notebook; name a Python file")
    path = os.path.abspath(name)
    try:
        text = decode(read(path)).removeprefix("\ufeff")
    except IsADirectoryError:
        raise Failure(f"{name} is a folder; name one file") from None
    except OSError as error:
        raise Failure(f"{name} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except NotText as error:
        raise Failure(f"{name} is not text: {error}") from None
    settings = Configurations().of_file(path)
    root, roots = project_of(os.path.dirname(path), settings)
    project = Project(root, roots)
    try:
        tree = parsed(project, path, text)
    except CannotParse as error:
        raise Failure(f"{name}:{error.line}: cannot be parsed: {error}") from None
    program = AskedFile(path, text, line, tree, project.view(path), settings)
    if not 1 <= line <= len(program.module.index.lines):
        raise Failure(f"{name} has {len(program.module.index.lines)} lines")
    return program, load_rules((*settings.rule_paths, *rule_path))
