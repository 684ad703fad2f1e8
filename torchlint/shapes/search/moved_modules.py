"""Does a forward that two devices stop go on when its module is moved? Whoever makes the module may do that."""

from __future__ import annotations

import itertools

from torchlint.shapes.core.held_parts import buffers_of, weights_of
from torchlint.shapes.machine.failures import FailedOperation
from torchlint.shapes.search.attempts import RunResult
from torchlint.shapes.search.candidates import Attempt
from torchlint.shapes.tensors.device_tags import DeviceError, device_of, name, stamp


def goes_on_when_moved(failure: FailedOperation, attempt: Attempt) -> bool:
    """Is it only that the weights of a module, which no script made, are on the CPU?"""
    instance = attempt.instance
    if not isinstance(failure.error, DeviceError) or instance is None:
        return False
    made, guessed = attempt.machine.instances.get(attempt.kind, (None, False))
    is_ours = attempt.built is not None and instance is attempt.built.last.detail
    if instance is made and not guessed and not is_ours:
        return False
    other = next((device for device in map(device_of, failure.error.tensors) if device.type != "cpu"), None)
    if other is None:
        return False
    for tensor in itertools.chain(weights_of(instance), buffers_of(instance)):
        if device_of(tensor).type == "cpu":
            stamp(tensor, name(other))
    run, _ = attempt.runs(instance)
    again = run(attempt.ran.assumed)
    return again.stopped != "torch" or again.place != failure.place or not _is_of_devices(again)


def _is_of_devices(refused: RunResult) -> bool:
    """Or is it of a dtype, say, once all is together?"""
    return isinstance(refused.detail, FailedOperation) and isinstance(refused.detail.error, DeviceError)
