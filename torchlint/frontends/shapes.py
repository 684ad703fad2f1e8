"""`torchlint shapes`: the forward of a model as a table, as JSON or as a page."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import click

from torchlint import atomic, safe_path
from torchlint.boundary import tree_of
from torchlint.config import Settings
from torchlint.finding import HERE
from torchlint.frontends.output import Failure, put, wants_color
from torchlint.printable import printable
from torchlint.project import NotText, Project, decode
from torchlint.reading import read


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("target", required=False, metavar="FILE[:CLASS] | FOLDER")
@click.option(
    "--input", "inputs", multiple=True, metavar="NAME=SIZES", help="An input, such as x=8,3,224,224 or ids=8,128:long."
)
@click.option("--output-format", type=click.Choice(("text", "json", "html")), default="text", help="How to print.")
@click.option("--output-file", metavar="FILE", help="Where to write instead of the standard output.")
@click.option(
    "--import", "imported", metavar="MODULE:NAME", help="Import a model (this runs its code) and trace it as it is."
)
@click.option("--report", is_flag=True, help="Show what it costs: parameters, mult-adds, memory.")
@click.option("--depth", type=click.IntRange(min=1), help="Sum up what lies deeper than so many names (a report).")
@click.option("--fold", is_flag=True, help="Show once what is repeated, with how often it is (a report).")
@click.option("--memory", metavar="SIZE", help="Say whether training fits into so much, such as 24GiB (a report).")
@click.option("--annotate", is_flag=True, help="Write the shapes into the file, as comments behind assignments.")
@click.option("--step", is_flag=True, help="Show the first training step of a script: data, loss, moves, memory.")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="When to use colours.")
def shapes(
    target: str | None,
    inputs: tuple[str, ...],
    output_format: str,
    output_file: str | None,
    imported: str | None,
    report: bool,
    depth: int | None,
    fold: bool,
    memory: str | None,
    annotate: bool,
    step: bool,
    color: str,
) -> int:
    """Show the shapes in the forward of every model in a file or a folder, or of one class.

    Nothing of the file is executed. Sizes that nobody gives are found by trying, and said.
    """
    if bool(target) == bool(imported):
        raise Failure(
            "name one file or folder, `torchlint shapes model.py` or `model.py:Net`, or `--import package.module:Net`"
        )
    if find_spec("torch") is None:
        raise Failure("the dry run needs torch, which is not installed here: `pip install 'torchlint[torch]'`")
    from torchlint.shapes.search.inputs import parse

    given = {}
    for text in inputs:
        name, equals, sizes = text.partition("=")
        try:
            if not equals or not name.strip().isidentifier():
                raise ValueError("write the name of an argument of forward, then its sizes: x=8,3,224,224")
            given[name.strip()] = parse(sizes)
        except ValueError as error:
            raise Failure(f"--input {text}: {error}") from None
    if annotate:
        others = inputs or imported or output_file or output_format != "text" or report or depth or fold or memory
        return _annotate(target or "", bool(others) or step)
    if step:
        others = inputs or imported or report or depth or fold or memory
        text, code = _step(target or "", bool(others), output_format)
        _write(text, target, output_file)
        return code
    report = report or bool(depth or fold or memory)
    if report and imported:
        raise Failure("a report is made of a file: name it instead of --import")
    available = _size(memory)
    if imported:
        stories = _of_import(imported, given)
    elif os.path.isdir(target or ""):
        stories = _of_folder(target or "", given, report)
    else:
        stories = _of_file(target or "", given, report)
    if report and output_format == "text":
        from torchlint.traces import report as costs

        text = costs.render(stories, depth or 0, fold, available)
    else:
        text = _render(stories, output_format, output_file is None, color)
    _write(text, target, output_file)
    return 1 if any(s.fault or s.table.error and not s.table.guessed and s.table.steps for s in stories) else 0


def _write(text: str, target: str | None, output_file: str | None) -> None:
    """To a file, which lies where the target does or in no tree that is linted; else to the standard output."""
    if not output_file:
        put(text)
        return
    folder = os.path.dirname(os.path.abspath(target)) if target else os.getcwd()
    try:
        atomic.write(output_file, text.encode("utf-8", "backslashreplace"), [tree_of(folder, "") or folder])
    except OSError as error:
        raise Failure(f"--output-file {output_file}: {error.strerror or error}") from None


def _annotate(target: str, has_others: bool) -> int:
    """The file with its shapes as comments, where the dry run saw tensors."""
    from torchlint.finding import Hint
    from torchlint.linter import Job, lint
    from torchlint.traces.annotated import annotated

    if has_others or os.path.isdir(target) or not target.endswith(".py"):
        raise Failure("--annotate takes one Python file and no other option: `torchlint shapes model.py --annotate`")
    path = os.path.abspath(target)
    text = _read(target, path)
    if text.encode("utf-8", "surrogatepass") != read(path):
        raise Failure(f"{target} is not UTF-8 without a mark: --annotate leaves it alone")
    _module_classes(text, target)
    settings, project = _project(path)
    hints = lint(text, Job.of(path, settings, project, hints=True)).hints
    new = annotated(text, [hint for hint in hints if isinstance(hint, Hint)])
    changed = sum(old != now for old, now in zip(text.split("\n"), new.split("\n")))
    if changed:
        folder = os.path.dirname(path)
        try:
            atomic.write(path, new.encode("utf-8"), [tree_of(folder, "") or folder])
        except OSError as error:
            raise Failure(f"{target} cannot be written: {error.strerror or error}") from None
    lines = f"{changed} line{'s' * (changed != 1)}"
    put(f"New shapes in {lines} of {printable(target)}.\n" if changed else "Nothing to change.\n")
    return 0


def _step(target: str, has_others: bool, output_format: str) -> tuple[str, int]:
    """The first training step of a script, and the exit code."""
    from torchlint.shapes.record.first_step import StepWatch
    from torchlint.shapes.record.traces import Traces
    from torchlint.shapes.search.check import dry_run
    from torchlint.traces import step as shown
    from torchlint.traces.story import stories

    if has_others or os.path.isdir(target) or not target.endswith(".py"):
        raise Failure(
            "--step takes one Python file, --output-format and --output-file: `torchlint shapes train.py --step`"
        )
    path = os.path.abspath(target)
    text = _read(target, path)
    settings, project = _project(path)
    watch, traces = StepWatch(), Traces(path, report=True, called=True)
    result = dry_run(text, path, project.view(path), inputs=settings.inputs, traces=traces, step=watch)
    made = watch.made(traces.table_of)
    models = {forward.model for forward in made.forwards}
    tables = [table for table in traces.tables if table.name in models and not table.guessed]
    told = stories(tables, target, path, text, result.faults, project.text)
    if output_format == "json":
        said = shown.as_json(made, told)
    elif output_format == "html":
        said = shown.html(made, told, target, path)
    else:
        said = shown.text(made, told, target, path)
    return said, 2 if made.ended is not None else 1 if result.faults else 0


def _project(path: str) -> tuple[Settings, Project]:
    """The settings of a file and the project it is in."""
    from torchlint.config_file import Configurations
    from torchlint.walk import project_of

    settings = Configurations().of_file(path)
    return settings, Project(*project_of(os.path.dirname(path), settings))


def _size(memory: str | None) -> int:
    from torchlint.traces.report import bytes_of

    try:
        return bytes_of(memory) if memory else 0
    except ValueError as error:
        raise Failure(f"--memory {memory}: {error}") from None


def _render(stories: list, output_format: str, terminal: bool, color: str) -> str:
    if output_format == "json":
        from torchlint.traces import json

        return json.render(stories)
    if output_format == "html":
        from torchlint.traces import page

        return page.render(stories)
    from torchlint.traces import text

    narrow = terminal and not (sys.stdout.encoding or "").lower().startswith("utf")
    return text.render(stories, wants_color(color) if terminal else color == "always", ascii_only=narrow)


def _of_folder(folder: str, given: dict, report: bool) -> list:
    """The forwards of all files that a check would look at. What cannot be run is said and left out."""
    from torchlint.config_file import Configurations
    from torchlint.walk import Walk

    if given:
        raise Failure("--input: name the file whose forward it is for")
    stories, silent = [], []
    for path in Walk([folder], Configurations()).files():
        try:
            if path.endswith(".py") and "forward" in (text := _read(path, path)) and _module_classes(text, path):
                stories += _of_file(path, given, report)
        except Failure as failure:
            silent.append(str(failure))
    if not stories:
        raise Failure("; ".join(silent[:1]) or f"{folder} has no file with a class that has a forward")
    for line in silent:
        click.echo(f"torchlint: {printable(line)}", err=True)
    return stories


def _of_file(target: str, given: dict, report: bool) -> list:
    """The forwards of the classes in a file, or of one of them."""
    from torchlint.shapes.record.traces import Traces
    from torchlint.shapes.search.check import dry_run
    from torchlint.traces.story import stories

    name, _, only = (target, "", "") if os.path.exists(target) else target.rpartition(":")
    name, only = (name, only) if name else (target, "")
    path = os.path.abspath(name)
    text = _read(name, path)
    classes = _module_classes(text, name)
    settings, project = _project(path)
    traces = Traces(path, only or None, given, report, called=True)
    result = dry_run(text, path, project.view(path), inputs=settings.inputs, traces=traces)
    if given and not traces.used:
        raise Failure(f"--input: no forward in {target} takes {', '.join(sorted(given))}")
    if not traces.tables and only and only not in classes:
        raise Failure(f"{name} has no class `{only}`" + (f"; it has {', '.join(classes)}" if classes else ""))
    if not traces.tables and not classes:
        raise Failure(f"{name} has no class with a forward, and calls no model")
    if not traces.tables:
        reasons = "; ".join(result.notices).replace(HERE, name)
        raise Failure(f"{target} could not be run: {reasons or 'its classes are not reached'}")
    return stories(traces.tables, name, path, text, result.faults, project.text)


def _read(name: str, path: str) -> str:
    try:
        data = read(path)
    except OSError as error:
        what = error.strerror or str(error)
        raise Failure(f"{name} cannot be read: {what[:1].lower()}{what[1:]}") from None
    try:
        return decode(data)
    except NotText as error:
        raise Failure(f"{name} is not text: {error}") from None


def _module_classes(text: str, name: str) -> list[str]:
    """The classes of a file that may have a forward."""
    import ast

    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Failure(f"{name} cannot be parsed: {error}") from None
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.bases]


def _of_import(name: str, given: dict) -> list:
    """A model that is imported, in a process of its own."""
    import subprocess
    from importlib.machinery import PathFinder

    import msgspec

    from torchlint.shapes.core.table import Table
    from torchlint.traces.story import Story

    module, colon, attribute = name.partition(":")
    if not colon or not attribute.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise Failure(f"--import {name}: write it as package.module:Net")
    folders = [os.getcwd(), *safe_path.left_out]
    package = module.partition(".")[0]
    if PathFinder.find_spec(package, folders) is None and find_spec(package) is None:
        raise Failure(f"--import {name}: ModuleNotFoundError: No module named '{package}'")  # torch is not imported yet
    request = {"module": module, "name": attribute, "inputs": given, "path": folders}
    command = safe_path.command("torchlint.shapes.search.imported")
    child = subprocess.run(command, input=msgspec.json.encode(request), capture_output=True)
    answer = child.stdout.rpartition(b"\x00")[2]
    if child.returncode or not answer:
        lines = child.stderr.decode(errors="replace").strip().splitlines()
        raise Failure(f"--import {name}: {lines[-1] if lines else 'the process ended without a word'}")
    table = msgspec.json.decode(answer, type=Table)
    try:
        text = read(table.path).decode(errors="replace") if table.path else ""
    except OSError:
        text = ""
    shown = os.path.relpath(table.path) if table.path else module
    return [Story(table, shown, text)]
