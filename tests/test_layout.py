"""The directions of imports and the size of files: what keeps the two worlds apart and every file easy to find."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "torchlint"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "rules" not in path.relative_to(PACKAGE).parts)
RULES = sorted((ROOT / "rules").glob("*.py"))
CODE = [*MODULES, *RULES, *sorted((ROOT / "tests").glob("*.py")), *sorted((ROOT / "benchmarks").rglob("*.py"))]

# What each part may import of torchlint, besides itself and the package's own `__init__` (the version).
ALLOWED = {
    "finding": set(),
    "columns": set(),
    "syntax": set(),
    "gaps": set(),
    "vocabulary": set(),
    "reading": set(),
    "boundary": set(),
    "notation": set(),
    "facts": set(),
    "installed": {"reading"},
    "project": {"boundary", "reading", "vocabulary"},
    "rule": {"finding", "project", "reading"},
    "source": {
        "columns",
        "edits",
        "facts",
        "finding",
        "gaps",
        "installed",
        "printable",
        "project",
        "reading",
        "rule",
        "syntax",
        "vocabulary",
    },
    "shapes": {"columns", "edits", "facts", "finding", "gaps", "notation", "printable", "project", "syntax"},
    "edits": {"finding"},
    "harmless": {"finding", "project", "rule", "source"},
    "linter": {"finding", "gaps", "harmless", "project", "config", "edits", "installed", "rule", "source", "shapes"},
    "printable": set(),
    "reports": {"finding", "printable", "result", "config", "edits", "rule"},
    "result": {"finding", "project", "reading", "rule", "source"},
}
LOWER = set(ALLOWED)
# The storeys of the two worlds, lowest first: a file imports what lies in its own storey or below.
STOREYS = {
    "source": ("text", "flow", "training", "answers", "asking"),
    "shapes": ("core", "tensors", "language", "libraries", "machine", "record", "search"),
}
# Files that need each other: what calls and values come from, and Python's expressions and statements.
CIRCLES = [
    {
        "source.flow.branches",
        "source.flow.callers",
        "source.flow.calling",
        "source.flow.classes",
        "source.flow.flow",
        "source.flow.identity",
    },
    {f"shapes.language.{file}" for file in ("expressions", "functions", "patterns", "statements", "targets")},
]
ANSWERS = "torchlint.source.answers."
MOST_EXAMPLES = 8  # in a manual
MOST_CODE = 90  # lines of a rule below its manual
LONGEST = 600  # lines: a call whose arguments do not fit has one for each


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def manual(path: Path) -> str:
    return ast.get_docstring(parsed(path)) or ""


@cache
def imports(path: Path, for_types: bool = True) -> tuple[tuple[str, bool], ...]:
    """Every module (and name in one) a file imports, and whether the import runs when the file is imported."""
    return tuple(_imports(path, for_types))


def _imports(path: Path, for_types: bool) -> Iterator[tuple[str, bool]]:
    package = ".".join(path.relative_to(ROOT).parent.parts)
    todo: list[tuple[ast.AST, bool]] = [(parsed(path), True)]
    while todo:
        node, at_once = todo.pop()
        is_typed = _is_type_checking(node)
        if isinstance(node, ast.Import):
            yield from ((alias.name, at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            yield module, at_once
            yield from ((f"{module}.{alias.name}", at_once) for alias in node.names)
        elif for_types or not is_typed:
            runs = at_once and not is_typed and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            todo += [(inner, runs) for inner in ast.iter_child_nodes(node) if isinstance(inner, _WITH_STATEMENTS)]


_WITH_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def part(path: Path) -> str:
    """`source` for torchlint/source/flow/flow.py, `linter` for torchlint/linter.py."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


PARTS = {part(path) for path in MODULES} - {"__init__"}


def parts_imported(path: Path) -> set[str]:
    """The parts of torchlint that a file imports, anywhere in it."""
    parts = {module.split(".")[1] for module, _ in imports(path) if module.startswith("torchlint.")}
    return (parts & PARTS) - {part(path)}


