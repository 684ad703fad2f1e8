"""A rule file becomes a Rule: what its name, docstring and decorators say is read without running it."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from torchlint.reading import read

_FILE = re.compile(r"(TL\d{3})_([a-z0-9_]+)\.py")
_EXAMPLE = re.compile(r"^```python (bad|remark|fixed|good)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FACTS = (
    "group",
    "default",
    "preview",
    "added",
    "since",
    "until",
    "severity",
    "also_said_by",
    "in_tests",
    "across_files",
    "hears_others",
    "read_on",
)
GROUPS = (
    "torchlint itself",
    "losses and numerics",
    "autograd",
    "device",
    "dtype and NumPy",
    "training loop",
    "modules",
    "data, reproducibility, leftovers",
    "security, removed and deprecated",
    "dry run",
)


class RuleError(ValueError):
    """A rule folder or file that cannot be used, in one line."""


class Trigger(Struct, frozen=True):
    """One decorator of a rule file."""

    kind: str  # call, node, module, inplace, loop, round, op, graph, error
    function: str
    names: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    unknown: bool = False
    remarks: bool = False  # is all that it finds severity `info`?
    called: tuple[str, ...] = ()  # words of the calls that nodes are; operations one of which comes before
    holds: tuple[str, ...] = ()  # the words one of which stands in each node that it is about
    value: tuple[str, ...] = ()  # the kinds of what a statement gives, keeps or drops, as `Call` of `x = f()`
    words: tuple[str, ...] = ()  # one of which a file must contain for a call of these names to stand in it
    of_objects: bool = False  # is it about calls of what a class makes, as in `criterion(output, target)`?

    @property
    def is_dry(self) -> bool:
        """Is it about what happens in the dry run?"""
        return self.kind in ("op", "graph", "error")


class Example(Struct, frozen=True):
    """One block of a manual or of the page of further ones, and the line it begins at. `file` is empty unless the block
    names one, `page` unless it stands in that page.
    """

    kind: str
    file: str
    text: str
    line: int
    page: str = ""


class Rule:
    """One rule file."""

    def __init__(self, path: Path):
        match = _FILE.fullmatch(path.name)
        if not match:
            raise RuleError(f"{path}: a rule file is called TL123_name_of_the_wrong_pattern.py")
        self.path = str(path)
        self.code, self.name = match.groups()
        try:
            tree = ast.parse(read(self.path).decode())
        except (OSError, SyntaxError, ValueError, RecursionError) as error:
            raise RuleError(f"{path}: {error}") from None
        self.manual = ast.get_docstring(tree) or ""
        if not self.manual:
            raise RuleError(f"{path}: a rule begins with its manual, a docstring")
        raw = ast.get_docstring(tree, clean=False) or ""
        self._first_line = tree.body[0].lineno + raw.count("\n", 0, len(raw) - len(raw.lstrip()))
        self.group: str = GROUPS[int(self.code[2])]
        self.default: bool = True
        self.preview: bool = False
        self.added = "0.1"  # the torchlint that had it first
        self.since: str | None = None
        self.until: str | None = None
        self.severity: str | None = None
        self.also_said_by: tuple[str, ...] = ()  # rules that say more of the same mistake
        self.in_tests: bool = True  # does it matter where a few samples are tried and nothing is kept?
        self.across_files: bool = True  # is it as sure where a file uses others of its project?
        self.hears_others: bool = False  # of what runs in other files, too, though it reads its own as well?
        self.read_on: tuple[str, ...] = ()  # codes of rules near it, pages of torch's manual
        self.triggers: list[Trigger] = []
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in _FACTS:
                setattr(self, node.targets[0].id, _literal(node.value, path))
            elif isinstance(node, ast.FunctionDef):
                self.triggers += [t for d in node.decorator_list if (t := _trigger(d, node.name, path))]

    def __repr__(self) -> str:
        return f"<Rule {self.code} {self.name}>"

    @property
    def summary(self) -> str:
        return self.manual.split("\n", 1)[0].strip()

    @cached_property
    def examples(self) -> list[Example]:
        """Those of the manual, which teach."""
        return list(_examples(self.manual, self._first_line))

    @cached_property
    def further(self) -> str:
        """The page of further examples, which has the same format, or nothing."""
        return read(str(self._page)).decode() if self._page.is_file() else ""

    @cached_property
    def edges(self) -> list[Example]:
        """Those of the page of further examples, which are tests like the others."""
        return list(_examples(self.further, 1, self._page.name))

    @property
    def _page(self) -> Path:
        folder = Path(self.path).parent
        checkout = _checkout()
        edges = checkout / "fixtures" / "edges" if checkout and folder == checkout / "rules" else folder / "edges"
        return edges / f"{self.code}.md"

    @property
    def by_default(self) -> str:
        """Is it said without being asked for: "on", "off", "remark" (only to those who select it), or "alone", which is
        "on" in a file that uses no other of its project and "remark" elsewhere?"""
        if not self.default:
            return "off"
        if self.severity == "info":
            return "remark"
        return "on" if self.across_files else "alone"

    @cached_property
    def dry(self) -> bool:
        """Does it look at the dry run?"""
        return any(t.is_dry for t in self.triggers)

    @cached_property
    def only_dry(self) -> bool:
        """Does it say nothing without the dry run?"""
        return all(t.is_dry for t in self.triggers)

    def hears(self, kind: str) -> bool:
        """Is it told of faults of a kind?"""
        return any(trigger.kind == "error" and kind in trigger.names for trigger in self.triggers)

    @property
    def is_told_of_others(self) -> bool:
        """Does it hear what the dry run sees in the files that one calls?"""
        return self.only_dry or self.hears_others

    @cached_property
    def _namespace(self) -> dict[str, Any]:
        # A private name: rule folders of users may hold files that are called like ours.
        name = f"_torchlint_rule_{abs(hash(self.path)):x}_{self.code}"
        spec = importlib.util.spec_from_file_location(name, self.path)
        assert spec is not None and spec.loader is not None  # a file that is there
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return vars(module)

    def function(self, trigger: Trigger) -> Callable:
        """The check of a trigger. The rule file runs now if it has not before."""
        return self._namespace[trigger.function]


def _examples(text: str, first_line: int, page: str = "") -> Iterator[Example]:
    for m in _EXAMPLE.finditer(text):
        yield Example(m[1], m[2] or "", m[3], first_line + text.count("\n", 0, m.start()), page)


def _trigger(decorator: ast.expr, function: str, path: Path) -> Trigger | None:
    call = decorator if isinstance(decorator, ast.Call) else None
    name = call.func if call else decorator
    if not isinstance(name, ast.Name) or not name.id.startswith("on_"):
        return None
    options = {k.arg: _literal(k.value, path) for k in call.keywords} if call else {}
    names = tuple(_literal(a, path) for a in call.args) if call else ()
    many = {
        key: (options[key],) if isinstance(options[key], str) else tuple(options[key])
        for key in ("needs", "without", "called", "holds", "value")
        if key in options
    }
    others = set(options) - {"needs", "without", "called", "holds", "value", "unknown", "remarks"}
    if others:
        raise RuleError(f"{path}: @{name.id} has no option {', '.join(sorted(map(str, others)))}")
    kind = name.id[3:]
    words = tuple(name.removesuffix("()").rsplit(".", 1)[-1] for name in names) if kind == "call" else ()
    unknown, remarks = (options.get(key, False) for key in ("unknown", "remarks"))
    of_objects = any(name.endswith("()") for name in names)
    return Trigger(kind, function, names, unknown=unknown, remarks=remarks, words=words, of_objects=of_objects, **many)


def _literal(node: ast.expr, path: Path) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise RuleError(f"{path}:{node.lineno}: triggers and facts of a rule are literals") from None


def _checkout() -> Path | None:
    """Where we are developed, unless this is an installed copy."""
    folder = Path(__file__).parent.parent
    return folder if (folder / "pyproject.toml").exists() and (folder / "rules").is_dir() else None


def builtin_folder() -> Path:
    """The sibling `rules/` of a checkout (an editable install leaves a stale copy in the package), else the wheel's."""
    return (_checkout() or Path(__file__).parent) / "rules"


