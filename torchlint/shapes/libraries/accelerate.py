"""Accelerate: what is prepared stays what it is, on a device of the library's choice; backward is that of the loss."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, machines
from torchlint.shapes.libraries.stdlib import Context
from torchlint.shapes.tensors import device_tags


class Prepared(StandIn):
    """A loader whose batches come to the device of the model."""

    def __init__(self, loader: Any):
        self._loader = loader

    def __iter__(self):
        for batch in machines[-1].iterate(self._loader, looping=True):
            device_tags.stamp(batch, device_tags.ANY)
            yield batch

    def __len__(self):
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return machines[-1].get(self._loader, name)


class Accelerator(StandIn):
    """The first of its processes."""

    takes_unknown = frozenset({"prepare", "backward", "unwrap_model"})
    is_main_process = is_local_main_process = is_last_process = sync_gradients = True

    @property
    def device(self) -> torch.device:
        return torch.device("cuda", 0) if machines[-1].has_cuda() else torch.device("cpu")

    def prepare(self, *parts, **options):
        made = tuple(map(self._prepared, parts))
        return made[0] if len(made) == 1 else made

    def _prepared(self, part: Any) -> Any:
        if isinstance(part, nn.Module):
            device_tags.stamp(list(part.state_dict(keep_vars=True).values()), device_tags.ANY)
        is_loader = isinstance(part, StandIn) and hasattr(type(part), "__iter__")
        return Prepared(part) if is_loader else part

    prepare_model = prepare_data_loader = prepare_optimizer = prepare_scheduler = prepare

    def backward(self, loss, **options):
        machine = machines[-1]
        return machine.call(machine.get(loss, "backward"), [], {})

    def unwrap_model(self, model, *_, **options):
        return model

    def accumulate(self, *_):
        return Context()

    def autocast(self, *_, **options):
        return Context()

    no_sync = main_process_first = local_main_process_first = autocast

    def clip_grad_norm_(self, parameters, max_norm, norm_type=2):
        machine = machines[-1]
        return machine.foreign(nn.utils.clip_grad_norm_, (list(machine.iterate(parameters)), max_norm), {})

    def gather(self, value, **options):
        return Unknown("what all processes have")

    gather_for_metrics = reduce = pad_across_processes = gather

    def print(self, *_, **options) -> None:
        pass

    log = wait_for_everyone = init_trackers = end_training = save = save_state = save_model = load_state = print
    free_memory = register_for_checkpointing = clip_grad_value_ = print


ACCELERATE: dict[str, Any] = {
    "accelerate.Accelerator": Special("Accelerator", lambda machine, *args, **kwargs: Accelerator()),
    "accelerate.utils.set_seed": Special("set_seed", lambda machine, *args, **kwargs: None),
}
