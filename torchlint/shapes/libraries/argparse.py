"""Command lines and configuration: argparse gives its defaults and what is given, namespaces give their attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import ProgramExit, Special, Unknown, UnknownUsed, machines
from torchlint.shapes.language.functions import closure_of
from torchlint.shapes.libraries.given_arguments import ParserArgument, given_by
from torchlint.shapes.libraries.paths import FilePath
from torchlint.shapes.tensors import wild

_COMMAND = "a command of several"


class Namespace(StandIn):
    """Named values, as argparse and SimpleNamespace make them."""

    def __init__(self, values: dict[str, Any]):
        self.__dict__.update({k: v for k, v in values.items() if not k.startswith("__")})

    @property
    def values_by_name(self) -> dict[str, Any]:
        return self.__dict__

    def _get_kwargs(self) -> list[tuple[str, Any]]:
        return list(self.__dict__.items())

    def _get_args(self) -> list:
        return []

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__

    def __eq__(self, other: Any) -> bool:
        return self is other

    __hash__ = object.__hash__


_A_WORD = "a word of the command line"


class OtherWords(list):
    """The words of a command line that a parser does not know: none, unless the program takes some out."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return OtherWords()
        raise UnknownUsed(_A_WORD)

    def __iter__(self) -> Iterator[Unknown]:
        """Who goes through them counts on some: how many rounds there are is unknown."""
        return machines[-1].changes.short([wild.unknown(_A_WORD, wild.TEXT)])


class Parser(StandIn):
    """An ArgumentParser: what it gives for the command line of this run, for an empty one if that will do. A required
    argument is unknown where nobody wrote down how the program is called.
    """

    takes_unknown = frozenset({"add_argument", "set_defaults"})

    def __init__(self):
        self.defaults: dict[str, Any] = {}
        self.options: list[ParserArgument] = []
        self.optional: list[str] = []  # those that are nothing if nobody gives them
        self.commands: Commands | None = None
        self.has_more = False  # arguments of unknown names

    def add_argument(self, *flags, **options) -> Unknown:
        flags = tuple(f for f in flags if type(f) is str)
        if not flags:
            self.has_more = True
            return Unknown("an argument of unknown name")
        long = next((f for f in flags if f.startswith("--")), flags[0])
        name = options.get("dest") or long.lstrip("-").replace("-", "_")
        action = options.get("action")
        if action == "help" or action == "version":
            return Unknown("an argument's action")
        value = options.get("default")
        has_place = not long.startswith("-")
        required = options.get("required") is True or has_place and options.get("nargs") not in ("?", "*", "...")
        if "default" not in options or required:  # whose default nobody ever sees
            if name == "local_rank":
                value = Unknown("the rank that a launcher of processes gives")
            elif action == "store_true":
                value = False
            elif action == "store_false":
                value = True
            elif options.get("type") in (int, float) and not options.get("nargs"):
                value = Unknown(f"the argument {name}, a number that has no default")
            elif "const" in options and action == "store_const":
                value = None
            elif required or has_place:
                choices = options.get("choices")
                value = (
                    choices[0] if isinstance(choices, (list, tuple)) and choices else Unknown(f"the argument {name}")
                )
        if options.get("nargs") == "...":
            value = []
        if isinstance(value, str):
            value = _typed(value, options.get("type"))
        if not any(option.name == name for option in self.options):  # of several for one name, the first one's counts
            self.defaults[name] = value
            if _is_nothing(value):
                self.optional.append(name)
        told = {"parts": options.get("nargs"), "kind": options.get("type")}
        told |= {key: options.get(key) for key in ("action", "const", "choices")}
        self.options.append(ParserArgument(name, () if has_place else flags, required=required, **told))
        return Unknown("an argument's action")

    def add_argument_group(self, *_, **options) -> Parser:
        return self

    add_mutually_exclusive_group = add_argument_group

    def add_subparsers(self, *_, **options) -> Commands:
        self.options.append(ParserArgument(_COMMAND, (), None, "A...", None, None, None, True))
        self.commands = Commands(options.get("dest"))
        return self.commands

    def set_defaults(self, **values) -> None:
        self.defaults.update(values)

    def get_default(self, name: str) -> Any:
        return self.defaults.get(name)

    def parse_args(self, args=None, *_, **options) -> Namespace:
        return self._parsed(args, False)

    def _parsed(self, given: Any, some: bool) -> Namespace:
        values = dict(self.defaults)
        if isinstance(given, (list, tuple)) and given and all(type(word) is str for word in given):
            told = given_by(self.options, list(given), some)
            values |= {o.name: Unknown(f"the argument {o.name}") for o in self.options} if told is None else told
        elif given is None:
            values = dict(machines[-1].starts.values(values, self.options, some))
        if self.commands is not None:
            values |= self.commands.values(values.pop(_COMMAND, None))
        machines[-1].starts.leaves_out |= any(_is_nothing(values.get(name)) for name in self.optional)
        parsed = Namespace(values)
        if self.has_more:
            machines[-1].changes.loosen(vars(parsed))
        return parsed

    def parse_known_args(self, args=None, *_, **options) -> tuple[Namespace, list]:
        return self._parsed(args, True), OtherWords()

    def print_help(self, *_) -> None:
        pass

    print_usage = print_help

    def error(self, *_):
        raise ProgramExit("it asks for other arguments")


