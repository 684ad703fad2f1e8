"""An expression in its setting: the file it stands in, the call it is looked at through, the part of it that is
meant.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from torchlint.source.text.index import FunctionNode

if TYPE_CHECKING:
    from torchlint.source.flow.module import Module  # whose methods remember what they are asked about values

EACH = "each"  # the step from a container to its elements
VALUE = "value"  # the step from a dict to its values
ENTER = "enter"  # the step from a context manager to what `as` binds
Step = int | str
# Yes, no, or None where nobody can tell. Who asks says which he takes, `is True` or `is not False`: unknown is not no.
Answer = bool | None


class LookedThrough:
    """A call that is looked through: parameters of `function` mean the arguments of `call`."""

    __slots__ = ("function", "call", "instance", "closure", "outside")

    def __init__(
        self,
        function: FunctionNode,
        call: Value | None,
        instance: Value | None,
        closure: LookedThrough | None = None,
        around: Value | None = None,
    ):
        self.function = function
        self.call = call  # its node is an ast.Call, in the caller's file and frame
        self.instance = instance  # what `self` is, if it is known
        self.closure = closure
        self.outside = (
            call or around
        )  # where it is called from; of a Sequential's last layer that is given other things

    def of(self, function: ast.AST) -> LookedThrough | None:
        """The frame in which the names of `function` live, seen from here."""
        frame: LookedThrough | None = self
        while frame and frame.function is not function:
            frame = frame.closure
        return frame

    @property
    def depth(self) -> int:
        depth, frame = 1, self.outside.frame if self.outside else None
        while frame:
            depth, frame = depth + 1, frame.outside.frame if frame.outside else None
        return depth


def frame_of(
    module: Module,
    function: FunctionNode,
    call: Value | None,
    instance: Value | None,
    closure: LookedThrough | None = None,
    around: Value | None = None,
) -> LookedThrough:
    """The frame of a call; one for each, so that what is found out about its names is found out once."""
    # Not `@remembered`: the frame is the same whichever file asks for it.
    key = ("frame", id(function), call and call.key, instance and instance.key, id(closure), around and around.key)
    memo = module.world.memo
    if key not in memo:
        memo[key] = LookedThrough(function, call, instance, closure, around)
    return memo[key]


class Value:
    """Where a value comes from.

    `path` leads from the expression to the part that is meant: `a` of `a, b = f()` is part 0 of `f()`.
    """

    __slots__ = ("module", "node", "frame", "path")

    def __init__(
        self, module: Module, node: ast.AST | None, frame: LookedThrough | None = None, path: tuple[Step, ...] = ()
    ):
        self.module = module
        self.node = node
        self.frame = frame
        self.path = path

    def __repr__(self) -> str:
        return f"<Value {ast.unparse(self.node) if self.node else 'unknown'} {self.path or ''}>"

    @property
    def key(self) -> tuple:
        return (id(self.node), id(self.frame), self.path)

    @property
    def unknown(self) -> bool:
        return self.node is None

    def at(self, node: ast.AST, path: tuple[Step, ...] | None = None) -> Value:
        """Another expression in the same file and frame."""
        return Value(self.module, node, self.frame, self.path if path is None else path)


class Stored(NamedTuple):
    """One place that gives an attribute a value: `self.x = value` (`target` is the stored node) or a class-level
    binding.
    """

    module: Module
    target: ast.expr | None
    value: ast.expr | None
    method: ast.FunctionDef | None


def only_word(found: list[Value]) -> str | None:
    """The text that all of some origins are: `"relu"` of `ACTIVATIONS[name]`, where nobody gives the name another."""
    words = {o.node.value if isinstance(o.node, ast.Constant) and not o.path else None for o in found}
    word = words.pop() if len(words) == 1 else None
    return word if isinstance(word, str) else None
