"""What a rule reads in another file of the project: said there, it is not said of the call that leads there, too."""

from __future__ import annotations

from torchlint.finding import Finding
from torchlint.project import View
from torchlint.rule import Rule
from torchlint.source.asking.runner import arm, judge, may_arm
from torchlint.source.flow.module import Module, World
from torchlint.source.text.indexes import shared_index


def is_read_there(finding: Finding, rule: Rule | None, view: View, target: tuple[int, int]) -> bool:
    """Does the rule say by the text of the file in which it happens what the dry run has seen from another one?"""
    where = finding.notes[0] if finding.from_run and finding.notes else None
    if rule is None or rule.only_dry or where is None or where.path == view.path:
        return False
    return where.span.line in _lines_read(rule, where.path, view, target)


def _lines_read(rule: Rule, path: str, view: View, target: tuple[int, int]) -> set[int]:
    text = view.read(path)
    index = shared_index(view.project, path, text) if text is not None else None
    if text is None or index is None:
        return set()
    world = World(view, target)
    module = world.modules[path] = Module(index, world)
    try:
        armed = arm(may_arm([rule], frozenset(), view.project.words(path, text)), module)
        return {line for found in judge(module, armed).findings for line in found.lines}
    finally:
        world.end()
