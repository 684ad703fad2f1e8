"""The `torchlint` command: picks the subcommand, and turns whatever goes wrong into one line and an exit code."""

# Nothing else may be imported before the path is safe.
import os
import sys

import torchlint
from torchlint import safe_path

# Name: (where it lives, what the help says, what to install when that is missing). Nothing is imported before its turn.
COMMANDS = {
    "check": ("torchlint.frontends.check", "Lint files, folders, or the standard input (`-`).", ""),
    "rule": ("torchlint.frontends.rule_page", "Explain a rule, or list them all.", ""),
    "config": ("torchlint.frontends.about", "List the configuration options, or explain one.", ""),
    "completion": ("torchlint.frontends.completion", "Make bash, zsh or fish complete `torchlint`.", ""),
    "man": ("torchlint.frontends.completion", "Print the manual page.", ""),
    "explain": ("torchlint.frontends.explain", "Explain the traceback of a program that failed inside torch.", ""),
    "clean": ("torchlint.frontends.about", "Remove what is remembered of earlier runs.", ""),
    "fleet": ("torchlint.frontends.fleet", "Lint many repositories, here or on other machines.", ""),
    "server": ("torchlint.frontends.server", "Serve an editor over the standard input (LSP).", "torchlint[server]"),
    "dev": ("torchlint.frontends.dev", "Help to write rules: `why`, `facts`, `test`.", ""),
    "shapes": ("torchlint.frontends.shapes", "Show the shapes that the dry run sees.", "torchlint[torch]"),
}

_HELP = """Usage: torchlint [COMMAND] [OPTIONS] [PATHS]...

  Finds PyTorch mistakes before the code meets a GPU.

Commands:
{commands}

Without a command, PATHS are checked. `torchlint COMMAND --help` lists the options of a command.

Options:
  -V, --version  Print the version.
  -h, --help     Print this.
"""


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit code: 0 clean, 1 findings, 2 could not run."""
    if arguments is None:
        arguments = sys.argv[1:]
        safe_path.enter(*arguments)
        _end_quickly()
    from torchlint.frontends.output import Failure, fail, prepare, put, settle

    prepare()
    try:
        if arguments[:1] in (["--version"], ["-V"]):
            put(f"torchlint {torchlint.__version__}\n")
            return 0
        if not arguments or arguments[0] in ("--help", "-h", "help"):
            put(_HELP.format(commands="\n".join(f"  {name:<10} {text}" for name, (_, text, _) in COMMANDS.items())))
            return 0
        name = arguments.pop(0) if arguments[0] in COMMANDS else "check"
        if name == "check":
            _refuse_misspelt(arguments[:1])
        return _guarded(name, [*map(_no_option, arguments)])
    except Failure as error:
        fail(str(error))
    except BrokenPipeError:
        pass  # the reader went away, as `head` does
    finally:
        settle()
    return 2


def _end_quickly() -> None:
    """The end of a process looks through all that was ever made, several times: with torch half a second."""
    import atexit
    import gc

    atexit.register(gc.freeze)


def _no_option(word: str) -> str:
    """A file with the name of an option is a file: whoever hands over the names of all files (`*.py`, or pre-commit,
    for which scripts need no ending) does not mean it as one, and a repository might have chosen `--rule-path=evil.py`.
    """
    looks_so = word.endswith((".py", ".pyi", ".ipynb")) or os.environ.get("PRE_COMMIT") == "1"
    return os.path.join(os.curdir, word) if word.startswith("-") and looks_so and os.path.lexists(word) else word


def _refuse_misspelt(first: list[str]) -> None:
    """A first word that is neither a command nor a path, but nearly a command."""
    from torchlint.config import suggestion
    from torchlint.frontends.output import Failure

    for word in first:
        meant = suggestion(word, COMMANDS) if word.isalpha() and not os.path.exists(word) else ""
        if meant:
            raise Failure(f"there is no command and no file `{word}`{meant}")


def _guarded(name: str, arguments: list[str]) -> int:
    import click

    from torchlint.config import ConfigError
    from torchlint.frontends.output import Failure, fail, is_output
    from torchlint.rule import RuleError

    try:
        return _command(name).main(arguments, prog_name=f"torchlint {name}", standalone_mode=False) or 0
    except (Failure, BrokenPipeError):
        raise
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        fail(" ".join(error.format_message().split()))
    except (ConfigError, RuleError) as error:
        fail(str(error))
    except (KeyboardInterrupt, click.Abort):
        return 130
    except Exception as error:
        if is_output(error):  # click prints the help of a command
            raise Failure(f"cannot write to the standard output: {getattr(error, 'strerror', error)}") from None
        if os.environ.get("TORCHLINT_DEBUG"):
            raise
        what = " ".join(str(error).split()) or "no message"
        fail(f"torchlint failed: {type(error).__name__}: {what} (TORCHLINT_DEBUG=1 shows where)")
    return 2


def _command(name: str):
    """The click command of a subcommand: an object of that name in its module."""
    import importlib

    from torchlint.frontends.output import Failure

    module, _, package = COMMANDS[name]
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError as error:
        if os.environ.get("TORCHLINT_DEBUG"):
            raise
        missing_package = package and not (error.name or "").startswith("torchlint")
        advice = f", which `pip install '{package}'` brings" if missing_package else ""
        raise Failure(f"`torchlint {name}` needs {error.name or error}{advice}") from None


if __name__ == "__main__":
    sys.exit(main())