class Commands(StandIn):
    """What `add_subparsers` gives: a parser for each command. Where nobody wrote down how the program is called, each
    start is with another command, those that train first.
    """

    takes_unknown = frozenset({"add_parser"})

    def __init__(self, name: Any):
        self._name = name
        self._parsers: dict[str, Parser] = {}

    def add_parser(self, name: Any, *_, **options) -> Parser:
        parser = Parser()
        if type(name) is str:
            self._parsers[name] = parser
        return parser

    def values(self, words: Any) -> dict[str, Any]:
        """What the words of a command line give, the command and its arguments."""
        starts, names = machines[-1].starts, sorted(self._parsers, key=lambda name: "train" not in name)
        if not names:
            return {}
        if not isinstance(words, list) or not words or words[0] not in self._parsers:
            starts.count = max(starts.count, len(names))
            words = starts.line = [names[min(starts.chosen, len(names) - 1)]]
        parser = self._parsers[words[0]]
        found = {**parser.defaults, **(given_by(parser.options, words[1:]) or {})}
        if parser.commands is not None:
            found |= parser.commands.values(found.pop(_COMMAND, None))
        return {**found, self._name: words[0]} if type(self._name) is str else found


def _is_nothing(value: Any) -> bool:
    return value is None or type(value) is str and not value


def _typed(text: str, kind: Any) -> Any:
    """What a default becomes that is a text: argparse gives it to the type of its argument."""
    if kind in (int, float) and len(text) < 30:
        try:
            return kind(text)
        except ValueError:
            return text
    if kind in (None, str):
        return text
    if isinstance(kind, Special) and kind.__dict__.get("kind") is FilePath:
        return FilePath(text)
    if closure_of(kind) is None:
        return Unknown("an argument of another type")
    try:
        return machines[-1].call(kind, [text], {})
    except Exception:  # whoever starts the program gives something else
        return Unknown("an argument whose default is none")


class ClickCommand(StandIn):
    """A click command: called without arguments, it runs its function with the defaults of its options."""

    def __init__(self, function: Any, options: dict[str, Any]):
        self.callback = function
        self.options = options

    def __call__(self, *args, **kwargs):
        return machines[-1].call(self.callback, [], dict(self.options))

    main = __call__


def _option(machine, *flags, **options):
    """The decorator of one option: it remembers the option on the function."""
    flag = next((f for f in flags if type(f) is str and f.startswith("--")), flags[0] if flags else "")
    name = next((f for f in flags if type(f) is str and f.isidentifier()), None)
    if name is None and type(flag) is str:
        name = flag.lstrip("-").partition("/")[0].replace("-", "_")
    default = options.get(
        "default",
        False if options.get("is_flag") is True else Unknown(f"the option {name}") if options.get("required") else None,
    )

    def decorate(machine, function):
        if isinstance(function, ClickCommand):
            function.options[name] = default
        elif hasattr(function, "__dict__") and isinstance(name, str):
            function.__dict__.setdefault("click_options", {})[name] = default
        return function

    return Special("option", decorate)


def _command(machine, *names, **options):
    def decorate(machine, function):
        return ClickCommand(function, dict(getattr(function, "__dict__", {}).get("click_options", {})))

    return (
        decorate(machine, names[0])
        if names and callable(names[0]) and not isinstance(names[0], str)
        else Special("command", decorate)
    )


def _argument(machine, name="", *rest, **options):
    default = options.get("default", Unknown(f"the argument {name}"))
    return _option(machine, name, **{**options, "default": default})


CLICK: dict[str, Any] = {
    "click.command": Special("command", _command),
    "click.option": Special("option", _option),
    "click.argument": Special("argument", _argument),
    "click.echo": Special("echo", lambda machine, *args, **kwargs: None),
}
ARGPARSE: dict[str, Any] = {
    "argparse.ArgumentParser": Special("ArgumentParser", lambda machine, *args, **kwargs: Parser()),
    "argparse.Namespace": Special("Namespace", lambda machine, **values: Namespace(values)),
    "argparse.ArgumentDefaultsHelpFormatter": object,
    "argparse.RawTextHelpFormatter": object,
    "argparse.BooleanOptionalAction": "boolean",
    "argparse.REMAINDER": "...",
    "argparse.OPTIONAL": "?",
    "argparse.ZERO_OR_MORE": "*",
    "argparse.ONE_OR_MORE": "+",
    "argparse.PARSER": "A...",
}
