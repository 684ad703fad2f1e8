"""The page of shapes of an open file, for a panel beside its text."""

from __future__ import annotations

import os

from torchlint.finding import HERE
from torchlint.frontends.lsp.session import Session, has_torch
from torchlint.frontends.lsp.worker import WorkerDied
from torchlint.printable import printable

REQUEST = "torchlint/shapes"  # {"uri": …}, answered with {"page": HTML or "", "reason": why there is none}


async def shapes_page(session: Session, uri: str) -> dict[str, str]:
    """The page for the text as it is, unsaved changes and all."""
    unit = session.files.unit(uri)
    if unit is None or unit.is_notebook:
        return _without("this is no Python file that torchlint knows")
    if not has_torch():
        return _without("there is no torch in the environment of the server")
    settings = session.settings(unit)
    if settings is None:
        return _without("this file is not checked: it does not mention torch, or it is excluded")
    name = os.path.basename(unit.path)
    try:
        lanes = session.dry.lanes
        answer = await lanes.run(unit, session.files, lambda: session.request(unit, settings, page=name))
    except WorkerDied:
        return _without("drawing it took too long or too much memory")
    if answer is None or not answer.page:
        notices = answer.notices if answer else ()
        return _without("; ".join(notices).replace(HERE, name) or "no class with a forward is reached")
    return {"page": answer.page, "reason": ""}


def _without(reason: str) -> dict[str, str]:
    return {"page": "", "reason": printable(reason)}
