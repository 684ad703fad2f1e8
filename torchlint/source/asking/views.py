"""What a rule is given: a call, a node, a module class or a loop, with the questions it may ask and the findings it may
make.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Protocol

from torchlint.edits import Edits
from torchlint.facts import fact, named_of
from torchlint.facts.rows import Fact
from torchlint.finding import Finding, Fix, Note, Severity
from torchlint.printable import shortened, with_short_quotes
from torchlint.source.answers.outdated_names import OutdatedUse
from torchlint.source.asking.fixing import Fixing, rewriting
from torchlint.source.asking.migrating import migrated
from torchlint.source.asking.spelled import spelled
from torchlint.source.asking.standing import Standing
from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.calling import Callee, bound_by
from torchlint.source.flow.changed import only_appended, pieces
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import SAME_NUMBERS, callees, objects, origins
from torchlint.source.flow.identity import external_name, instance_class
from torchlint.source.flow.kinds import is_module, is_tensor, kinds
from torchlint.source.flow.module import Module
from torchlint.source.flow.numbers import number
from torchlint.source.flow.uses import may_follow, reads, repeats
from torchlint.source.flow.usual_numbers import usual_number, usual_origins
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import enclosing_function, has_stars, last_word
from torchlint.source.text.spelling import argument, joined, receiver
from torchlint.source.training import datasets, default_devices, devices, dtypes
from torchlint.source.training.asked_for import defaults_of, is_off_by_default
from torchlint.source.training.grads import requires_grad
from torchlint.source.training.keyword_values import is_given, keyword_names, keyword_values, written_option
from torchlint.source.training.loaded_wholes import is_loaded_whole, is_put_somewhere
from torchlint.source.training.members import has_weights
from torchlint.source.training.probabilities import is_probability
from torchlint.source.training.ranks import rank
from torchlint.source.training.regions import is_told_to_be_plain, is_told_to_be_tensor
from torchlint.source.training.roles import Role
from torchlint.source.training.samples import collated, samples
from torchlint.source.training.scores import is_raw_score
from torchlint.source.training.written_over import is_written_over

APPLIED = ("applied",)  # the path of the last layer of a Sequential, standing for the call of it


class Spot(Protocol):
    """Whatever stands somewhere: a place, an act, an event, an answer."""

    module: Module
    node: ast.AST


class Place(Fixing, Standing):
    """A node in its file. All that rules see derives from this."""

    def __init__(self, value: Value):
        self.value = value
        self.module: Module = value.module
        self.node = value.node

    def __repr__(self) -> str:
        return f"<{type(self).__name__} line {getattr(self.node, 'lineno', '?')}>"

    # What it says

    @property
    def text(self) -> str:
        """The source text."""
        return self.source(self.node)

    @property
    def short(self) -> str:
        """The source in one line, shortened for a message."""
        return shortened(" ".join(self.text.split()), 50)

    def name(self, node: ast.AST | None = None) -> str | None:
        """The dotted name of an expression that means something of a library: `torch.nn.functional.relu`."""
        return external_name(self.value.at(node or self.node, ()))

    def source(self, thing: ast.AST | Spot | None) -> str:
        """The source of another node or place, as it is written; empty of none, as a function around what a file says
        itself.
        """
        if thing is None:
            return ""
        spot = self.value.at(thing, ()) if isinstance(thing, ast.AST) else thing
        return spot.module.segment(spot.node)

    def quoted(self, thing: ast.AST | Spot) -> str:
        """The same in one line, for a message."""
        return " ".join(self.source(thing).split())

    def word(self, node: ast.AST | None = None) -> str:
        """The word by which a thing or a call goes: `step` of `self.optimizer.step()`, `opt` of `self.opt`."""
        node = node or self.node
        return last_word(node.func if isinstance(node, ast.Call) else node)

    def names_in(self, node: ast.AST | None = None) -> set[str]:
        """The names that stand in it."""
        return {name.id for name in self.inside(ast.Name, of=node)}

    def says(self, *words: str) -> bool:
        """Does one of these stand in the text of the file?"""
        return any(map(self.module.index.says, words))

    def project_says(self, *words: str) -> bool:
        """Does one of these stand in the file, in one that it imports, or in one that uses it?"""
        return self.module.mentions("|".join(words))

    def others_say(self, *words: str) -> bool:
        """Does one of these stand in a file that it imports, or in one that uses it or stands behind such a one?"""
        return self.module.others_mention(words)

    def anyone_says(self, *words: str) -> bool:
        """Does one of these stand, as a whole word, in any file of the project?"""
        return self.says(*words) or any(map(self.module.world.view.mentions, words))

    def calls(self, *words: str, inside: ast.AST | None = None) -> list[Call]:
        """The calls that are written with one of these words at the end, `x.state_dict()`, in the file or in a node."""
        found = self.module.index.calls_of(*words, inside=inside or self.module.tree)
        return [self.at(call) for call in found]

    def inside(self, *kinds: type, of: ast.AST | None = None) -> Iterator[ast.AST]:
        """The nodes of some kinds in this node (or in another one of the file), itself included."""
        return self.module.index.inside(of or self.node, *kinds)

    # Where it comes from

    @property
    def target(self) -> tuple[int, int]:
        """The torch that the program is to run on: (2, 6)."""
        return self.module.world.target

    def spelled(self, name: str, old: ast.expr | None = None, usual: str = "") -> tuple[str, tuple[str, ...]]:
        """A library's name as this file would write it here, and what has to be imported for that. `old` is what is
        written there now; `usual` is the import that most files have for it.
        """
        return spelled(self, name, old, usual)

    def origins(self, node: ast.AST | None = None, through: frozenset[str] = frozenset()) -> list[Origin]:
        """The expressions that a value may come from."""
        return [Origin(v) for v in origins(self.value.at(node or self.node, ()), through)]

    def is_off_by_default(self, node: ast.AST) -> bool:
        """Is a rate 0, or a parameter or setting that is 0 (or None) unless somebody asks for more?"""
        return is_off_by_default(self.value.at(node, ()))

    def origins_or_defaults(self, node: ast.AST) -> list[ast.AST | None]:
        """The expressions that a value may come from; of a parameter its default, or None if it has none."""
        return defaults_of(self.value.at(node, ()))

    def objects(self, node: ast.AST | None = None) -> list[Origin]:
        """The same for modules, optimizers and the like, through `.to(…)` and what else returns its object."""
        return [Origin(v) for v in objects(self.value.at(node or self.node, ()))]

    def kinds(self, node: ast.AST | None = None) -> set[str]:
        return kinds(self.value.at(node or self.node, ()))

    def is_tensor(self, node: ast.AST | None = None) -> bool:
        node = node or self.node
        return is_tensor(self.value.at(node, ())) and not is_told_to_be_plain(node) or self.is_told_to_be_tensor(node)

    def is_told_to_be_tensor(self, node: ast.AST) -> bool:
        """Does a test around it say so, `if torch.is_tensor(x):`?"""
        asks = self.module.index.says("is_tensor") or self.module.index.says("isinstance")
        return asks and is_told_to_be_tensor(node)

    def is_moved(self, node: ast.expr) -> bool:
        """Is a tensor surely on the device of the model or the data: moved, or computed from what was?"""
        return devices.device_of(self.value.at(node, ())) == devices.MOVED

    def rank(self, node: ast.expr) -> int | None:
        """How many dimensions a tensor has; None where it is not plain."""
        return rank(self.value.at(node, ()))

    def dtype(self, node: ast.AST | None = None) -> str | None:
        """The dtype of a tensor: `float32`, `int64`, …; None where it is not plain."""
        return dtypes.dtype(self.value.at(node or self.node, ()))

    def is_module(self, node: ast.AST | None = None) -> bool:
        return is_module(self.value.at(node or self.node, ()))

    def usual_origins(self, node: ast.AST) -> list[Origin]:
        """The origins, also of a field that records have by default: `config.device` of a dataclass."""
        return [Origin(one) for one in usual_origins(self.value.at(node, ()))]

    def has_weights(self, node: ast.AST | None = None) -> Answer:
        """Has a layer, as it is made, weights of its own? None where it cannot be told."""
        return has_weights(self.value.at(node or self.node, ()))

    def role(self, node: ast.AST | None = None) -> Role:
        """What it is for: `role.is_a("optimizer")` is True, False, or None where nobody can tell."""
        return Role(self.value.at(node or self.node, ()))

    def dataset_is(self, node: ast.AST | None = None) -> str | None:
        """Is a dataset `indexed`, so that a sampler can choose its order, or only `iterated`? None: not known."""
        return datasets.reading(self.value.at(node or self.node, ()))

    def requires_grad(self, node: ast.AST | None = None) -> Answer:
        """Is it part of a graph? None where it cannot be told."""
        return requires_grad(self.value.at(node or self.node, ()))

    def has_own_attribute(self, node: ast.expr, name: str) -> bool:
        """Does a class of the project, of which this is an instance, define an attribute or method of that name?"""
        made = [instance_class(origin) for origin in objects(self.value.at(node, ()))]
        return any(owner is not None and bool(owner.method(name) or owner.attribute(name)) for owner in made)

    def at(self, thing: ast.AST | Value) -> Call:
        """The view of another expression: of a node of this file, or of a value wherever it stands."""
        return Call(self.value.at(thing, ()) if isinstance(thing, ast.AST) else thing)

    def is_ours(self, call: ast.Call) -> bool:
        """Does a call run code of the project?"""
        return any(c.function is not None or c.owner is not None for c in callees(self.value.at(call, ())))

    @property
    def callers(self) -> list[Call]:
        """The calls that are seen to call the function in which it stands, in its file and in others."""
        function = self.function
        if function is None:
            return []
        return [Call(call) for call in callers_of(self.module, function, method_class(self.module, function))]

    # Where it goes

    def uses(self, stored: ast.AST) -> list[ast.expr]:
        """The places that may read what this statement stores in a name, or in an attribute of `self`; none for other
        targets.
        """
        return reads(self.module, stored)

    def may_follow(self, first: ast.AST, later: ast.AST) -> bool:
        """May the later place run after the first, in one run of their function?"""
        return enclosing_function(first) is enclosing_function(later) and may_follow(first, later)

    def is_used_again_by(self, use: ast.AST) -> bool:
        """Does a use run again without this place running again?"""
        return repeats(use, self.node)

    def starts_object(self, node: ast.AST) -> bool:
        """Does it stand in an `__init__`, which runs before the other methods?"""
        return getattr(enclosing_function(node), "name", "") == "__init__"

    # What a rule makes of it

    def finding(
        self,
        message: str,
        help: str = "",
        fix: Fix | None = None,
        notes: tuple[Note, ...] | list[Note] = (),
        at: ast.AST | Spot | None = None,
        severity: Severity = "warning",
        since: str = "",
        is_sure: bool = False,
    ) -> Finding:
        module, node = (self.module, at or self.node) if at is None or isinstance(at, ast.AST) else (at.module, at.node)
        if module is not self.module:
            fix = None  # edits belong to the file of the rule's place
        span = module.span(node)
        notes = tuple(note for note in notes if (note.path, note.span.line) != (module.path, span.line))
        said = with_short_quotes(message)
        return Finding("", "", module.path, span, said, help, severity, fix, notes, since=since, is_sure=is_sure)

    def note(self, place: ast.AST | Spot, message: str) -> Note:
        """Another place that belongs to a finding. One on the finding's own line is left out."""
        spot = self.value.at(place, ()) if isinstance(place, ast.AST) else place
        return spot.module.note(spot.node, message)


