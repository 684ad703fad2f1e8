"""What is shown under the mouse: the tensor of an expression, and the manual of a rule."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lsprotocol import types

from torchlint.finding import Hint, Span
from torchlint.frontends.lsp.diagnostics import address
from torchlint.frontends.lsp.documents import Document
from torchlint.frontends.lsp.session import Session

_CODE = re.compile(r"\bTL\d{3}\b")
_MOST = 6  # lines of tensors for one expression that runs many times


def hover(session: Session, params: types.HoverParams) -> types.Hover | None:
    """Tensors first: that is why people point at expressions."""
    document = session.files.document(params.text_document.uri)
    if document is None:
        return None
    place = document.place_of(params.position)
    spans: list[Span] = []
    parts = [*_tensors(document, place, spans), *_manuals(session, document, place, spans)]
    if not parts:
        return None
    content = types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts))
    return types.Hover(content, document.range(spans[0]))


def _tensors(document: Document, place: tuple[int, int], spans: list[Span]) -> Iterable[str]:
    """The innermost expression that is a tensor; several lines if it was different tensors."""
    around = [hint for hint in document.hints if _holds(hint.span, place)]
    if not around:
        return
    span = min(
        (hint.span for hint in around), key=lambda span: (span.end_line - span.line, span.end_column - span.column)
    )
    spans.append(span)
    lines = list(dict.fromkeys(_line(hint) for hint in around if hint.span == span))
    more = [f"and {len(lines) - _MOST} more"] if len(lines) > _MOST else []
    yield "```text\n" + "\n".join([*lines[:_MOST], *more]) + "\n```"


def _line(hint: Hint) -> str:
    return f"{hint.name + ': ' if hint.name else ''}{hint.shape} {hint.dtype} {hint.device}"


def _manuals(session: Session, document: Document, place: tuple[int, int], spans: list[Span]) -> Iterable[str]:
    """Of the findings at a place, and of a code that is written there."""
    codes: dict[str, Span] = {}
    for finding in document.all_findings():
        if _holds(finding.span, place):
            codes.setdefault(finding.code, finding.span)
    line, column = place
    for match in _CODE.finditer(document.line(line - 1)):
        if match.start() < column <= match.end() + 1:
            codes.setdefault(match.group(), Span(line, match.start() + 1, line, match.end() + 1))
    for code, span in codes.items():
        rule = session.rules.get(code)
        if rule:
            spans.append(span)
            link = address(rule, session.rules)
            title = f"[{code} {rule.name}]({link})" if link else f"{code} {rule.name}"
            # The second word of a block says whether it is the mistake or the cure; editors know the first word only.
            manual = re.sub(r"^```python (\w+)( \S+)?$", r"*\1:*\n```python", rule.manual, flags=re.MULTILINE)
            yield f"**{title}**\n\n{manual}"


def _holds(span: Span, place: tuple[int, int]) -> bool:
    return (span.line, span.column) <= place <= (span.end_line, span.end_column)
