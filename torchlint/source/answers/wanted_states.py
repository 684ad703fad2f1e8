"""Whether anybody wants living weights that are kept: a `best = model.state_dict()` that nobody reads is harmless."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator

from torchlint.source.answers.aliased_weights import Aliased
from torchlint.source.answers.dropped_results import is_taken
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import uses
from torchlint.source.text.index import LOOPS, ancestors, block_of, enclosing_function, last_word, statement_of, within
from torchlint.source.text.unreached import Unreached
from torchlint.source.training.regions import loops_around

_TRAINS = re.compile(r"train|fit|learn|optimi|step|backward|epoch|run|update")


def does_harm(module: Module, kept: Aliased, place: ast.AST) -> bool:
    """Does anybody want what is kept, and does it not only stand there until copies take its place?"""
    return _is_wanted(module, kept, place) and not _gives_way_to_copies(module, kept.holder, place)


def _is_wanted(module: Module, kept: Aliased, place: ast.AST) -> bool:
    """Does anybody read the name, the attribute or the entry of a dict, and go on with it?"""
    keys, on = _keys(kept), kept.holder.value if isinstance(kept.holder, ast.Subscript) else kept.holder
    if isinstance(on, ast.Name):
        return any(_goes_on(module, read, keys, place) for read in _reads_of_name(module, on))
    if isinstance(on, ast.Attribute):
        return any(_goes_on(home, read, keys, place) for home, read in _reads_of_attribute(module, on.attr))
    return True


def is_never_renewed(module: Module, holder: ast.expr) -> bool:
    """Is the best kept once, and given back behind all training? With a copy nothing would be learned."""
    if not isinstance(holder, ast.Name) or "best" not in holder.id.lower() or loops_around(holder):
        return False
    named = _named_in(module, holder.id).get(enclosing_function(holder), [])
    reads = [one for one in named if isinstance(one.ctx, ast.Load)] if len(named) == 2 else []
    if len(reads) != 1 or loops_around(reads[0]):
        return False
    user, (block, first) = reads[0].up, block_of(statement_of(holder))
    last = block.index(statement_of(reads[0])) if statement_of(reads[0]) in block else -1
    is_given_back = isinstance(user, ast.Call) and last_word(user.func) == "load_state_dict"
    return is_given_back and not any(isinstance(one, LOOPS) for one in block[last:]) and first < last


@remembered
def _named_in(module: Module, word: str) -> dict[ast.AST | None, list[ast.Name]]:
    """Where a name stands, by the functions in which it does."""
    found: dict[ast.AST | None, list[ast.Name]] = {}
    for name in module.index.names(word):
        found.setdefault(enclosing_function(name), []).append(name)
    return found


def _keys(kept: Aliased) -> set | None:
    """The entries of a dict that hold the state; None where it is all of it."""
    if isinstance(kept.holder, ast.Subscript):
        return {kept.holder.slice.value} if isinstance(kept.holder.slice, ast.Constant) else None
    if not isinstance(kept.value, ast.Dict):
        return None
    entries = zip(kept.value.keys, kept.value.values)
    return {getattr(key, "value", None) for key, value in entries if kept.state in ast.walk(value)}


def _reads_of_name(module: Module, name: ast.Name) -> Iterable[ast.expr]:
    """Those that an assignment reaches, in a later round from the other branch too; of what is filled,
    `best.update(…)`, all.
    """
    if not isinstance(name.ctx, ast.Store):
        return [read for read in _loads(module, name.id) if read is not name]
    stored, reached = statement_of(name), uses(module, name)
    around = [] if isinstance(block_of(stored)[0][-1], (ast.Return, ast.Raise)) else loops_around(stored)
    later = _loads_within(module, around[-1], name.id) if around else []
    return itertools.chain(reached, later)


@remembered
def _loads_within(module: Module, loop: ast.AST, word: str) -> list[ast.expr]:
    return [read for read in _loads(module, word) if within(read, loop)]


@remembered
def _reads_of_attribute(module: Module, attribute: str) -> list[tuple[Module, ast.Attribute]]:
    """Those in any file, but for those in code to which nothing leads."""
    homes = (module, *filter(None, map(module.world.module, module.world.view.mentions(attribute))))
    found = ((home, n) for home in homes for n in home.index.attributes(attribute) if isinstance(n.ctx, ast.Load))
    return [(home, read) for home, read in found if home is not module or not _unreached(module).has(read.lineno)]


@remembered
def _unreached(module: Module) -> Unreached:
    return Unreached(module.world.view, lambda: module.tree)


def _goes_on(home: Module, read: ast.expr, keys: set | None, place: ast.AST) -> bool:
    """Does what is read there go anywhere, and not to the disk at once?"""
    user = read.up
    if isinstance(user, ast.Subscript) and user.value is read:
        if not isinstance(user.ctx, ast.Load):
            return False
        if keys is not None and isinstance(user.slice, ast.Constant) and user.slice.value not in keys:
            return False
    if isinstance(user, ast.Compare):
        return False
    return is_taken(home, read) and not _is_saved_at_once(home, read, place)


def _is_saved_at_once(home: Module, read: ast.expr, place: ast.AST) -> bool:
    """Is it written to disk in the block where it was put, by a method that is called there and nowhere else, too?"""
    user = read.up
    if not isinstance(user, ast.Call) or last_word(user.func) not in ("save", "dump"):
        return False
    function = enclosing_function(read)
    if function is None or function is enclosing_function(place):
        return _stands_right_below(user, place)
    callers = list(_loads(home, function.name))
    others = home.world.view.mentions(function.name)
    return len(callers) == 1 and not others and _stands_right_below(callers[0], place)


def _loads(module: Module, word: str) -> Iterator[ast.expr]:
    for node in (*module.index.names(word), *module.index.attributes(word)):
        if isinstance(node.ctx, ast.Load):
            yield node


def _stands_right_below(node: ast.AST, place: ast.AST) -> bool:
    """Does it stand in the same block, where nothing lies between that may train?"""
    block, first = block_of(statement_of(place))
    last = next((block_of(one)[1] for one in (node, *ancestors(node)) if one in block), -1)
    between = [part for one in block[first + 1 : max(last, 0)] for part in ast.walk(one)]
    trains = (isinstance(one, ast.Call) and _TRAINS.search(last_word(one.func)) for one in between)
    return first < last and not isinstance(block[last], LOOPS) and not any(trains)


def _gives_way_to_copies(module: Module, holder: ast.expr, place: ast.AST) -> bool:
    scope = enclosing_function(place) or module.tree
    copies, others = _given_to(module, scope, last_word(holder)).get(module.segment(holder), ([], []))
    return others in ([], [place]) and copies not in ([], [place])


@remembered
def _given_to(module: Module, scope: ast.AST, word: str) -> dict[str, tuple[list[ast.Assign], list[ast.Assign]]]:
    """The assignments to what goes by a word, as it is written: those of copies, and the others."""
    found: dict[str, tuple[list[ast.Assign], list[ast.Assign]]] = {}
    for assigned in _assigned(module, scope).get(word, ()):
        copies, others = found.setdefault(module.segment(assigned.targets[0]), ([], []))
        value = module.segment(assigned.value)
        (copies if "copy" in value or "clone" in value else others).append(assigned)
    return found


@remembered
def _assigned(module: Module, scope: ast.AST) -> dict[str, list[ast.Assign]]:
    """The assignments of a scope by the words of what they are to."""
    found: dict[str, list[ast.Assign]] = {}
    for assigned in module.index.inside(scope, ast.Assign):
        found.setdefault(last_word(assigned.targets[0]), []).append(assigned)
    return found
