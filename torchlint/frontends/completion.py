"""`torchlint completion`: what makes a shell complete commands, options, rules and formats; `torchlint man`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click

from torchlint import __version__
from torchlint.frontends.described import Command, Option, commands
from torchlint.frontends.output import put

_HELP = {"help_option_names": ["-h", "--help"]}


@click.command(context_settings=_HELP)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> int:
    """Print what makes a shell complete `torchlint`.

    bash: `eval "$(torchlint completion bash)"` in ~/.bashrc; zsh: the same in ~/.zshrc, after `compinit`; fish:
    `torchlint completion fish > ~/.config/fish/completions/torchlint.fish`.
    """
    put("\n".join({"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](commands())) + "\n")
    return 0


@click.command(context_settings=_HELP)
def man() -> int:
    """Print the manual page: `torchlint man | man -l -`."""
    put("\n".join(_page(commands())) + "\n")
    return 0


def _bash(all_: list[Command]) -> Iterator[str]:
    names = " ".join(command.name for command in all_)
    yield "_torchlint() {"
    yield "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=check options= words="
    yield f"    case ${{COMP_WORDS[1]}} in {names.replace(' ', '|')}) command=${{COMP_WORDS[1]}};; esac"
    yield f'    [[ $COMP_CWORD == 1 ]] && words="{names} --version --help"'
    yield '    case "$command $before" in'
    for command in all_:
        for option in command.options:
            pattern = "|".join(f'"{command.name} {word}"' for word in option.words)
            if option.values:
                yield f'        {pattern}) COMPREPLY=($(compgen -W "{" ".join(option.values)}" -- "$word")); return;;'
            elif not option.is_switch:
                yield f"        {pattern}) COMPREPLY=(); return;;"
    yield "    esac"
    yield "    case $command in"
    for command in all_:
        listed = " ".join(word for option in command.options for word in option.words if word.startswith("--"))
        yield f'        {command.name}) options="{listed}"; words+=" {" ".join(command.values)}";;'
    yield "    esac"
    yield '    [[ $word == -* ]] && words="$words $options"'
    yield '    COMPREPLY=($(compgen -W "$words" -- "$word"))'
    yield "}"
    yield "complete -o default -o bashdefault -F _torchlint torchlint"


def _zsh(all_: list[Command]) -> Iterator[str]:
    yield "#compdef torchlint"
    yield "_torchlint() {"
    yield "    local -a names"
    yield "    names=("
    yield from (f"        {shlex.quote(f'{command.name}:{command.help}')}" for command in all_)
    yield "    )"
    yield "    local command=check"
    yield f"    case $words[2] in {'|'.join(command.name for command in all_)}) command=$words[2];; esac"
    yield "    if (( CURRENT == 2 )); then _describe command names; fi"
    yield "    case $command in"
    for command in all_:
        yield f"        {command.name}) _arguments \\"
        for option in command.options:
            for word in option.words:
                spec = f"{word}{'' if option.is_switch else '='}[{_bare(option.help)}]{_zsh_value(option)}"
                yield f"            {shlex.quote(f'*{spec}')} \\"
        rest = f"*:value:({' '.join(command.values)})" if command.values else "*:file:_files"
        yield f"            {shlex.quote(rest)};;"
    yield "    esac"
    yield "}"
    yield "compdef _torchlint torchlint"


def _zsh_value(option: Option) -> str:
    if option.values:
        return f":value:({' '.join(option.values)})"
    return "" if option.is_switch else ":file:_files" if option.is_path else ":value: "


def _bare(text: str) -> str:
    """A help text without what zsh would read as its own marks."""
    return text.translate(str.maketrans("[]:", "(),", "`'\\"))


def _fish(all_: list[Command]) -> Iterator[str]:
    names = " ".join(command.name for command in all_)
    for command in all_:
        about = f"-n '__fish_is_first_arg' -a {command.name} -d {shlex.quote(command.help)}"
        yield f"complete -c torchlint {about}"
    for command in all_:
        where = f"__fish_seen_subcommand_from {command.name}"
        if command.name == "check":
            where += f"; or not __fish_seen_subcommand_from {names}"
        for option in command.options:
            words = " ".join(f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}" for word in option.words)
            value = f" -x -a {shlex.quote(' '.join(option.values))}" if option.values else ""
            value = value or ("" if option.is_switch else " -r" if option.is_path else " -x")
            yield f"complete -c torchlint -n {shlex.quote(where)} {words}{value} -d {shlex.quote(_bare(option.help))}"
        if command.values:
            yield f"complete -c torchlint -n {shlex.quote(where)} -f -a {shlex.quote(' '.join(command.values))}"


def _page(all_: list[Command]) -> Iterator[str]:
    """The page in the language of man."""
    yield f'.TH TORCHLINT 1 "" "torchlint {__version__}" "User Commands"'
    yield ".SH NAME\ntorchlint \\- finds PyTorch mistakes before the code meets a GPU"
    yield ".SH SYNOPSIS\n.B torchlint\n[\\fICOMMAND\\fR] [\\fIOPTIONS\\fR] [\\fIPATHS\\fR]..."
    yield ".SH DESCRIPTION"
    yield _roff(
        "Lints PyTorch programs: as text, by rules with data flow, and as programs, by a dry run without data."
        " Nothing of what is linted is run. Without a command, PATHS are checked."
    )
    for command in all_:
        yield f".SH {command.name.upper()}"
        yield f".B torchlint {_roff(command.name)}\n[\\fIOPTIONS\\fR] \\fI{_roff(command.arguments)}\\fR\n.PP"
        yield _roff(command.help)
        for option in command.options:
            words = ", ".join(f"\\fB{_roff(word)}\\fR" for word in option.words)
            value = f" \\fI{_roff(option.metavar)}\\fR" if option.metavar else ""
            yield f".TP\n{words}{value}\n{_roff(option.help)}"
    yield ".SH EXIT STATUS\n0 without findings, 1 with some, 2 if something could not be done."
    yield ".SH FILES\nThe nearest pyproject.toml with a [tool.torchlint] table, or torchlint.toml, above a file."


def _roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in text)
    return f"\\&{text}" if text.startswith((".", "'")) else text
