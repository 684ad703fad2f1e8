"""The programs in fixtures/: what torch does with them, and whether torchlint says so without running them.

Each of `bugs` and `seeds` (a file, or a folder with a main.py) holds a mistake and its correction, told apart by the
comments that pairs.py reads; `models` are correct. What is known to be judged wrongly is listed in
fixtures/gaps/shapes.txt; an entry that is judged rightly again must leave the list.
"""

import ast
import contextlib
import functools
import io
import json
import os
import random
import re
import sys
import tempfile
import traceback
import types
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from pairs import files, marks, write_corrected

from torchlint.config import Selection, Settings
from torchlint.linter import Job, lint
from torchlint.project import Project
from torchlint.rule import load_rules

FIXTURES = Path(__file__).parent.parent / "fixtures"
STANDINS = Path(__file__).parent / "standins"
CALLS = json.loads((FIXTURES / "calls.json").read_text())  # what to call where a program only defines a class
GAPS = {
    line.split(None, 1)[0]
    for line in (FIXTURES / "gaps" / "shapes.txt").read_text().splitlines()
    if line.strip() and not line.startswith("#")
}
CORRECTED = " corrected"
SILENT_ERRORS = {"TL905", "TL906"}  # torch raises nothing: it broadcasts, or trains what nothing comes of
ALIKE = {"TL901", "TL907"}  # torch's messages do not always say whether a size or something else is wrong
LARGE = 1_000_000  # weights of a layer
RULES = load_rules()
ALSO_REMARKS = Settings(selections=(Selection(None, (), ("TL205", "TL9")),))  # and all that is on by default


def programs(folder: str) -> list[str]:
    return sorted(
        f"{folder}/{path.name}"
        for path in (FIXTURES / folder).iterdir()
        if path.suffix == ".py" or (path / "main.py").exists()
    )


def marked(place: Path) -> dict[tuple[str, int], set[str]]:
    """The marked lines of a program, and with which codes."""
    return {(str(path), line): codes for path in files(place) for line, codes in marks(path.read_text()).items()}


WRONG = programs("bugs") + programs("seeds")
RIGHT = programs("models")


def versions(program: str, folder: Path) -> dict[str, Path]:
    """Where a program lies, and where it does when it is corrected, which is written for the test."""
    as_it_is = {program: FIXTURES / program}
    return (
        {**as_it_is, program + CORRECTED: write_corrected(FIXTURES / program, folder)} if program in WRONG else as_it_is
    )


@functools.cache
def project_of(folder: Path) -> Project:
    """Programs that lie beside each other are one, whose files are read once."""
    return Project(folder)


def judged(place: Path, settings: Settings) -> list[tuple[str, set[tuple[str, int]]]]:
    """The code of each finding with the lines it names; a program in a folder is a project of its own."""
    project = project_of(place.parent) if place.is_file() else Project(place)
    found = []
    for source in files(place):
        outcome = lint(source.read_text(), Job.of(str(source), settings, project, RULES, strict=True))
        for finding in outcome.findings:
            found.append((finding.code, {(f.path, f.span.line) for f in (finding, *finding.notes)}))
    return found


def verdict(program: str, place: Path) -> str:
    """Empty, or what is wrong with torchlint's judgement of a program."""
    wanted, cured = marked(place), set()
    codes = set().union(*wanted.values()) - {"cause"} if wanted else set()
    accepted = codes | (ALIKE if codes & ALIKE else set())
    accepted |= set().union(*(RULES[code].also_said_by for code in accepted if code in RULES))
    if not wanted and program.startswith("seeds/"):
        cured = set().union(*marked(FIXTURES / program.removesuffix(CORRECTED)).values()) - {"cause"}
    of_interest = Settings(selections=(Selection(("TL9", *sorted(accepted | cured))),))
    found = judged(place, ALSO_REMARKS if program.startswith("models/") else of_interest)
    if wanted and not any(code in accepted and lines & set(wanted) for code, lines in found):
        return f"not found: wanted {sorted(codes)} at {sorted(line for _, line in wanted)}, got {found}"
    strange = [(code, lines) for code, lines in found if code.startswith("TL9") and not lines & set(wanted)]
    if program.startswith("models/"):
        strange = [(code, lines) for code, lines in found if not code.startswith("TL8")]  # old versions may be old
    strange += [(code, lines) for code, lines in found if code in cured]
    return f"said without reason: {strange}" if strange else ""


