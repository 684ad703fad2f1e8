"""Tensors without data: shapes, values, devices, dtypes and the words of torch, beside what real tensors do."""

import pytest

torch = pytest.importorskip("torch")
from torch import nn
from torch.nn import functional as F

from torchlint.shapes.core.values import UnknownUsed
from torchlint.shapes.tensors import autocast, ranges
from torchlint.shapes.tensors import device_tags as devices
from torchlint.shapes.tensors.device_tags import DeviceError
from torchlint.shapes.tensors.dispatch import device_of, dry_tensors, value_of
from torchlint.shapes.tensors.replay import confirm


@pytest.fixture(autouse=True)
def dry():
    with dry_tensors():
        yield


# Shapes and sizes


def test_a_network_runs_without_memory():
    net = nn.Sequential(nn.Conv2d(3, 10**4, 3), nn.BatchNorm2d(10**4), nn.Flatten(), nn.Linear(10**4 * 900, 10**6))
    assert net(torch.randn(64, 3, 32, 32)).shape == (64, 10**6)


def test_huge_tensors_cost_nothing():
    assert (torch.zeros(10**15) + 1).shape == (10**15,)


def test_numbers_that_are_repeated_are_looked_at_once():
    numbers = torch.arange(4)[:, None].expand(4, 10**12)
    assert ranges.span_of(numbers.contiguous())[:2] == (0, 3)


def test_an_answer_from_the_cache_is_a_new_tensor():
    x = torch.randn(40, 40)
    first, second = x @ x, x @ x
    assert first is not second
    assert first.untyped_storage()._cdata != second.untyped_storage()._cdata


@pytest.mark.parametrize(
    "refused",
    [
        lambda zeros: torch.addmm(zeros(4), zeros(2, 3), zeros(5, 4)),
        lambda zeros: torch.stack([zeros(2), zeros(3)]),
        lambda zeros: zeros(2, 3) + zeros(4),
        lambda zeros: zeros(2, 3).sum(7),
        lambda zeros: F.nll_loss(zeros(2, 3), zeros(2, 1).long()),
    ],
)
def test_what_is_refused_is_refused_in_the_same_words_again(refused):
    def of_meta(*shape):
        return torch.empty(shape, device="meta")

    with pytest.raises(Exception) as torchs:
        refused(of_meta)
    for _ in range(2):
        with dry_tensors():
            for _ in range(2):
                with pytest.raises(torchs.type) as said:
                    refused(torch.zeros)
                assert type(said.value) is torchs.type and str(said.value) == str(torchs.value)


def test_the_cache_knows_the_default_dtype_and_the_kind_of_numbers():
    x = torch.randint(0, 5, (30, 30))
    assert (x * 2).dtype == torch.int64
    assert (x * 2.0).dtype == torch.float32
    torch.set_default_dtype(torch.float64)
    assert (x * 2.0).dtype == torch.float64
    assert (x * True).dtype == torch.int64


def test_training_runs():
    model = nn.Sequential(nn.Linear(30, 40), nn.ReLU(), nn.Linear(40, 2))
    for optimizer in (torch.optim.Adam(model.parameters()), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)):
        for _ in range(2):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(torch.randn(8, 30)), torch.randint(0, 2, (8,)))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        assert model[0].weight.grad.shape == (40, 30)


def test_a_second_backward_raises():
    loss = nn.Linear(600, 1)(torch.randn(3, 600)).exp().sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_half_and_other_dtypes():
    layer = nn.Linear(4, 4).half()
    assert layer(torch.randn(2, 4).half()).dtype == torch.float16
    assert layer.to(torch.float64).weight.dtype == torch.float64


def test_long_sequences_take_two_steps():
    lstm = nn.LSTM(8, 16, num_layers=2, batch_first=True, bidirectional=True)
    output, (hidden, cell) = lstm(torch.randn(3, 10**5, 8))
    assert output.shape == (3, 10**5, 32) and hidden.shape == cell.shape == (4, 3, 16)
    output, hidden = nn.GRU(8, 16)(torch.randn(50, 3, 8))
    assert output.shape == (50, 3, 16) and hidden.shape == (1, 3, 16)
    output.sum().backward()