def rule_names(extra: Iterable[Path | str] = ()) -> dict[str, str]:
    """The names of all rules by code: what can be selected. Ours are known by their files; a user's own are read, so
    that what is wrong with them is said at once.
    """
    names = {m[1]: m[2] for file in _files(builtin_folder()) if (m := _FILE.fullmatch(file.name))}
    for folder in map(Path, extra):
        for file in _files(folder):
            _add(Rule(file), names)
    return names


def _files(folder: Path) -> list[Path]:
    files = sorted(folder.glob("TL*.py")) if folder.is_dir() else []
    if not files:
        raise RuleError(f"{folder}: there are no rules in this folder")
    return files


def _add(rule: Rule, names: dict[str, str]) -> None:
    """One code is one rule: a second one would be meant by the same selectors and comments."""
    if rule.code in names:
        raise RuleError(f"{rule.path}: {rule.code} is {names[rule.code]} already")
    names[rule.code] = rule.name


_loaded: dict[tuple[str, ...], dict[str, Rule]] = {}


def load_rules(extra: Iterable[Path | str] = ()) -> dict[str, Rule]:
    """All rules by code: ours, then those of the user's own folders."""
    folders = (builtin_folder(), *(Path(folder).absolute() for folder in extra))
    key = tuple(map(str, folders))
    if key not in _loaded:
        rules: dict[str, Rule] = {}
        names: dict[str, str] = {}
        for rule in (Rule(file) for folder in folders for file in _files(folder)):
            _add(rule, names)
            rules[rule.code] = rule
        _loaded[key] = dict(sorted(rules.items()))
    return _loaded[key]
