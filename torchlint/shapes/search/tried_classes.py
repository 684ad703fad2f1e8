"""What is said of a class that no script made, where it stands in another one."""

from __future__ import annotations

import msgspec

from torchlint.finding import Note, Span
from torchlint.shapes.core.faults import Fault
from torchlint.shapes.language.functions import ClassCode


def of_class(fault: Fault, tried: ClassCode) -> Fault:
    """A fault with the class that was tried, if it lies in a base or a part of it: others with these may be right."""
    path, span = tried.place
    if fault.path != path or span.line <= fault.span.line <= span.end_line:
        return fault
    head = Span(span.line, span.column, span.line, span.column + len(f"class {tried.name}"))
    return msgspec.structs.replace(fault, notes=(*fault.notes, Note(f"so it is with a {tried.name}", path, head)))