@pytest.mark.parametrize("program", WRONG + RIGHT)
def test_is_judged_rightly(program, tmp_path):
    said = {name: verdict(name, place) for name, place in versions(program, tmp_path).items()}
    wrong = {name: what for name, what in said.items() if what}
    if program in GAPS:
        if program not in wrong:
            pytest.fail(f"{program} is judged rightly now: take it out of fixtures/gaps/shapes.txt")
        if len(wrong) == 1:
            pytest.xfail(wrong[program])
    assert wrong == {}


def test_each_says_which_line_is_wrong():
    assert [program for program in WRONG if not marked(FIXTURES / program)] == []


def test_every_gap_is_a_program():
    assert GAPS <= set(WRONG)


def test_nine_of_ten_bugs_are_found():
    bugs = [program for program in WRONG if program.startswith("bugs/")]
    assert len(bugs) >= 60
    assert sum(program not in GAPS for program in bugs) >= 0.9 * len(bugs)


class WithoutTry(ast.NodeTransformer):
    """The seeds catch the error they show; here it has to come out."""

    def visit_Try(self, node):
        self.generic_visit(node)
        return node.body


def small_ones_only(initialise):
    """Random numbers for a hundred million weights take seconds; what is marked is wrong, or right, with any."""
    return lambda tensor, *args, **kwargs: tensor if tensor.numel() > LARGE else initialise(tensor, *args, **kwargs)


@contextlib.contextmanager
def fresh_interpreter(folder: Path):
    """Run a program as if it were alone: its modules, arguments, output and the settings of torch go with it."""
    before, path, argv, main = set(sys.modules), list(sys.path), sys.argv, sys.modules["__main__"]
    threads, has_cuda, layers = torch.get_num_threads(), torch.cuda.is_available, set(vars(torch.nn))
    sys.path[:0] = [str(folder)]
    sys.path.append(str(STANDINS))
    sys.argv = [str(folder / "main.py")]
    torch.default_generator.manual_seed(0)  # the other one writes down for each kind of GPU from where it was called
    random.seed(0)
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            warnings.catch_warnings(),
            pytest.MonkeyPatch.context() as patch,
        ):
            warnings.simplefilter("ignore")
            for name in ("kaiming_uniform_", "normal_"):
                patch.setattr(torch.nn.init, name, small_ones_only(getattr(torch.nn.init, name)))
            yield
    finally:
        sys.path[:], sys.argv, sys.modules["__main__"] = path, argv, main
        torch.set_num_threads(threads)
        torch.cuda.is_available = has_cuda
        for name in [name for name, value in vars(torch.nn).items() if name not in layers and isinstance(value, type)]:
            delattr(torch.nn, name)
        torch.autograd.set_detect_anomaly(False)
        torch.set_grad_enabled(True)
        torch.backends.cudnn.deterministic = torch.backends.cudnn.benchmark = False
        for name in set(sys.modules) - before:
            own = str(getattr(sys.modules[name], "__file__", "")).startswith((str(folder), str(STANDINS)))
            if own or name.startswith("torchvision"):
                del sys.modules[name]
        sys.path_importer_cache.pop(str(folder), None)


@contextlib.contextmanager
def elsewhere():
    """What a program saves where it is run is not wanted."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as there:
        os.chdir(there)
        try:
            yield
        finally:
            os.chdir(here)


def run_on_torch(program: str, place: Path) -> tuple[Exception | None, tuple[str, int] | None]:
    """What a program raises and in which of its own lines. Without a GPU, "meta" stands in for "cuda"."""
    paths = files(place)
    main = next((path for path in paths if path.name == "main.py"), paths[0])
    text = main.read_text()
    with fresh_interpreter(main.parent), elsewhere():
        if "device_" in program:
            text = re.sub(r"""["']cuda(:0)?["']""", '"meta"', text)
            torch.cuda.is_available = lambda: True
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        tree = ast.parse(text)
        tree = WithoutTry().visit(tree) if "try:" in text else tree
        try:
            exec(compile(tree, str(main), "exec"), vars(module))
            exec(CALLS.get(program.removesuffix(CORRECTED), ""), {"torch": torch, **vars(module)})
        except Exception as error:
            own = {str(path) for path in paths}
            frames = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__) if f.filename in own]
            return error, frames[-1] if frames else None
    return None, None


@pytest.mark.parametrize("program", WRONG + RIGHT)
def test_marks_are_true(program, tmp_path):
    """The marks are not an opinion: torch raises at the marked line, and runs a corrected program to its end."""
    for name, place in versions(program, tmp_path).items():
        error, line = run_on_torch(name, place)
        lines = marked(place).items()
        raising = {line for line, codes in lines if any(c.startswith("TL9") for c in codes - SILENT_ERRORS)}
        if raising:
            assert line in raising, (name, error)
        else:
            assert error is None, name
