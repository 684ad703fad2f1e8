"""What a rule makes of a place: fixes, from edits of its text and from libcst nodes."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlint.edits import Edits
from torchlint.finding import Applicability, Edit, Fix
from torchlint.source.asking.spelled import Wanted, hides_a_builtin, imported, names_at
from torchlint.source.flow.module import Module

if TYPE_CHECKING:
    import libcst


def rewriting():
    """What works with libcst, which is imported for the first fix that needs it."""
    from torchlint.source.asking import rewrite

    return rewrite


class Fixing:
    """The part of a place that changes its file."""

    module: Module
    node: ast.AST

    def fix(
        self,
        message: str,
        *edits: Edit | None | Edits,
        applicability: Applicability = "safe",
        imports: tuple[str, ...] = (),
    ) -> Fix | None:
        """A fix of all these edits, None if one of them could not be made, if a name that it writes means something
        else there, or if a comment would be lost.

        `imports` are statements the new text needs.
        """
        flat: list[Edit] = []
        for edit in edits:
            if edit is None:
                return None
            flat += edit if isinstance(edit, tuple) else (edit,)
        needed: list[Edit] = []
        for wanted in map(Wanted.of, imports):
            written = names_at(self.module, flat, wanted.name)
            there = imported(self.module, wanted, written or [self.node])
            if there is None:
                return None
            needed += there
        if not flat or hides_a_builtin(self.module, flat) or self._loses_a_comment(flat):
            return None
        return Fix(message, tuple(sorted([*flat, *needed])), applicability)

    def _loses_a_comment(self, edits: list[Edit]) -> bool:
        """Does a comment stand in what is replaced, and not in what is written?"""
        gone = "".join(text for edit in edits if "#" in (text := self.module.text_of(edit.span)))
        written = "".join(edit.text for edit in edits)
        return any(comment.rstrip() not in written for comment in _COMMENTS.findall(gone))

    # As text

    def replace(self, node: ast.AST, text: str) -> Edit:
        """Put a text in the place of a node. The text must be as tight as the node it replaces."""
        return Edit(self.module.span(node), text)

    def with_suffix(self, node: ast.expr, suffix: str) -> Edit:
        """`x` becomes `x.suffix`, with parentheses where `x` needs them."""
        text = self.module.segment(node)
        return self.replace(node, f"{text}{suffix}" if isinstance(node, _ATOMS) else f"({text}){suffix}")

    # As libcst nodes

    @property
    def cst(self) -> libcst.CSTNode | None:
        """The libcst node of this place; None where libcst cannot read it, or has no single node for it."""
        return rewriting().node_of(self.module, self.node)

    def rewrite(
        self, new: libcst.CSTNode | libcst.FlattenSentinel | libcst.RemovalSentinel, node: ast.AST | None = None
    ) -> Edits | None:
        """Put a libcst node in the place of this one (or of another one of the file). In the place of a statement there
        may be several, as a FlattenSentinel, or none, as RemoveFromParent().
        """
        return rewriting().rewritten(self.module, node or self.node, new)

    def insert_before(self, node: ast.AST, text: str) -> Edits | None:
        """A statement before the one that holds a node."""
        return rewriting().insert_before(self.module, node, text)

    def insert_after(self, node: ast.AST, text: str) -> Edits | None:
        """A statement after the one that holds a node."""
        return rewriting().insert_after(self.module, node, text)

    def delete(self, statement: ast.stmt) -> Edits | None:
        return rewriting().delete(self.module, statement)

    def move(self, statement: ast.stmt, before: ast.AST | None = None, after: ast.AST | None = None) -> Edits | None:
        """A statement, before or after the one that holds another node of its block."""
        return rewriting().move(self.module, statement, before, after)

    def wrap(self, first: ast.stmt, last: ast.stmt, header: str) -> Edits | None:
        """Statements of one block under `header`, such as `with torch.no_grad():`."""
        return rewriting().wrap(self.module, first, last, header)


_COMMENTS = re.compile(r"#[^\r\n]*")
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Dict, ast.Set, ast.ListComp)
