"""What `torch.set_default_device` and `torch.set_default_tensor_type` say: where new tensors are, of which dtype."""

from __future__ import annotations

import torch

from torchlint.shapes.core.values import Special, Unknown
from torchlint.shapes.tensors import device_tags

_DEFAULT_TYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
}


def set_device(machine, device):
    device_tags.set_default(device_tags.ANY if type(device) is Unknown else device)


def set_tensor_type(machine, kind):
    """`torch.set_default_tensor_type("torch.cuda.FloatTensor")`: where new tensors are, and of which dtype."""
    if isinstance(kind, str):
        home, _, word = kind.removeprefix("torch.").rpartition(".")
        dtype = _DEFAULT_TYPES.get(word)
    else:
        about = kind.__dict__ if isinstance(kind, Special) else {}
        home, dtype = about.get("home", "unknown"), about.get("dtype")
    on_gpu = home == "cuda" and machine.has_cuda()
    device_tags.set_default("cuda" if on_gpu else None if home in ("", "cpu", "cuda") else device_tags.ANY)
    if dtype in _DEFAULT_TYPES.values():
        machine.foreign(torch.set_default_dtype, (dtype,), {})