def test_packed_sequences_are_full():
    packed = nn.utils.rnn.pack_padded_sequence(
        torch.randn(3, 7, 8), torch.randint(1, 8, (3,)), batch_first=True, enforce_sorted=False
    )
    output, (hidden, _) = nn.LSTM(8, 16, batch_first=True)(packed)
    padded, lengths = nn.utils.rnn.pad_packed_sequence(output, batch_first=True)
    assert padded.shape == (3, 7, 16) and hidden.shape == (1, 3, 16) and lengths.shape == (3,)


# Values


@pytest.mark.parametrize(
    "make, values",
    [
        (lambda: torch.tensor([1, 2, 3]) * 2, [2, 4, 6]),
        (lambda: torch.FloatTensor([1, 2]) + 1, [2.0, 3.0]),
        (lambda: torch.arange(4).cumsum(0), [0, 1, 3, 6]),
        (lambda: torch.tensor([5, 7, 6])[torch.tensor([True, False, True])], [5, 6]),
        (lambda: torch.nonzero(torch.tensor([0, 1, 1])).flatten(), [1, 2]),
        (lambda: F.one_hot(torch.tensor([1])), [[0, 1]]),
        (lambda: nn.Parameter(torch.ones(2)).detach(), [1.0, 1.0]),
    ],
)
def test_small_tensors_keep_their_values(make, values):
    assert value_of(make()) == values


def test_values_follow_changes_through_views():
    x = torch.zeros(4)
    view = x[1:]
    x[2] = 5
    view += 1
    assert value_of(x) == [0, 1, 6, 1] and value_of(view) == [1, 6, 1]


def test_values_are_forgotten_when_something_unknown_is_written():
    x = torch.zeros(4)
    view = x[1:]
    x += torch.randn(4)
    assert value_of(view) is None


def test_drop_path_rates_are_numbers():
    rates = [r.item() for r in torch.linspace(0, 0.1, 3)]
    assert rates == pytest.approx([0, 0.05, 0.1])


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x.sum().item(),
        lambda x: bool(x.sum() > 0),
        lambda x: int(x.argmax()),
        lambda x: x[x > 0],
        lambda x: x.nonzero(),
        lambda x: x.unique(),
        lambda x: torch.equal(x, x),
        lambda x: torch.masked_select(x, x > 0),
        lambda x: torch.bincount(x.long().flatten()),
        lambda x: F.one_hot(x.long()),
    ],
)
def test_what_depends_on_data_is_unknown(use):
    with pytest.raises(UnknownUsed):
        use(torch.randn(3, 4))


def test_a_mask_may_be_written_through():
    x = torch.randn(3, 4)
    x[x > 0] = 0
    assert x.shape == (3, 4)


# Dtypes that pass on meta and fail on real tensors

DTYPE_ERRORS = {
    "linear": lambda: nn.Linear(3, 5)(torch.randn(2, 3).double()),
    "matmul": lambda: torch.randn(2, 3) @ torch.randn(3, 2).double(),
    "layer norm": lambda: nn.LayerNorm(3)(torch.randn(2, 3).double()),
    "batch norm": lambda: nn.BatchNorm1d(3)(torch.randn(2, 3).double()),
    "attention": lambda: nn.MultiheadAttention(16, 2)(*[torch.randn(2, 3, 16).double()] * 3),
    "conv": lambda: nn.Conv1d(3, 4, 1)(torch.randn(2, 3, 8).double()),
    "half": lambda: nn.Linear(3, 3).half()(torch.randn(2, 3)),
    "int32 target": lambda: F.cross_entropy(torch.randn(4, 3), torch.zeros(4, dtype=torch.int32)),
    "float target": lambda: F.cross_entropy(torch.randn(4, 3), torch.zeros(4)),
    "long bce target": lambda: F.binary_cross_entropy(torch.rand(4), torch.zeros(4, dtype=torch.long)),
    "softmax of longs": lambda: torch.zeros(4, 3, dtype=torch.long).softmax(-1),
    "and of floats": lambda: torch.randn(3) & torch.randn(3),
    "float index": lambda: nn.Embedding(3, 4)(torch.zeros(2)),
    "mean of longs": lambda: torch.randint(0, 3, (4,)).mean(),
}


@pytest.mark.parametrize("name", DTYPE_ERRORS)
def test_wrong_dtypes_raise(name):
    for _ in range(2):  # the second time from the cache
        with pytest.raises((RuntimeError, TypeError)):
            DTYPE_ERRORS[name]()