def test_a_file_name_means_one_thing_in_both_worlds() -> None:
    names = Counter(path.stem for path in MODULES if part(path) in STOREYS and path.stem != "__init__")
    assert [stem for stem, number in names.items() if number > 1] == [
        "values"
    ]  # what flows in the one, and in the other


def test_parts_import_only_what_lies_below_them() -> None:
    bounded = [path for path in MODULES if part(path) in ALLOWED]
    up = {name(path): parts_imported(path) - ALLOWED[part(path)] for path in bounded}
    assert {path: parts for path, parts in up.items() if parts} == {}


def needs() -> dict[str, set[str]]:
    """Each module of torchlint with those it needs to run."""
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in MODULES if path.name != "__init__.py"
    }
    return {
        module: {other for other, _ in imports(path, for_types=False) if other in modules and other != module}
        for module, path in modules.items()
    }


def circles(needed: dict[str, set[str]]) -> list[set[str]]:
    """The groups of modules that need each other, through others or at once."""
    reached = {}
    for start in needed:
        seen, todo = set(), [start]
        while todo:
            new = needed[todo.pop()] - seen
            seen |= new
            todo += new
        reached[start] = seen
    groups = {frozenset({a, *(b for b in reached[a] if a in reached[b])}) for a in needed if a in reached[a]}
    return [set(group) for group in groups]


@pytest.mark.parametrize("world", STOREYS)
def test_a_storey_imports_only_what_lies_below(world: str) -> None:
    order = STOREYS[world]
    homes = {
        path: path.relative_to(PACKAGE / world).parts[0]
        for path in MODULES
        if part(path) == world and path.parent != PACKAGE / world
    }
    assert set(homes.values()) == set(order), "a new folder is a new storey: say what it rests on"
    flat = {path.name for path in MODULES if path.parent == PACKAGE / world}
    assert flat == {"__init__.py"}, "every file has its storey"
    up = [
        f"{name(path)} imports {module}"
        for path, home in homes.items()
        for module, _ in imports(path)
        for above in order[order.index(home) + 1 :]
        if f"{module}.".startswith(f"torchlint.{world}.{above}.")
    ]
    assert up == []


def test_files_need_each_other_only_where_that_is_the_nature_of_the_thing() -> None:
    found = circles(needs())
    assert sorted(map(sorted, found)) == sorted(
        sorted(f"torchlint.{module}" for module in circle) for circle in CIRCLES
    )


def test_whichever_file_of_the_text_world_is_imported_first() -> None:
    """Files that need each other must not rest on somebody's having asked for the right one."""
    script = """
import importlib, sys
for module in sys.argv[1:]:
    for loaded in [name for name in sys.modules if name.startswith("torchlint")]:
        del sys.modules[loaded]
    importlib.import_module(module)
"""
    circle = sorted(f"torchlint.{module}" for module in CIRCLES[0])
    subprocess.run([sys.executable, "-c", script, *circle, "torchlint.source.asking.rounds"], check=True)


def test_nothing_but_a_front_end_imports_a_front_end() -> None:
    guilty = [name(path) for path in MODULES if part(path) != "frontends" and "frontends" in parts_imported(path)]
    assert [path for path in guilty if not path.endswith("__main__.py")] == []


def test_only_shapes_imports_torch() -> None:
    guilty = {name(path) for path in MODULES + RULES for module, _ in imports(path) if module.split(".")[0] == "torch"}
    assert {path for path in guilty if not path.startswith("torchlint/shapes/")} == set()


def test_the_dry_run_is_imported_late() -> None:
    """torch takes more than a second to import: only a function that needs the dry run may ask for it."""
    guilty = {
        name(path)
        for path in MODULES
        if part(path) not in ("shapes", "traces")  # traces are made by a dry run and only loaded after one
        and name(path) != "torchlint/dev/dry.py"  # which is loaded when a dry run is asked for
        for module, at_once in imports(path)
        if at_once and module.startswith("torchlint.shapes")
    }
    assert guilty == set()


