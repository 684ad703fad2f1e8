"""What Python refuses, or the program itself, in words: no operation of torch had a part in it."""

from __future__ import annotations

from torchlint.finding import Note
from torchlint.printable import shortened
from torchlint.shapes.core.faults import Fault
from torchlint.shapes.language.private_names import as_written
from torchlint.shapes.machine.failures import FailedOperation

_LONGEST = 200


def fault_of_program(failure: FailedOperation) -> Fault:
    """The fault in an error that is certain, and remembered with what is to be said of it."""
    path, span = failure.place
    said = shortened(failure.says, _LONGEST)
    kind = next(base.__name__ for base in type(failure.error).__mro__ if base.__module__ == "builtins")
    notes = []
    if failure.kind == "check" and isinstance(failure.about, str):
        message, words = f"{said} (with {failure.about})", f"the program refuses its own values: {kind}"
    else:
        message, words = said, "" if str(failure.error) in said else f"Python says: {kind}: {failure.error}"
        words = "what it is and what is written of it have to agree" if failure.kind == "check" else words
        if failure.about is not None and failure.about[1] != failure.place:
            notes.append(Note(failure.about[0], *failure.about[1]))
    for code, caller in reversed(failure.stack):
        if caller is not None and caller != failure.place:
            notes.append(Note(f"{code.name} is called here", *caller))
    return Fault(
        failure.kind,
        path,
        span,
        as_written(message),
        as_written(words),
        tuple(notes[:3]),
        presumed=failure.guessed or failure.never,
    )
