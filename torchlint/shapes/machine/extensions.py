"""Devices that an extension of torch brings: `npu` where a file says `torch_npu` or `torch.npu`."""

from __future__ import annotations

import re

from torchlint.shapes.language.program import Place, source_of

_UNKNOWN = re.compile(r"device type at start of device string: (\w{1,40})$")


def brings_device(error: Exception, place: Place | None) -> bool:
    """Is it a device that this torch does not know, and the file speaks of the extension that has it?"""
    asked = _UNKNOWN.search(str(error)) if isinstance(error, RuntimeError) else None
    program = source_of(place[0]) if asked and place else None
    if asked is None or program is None:
        return False
    return program.says(rf"\btorch[._]{asked[1]}\b|\brename_privateuse1_backend\b")
