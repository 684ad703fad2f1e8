"""What a rule is told of where a place stands: in which function, class, loop and branch, and under which switches."""

from __future__ import annotations

import ast

from torchlint.source.flow.choices import exclusive
from torchlint.source.flow.classes import ClassInfo, class_info
from torchlint.source.flow.module import Module
from torchlint.source.flow.setting_branches import are_apart
from torchlint.source.flow.values import Value
from torchlint.source.text.announced import beside
from torchlint.source.text.index import enclosing_class, enclosing_function, statement_of
from torchlint.source.training.asked_for import is_never_asked_for
from torchlint.source.training.default_devices import is_named_by_nobody, is_seen_to_leave_the_cpu
from torchlint.source.training.graphs import is_cut_around
from torchlint.source.training.regions import (
    asks_training_mode,
    is_chosen_by_callers,
    loops_around,
    tests_around,
    under_no_grad,
)
from torchlint.source.training.run_without_grad import may_run_without_grad


class Standing:
    """The part of a place that looks around."""

    value: Value
    module: Module
    node: ast.AST

    @property
    def no_grad(self) -> bool:
        """Known to run where nothing is recorded for backward."""
        return under_no_grad(self.module, self.node)

    @property
    def may_be_without_grad(self) -> bool:
        """May whoever runs this place, here or in another file, do it under `no_grad`?"""
        return may_run_without_grad(self.module, self.node)

    @property
    def is_only_looked_at(self) -> bool:
        """Is it compared, printed or made a number where it stands? No gradient comes back through that."""
        return is_cut_around(self.value)

    @property
    def loops(self) -> list[ast.AST]:
        return loops_around(self.node)

    @property
    def tests(self) -> list[tuple[ast.expr, bool]]:
        return list(tests_around(self.node))

    @property
    def asks_mode(self) -> bool:
        """Does it run only in train or only in eval mode, or only when a flag for probabilities is set?"""
        return asks_training_mode(self.module, self.node)

    @property
    def is_asked_for_by_callers(self) -> bool:
        """`if use_dropout and self.p > 0`: does the truth of a parameter say whether it runs?"""
        return is_chosen_by_callers(self.node)

    @property
    def is_seen_on_a_device(self) -> bool:
        """Does its file, or one that uses it, name a device? Not in a class that nobody names, nor below `if option:`
        that no call asks for.
        """
        function, owner = self.function, self.node if isinstance(self.node, ast.ClassDef) else self.method_of
        if owner is not None and is_named_by_nobody(self.module, owner):
            return False
        if isinstance(function, ast.FunctionDef) and is_never_asked_for(self.module, function, self.node):
            return False
        return is_seen_to_leave_the_cpu(self.module)

    def excludes(self, other: Standing) -> bool:
        """Do the conditions around the two places contradict each other?"""
        same = self.module is other.module
        return same and exclusive(self.node, other.node) or are_apart(self.value, other.value)

    @property
    def function(self) -> ast.AST | None:
        return enclosing_function(self.node)

    @property
    def method_of(self) -> ast.ClassDef | None:
        """The class in a method of which it stands."""
        function = self.function
        return enclosing_class(function) if function is not None else None

    @property
    def module_class(self) -> ClassInfo | None:
        """The nn.Module in a method of which it stands."""
        owner = self.method_of
        info = class_info(self.module, owner) if owner is not None else None
        return info if info is not None and info.is_module else None

    @property
    def in_forward(self) -> bool:
        """Does it stand in the `forward` of a module?"""
        return getattr(self.function, "name", "") == "forward" and self.module_class is not None

    @property
    def comment(self) -> str:
        """What is said of its line: at its end, or right above it. The lines above come last, from below."""
        return "\n".join(beside(self.module.index.lines, self.statement.lineno))

    @property
    def statement(self) -> ast.stmt:
        return statement_of(self.node)