REWRITING = tuple(f"torchlint.source.asking.{file}" for file in ("rewrite", "trees", "filling"))


def test_libcst_is_imported_late() -> None:
    """A file without a fix must not pay for libcst: three files import it, and nothing imports these but late. Its
    matchers cost as much again and are for rules that want them.
    """
    guilty = {
        (name(path), module)
        for path in MODULES
        for module, at_once in imports(path, for_types=False)
        if (at_once and module.startswith(("libcst", *REWRITING)) or "matchers" in module)
        and ".".join(path.relative_to(ROOT).with_suffix("").parts) not in REWRITING
    }
    assert guilty == set()


def test_rules_import_only_torchlint_itself() -> None:
    """`torchlint` is the whole surface: what a rule needs from deeper inside belongs into `torchlint/__init__.py`. Only
    its own long answer it asks directly.
    """
    outside = [
        (name(path), module)
        for path in RULES
        for module, _ in imports(path)
        if module.split(".")[0] not in sys.stdlib_module_names
    ]
    assert {(rule, module) for rule, module in outside if module.split(".")[0] not in ("torchlint", "libcst")} == set()
    deeper = {one for one in outside if one[1].startswith("torchlint.") and one[1].split(".")[1] in LOWER}
    assert {(rule, module) for rule, module in deeper if not module.startswith(ANSWERS)} == set()


def test_a_manual_names_the_file_of_its_long_answer() -> None:
    asked = {
        (path, module.split(".")[3]) for path in RULES for module, _ in imports(path) if module.startswith(ANSWERS)
    }
    assert {(name(path), file) for path, file in asked if f"{file}.py`" not in manual(path)} == set()


def test_what_two_rules_ask_is_no_long_answer_of_one() -> None:
    """It belongs to the words that every rule has, and what works it out into torchlint/source/training."""
    asked = Counter(
        module for path in RULES for module, _ in imports(path) if module.count(".") == ANSWERS.count(".") + 1
    )
    assert {answer for answer, rules in asked.items() if rules > 1 and answer.startswith(ANSWERS)} == set()


def test_a_manual_teaches() -> None:
    """Its examples are few and plain: further ones go to fixtures/edges."""
    examples = {name(path): manual(path).count("\n```python ") for path in RULES}
    assert {path: number for path, number in examples.items() if number > MOST_EXAMPLES} == {}


def test_a_long_answer_has_a_file_of_its_own() -> None:
    """About eighty lines of thought, and what it says: what is longer goes to torchlint/source/answers."""
    code = {name(path): path.read_text().splitlines()[parsed(path).body[0].end_lineno :] for path in RULES}
    lengths = {path: sum(bool(line.strip()) for line in lines) for path, lines in code.items()}
    assert {path: length for path, length in lengths.items() if length > MOST_CODE} == {}


def test_every_page_of_further_examples_belongs_to_a_rule() -> None:
    pages = {page.stem for page in (ROOT / "fixtures" / "edges").iterdir()}
    assert pages and pages <= {path.name[:5] for path in RULES}


def test_a_name_of_a_class_means_one_thing() -> None:
    """What is private to a file may be called as elsewhere."""
    files = sorted((ROOT / "torchlint").rglob("*.py"))
    named = [node.name for path in files for node in ast.walk(parsed(path)) if isinstance(node, ast.ClassDef)]
    public = [one for one in named if not one.startswith("_")]
    assert {one for one in public if public.count(one) > 1} == set()


def test_files_are_short_and_open_with_a_sentence() -> None:
    """The sentence says what a module is; one that is too long is to be split: one file, one purpose."""
    texts = {path: text for path in CODE if (text := path.read_text()).strip()}
    first = {path: manual(path).split("\n\n")[0].rstrip() for path in texts}
    assert {name(path) for path, sentence in first.items() if not sentence.endswith((".", ":"))} == set()
    assert {name(path) for path, text in texts.items() if len(text.splitlines()) > LONGEST} == set()
