"""Forwards become torch.fx graphs while they run."""

import operator

import pytest

torch = pytest.importorskip("torch")
from torch import fx, nn
from torch.nn import functional as F

from torchlint.finding import Span
from torchlint.shapes.record.graph import Recorder, repropagate
from torchlint.shapes.tensors.dispatch import dry_tensors

PLACE = ("net.py", Span(3, 1, 3, 9))


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.scale = nn.Parameter(torch.ones(channels, 1, 1))

    def forward(self, x):
        return x + self.conv(x) * self.scale


class Net(nn.Module):
    def __init__(self, features=16):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())
        self.blocks = nn.ModuleList([Block(8), Block(8)])
        self.lstm = nn.LSTM(8, 16, batch_first=True)
        self.fc = nn.Linear(features, 10)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        b, c, h, w = x.shape
        x = x.view(b, c, h * w).permute(0, 2, 1)
        out, (hidden, _) = self.lstm(x)
        return self.fc(F.relu(out[:, -1] + hidden[-1]))


@pytest.fixture(autouse=True)
def dry():
    with dry_tensors():
        yield


def record(net, *inputs):
    recorder = Recorder(lambda: PLACE)
    names = ("x", "y", "z")
    with recorder.watch(net, dict(zip(names, inputs))) as recording:
        recording.result = net(*inputs)
    return recording


def refused(net, *inputs):
    recorder = Recorder(lambda: PLACE)
    with pytest.raises(RuntimeError), recorder.watch(net, dict(zip("xyz", inputs))) as recording:
        net(*inputs)
    return recording


def test_the_graph_is_connected_through_containers_and_nested_modules():
    graph = record(Net(), torch.randn(2, 3, 32, 32)).graph
    graph.lint()
    assert [n.target for n in graph.nodes if n.op == "call_module"] == [
        "stem.0",
        "stem.1",
        "blocks.0.conv",
        "blocks.1.conv",
        "lstm",
        "fc",
    ]
    placeholder, last = next(iter(graph.nodes)), list(graph.nodes)[-1]
    assert placeholder.op == "placeholder" and last.op == "output"
    reached, todo = set(), [last]
    while todo:
        node = todo.pop()
        reached.add(node)
        todo.extend(set(node.all_input_nodes) - reached)
    assert placeholder in reached


def test_nodes_know_value_place_and_path():
    graph = record(Net(), torch.randn(2, 3, 32, 32)).graph
    conv = next(n for n in graph.nodes if n.target == "blocks.1.conv")
    assert (
        conv.meta["val"].shape == (2, 8, 30, 30)
        and conv.meta["val"].dtype == torch.float32
        and conv.meta["val"].device == "cpu"
    )
    assert conv.meta["place"] == PLACE and conv.meta["path"] == "blocks.1.conv" and conv.meta["scope"] == "Block"


def test_torch_fx_runs_the_graph():
    net, x = Net(), torch.randn(2, 3, 32, 32)
    module = record(net, x).graph_module()
    assert isinstance(module, fx.GraphModule)
    assert module(x).shape == (2, 10)
    assert module.stem is not None and dict(module.named_parameters())["blocks.0.scale"] is net.blocks[0].scale


def test_other_sizes_run_through_the_recorded_graph():
    module = record(Net(), torch.randn(2, 3, 32, 32)).graph_module()
    for batch, side in ((5, 32), (5, 64), (1, 20)):
        assert repropagate(module, [torch.randn(batch, 3, side, side)]).shape == (batch, 10)
    fc = next(n for n in module.graph.nodes if n.target == "fc")
    assert fc.meta["val"].shape == (1, 10)
    with pytest.raises(RuntimeError):
        repropagate(module, [torch.randn(1, 4, 20, 20)])


def test_a_failing_operation_is_the_last_node():
    recording = refused(Net(features=15), torch.randn(2, 3, 32, 32))
    last = list(recording.graph.nodes)[-1]
    assert last.target == "fc" and "error" in last.meta and recording.error
    assert recording.rows()[-1].error and not any(r.error for r in recording.rows()[:-1])
    recording.graph_module()


def test_a_failing_function_is_the_last_node():
    class Adds(nn.Module):
        def forward(self, x, y):
            return F.relu(x) + y

    nodes = list(refused(Adds(), torch.randn(2, 3), torch.randn(2, 4)).graph.nodes)
    assert [n.name for n in nodes] == ["x", "y", "relu", "add"] and "error" in nodes[-1].meta


def test_rows_are_the_table():
    rows = record(Net(), torch.randn(2, 3, 32, 32)).rows()
    assert [r.label for r in rows if not r.path] == [
        "view(2, 8, 900)",
        "permute(0, 2, 1)",
        "[:, -1]",
        "[-1]",
        "+",
        "relu()",
    ]
    fc = rows[-1]
    assert fc.label.startswith("Linear(in_features=16") and fc.parameters == 170
    assert fc.inputs[0].shape == (2, 16) and fc.outputs[0].shape == (2, 10)


def test_parts_are_the_programs_own_modules():
    parts = record(Net(), torch.randn(2, 3, 32, 32)).parts()
    assert [p.path for p in parts] == ["blocks.0", "blocks.1"]
    module = parts[0].graph_module()
    assert module(torch.randn(4, 8, 9, 9)).shape == (4, 8, 9, 9)


def test_lists_tuples_and_constants():
    class Mixed(nn.Module):
        def forward(self, x):
            a, b = x.chunk(2, 1)
            c = torch.stack([a, b, torch.ones(2, 2)])
            c[0] = 1
            return {"sum": c.sum(0), "parts": (a, b)}

    recording = record(Mixed(), torch.randn(2, 4))
    recording.graph.lint()
    made = recording.graph_module()(torch.randn(2, 4))
    assert made["sum"].shape == (2, 2) and len(made["parts"]) == 2
    assert sum(n.target is operator.getitem for n in recording.graph.nodes) == 2


def test_strange_arguments_do_not_become_code():
    class Odd(nn.Module):
        def forward(self, x):
            return torch.nn.utils.rnn.pad_sequence([x, x], batch_first=True).to(
                dtype=torch.float64, memory_format=torch.contiguous_format
            )

    net = Odd()
    net.add_module("a-b c", nn.Linear(2, 2))
    recording = record(net, torch.randn(3, 2))
    assert recording.graph_module()(torch.randn(3, 2)).dtype == torch.float64


def test_recording_leaves_torch_as_it_was():
    before = nn.Module.__call__
    record(Net(), torch.randn(2, 3, 32, 32))
    assert nn.Module.__call__ is before
    refused(Net(features=15), torch.randn(2, 3, 32, 32))
    assert nn.Module.__call__ is before


def test_a_recording_within_a_recording():
    recorder = Recorder(lambda: None)
    net, inner = Net(), Block(8)
    with recorder.watch(net, {"x": torch.randn(1, 3, 9, 9)}) as outer:
        net.stem(torch.randn(1, 3, 9, 9))
        with recorder.watch(inner, {"x": torch.randn(1, 8, 9, 9)}) as recording:
            inner(torch.randn(1, 8, 9, 9))
    assert [r.label for r in recording.rows()][-1] == "+"
    assert len(outer.rows()) > len(recording.rows())


def test_the_producer_of_a_tensor():
    net, x = Net(), torch.randn(2, 3, 32, 32)
    recording = record(net, x)
    assert recording.producer(recording.result).path == "fc"
    assert recording.producer(x) is None
