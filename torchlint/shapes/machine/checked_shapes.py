"""What functions are given and return, beside the shapes that their author wrote: jaxtyping's annotations."""

from __future__ import annotations

import ast
from typing import Any

import torch

from torchlint.notation import shape_text
from torchlint.shapes.language.functions import Code
from torchlint.shapes.language.program import Frame, Place
from torchlint.shapes.language.written import Written
from torchlint.shapes.machine.failures import FailedOperation

_Names = dict[str, int]  # what the names of axes stand for in one call


class AsWritten:
    """The part of the machine that compares tensors with what is written of them."""

    def as_written(self, code: Code, frame: Frame) -> _Names:
        """Compare the arguments of a call that begins; what the names of axes stand for in it."""
        names: _Names = {}
        for name, written in code.written.taken.items():
            self._compare(code, f"`{name}`", frame.vars.get(name), written, names)
        return names

    def returns_as_written(self, code: Code, result: Any, names: _Names) -> None:
        """Compare what a call returns; the arguments have said what the names stand for."""
        for what, part, written in code.written.parts(result):
            self._compare(code, f"{what} (`{code.name}`)", part, written, names)

    def as_said(self, written: Written, value: Any) -> None:
        """Compare what a variable gets with the comment behind it: a remark, for comments grow old."""
        if isinstance(value, torch.Tensor) and self.is_sure():
            why = written.misfit(value, {})
            if why:
                shape = shape_text(value.shape)
                says = f"the comment says `{written.text}`, `{ast.unparse(written.node)}` is {shape} here: {why}"
                self.tell(self._misfit(says, None, is_remark=True))

    def _compare(self, code: Code, what: str, value: Any, written: Written, names: _Names) -> None:
        is_assumed = self.comparing is code
        if not isinstance(value, torch.Tensor) or not (is_assumed or self.is_sure()):
            return
        why = written.misfit(value, names)
        if not why:
            return
        says = f"{what} is written as `{written.text}` and is {shape_text(value.shape)} here: {why}"
        failure = self._misfit(says, code.parent.program.place(written.node))
        if is_assumed:
            # Sizes of names are examples: that they differ says something, by how much does not.
            self.misfits[failure.place, what, "names" if why.startswith("`") else why] = failure
            return
        if code.written.is_enforced and self.scripting:
            self.failures[id(failure.error)] = failure
            raise failure.error
        self.tell(failure)

    def _misfit(self, says: str, written_at: Place | None, is_remark: bool = False) -> FailedOperation:
        failure = FailedOperation(self, TypeError(says), self._misfit, (), {})
        failure.kind, failure.says, failure.guessed = "check", says, is_remark
        failure.about = ("it is written here", written_at or failure.place)
        return failure

    def tell(self, failure: FailedOperation) -> None:
        """Keep what is to be said although the program goes on."""
        if not failure.expected and all(other.place != failure.place for other in self.reported):
            self.reported.append(failure)