@pytest.mark.parametrize(
    "run",
    [
        lambda: F.mse_loss(torch.randn(4), torch.zeros(4, dtype=torch.long)),
        lambda: torch.randn(4) + torch.zeros(4, dtype=torch.float64),
        lambda: torch.where(torch.randn(4) > 0, torch.randn(4), torch.zeros(1).double()),
        lambda: torch.cat([torch.randn(2), torch.randn(2).double()]),
        lambda: nn.Embedding(3, 4)(torch.zeros(2, dtype=torch.int32)),
        lambda: torch.randint(1, 5, (4,)) // torch.randint(1, 5, (4,)),
        lambda: torch.randn(4).masked_fill(torch.randn(4) > 0, 0),
        lambda: F.cross_entropy(torch.randn(4, 3), torch.zeros(4, 3)),
        lambda: nn.Linear(3, 3).bfloat16()(torch.randn(2, 3).bfloat16()),
    ],
)
def test_dtypes_that_torch_mixes_do_not_raise(run):
    run()


def test_autocast_promotes():
    layer, x = nn.Linear(8, 5), torch.randn(4, 8)
    with autocast.region(torch.float16):
        logits = layer(x)
        loss = F.cross_entropy(logits, torch.zeros(4, dtype=torch.long))
        assert logits.dtype == torch.float16 and loss.dtype == torch.float32
        assert layer(logits.new_zeros(2, 8)).dtype == torch.float16
        with autocast.region(enabled=False):
            assert layer(x).dtype == torch.float32
    loss.backward()
    assert layer.weight.grad.dtype == torch.float32


@pytest.mark.parametrize(
    "layer, size",
    [
        (lambda x: nn.Conv1d(8, 4, 1)(x), (2, 8, 3)),
        (lambda x: nn.PReLU()(x), (2, 8)),
        (lambda x: nn.LSTM(8, 4)(x), (2, 3, 8)),
        (lambda x: nn.GRU(8, 4)(x), (2, 3, 8)),
        (lambda x: nn.Bilinear(8, 8, 3)(x, x.float()), (2, 8)),
        (lambda x: F.scaled_dot_product_attention(x, x.float(), x), (2, 3, 8)),
        (lambda x: torch.tensordot(x, x.float(), dims=([1], [1])), (2, 8)),
    ],
)
def test_autocast_comes_before_the_dtypes_are_compared(layer, size):
    with autocast.region(torch.float16):
        layer(torch.zeros(size, dtype=torch.half))
    with pytest.raises((RuntimeError, ValueError)):
        layer(torch.zeros(size, dtype=torch.half))


# Devices


def test_what_moves_or_copies_in_inference_mode_stays_on_its_device():
    with torch.inference_mode():  # where composite operations are seen whole
        x = torch.zeros(3, 4).to("cuda").double().float().t().reshape(12).contiguous()
        assert str(x.device) == "cuda:0" and str(x.cpu().half().device) == "cpu"
        assert nn.Linear(12, 2).cuda()(x).shape == (2,)


def test_devices_are_tags():
    x = torch.zeros(2, 3, device="cuda")
    assert str(device_of(x)) == "cuda:0" == str(x.device) and x.is_cuda
    model = nn.Sequential(nn.Linear(3, 3)).cuda(1)
    assert str(model[0].weight.device) == "cuda:1" and model[0].weight.requires_grad
    assert str(x.cpu().device) == "cpu" and x.cpu().is_cuda is False
    assert str(torch.zeros(1, device=x.device).device) == "cuda:0"
    assert str((x * 2).view(6)[0].device) == str(torch.zeros_like(x).device) == str(x.new_ones(3).device) == "cuda:0"
    assert x.to("cuda:0") is x and x.to(x) is x
    assert value_of(torch.tensor([1, 2], device="cuda").cpu()) == [1, 2]


DEVICE_ERRORS = {
    "add": lambda cpu, gpu: cpu + gpu,
    "linear": lambda cpu, gpu: nn.Linear(3, 3)(gpu),
    "conv": lambda cpu, gpu: nn.Conv1d(3, 3, 1).cuda()(cpu.view(1, 3, 3)),
    "embedding": lambda cpu, gpu: nn.Embedding(5, 3).cuda()(torch.tensor([1, 2])),
    "cat": lambda cpu, gpu: torch.cat([cpu, gpu]),
    "gather": lambda cpu, gpu: gpu.gather(0, torch.zeros(3, 3, dtype=torch.long)),
    "index select": lambda cpu, gpu: gpu.index_select(0, torch.tensor([0])),
    "loss": lambda cpu, gpu: F.cross_entropy(gpu, torch.zeros(3, dtype=torch.long)),
    "gpu index of a cpu tensor": lambda cpu, gpu: cpu[torch.tensor([0]).cuda()],
    "gpu scalar with a cpu tensor": lambda cpu, gpu: cpu * gpu.sum(),
}


