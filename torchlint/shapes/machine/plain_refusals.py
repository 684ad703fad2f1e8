"""What Python's own values refuse: a list that is asked for its mean, a float that is no end of a range.

Each is said only if the values are what they seem (`certainty.py` knows whether a run has come there without a guess).
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Unknown, words_of
from torchlint.shapes.language import functions, program
from torchlint.shapes.language.touching import text_of
from torchlint.shapes.libraries.data import Loader
from torchlint.shapes.libraries.indexed_data import Dataset
from torchlint.shapes.libraries.iterators import ONCE
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import OF_ARRAYS, Array

_CONTAINERS = (list, tuple, dict, set, range, torch.Size)
_PLAIN = frozenset({int, float, bool, str, *_CONTAINERS, *ONCE, torch.Tensor, nn.Parameter})
_OF_A_CALL = re.compile(r"missing \d+ required|takes .*positional arguments? but|unexpected keyword|multiple values")


class PlainRefusals:
    """The part of the machine that remembers what Python refuses of values that are its own."""

    def deny(self, error: Exception, *values: Any, says: str = "") -> Exception:
        """The error, remembered if it is Python's own and of values that are what they seem. An empty text may be of an
        option that everybody gives.
        """
        if self.starts.leaves_out and any(type(value) is str and not value for value in values):
            return error
        if not self.trying and all(type(value) in _PLAIN or self._is_the_programs(value) for value in values):
            self.blame(error, says)
        return error

    def insist(self, error: Exception, *values: Any, says: str = "") -> None:
        """Raise an error of values that are what they seem; where that is in doubt the run goes on."""
        self.deny(error, *values, says=says)
        if id(error) in self.failures:
            raise error

    def _is_the_programs(self, value: Any) -> bool:
        """Is it a function of the program, an object of a class that is known as a whole, or a loader?"""
        kind = type(value)
        if kind in (types.MethodType, types.BuiltinMethodType):
            owner = value.__self__
            return isinstance(owner, nn.Module) and self._is_known(type(owner)) or type(owner) in _PLAIN
        closure = functions.closure_of(value)
        if kind is Loader or closure is not None:
            return closure is None or closure.code not in self.loosened
        return kind in self.codes and id(value) not in self.lent and self._is_known(kind)

    def ask_name(self, name: str, source: program.Program, node: ast.Name | None) -> None:
        """`evaluate(model, val_loader)` above the first line, or cell, that gives the name a value."""
        first = source.given_first.get(name) if self.scripting and source.path == self.script else None
        if first is None or node is None or self.importing:
            return
        reading = source.place(node)
        outermost = self.stack[0][1] if self.stack else reading
        if outermost is not None and outermost[0] == source.path and outermost[1].end_line < first.lineno:
            kept, self.place = self.place, reading
            error = NameError(f"name '{name}' is not defined")
            self.deny(error, says=f"`{name}` has no value here: what gives it one stands below")
            self.place = kept
            if id(error) in self.failures:
                self.failures[id(error)].about = ("it gets its first value here", source.place(first))
                raise error

    def deny_attribute(self, owner: Any, name: str) -> AttributeError:
        """`rows.mean()` of a list, `x.append(y)` of a tensor, `options.rate` of a dict"""
        kind = type(owner).__name__
        says = f"'{kind}' object has no attribute '{name}'"
        return self.deny(AttributeError(says, name=name, obj=owner), owner)

    def deny_part(self, error: AttributeError, owner: Any) -> AttributeError:
        """`optimizer.zero_gard()`, `x.max(1).float()`"""
        kind = type(owner)
        is_torchs = kind.__module__ == "torch.return_types" or isinstance(owner, (Optimizer, LRScheduler))
        return self.blame(error) if is_torchs and not self.trying and kind not in self.codes else error

    def deny_next(self) -> None:
        """`iter(loader).next()`, as Python 2 had it"""
        self.insist(AttributeError("an iterator has no attribute 'next': `next(…)` takes its next item"))

    def ask_array(self, name: str) -> None:
        """`array.unsqueeze(0)`, of what only tensors have"""
        if name not in OF_ARRAYS:
            self.insist(AttributeError(f"'numpy.ndarray' object has no attribute '{name}'"))

    def ask_loader(self, owner: Any, name: str) -> None:
        """`loader.eval()`, of what models, tensors and optimizers have: the two were exchanged."""
        if type(owner) is Loader and not hasattr(owner, name) and not hasattr(torch.utils.data.DataLoader, name):
            if any(hasattr(kind, name) for kind in (nn.Module, torch.Tensor, Optimizer)):
                self.insist(AttributeError(f"'DataLoader' object has no attribute '{name}'"), owner)

    def deny_item(self, owner: Any) -> TypeError:
        """`loader[0]`, `x.size[0]`"""
        if owner is None:
            return self.of_nothing(TypeError("'NoneType' object is not subscriptable"))
        kind = "DataLoader" if type(owner) is Loader else type(owner).__name__
        return self.deny(TypeError(f"'{kind}' object is not subscriptable"), owner)

    def of_nothing(self, error: Exception) -> Exception:
        """An error about None, remembered if a function of the program gave it because it returns nothing, or
        nothing on the way that it took.
        """
        node = program.node_at(self.place) if self.place is not None else None
        source = program.source_of(self.place[0]) if self.place is not None else None
        if node is None or source is None or id(error) in self.failures:
            return error
        if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):  # `a, b = make()`
            node = text_of(source.tree).statements_at(node.lineno, node.col_offset)[-1]
        for part in _operands(node):
            whose = self.gradients.missing_at(self, source.place(part)) if isinstance(part, ast.Attribute) else None
            if whose is not None:
                says = f"`{ast.unparse(part)}` is None, for no backward pass has reached {whose}"
                return self.blame(error, says)
            made: Any = part
            if isinstance(part, ast.Name):
                above = [call for call in source.calls_of_names.get(part.id, ()) if call.lineno < node.lineno]
                made = above[-1] if above else None
            code = self.nothing.get(source.place(made)) if isinstance(made, ast.Call) else None
            if code is not None:
                why = "returns nothing" if code.gives_nothing else "comes to its end without a `return`"
                says = f"`{ast.unparse(part)}` is None, for `{code.name}` {why}"
                return self.blame(error, says, about=("it is defined here", code.place))
        return error

    def ask_who_gave_nothing(self, error: Exception) -> None:
        """Whether an operation failed for a None: only Python's own errors are asked what they say."""
        if type(error) in (TypeError, AttributeError) and "NoneType" in str(error):
            self.of_nothing(error)

    def ask_iterator(self, items: Any) -> None:
        """`next(loader)`: of what is no iterator but can give one."""
        if type(items) in _CONTAINERS or type(items) in (Loader, str, torch.Tensor):
            kind = "DataLoader" if type(items) is Loader else type(items).__name__
            says = f"'{kind}' object is not an iterator: `next(iter(…))` takes its first item"
            self.insist(TypeError(f"'{kind}' object is not an iterator"), items, says=says)

    def _is_whole_dataset(self, kind: type) -> bool:
        """Is it a class of the program that has nothing from others than from torch's `Dataset`?"""
        bases_are_known = all(base in self.codes or base in (Dataset, StandIn, object) for base in kind.__mro__)
        return kind in self.codes and bases_are_known and not self.is_open(kind)

    def ask_length(self, source: Any) -> None:
        """A dataset without `__len__`, whose samples shall come in any order; a sampler that is asked for its length"""
        kind = type(source)
        if self._is_whole_dataset(kind) and functions.closure_of(getattr(kind, "__len__", None)) is None:
            self.insist(TypeError(f"object of type '{kind.__name__}' has no len()"))

    def ask_samples(self, dataset: Any) -> None:
        """A dataset without `__getitem__`"""
        kind = type(dataset)
        if self._is_whole_dataset(kind) and not hasattr(kind, "__getitem__") and not hasattr(kind, "__iter__"):
            self.insist(NotImplementedError("Subclasses of Dataset should implement __getitem__."))

    def ask_part(self, part: Any) -> None:
        """A part of a sample that no batch can be made of: None, an object of the program"""
        kind = type(part)
        if part is None or kind in self.codes and self._is_the_programs(part) and kind.__bases__ == (object,):
            words = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found"
            self.insist(TypeError(f"{words} {kind.__name__}"))

    def ask_sum_of_text(self, a: Any, b: Any) -> None:
        """`"loss " + loss.item()`"""
        number, text = (a, b) if type(b) is str else (b, a)
        if type(text) is str and type(number) is Unknown and number.known == wild.FLOAT:
            words = 'can only concatenate str (not "float") to str'
            if text is b:
                words = "unsupported operand type(s) for +: 'float' and 'str'"
            self.insist(TypeError(words))

    def ask_ends(self, bounds: tuple) -> None:
        """`range(n / 2)`, `range(x.shape)`"""
        for bound in bounds:
            kind = type(bound)
            is_float = kind is float or kind is Unknown and bound.known == wild.FLOAT
            if is_float or kind is str or kind in _CONTAINERS:
                name = "float" if is_float else f"torch.{kind.__name__}" if kind is torch.Size else kind.__name__
                self.insist(TypeError(f"'{name}' object cannot be interpreted as an integer"))

    def ask_one_number(self, value: Any, function: Callable) -> None:
        """`math.sqrt(x)` of several numbers"""
        several = isinstance(value, (torch.Tensor, Array)) and value.ndim > 0 and 0 not in value.shape
        if several and any(size > 1 for size in value.shape):
            kind = "a tensor" if isinstance(value, torch.Tensor) else "an array"
            says = f"`math.{function.__name__}` takes one number, not {kind} of shape {tuple(value.shape)}"
            self.insist(ValueError("only one element tensors can be converted to Python scalars"), says=says)

    def deny_call(self, function: Callable, error: TypeError) -> None:
        """`StepLR(optimizer)`: a function of torch, called without an argument that it needs, or with too many."""
        is_torchs = str(getattr(function, "__module__", "")).startswith("torch.")
        if is_torchs and error.__traceback__.tb_next is None and _OF_A_CALL.search(words_of(error)):
            self.blame(error)

    def deny_arguments(self, kind: type, error: TypeError) -> None:
        """`Net(3)`, of a class without a constructor"""
        trace = error.__traceback__.tb_next
        is_modules = trace is not None and trace.tb_frame.f_code is nn.Module.__init__.__code__
        if self._is_known(kind) and (trace is None or is_modules and trace.tb_next is None):
            self.blame(error)

    def ask_tensors(self, layer: nn.Module, args: list) -> None:
        """`layer(array)`"""
        if args and type(args[0]) is Array and type(layer).__module__.startswith("torch.nn.modules."):
            if type(layer) not in (nn.Identity, nn.Sequential, nn.ModuleList, nn.ModuleDict):
                says = (
                    f"{type(layer).__name__} takes a tensor, not an array of NumPy: `torch.from_numpy` makes one of it"
                )
                self.insist(TypeError("argument 'input' (position 1) must be Tensor, not numpy.ndarray"), says=says)


def _operands(node: ast.AST) -> list[ast.expr]:
    """The expressions whose values an operation takes."""
    match node:
        case ast.Attribute() | ast.Subscript() | ast.Assign():
            return [node.value]
        case ast.Call():
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            rows = [part for one in given if isinstance(one, (ast.List, ast.Tuple)) for part in one.elts]
            return [node, *given, *rows]
        case ast.BinOp():
            return [node.left, node.right]
        case ast.UnaryOp():
            return [node.operand]
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.AugAssign():
            return [node.target, node.value]
        case ast.For():
            return [node.iter]
    return [node] if isinstance(node, ast.expr) else []


def is_plain(values: Any, limit: int = 2000) -> bool:
    """Whether arguments hold nothing but numbers, texts, tensors and containers of them: an error they cause is torch's
    own.
    """
    stack = list(values)
    while stack:
        limit -= 1
        value = stack.pop()
        if isinstance(value, (list, tuple)):
            stack.extend(value)
        elif isinstance(value, dict):
            stack.extend(value.values())
        elif not isinstance(value, PLAIN):
            return False
        if limit < 0:
            return False
    return True


PLAIN = (int, float, complex, str, type(None), torch.Tensor, torch.dtype, torch.device, slice, type(...))
