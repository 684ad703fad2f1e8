"""einops patterns: the values of plain torch code, and the words of einops for what does not fit."""

import pytest

torch = pytest.importorskip("torch")

from torchlint.shapes.libraries import einops
from torchlint.shapes.libraries.einops import (
    EinMix,
    EinopsError,
    Rearrange,
    Reduce,
    pack,
    rearrange,
    reduce,
    repeat,
    unpack,
)
from torchlint.shapes.record.graph import Recorder
from torchlint.shapes.tensors.dispatch import dry_tensors

X = torch.arange(2 * 4 * 6 * 3.0).reshape(2, 4, 6, 3)


@pytest.mark.parametrize(
    "pattern, sizes, wanted",
    [
        ("b h w c -> b c h w", {}, X.permute(0, 3, 1, 2)),
        ("b h w c -> b (h w) c", {}, X.flatten(1, 2)),
        ("b (h p) w c -> b h w (p c)", {"p": 2}, X.view(2, 2, 2, 6, 3).permute(0, 1, 3, 2, 4).flatten(3)),
        ("b ... c -> b c (...)", {}, X.flatten(1, 2).transpose(1, 2)),
        ("b ... -> ... b", {}, X.permute(1, 2, 3, 0)),
        ("(a b) h w c -> a b 1 h w c", {"a": 2}, X[:, None, None]),
        ("b h w c -> (b h w c) ()", {}, X.reshape(-1, 1)),
    ],
)
def test_rearrange(pattern, sizes, wanted):
    assert torch.equal(rearrange(X, pattern, **sizes), wanted)
    assert torch.equal(Rearrange(pattern, **sizes)(X), wanted)


def test_a_list_is_stacked():
    assert torch.equal(rearrange([X, X], "n b h w c -> b n h w c"), torch.stack([X, X], 1))


@pytest.mark.parametrize(
    "pattern, kind, sizes, wanted",
    [
        ("b h w c -> b c", "mean", {}, X.mean((1, 2))),
        ("b (h p) w c -> b h w c", "max", {"p": 2}, X.view(2, 2, 2, 6, 3).amax(2)),
        ("b h w c -> b () () c", "min", {}, X.amin((1, 2), keepdim=True)),
        ("... -> ", "sum", {}, X.sum()),
    ],
)
def test_reduce(pattern, kind, sizes, wanted):
    assert torch.allclose(reduce(X, pattern, kind, **sizes), wanted)
    assert torch.allclose(Reduce(pattern, kind, **sizes)(X), wanted)


@pytest.mark.parametrize(
    "pattern, sizes, wanted",
    [
        ("b h w c -> b r h w c", {"r": 3}, X[:, None].expand(2, 3, 4, 6, 3)),
        ("b h w c -> b (h 2) w c", {}, X.repeat_interleave(2, 1)),
        ("b h w c -> (r b) h w c", {"r": 2}, X.repeat(2, 1, 1, 1)),
    ],
)
def test_repeat(pattern, sizes, wanted):
    assert torch.equal(repeat(X, pattern, **sizes), wanted)


def test_pack_and_unpack():
    a, b = torch.randn(2, 3, 5), torch.randn(2, 5)
    packed, shapes = pack([a, b], "b * d")
    assert packed.shape == (2, 4, 5) and shapes == [(3,), ()]
    back = unpack(packed, shapes, "b * d")
    assert torch.equal(back[0], a) and torch.equal(back[1], b)
    assert [p.shape for p in unpack(packed, [[1], [-1]], "b * d")] == [(2, 1, 5), (2, 3, 5)]


def test_einsum_and_parse_shape():
    assert torch.allclose(einops.einsum(X, X, "b h w chan, b h v chan -> b h w v"), X @ X.transpose(-1, -2))
    assert einops.parse_shape(X, "b _ width 3") == {"b": 2, "width": 6}


def test_einmix_has_weights():
    layer = EinMix("b h w (c d) -> b (h w) c e", weight_shape="d e", bias_shape="e", c=3, d=1, e=5)
    assert layer(X).shape == (2, 24, 3, 5) and sum(p.numel() for p in layer.parameters()) == 10


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: rearrange(X, "b h w -> b w h"), "Wrong shape: expected 3 dims. Received 4-dim tensor."),
        (
            lambda: rearrange(X, "b (h p) w c -> b h w c p", p=3),
            "Shape mismatch, can't divide axis of length 4 in chunks of 3",
        ),
        (lambda: rearrange(X, "b 1 h c -> b h c"), "Shape mismatch, 4 != 1"),
        (
            lambda: rearrange(X, "b h w c -> b (h w) d"),
            "Identifiers only on one side of expression (should be on both): {'c', 'd'}",
        ),
        (lambda: rearrange(X, "b (h p) w c -> b h p w c"), "Could not infer sizes for {'h', 'p'}"),
        (lambda: rearrange(X, "b h w c -> b c h w", z=3), "Axis z is not used in transform"),
        (lambda: rearrange(X, "b h h c -> b h c"), 'duplicate dimension "h"'),
        (lambda: repeat(X, "b h w c -> b r h w c"), "Specify sizes for new axes in repeat: {'r'}"),
        (lambda: reduce(X, "b h w c -> b d", "mean"), "Unexpected identifiers on the right side of reduce mean: {'d'}"),
        (lambda: rearrange(X, "b (h w -> b h w"), "parenthes"),
    ],
)
def test_errors_are_worded_like_einops(call, words):
    with pytest.raises(EinopsError) as error:
        call()
    assert words in str(error.value)


def test_patterns_on_tensors_without_data_are_one_operation():
    class Net(torch.nn.Module):
        def forward(self, x):
            return rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=8, q=8).sum(1)

    with dry_tensors():
        net, x = Net(), torch.randn(2, 3, 64, 64)
        with Recorder(lambda: None).watch(net, {"x": x}) as recording:
            recording.result = net(x)
        assert recording.result.shape == (2, 192)
        assert [r.label.partition("(")[0] for r in recording.rows()] == ["rearrange", "sum"]
        assert recording.graph_module()(torch.randn(5, 3, 16, 16)).shape == (5, 192)


@pytest.mark.parametrize(
    "pattern, sizes, shape",
    [
        ("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", {"p1": 16, "p2": 16}, (2, 3, 128, 128)),
        ("b n (h d) -> b h n d", {"h": 8}, (2, 12, 512)),
        ("... d -> d", {}, (1, 64)),
    ],
)
def test_a_shape_for_a_pattern(pattern, sizes, shape):
    assert einops.shape_for(pattern, sizes) == shape