@pytest.mark.parametrize("name", DEVICE_ERRORS)
def test_devices_must_not_mix(name):
    with pytest.raises(DeviceError, match="device"):
        DEVICE_ERRORS[name](torch.randn(3, 3), torch.randn(3, 3, device="cuda"))


@pytest.mark.parametrize(
    "run",
    [
        lambda cpu, gpu: gpu * torch.tensor(2.0),
        lambda cpu, gpu: gpu[torch.tensor([0, 1])],
        lambda cpu, gpu: gpu.copy_(cpu),
        lambda cpu, gpu: gpu.masked_fill(gpu > 0, torch.tensor(0.0)),
        lambda cpu, gpu: nn.LSTM(3, 4).cuda()(gpu.view(3, 1, 3)),
        lambda cpu, gpu: gpu + cpu.double().type_as(gpu),
        lambda cpu, gpu: nn.Linear(3, 1).cuda()(cpu.to(gpu.device)).sum().backward(),
        lambda cpu, gpu: nn.TransformerEncoderLayer(4, 2).cuda()(torch.randn(2, 2, 4, device="cuda")),
    ],
)
def test_devices_that_torch_mixes_do_not_raise(run):
    run(torch.randn(3, 3), torch.randn(3, 3, device="cuda"))


def test_training_on_a_gpu():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters())
    loss = F.cross_entropy(model(torch.randn(8, 3).cuda()), torch.zeros(8, dtype=torch.long).cuda())
    loss.backward()
    optimizer.step()
    assert str(loss.device) == "cuda:0"


def test_numpy_of_a_gpu_tensor():
    with pytest.raises(devices.DeviceError, match="Use Tensor.cpu"):
        torch.zeros(3, device="cuda").numpy()
    with pytest.raises(RuntimeError, match="requires grad"):
        devices.check_numpy(torch.zeros(3, requires_grad=True))


# The replay


@pytest.mark.parametrize(
    "function, args, words",
    [
        (
            F.conv2d,
            lambda: (torch.randn(1, 3, 8, 8), torch.randn(4, 5, 3, 3)),
            "to have 5 channels, but got 3 channels",
        ),
        (
            torch.matmul,
            lambda: (torch.randn(2, 3), torch.randn(4, 5)),
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
        ),
        (
            torch.cat,
            lambda: ([torch.randn(2, 3), torch.randn(2, 4)],),
            "Sizes of tensors must match except in dimension 0",
        ),
        (torch.Tensor.view, lambda: (torch.randn(6), 4, -1), "shape '[4, -1]' is invalid for input of size 6"),
    ],
)
def test_confirm_quotes_torch(function, args, words):
    for _ in range(2):
        assert words in confirm(function, args(), {})


def test_confirm_of_a_layer():
    assert "1x8 and 10x2" in confirm(nn.Linear(10, 2), (torch.randn(1, 8),), {})
    assert confirm(nn.Linear(10, 2), (torch.randn(1, 10),), {}) is None


def test_confirm_does_not_allocate():
    assert confirm(torch.matmul, (torch.empty(10**8, 10**7), torch.empty(3, 3)), {}) is None


def test_confirm_of_a_leaf_that_is_changed_in_place():
    weight = nn.Parameter(torch.randn(3))
    assert "leaf Variable" in confirm(torch.Tensor.add_, (weight, 1), {})


def test_confirm_of_a_lazy_layer():
    lazy = nn.LazyLinear(3)
    assert confirm(lazy, (torch.randn(1, 2, 3),), {}) is None
    assert confirm(F.linear, (torch.randn(1, 2), lazy.weight), {}) is None


def test_the_numbers_of_a_range_are_its_own():
    """Not what was in the memory before: its constructor passes by what others pass through."""
    for _ in range(3):  # the first is made in another way than what was made before
        made = torch.range(0, 511, 2)
        assert value_of(made.long()[-1]) == 510
