"""How a program is started in a run: by which command line, and what is chosen of what it offers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from torchlint.shapes.libraries.given_arguments import ParserArgument, given_by
from torchlint.shapes.libraries.offered_choices import OfferedChoice, offered, otherwise, switches

_GPU = re.compile(r"(use_?|enable_)?(cuda|gpu)", re.IGNORECASE)


class Start(NamedTuple):
    """One way to start a script: the `number` of a command line, and what is chosen besides; `otherwise`: with other
    numbers for all other options.
    """

    number: int = 0
    choices: tuple[OfferedChoice, ...] = ()
    otherwise: bool = False


def _on_a_gpu(defaults: dict[str, Any], options: list[ParserArgument]) -> list[list[str]]:
    """The command lines that ask a program for a GPU which does not take one by itself: `--cuda`, `--device cuda`."""
    found = []
    for option in options:
        value = defaults.get(option.name)
        if option.flags and option.action == "store_true" and value is False and _GPU.fullmatch(option.name):
            found.append([option.flags[-1]])
        elif option.flags and option.name == "device" and value == "cpu" and option.kind in (None, str):
            found.append([option.flags[-1], "cuda"])
    return found[:1]


def _is_never_left_out(defaults: Mapping[str, Any], lines: list[Mapping[str, Any]]) -> bool:
    """Is there a text (a model, a folder), a list, or an option without a default, for which each command line has
    another value? Then nobody starts it without.
    """
    texts = {name: value for name, value in defaults.items() if value is None or type(value) in (str, list)}
    return bool(lines) and any(all(line.get(name, text) != text for line in lines) for name, text in texts.items())


class Starts:
    """How the program of a run is started: by one of the command lines that are written down for it, and that it takes,
    the first being an empty one if that will do and they do not all give another text, the last one that asks for a
    GPU; then what is chosen besides. `offered` is what it lets its user choose, `switches` what may be turned on or
    off.
    """

    def __init__(self, lines: Callable[[], list[list[str]]] = list, start: Start = Start(), path: str | None = None):
        self.lines = lines
        self.start = start
        self.path = path
        self.count = 1
        self.line: list[str] = []
        self.leaves_out = False  # is there an option that is nothing, since nobody gives it?
        self.reads_settings = False  # a file of the project's: it may be that of another choice
        self.offered: dict[OfferedChoice, None] = {}
        self.switches: dict[OfferedChoice, None] = {}

    @property
    def chosen(self) -> int:
        return self.start.number

    def values(self, defaults: Mapping[str, Any], options: list[ParserArgument], some: bool) -> Mapping[str, Any]:
        """What a parser with these options makes of it."""
        written = [(words, given_by(options, words, some)) for words in self.lines()]
        taken = [given for _, given in written if given is not None]
        needs = any(option.required for option in options) or _is_never_left_out(defaults, taken)
        found: list[tuple[list[str], Mapping[str, Any]]] = [] if needs else [([], defaults)]
        for_gpus = ((words, given_by(options, words, some)) for words in _on_a_gpu(defaults, options))
        for words, given in (*written, *for_gpus):
            values = {**defaults, **(given or {})}
            if given is not None and all(values != other for _, other in found):
                found.append((words, values))
        self.count = max(self.count, len(found))
        if self.chosen < len(found):
            self.line, defaults = found[self.chosen]
        self.offered.update(dict.fromkeys(offered(defaults, options, self.path)))
        self.switches.update(dict.fromkeys(switches(defaults, options)))
        return self._with_choices(defaults, options, some) if self.start.choices else defaults

    def _with_choices(self, values: Mapping[str, Any], options: list[ParserArgument], some: bool) -> Mapping[str, Any]:
        """The same with what is chosen, where the program takes it."""
        names = {option.name for option in options}
        mine = [choice for choice in self.start.choices if choice.name in names]
        words = [*self.line, *(word for choice in mine for word in choice.words)]
        given = given_by(options, words, some) if mine else None
        if given is None:
            return values
        self.line, values = words, {**values, **given}
        return {**values, **otherwise(values)} if self.start.otherwise else values
