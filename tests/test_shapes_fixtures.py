"""The programs in fixtures/: what torch does with them, and whether torchlint says so without running them.

`bugs` and `seeds` come in pairs: X (a file, or a folder with a main.py) and its correction X_fixed. A comment `# TL901`
marks the line that must be reported, `# cause` one that may be reported in its place. `models` are correct. What is
known to be judged wrongly is listed in fixtures/gaps/shapes.txt; an entry that is judged rightly again must leave the
list.
"""

import ast
import contextlib
import importlib
import io
import json
import random
import re
import sys
import traceback
import types
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

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
MARK = re.compile(r"  # ((?:TL\d{3}|cause)(?:, (?:TL\d{3}|cause))*)$")
SILENT_ERRORS = {"TL905", "TL906"}  # torch raises nothing: it broadcasts, or trains what nothing comes of
ALIKE = {"TL901", "TL907"}  # torch's messages do not always say whether a size or something else is wrong
RULES = load_rules()
ALSO_REMARKS = Settings(selections=(Selection(None, (), ("TL9",)),))


def programs(folder: str) -> list[str]:
    return sorted(
        f"{folder}/{path.name}"
        for path in (FIXTURES / folder).iterdir()
        if path.suffix == ".py" or (path / "main.py").exists()
    )


def sources(program: str) -> list[Path]:
    path = FIXTURES / program
    return [path] if path.is_file() else sorted(path.glob("*.py"))


def marks(program: str) -> dict[tuple[str, int], set[str]]:
    """The marked lines of a program, and with which codes."""
    found = {}
    for path in sources(program):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := MARK.search(line):
                found[str(path), number] = set(match[1].split(", "))
    return found


ALL = [name for folder in ("bugs", "seeds", "models") for name in programs(folder)]
WRONG = [name for name in ALL if marks(name)]
RIGHT = [name for name in ALL if not marks(name)]


def judged(program: str) -> list[tuple[str, set[tuple[str, int]]]]:
    """The code of each finding with the lines it names; a program in a folder is a project of its own."""
    path = FIXTURES / program
    project = Project(path.parent if path.is_file() else path)
    found = []
    for source in sources(program):
        outcome = lint(source.read_text(), Job.of(str(source), ALSO_REMARKS, project, RULES, strict=True))
        for finding in outcome.findings:
            found.append((finding.code, {(f.path, f.span.line) for f in (finding, *finding.notes)}))
    return found


def verdict(program: str) -> str:
    """Empty, or what is wrong with torchlint's judgement of a program."""
    found, wanted = judged(program), marks(program)
    codes = set().union(*wanted.values()) - {"cause"} if wanted else set()
    accepted = codes | (ALIKE if codes & ALIKE else set())
    accepted |= set().union(*(RULES[code].also_said_by for code in accepted if code in RULES))
    if wanted and not any(code in accepted and lines & set(wanted) for code, lines in found):
        return f"not found: wanted {sorted(codes)} at {sorted(line for _, line in wanted)}, got {found}"
    strange = [(code, lines) for code, lines in found if code.startswith("TL9") and not lines & set(wanted)]
    if program.startswith("models/"):
        strange = [(code, lines) for code, lines in found if not code.startswith("TL8")]  # old versions may be old
    if not wanted and program.startswith("seeds/"):
        cured = set().union(*marks(program.replace("_fixed", "")).values())
        strange += [(code, lines) for code, lines in found if code in cured]
    return f"said without reason: {strange}" if strange else ""


@pytest.mark.parametrize("program", ALL)
def test_is_judged_rightly(program):
    wrong = verdict(program)
    if program in GAPS:
        if not wrong:
            pytest.fail(f"{program} is judged rightly now: take it out of fixtures/gaps/shapes.txt")
        pytest.xfail(wrong)
    assert not wrong


def test_every_gap_is_a_program():
    assert GAPS <= set(ALL)


def test_nine_of_ten_bugs_are_found():
    bugs = [program for program in WRONG if program.startswith("bugs/")]
    assert len(bugs) >= 60
    assert sum(program not in GAPS for program in bugs) >= 0.9 * len(bugs)


class WithoutTry(ast.NodeTransformer):
    """The seeds catch the error they show; here it has to come out."""

    def visit_Try(self, node):
        self.generic_visit(node)
        return node.body


@contextlib.contextmanager
def fresh_interpreter(folder: Path):
    """Run a program as if it were alone: its modules, arguments, output and the settings of torch go with it."""
    before, path, argv, main = set(sys.modules), list(sys.path), sys.argv, sys.modules["__main__"]
    threads, has_cuda = torch.get_num_threads(), torch.cuda.is_available
    sys.path[:0] = [str(folder)]
    sys.path.append(str(STANDINS))
    sys.argv = [str(folder / "main.py")]
    torch.manual_seed(0)
    random.seed(0)
    torch.set_num_threads(1)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.path[:], sys.argv, sys.modules["__main__"] = path, argv, main
        torch.set_num_threads(threads)
        torch.cuda.is_available = has_cuda
        torch.autograd.set_detect_anomaly(False)
        torch.set_grad_enabled(True)
        torch.backends.cudnn.deterministic = torch.backends.cudnn.benchmark = False
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(
                (str(FIXTURES), str(STANDINS))
            ) or name.startswith("torchvision"):
                del sys.modules[name]
        importlib.invalidate_caches()


def run_on_torch(program: str) -> tuple[Exception | None, tuple[str, int] | None]:
    """What a program raises and in which of its own lines. Without a GPU, "meta" stands in for "cuda"."""
    paths = sources(program)
    main = next((path for path in paths if path.name == "main.py"), paths[0])
    text = main.read_text()
    with fresh_interpreter(main.parent):
        if "device_" in program:
            text = re.sub(r"""["']cuda(:0)?["']""", '"meta"', text)
            torch.cuda.is_available = lambda: True
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        tree = ast.fix_missing_locations(WithoutTry().visit(ast.parse(text)))
        try:
            exec(compile(tree, str(main), "exec"), vars(module))
            exec(CALLS.get(program, ""), {"torch": torch, **vars(module)})
        except Exception as error:
            own = {str(path) for path in paths}
            frames = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__) if f.filename in own]
            return error, frames[-1] if frames else None
    return None, None


@pytest.mark.parametrize("program", ALL)
def test_marks_are_true(program):
    """The marks are not an opinion: torch raises at the marked line, and runs a corrected program to its end."""
    error, line = run_on_torch(program)
    raising = {
        place for place, codes in marks(program).items() if any(c.startswith("TL9") for c in codes - SILENT_ERRORS)
    }
    if raising:
        assert line in raising, error
    else:
        assert error is None
