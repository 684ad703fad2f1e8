"""The command line as data, for what describes it elsewhere: completion in shells, the manual page, the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

import click
from msgspec import Struct

from torchlint.rule import rule_names

_RULES = frozenset("select ignore extend_select extend_ignore fixable extend_fixable unfixable".split())


class Option(Struct, frozen=True):
    """One option. `values` are what may be given; a path if `is_path`, nothing at all if it is a switch."""

    words: tuple[str, ...]
    help: str
    metavar: str = ""
    values: tuple[str, ...] = ()
    is_path: bool = False

    @property
    def is_switch(self) -> bool:
        return not self.metavar


class Command(Struct, frozen=True):
    """One command; `values` are what its first argument may be, if it is no path."""

    name: str
    help: str
    arguments: str
    options: tuple[Option, ...]
    values: tuple[str, ...] = ()


def commands() -> list[Command]:
    """All commands that can be described here: one that lacks a package has no options to name."""
    from torchlint.frontends.cli import COMMANDS

    found = []
    for name, (module, text, package) in COMMANDS.items():
        if package == "torchlint[server]" and find_spec("pygls") is None:
            found.append(Command(name, text, "", ()))
            continue
        command = getattr(import_module(module), name)
        arguments = " ".join(
            parameter.make_metavar(click.Context(command))
            for parameter in command.params
            if isinstance(parameter, click.Argument)
        )
        values = tuple(getattr(command, "commands", ())) or _first_words(name)
        found.append(Command(name, text, arguments, tuple(_options(command)), values))
    return found


def _first_words(name: str) -> tuple[str, ...]:
    if name == "rule":
        return tuple(rule_names())
    if name == "config":
        from torchlint.frontends.about import describe_options

        return tuple(describe_options())
    return ("bash", "zsh", "fish") if name == "completion" else ()


def _options(command: click.Command) -> Iterator[Option]:
    for parameter in command.params:
        if not isinstance(parameter, click.Option) or parameter.hidden:
            continue
        words = (*parameter.opts, *parameter.secondary_opts)
        values: tuple[str, ...] = ()
        if isinstance(parameter.type, click.Choice):
            values = tuple(map(str, parameter.type.choices))
        elif parameter.name in _RULES:
            values = ("ALL", *rule_names())
        metavar = "" if parameter.is_flag else parameter.make_metavar(click.Context(command))
        is_path = bool(re.search("FILE|FOLDER", metavar))
        yield Option(words, parameter.help or "", metavar, values, is_path)
    yield Option(("--help", "-h"), "Show this message and exit.")
