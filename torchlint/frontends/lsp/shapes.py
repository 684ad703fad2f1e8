"""Shapes between the lines: inlay hints after assignments, and a lens above each forward."""

from __future__ import annotations

from lsprotocol import types

from torchlint.finding import ForwardHint, Hint, Span
from torchlint.frontends.lsp.session import Session
from torchlint.notation import guess_marked


async def inlay_hints(session: Session, params: types.InlayHintParams) -> list[types.InlayHint]:
    """The shape of each name that got a tensor. One that got several gets them all, in the order they came."""
    document, unit = session.files.document(params.text_document.uri), session.files.unit(params.text_document.uri)
    if document is None or unit is None or not session.workspace.editor(unit.path).shape_hints:
        return []
    await session.shapes(unit, session.client.has_hint_refresh)
    first, last = params.range.start.line + 1, params.range.end.line + 1
    assigned: dict[Span, list[Hint]] = {}
    for hint in document.hints:
        if hint.name and first <= hint.span.line <= last:
            assigned.setdefault(hint.span, []).append(hint)
    return [
        types.InlayHint(
            position=document.position(span.end_line, span.end_column),
            label=": " + _either([guess_marked(hint.shape, hint.guessed) for hint in hints]),
            kind=types.InlayHintKind.Type,
            tooltip=", ".join(
                dict.fromkeys(
                    f"{hint.dtype} {hint.device}{', sizes are guessed' if hint.guessed else ''}" for hint in hints
                )
            ),
        )
        for span, hints in assigned.items()
    ]


async def code_lenses(session: Session, params: types.CodeLensParams) -> list[types.CodeLens]:
    """What goes into each forward and what comes out."""
    document, unit = session.files.document(params.text_document.uri), session.files.unit(params.text_document.uri)
    if document is None or unit is None:
        return []
    editor = session.workspace.editor(unit.path)
    if not editor.shape_hints or not editor.code_lens:
        return []
    await session.shapes(unit, session.client.has_lens_refresh)
    by_span: dict[Span, list[ForwardHint]] = {}
    for signature in document.signatures:
        by_span.setdefault(signature.span, []).append(signature)
    return [
        types.CodeLens(document.range(span), types.Command(_either([_title(one) for one in signatures], " or "), ""))
        for span, signatures in by_span.items()
    ]


def _title(signature: ForwardHint) -> str:
    inputs = ", ".join(f"{name}: {shape}" for name, shape in signature.inputs)
    more = [_count(signature.parameters), "sizes are guessed" if signature.guessed else ""]
    return " \u00b7 ".join([f"{inputs} \u2192 {signature.output}", *filter(None, more)])


def _count(parameters: int) -> str:
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if parameters >= size:
            return f"{parameters / size:.1f}{unit} parameters"
    return f"{parameters} parameters" if parameters else ""


def _either(texts: list[str], joint: str = " | ") -> str:
    different = list(dict.fromkeys(texts))
    return joint.join([*different[:3], "\u2026"] if len(different) > 3 else different)
