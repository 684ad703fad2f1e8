"""Parameters without sizes, of layers that learn them from their first input: they remember where they were sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

KINDS = (UninitializedParameter, UninitializedBuffer)
_DTYPES = {
    torch.Tensor.half: torch.float16,
    torch.Tensor.float: torch.float32,
    torch.Tensor.double: torch.float64,
    torch.Tensor.bfloat16: torch.bfloat16,
}
_SENT = "sent_to"
DATA = torch.Tensor.data.__get__  # asked by what gives a parameter its sizes


def wanted(parameter: Any) -> dict[str, Any]:
    """The device and the dtype that a parameter is to have."""
    return parameter.__dict__.get(_SENT, {"device": None, "dtype": parameter.dtype})


def run(function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Call a torch function on such a parameter: what moves or converts it is remembered."""
    parameter, sent = args[0], {}
    if function in _DTYPES:
        sent["dtype"] = _DTYPES[function]
    elif function == torch.Tensor.cuda:
        number = [n for n in (*args[1:2], kwargs.get("device")) if n is not None]
        sent["device"] = torch.device("cuda", *number) if not number or type(number[0]) is int else number[0]
    elif function == torch.Tensor.cpu:
        sent["device"] = torch.device("cpu")
    elif function == torch.Tensor.to:
        device, dtype, *_ = torch._C._nn._parse_to(*args[1:], **{k: v for k, v in kwargs.items() if k != "copy"})
        sent = {k: v for k, v in {"device": device, "dtype": dtype}.items() if v is not None}
    else:
        return function(*args, **kwargs)
    parameter.__dict__[_SENT] = {**wanted(parameter), **sent}
    return parameter