class Node(Place):
    """A node of a kind that the rule asked for."""

    def migration(self, use: OutdatedUse) -> Fix | None:
        """What the table says to write instead, as a fix."""
        return migrated(self.at(use.node), use)


class Call(Place):
    """A call, or what may be none, where `at` is asked for another node. `names` are what it may call: `torch.log`,
    `.log`, `torch.nn.CrossEntropyLoss()` for a call of such an object.
    """

    @property
    def callees(self) -> list[Callee]:
        return callees(self.value) if isinstance(self.node, ast.Call) else []

    @property
    def names(self) -> set[str]:
        if self.value.path == APPLIED:
            return {c.name + "()" for c in self.callees if c.name}
        return {c.name for c in self.callees if c.name}

    @property
    def functions(self) -> list[Place]:
        """The functions and methods of the project that it runs, wherever they stand."""
        return [Place(Value(c.module, c.function)) for c in self.callees if c.module and c.function is not None]

    def methods(self, name: str) -> list[Place]:
        """The methods of a name of the project's classes of which it makes an object."""
        found = [c.owner.method(name) for c in self.callees if c.kind == "class" and c.owner is not None]
        return [Place(Value(method.module, method.node)) for method in found if method is not None]

    def called(self, origin: Place, name: str, position: int) -> str:
        """What a message calls a value that one of the arguments comes from: what makes it, or, where that is a layer
        which a Sequential calls, the argument itself.
        """
        argument = self.argument(name, position) if origin.value.path == APPLIED else None
        return origin.short if argument is None else Place(self.value.at(argument)).short

    def is_call(self, *names: str) -> bool:
        """Does it certainly call one of these?"""
        known = self.callees
        return bool(known) and all(c.name for c in known) and self.names <= set(names)

    @property
    def fact(self) -> Fact | None:
        """What the table says of the function that it calls; None where that is not known, or not one function."""
        rows = [fact(callee.name) for callee in self.callees]
        first = rows[0] if rows else None
        return first if first and all(row is not None and row.function == first.function for row in rows) else None

    def does(self, *functions: str) -> bool:
        """Does it certainly call one of these functions of torch: `softmax` as a function, a method or a layer?"""
        return self.is_call(*named_of(*functions))

    @property
    def is_raw_score(self) -> bool:
        """Is it a sum weighted by what is learned, which nothing bounds?"""
        return is_raw_score(self.value)

    @property
    def is_probability(self) -> bool:
        """Is each of its numbers from 0 to 1, as a softmax or sigmoid and what mixtures and means make of such?"""
        return is_probability(self.value)

    @property
    def is_method(self) -> bool:
        return bool(self.names) and all(name.startswith(".") for name in self.names)

    @property
    def calls_of_it(self) -> list[Call]:
        """The calls of the object that this call makes, in this file."""
        word = (
            self.statement.targets[0]
            if isinstance(self.statement, ast.Assign) and self.statement.value is self.node
            else None
        )
        named = self.module.index.callers(last_word(word)) if word is not None else []
        calls = [
            *named,
            *([self.node.up] if isinstance(self.node.up, ast.Call) and self.node.up.func is self.node else []),
        ]
        return [
            Call(Value(self.module, c))
            for c in calls
            if any(o.node is self.node for o in objects(Value(self.module, c.func)))
        ]

    @property
    def uses_a_device(self) -> bool:
        """May the program leave the CPU, without a default that new tensors follow?"""
        return default_devices.uses_a_device(self.module) and not default_devices.is_default_moved(self.module)

    @property
    def loads_a_whole(self) -> bool:
        """Is what it loads called, or asked for what only modules and optimizers have: was it saved whole?"""
        return is_loaded_whole(self.module, self.node)

    @property
    def is_put_on_a_device(self) -> bool:
        """Is what it gives moved, there or where it has a name?"""
        return is_put_somewhere(self.module, self.node)

    @property
    def has_stars(self) -> bool:
        bound = bound_by(self.value)
        return bound is None or has_stars(joined(bound, self.node))

    @property
    def receiver(self) -> ast.expr | None:
        return receiver(self.node)

    def argument(self, name: str, position: int | None = None) -> ast.expr | None:
        """An argument by keyword or position; for a method the receiver is number 0. None if it is not given or hidden
        by stars.
        """
        if not isinstance(self.node, ast.Call):
            return None
        if position is not None and self.is_method:
            if position == 0:
                return argument(self.node, name) or self.receiver
            position -= 1
        return argument(joined(bound_by(self.value) or (), self.node), name, position)

    def argument_or_option(self, name: str, position: int | None = None) -> ast.expr | None:
        """An argument as it is written, also in the display of the same function that is given as `**options`."""
        given = self.argument(name, position)
        return written_option(self.value, name) if given is None and isinstance(self.node, ast.Call) else given

    def number(self, name: str, position: int | None = None) -> int | float | None:
        """The number that an argument is, if it is plain, also in `**options`."""
        given = self.argument(name, position)
        if given is not None:
            return number(self.value.at(given, ()))
        found = {number(value) for value in keyword_values(self.value, name)} if self.has_stars else set()
        return found.pop() if len(found) == 1 else None

    def usual_number(self, name: str, position: int | None = None) -> int | float | None:
        """The same, or what it is by default where an argument is an option of the command line or a parameter."""
        given = self.argument(name, position)
        return usual_number(self.value.at(given, ())) if given is not None else self.number(name, position)

    def most_usual_number(self, name: str, position: int | None = None) -> int | float | None:
        """The same, the greater one where a condition chooses: `workers if train else 0`"""
        given = self.argument(name, position)
        if not isinstance(given, ast.IfExp):
            return self.usual_number(name, position)
        found = [usual_number(self.value.at(side, ())) for side in (given.body, given.orelse)]
        return max((one for one in found if one is not None), default=None)

    def made(self) -> Call | None:
        """The constructor call of the object that is called: `nn.Softmax(dim=1)` for `softmax(x)`."""
        if self.value.path == ("applied",):
            return Call(Value(self.module, self.node, self.value.frame))
        for callee in self.callees:
            if callee.made is not None:
                return Call(callee.made)
        return None

    def argument_origins(
        self, name: str, position: int | None = None, through: frozenset[str] = SAME_NUMBERS
    ) -> list[Origin]:
        argument = self.argument(name, position)
        if argument is None:  # in `**options`, if at all
            return self.keyword_origins(name) if isinstance(self.node, ast.Call) else []
        return self.origins(argument, through)

    def is_written_over(self, name: str, made: list[Origin]) -> bool:
        """Are the numbers of what it takes first changed in place under a name that it has: `p.sigmoid_()`?"""
        return is_written_over(self.value, name, [origin.value for origin in made])

    def is_given(self, name: str, position: int | None = None) -> bool:
        """Is it given for certain, with what its origins say? What `**options` get under a condition is not."""
        return self.argument(name, position) is not None or is_given(self.value, name)

    def keyword_origins(self, name: str) -> list[Origin]:
        """Where a keyword argument may come from, also through `**options`; empty if it is not given for certain."""
        return [Origin(v) for v in keyword_values(self.value, name)]

    @property
    def keyword_names(self) -> frozenset[str] | None:
        """The keywords it is given, also through `**options`; None where they are not all seen."""
        bound = bound_by(self.value)
        known = [keyword_names(self.value.at(call, ())) for call in (self.node, *(bound or ()))]
        return None if bound is None or None in known else frozenset().union(*known)

    def replace_by_argument(self, inner: Origin, message: str) -> Fix | None:
        """`f(g(x), …)` becomes `f(x, …)`, where the inner call stands in this very call."""
        kept = inner.argument("input", 0) if inner.module is self.module else None
        if kept is None or inner.has_stars or inner.node not in self.node.args:
            return None
        return self.fix(message, self.replace(inner.node, self.module.segment(kept)), applicability="unsafe")

    def with_keyword(self, name: str, value: str) -> Edits | None:
        return rewriting().with_keyword(self.module, self.node, name, value)

    def without_argument(self, argument: ast.AST) -> Edits | None:
        return rewriting().without_argument(self.module, self.node, argument)

    def with_callee(self, name: str) -> Edits | None:
        return rewriting().with_callee(self.module, self.node, name)


