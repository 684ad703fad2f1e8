"""What the plain kernels say of an operation is what torch's own kernels for tensors without data say."""

from __future__ import annotations

import pytest
import torch

from torchlint.shapes.tensors.plain_kernels import kernel_of

aten = torch.ops.aten


def tensor(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype, device="meta")


X, V = tensor(2, 8, 6, 5), tensor(8)
PLAIN = [
    (aten.native_batch_norm.default, (X, V, V, V, V, True, 0.1, 1e-5)),
    (aten.native_batch_norm.default, (X, None, None, V, V, False, 0.1, 1e-5)),
    (aten.native_batch_norm.default, (tensor(4, 8), V, None, None, None, True, 0.1, 1e-5)),
    (aten.native_layer_norm.default, (X, [5], tensor(5), tensor(5), 1e-5)),
    (aten.native_layer_norm.default, (X, [6, 5], tensor(6, 5), None, 1e-5)),
    (aten.addmm.default, (V, tensor(3, 4), tensor(8, 4).t())),
    (aten.addmm.default, (V, tensor(3, 4), tensor(4, 8))),
    (aten._softmax.default, (X, -1, False)),
    (aten._log_softmax.default, (X, 1, False)),
    (aten._safe_softmax.default, (X, -4)),
    (aten.clamp.default, (X, None, 2)),
    (aten.clamp_.default, (X, 1.0, 2)),
    (aten.hardtanh.default, (X, -2, 2)),
    (aten.relu.default, (tensor(),)),
    *((getattr(getattr(aten, name), "Tensor"), (X, 2.5)) for name in ("add", "mul", "sub", "div", "add_", "mul_")),
    *((getattr(getattr(aten, name), "Tensor"), (X, tensor(2, 8, 6, 5))) for name in ("add", "mul", "sub_", "div_")),
    *(
        (getattr(aten, name).default, (X,))
        for name in ("gelu", "relu", "silu", "sigmoid", "exp", "mish", "erfinv_", "relu_", "elu_", "tanh")
    ),
]
OTHERS = [  # torch says what becomes of these, or why they are refused
    (aten.native_batch_norm.default, (X, tensor(7), V, V, V, True, 0.1, 1e-5)),
    (aten.native_batch_norm.default, (X, V, V, None, None, False, 0.1, 1e-5)),
    (aten.native_batch_norm.default, (X.transpose(2, 3), V, V, V, V, True, 0.1, 1e-5)),
    (aten.native_layer_norm.default, (X, [6], None, None, 1e-5)),
    (aten.native_layer_norm.default, (X.half(), [5], None, None, 1e-5)),
    (aten.addmm.default, (V, tensor(3, 4), tensor(8, 4))),
    (aten.addmm.default, (tensor(3), tensor(3, 4), tensor(4, 8))),
    (aten._softmax.default, (X, 4, False)),
    (aten._softmax.default, (X.transpose(2, 3), 1, False)),
    (aten._log_softmax.default, (X.half(), 1, True)),
    (aten._safe_softmax.default, (X, 1, torch.float64)),
    (aten.clamp.default, (X, None, None)),
    (aten.clamp.default, (X,)),
    (aten.add.Tensor, (X, tensor(5))),
    (aten.mul.Tensor, (X, 2j)),
    (aten.sub.Tensor, (X, True)),
    (aten.relu.default, (tensor(2, dtype=torch.long),)),
    (aten.relu.default, (tensor(0, 3),)),
    (aten.relu_.default, (tensor(1).expand(3),)),
    (aten.isnan.default, (X,)),
    (aten.gt.Scalar, (X, 2)),
]


@pytest.mark.parametrize("function,args", PLAIN, ids=lambda value: str(value) if callable(value) else "")
def test_the_same_shapes(function, args):
    made, expected = kernel_of(function)(*args), function(*args)
    one = isinstance(expected, torch.Tensor)
    for mine, torchs in zip((made,) if one else made, (expected,) if one else expected, strict=True):
        assert (mine.shape, mine.stride(), mine.dtype) == (torchs.shape, torchs.stride(), torchs.dtype)
        assert mine.is_meta and (mine is args[0]) == (torchs is args[0])


@pytest.mark.parametrize("function,args", OTHERS, ids=lambda value: str(value) if callable(value) else "")
def test_nothing_is_said_of_others(function, args):
    assert kernel_of(function)(*args) is None


@pytest.mark.parametrize("function", [aten.view.default, aten.cat.default, aten.mean.dim, aten.frexp.Tensor])
def test_others_have_none(function):
    assert kernel_of(function) is None