class Origin(Call):
    """Where a value may come from: often a call, but it can be any expression, or unknown."""

    @property
    def unknown(self) -> bool:
        return self.node is None

    def samples(self, through: frozenset[str] = frozenset()) -> list[Origin]:
        """Of what a loader gives, where each sample of its dataset has that from; nothing where that is not seen."""
        return [Origin(v) for v in samples(self.value, through)]

    def collated(self, through: frozenset[str] = frozenset()) -> list[Origin]:
        """Of what a loader gives, where its `collate_fn` has that from; nothing where that is not seen."""
        return [Origin(v) for part in collated(self.value) for v in origins(part, through)]

    @property
    def only_appended(self) -> ast.expr | None:
        """What an empty list gets, one after the other, by the one `append` that there is for it."""
        return None if self.path else only_appended(self.value)

    @property
    def pieces(self) -> list[Origin]:
        """What a list that is made here holds, as far as it is written into it or comes by its one `append`."""
        return [Origin(piece) for piece in pieces(self.value)]

    @property
    def path(self) -> tuple:
        """The part of the expression that is meant; empty for the whole."""
        return () if self.value.path == ("applied",) else self.value.path

    def is_call(self, *names: str) -> bool:
        return isinstance(self.node, ast.Call) and not self.path and super().is_call(*names)
