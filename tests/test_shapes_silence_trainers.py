"""Programs of researchers that are right, of which the dry run once said something: options, caches, names."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from dry import faults_of

USE = "import torch\nfrom torch import nn\nimport numpy as np\n"


def said(tmp_path, program: str) -> list[str]:
    return [f.kind for f in faults_of(tmp_path, program, USE)]


@pytest.mark.parametrize(
    "program",
    [
        # settings of a file that nobody knows are given in place of defaults
        """
        import json
        from dataclasses import dataclass

        @dataclass
        class Config:
            width: int = 128

            @classmethod
            def load(cls, path):
                with open(path) as file:
                    data = json.load(file)
                return cls(**{key: value for key, value in data.items() if key in cls.__dataclass_fields__})

        loaded = Config.load("settings.json")
        assert loaded.width == 256
        """,
        """
        import json

        def build(width=128):
            return width

        width = build(**json.loads(input()))
        assert width == 256
        """,
        # a layer of a container is taken out
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.stage = nn.Sequential()
                self.stage.add_module("pool", nn.MaxPool2d(2))
                self.stage.add_module("conv", nn.Conv2d(3, 3, 3, padding=1))
                del self.stage.pool

            def forward(self, x):
                return x + self.stage(x)

        Net()(torch.rand(2, 3, 32, 32))
        """,
        # the sides would fit if the channels were guessed as well
        """
        class Fusion(nn.Module):
            def __init__(self, channels):
                super().__init__()
                self.conv = nn.Conv2d(channels, channels, 3)

            def forward(self, small, other, large):
                ratio = large.shape[3] / small.shape[3]
                large = nn.functional.max_pool2d(large, 2, ceil_mode=ratio < 2)
                return self.conv(small + other + large)
        """,
        # what nobody knows may be a loss, and its backward calls what a layer was given for that
        """
        kept = {}

        def keep(module, given, found):
            kept["gradient"] = found[0]

        layer = nn.Linear(4, 3)
        layer.register_full_backward_hook(keep)
        layer.weight.register_hook(lambda gradient: kept.update(weight=gradient))
        loss = layer(torch.randn(1, 4))[0, int(open("target.txt").read())]
        loss.backward()
        print(kept["gradient"].shape, kept["weight"].shape)
        """,
        # what a loop leaves, of which not all rounds are run
        """
        class Net(nn.Module):
            def __init__(self, wide=4):
                super().__init__()
                self.fc = nn.Linear(4, wide)

        def pruned(model):
            for width in (8, 6, 5, 4, 3):
                model.fc = nn.Linear(4, width)
                torch.optim.SGD(model.parameters(), 0.1).step()
            return model

        Net(3).load_state_dict(pruned(Net(8)).state_dict())
        for wide in range(10):
            net = Net(wide + 1)
            torch.optim.SGD(net.parameters(), 0.1).step()
        Net(10).load_state_dict(net.state_dict())
        """,
        # a built-in that is imported is the built-in
        """
        from builtins import isinstance, range
        from six.moves import xrange

        def several(x):
            return x if isinstance(x, tuple) else (x,)

        layer = nn.Sequential(nn.Linear(4, 4))
        x = torch.ones(7, 2, 4)
        for _ in xrange(2):
            x = layer(*several(x))
        """,
        # a value that equals one member of an enumeration equals no other
        """
        import pytest
        from enum import IntEnum

        class Kind(IntEnum):
            ALL = 0
            FIRST = 1

        class Blocks:
            def __init__(self, kind):
                self.kind = kind
                self.rank = self.count()
                self.shapes = self.build(kind)

            @staticmethod
            def build(given):
                return [2, 3] if given == Kind.FIRST else [2, 3, 4]

            def count(self):
                if self.kind == Kind.ALL:
                    return 3
                if self.kind == Kind.FIRST:
                    return 2
                raise ValueError(self.kind)

        @pytest.mark.parametrize("kind", [0, 1])
        def test_blocks(kind):
            blocks = Blocks(kind)
            rows = torch.zeros(len(blocks.shapes), 2)
            rows + torch.zeros(blocks.rank, 2)
        """,
        # the floats of an array are places, too
        """
        places = np.ones(4)
        rows = torch.zeros(4, 3)
        rows[places, :] = 0
        rows[places].view(12)
        """,
        # an array is made of its sizes
        """
        rows = np.ndarray([2, 3], dtype="float32")
        torch.from_numpy(rows).view(6)
        """,
        # what somebody is given may be called, and fill what its methods know
        """
        from transformers import AutoModel

        cache = {"i": 0, "mask": None}

        class Catcher(nn.Module):
            def __init__(self, module):
                super().__init__()
                self.module = module

            def forward(self, x, **kwargs):
                cache["places"] = kwargs["places"]
                raise ValueError

        class Book:
            def __init__(self):
                self.pages = {}

            def keep(self, name, page):
                self.pages[name] = page

        model = AutoModel.from_pretrained("small")
        model.layers[0] = Catcher(model.layers[0])
        try:
            model(torch.ones(2, 3))
        except ValueError:
            pass
        places = cache["places"]
        book = Book()
        model.train(book)
        first = book.pages["first"]
        """,
        # a pair of which one half is unknown is an attribute all the same
        """
        import augmentors

        class Encoder(nn.Module):
            def __init__(self, augmentor):
                super().__init__()
                self.augmentor = augmentor
                self.fc = nn.Linear(2, 2)

            def forward(self, x):
                first, second = self.augmentor
                return self.fc(first(x))

        encoder = Encoder((augmentors.Drop(0.3), augmentors.Mask(0.3))).to("cuda")
        for epoch in range(3):
            encoder(torch.ones(2, 2))
        """,
        # a parameter that nobody knows is a parameter
        """
        net = torch.load("net.pt")
        groups = []
        for name, value in dict(net.named_parameters()).items():
            groups += [{"params": [value], "lr": 0.1}]
        torch.optim.Adam(groups, lr=0.1)
        """,
        # the old names of types say where a tensor is
        """
        def padded(x):
            zeros = torch.Tensor(2, 2).zero_()
            if isinstance(x.data, torch.cuda.FloatTensor):
                zeros = zeros.cuda()
            return torch.cat([x.data, zeros], 1)

        padded(torch.ones(2, 3)), padded(torch.ones(2, 3).cuda())
        """,
        # who is given a network may move it
        """
        from flows import Flow

        net = nn.Linear(2, 2)
        flow = Flow(net).to("cuda")
        net(torch.ones(2, 2).cuda())
        """,
        # also in a dict
        """
        from containers import Models

        net, head = nn.Linear(2, 2), nn.Linear(2, 2)
        models = Models({"net": net, "heads": [head]})
        models.to("cuda")
        head(net(torch.ones(2, 2).cuda()))
        """,
        # a number that nobody knows is no word
        """
        def layers(config):
            made, wide = [], 3
            for part in config:
                if part == "pool":
                    made += [nn.MaxPool2d(2, 2)]
                else:
                    made += [nn.Conv2d(wide, part, 3, padding=1), nn.BatchNorm2d(part), nn.ReLU()]
                    wide = part
            return nn.Sequential(*made)

        net = layers([8, 8, "pool", 16, 16, "pool", 16, 16, "pool"])
        net.load_state_dict(torch.load("net.pt"))
        left = []
        for layer in net.modules():
            if isinstance(layer, nn.BatchNorm2d):
                left.append(int(torch.sum(layer.weight.data.abs().gt(0.1).float())))
            elif isinstance(layer, nn.MaxPool2d):
                left.append("pool")
        layers(left)(torch.ones(2, 3, 32, 32))
        """,
        # a guess without a batch fits the convolution, and not the layer after it
        """
        def shuffled(x, groups):
            rows, wide, high, broad = x.data.size()
            x = x.view(rows, groups, wide // groups, high, broad)
            return torch.transpose(x, 1, 2).contiguous().view(rows, -1, high, broad)

        class Block(nn.Module):
            def __init__(self, given, out, stride):
                super().__init__()
                if not (1 <= stride <= 3):
                    raise ValueError("illegal stride value")
                self.stride = stride
                half = out // 2
                assert (self.stride != 1) or (given == half << 1)
                self.first = nn.Sequential(nn.Conv2d(given, half, 1), nn.BatchNorm2d(half)) if stride > 1 else nn.Sequential()
                self.second = nn.Sequential(nn.Conv2d(given if stride > 1 else half, half, 1), nn.BatchNorm2d(half))

            def forward(self, x):
                if self.stride == 1:
                    left, right = x.chunk(2, dim=1)
                    out = torch.cat((left, self.second(right)), dim=1)
                else:
                    out = torch.cat((self.first(x), self.second(x)), dim=1)
                return shuffled(out, 2)

        class Net(nn.Module):
            def __init__(self, widths, block=Block):
                super().__init__()
                self.first = nn.Sequential(nn.Conv2d(3, 24, 3, 2, 1), nn.MaxPool2d(3, 2, 1))
                given = 24
                for name, wide in zip(("a", "b", "c"), widths):
                    setattr(self, name, nn.Sequential(block(given, wide, 2), block(wide, wide, 1)))
                    given = wide

            def forward(self, x):
                return self.c(self.b(self.a(self.first(x)))).mean([2, 3])

        def small(pretrained=False, **options):
            return Net([48, 96, 192], **options)
        """,
        """
        class Sizes:
            def __init__(self):
                self.depth = read_depth()

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.heads = nn.ModuleList([nn.Conv2d(3, Sizes().depth * 21, 3, padding=1) for _ in range(2)])

            def forward(self, x, target):
                found = [head(x).permute(0, 2, 3, 1).flatten(1) for head in self.heads]
                loss = torch.cat(found, 1).view((x.shape[0], -1, 21)).logsumexp(2)
                loss[target > 0] = 0
                return loss

        Net()(torch.zeros(2, 3, 8, 8), torch.randint(0, 3, (2, 6132)))
        """,
        # a Python number beside an array takes the array's dtype
        """
        net = nn.Linear(4, 4)
        optimizer = torch.optim.Adam(net.parameters())
        net(torch.ones(2, 4)).sum().backward()
        for p in net.parameters():
            weights, grads = p.data.cpu().numpy(), p.grad.data.cpu().numpy()
            p.grad.data = torch.from_numpy(np.where(weights == 0, 0, grads))
            p.data = torch.from_numpy(np.where(abs(weights) < 0.1, 0.0, weights))
        optimizer.step()
        net(torch.ones(2, 4))
        """,
        """
        net = nn.Linear(2, 2)
        traced, quick = torch.jit.trace(net, torch.ones(1, 2)), torch.compile(net)
        print(traced.graph, traced.code, quick._orig_mod)
        traced.save("net.pt")
        """,
        # what is resized to something unknown, under another name
        """
        from elsewhere import batches

        image = torch.zeros(16, 3, 32, 32)
        for batch in batches:
            image.data.resize_(batch.size()).copy_(batch)
            nn.Conv2d(1, 8, 3)(image)
        """,
        # a list of gradients that only a backward fills
        """
        from elsewhere import fit

        net, seen = nn.Linear(3, 2), []
        net.weight.register_hook(lambda gradient: seen.append(gradient.tolist()))
        fit(net)
        gradients = np.array(seen)
        print(gradients.mean(axis=(1, 2)))
        """,
        # a sample without its batch, whose rows are cut where the channels of a batch were meant
        """
        class Coupling(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Conv2d(16, 32, 3, padding=1)

            def forward(self, x):
                a, b = x.chunk(2, 1)
                scale, shift = self.net(a).chunk(2, 1)
                return torch.cat([a, (b + shift) * scale], 1)
        """,
        # a batch of which there is nothing to learn
        """
        class Loss(nn.Module):
            def forward(self, x, y):
                found = y > 0
                if found.long().sum() == 0:
                    return torch.zeros(1)
                return (x - y)[found].abs().mean()

        net, loss_of = nn.Linear(4, 4), Loss()
        data = torch.utils.data.TensorDataset(torch.randn(30, 4), torch.randn(30, 4))
        for x, y in torch.utils.data.DataLoader(data, 3):
            loss_of(net(x), y).backward()
        """,
        # a hash that nobody knows
        """
        class Flow(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Linear(2, 2)

            def __hash__(self):
                return nn.Module.__hash__(self)

        net = nn.Sequential(Flow(), nn.Linear(2, 2))
        net.eval()
        print(len(list(net.parameters())), {Flow(): 1})
        """,
        # nothing that is drawn is less than 0
        """
        import random

        class Decoder(nn.Module):
            def __init__(self):
                super().__init__()
                self.rnn = nn.GRU(2, 2, batch_first=True)

            def forward(self, x, known, ratio=0.5):
                out, h = self.rnn(x)
                draws = torch.rand(1), torch.rand(1).item(), random.random(), random.uniform(0, 1), np.random.rand()
                if torch.rand(1) <= ratio or random.random() < ratio or ratio > np.random.random():
                    x = known[:, :1]
                for draw in draws:
                    if not draw >= ratio:
                        x = known[:, :1]
                return self.rnn(x, h)[0]

        Decoder()(torch.zeros(4, 1, 2), torch.zeros(4, 0, 2), 0)
        """,
    ],
)
def test_nothing_is_said(tmp_path, program):
    assert said(tmp_path, program) == []


def test_what_nobody_was_given_is_as_it_was(tmp_path):
    program = """
    cache = {"i": 0}

    class Catcher(nn.Module):
        def forward(self, x):
            cache["places"] = x

    Catcher()
    cache["places"]
    """
    assert len(said(tmp_path, program)) == 1
    assert said(tmp_path, "nn.Linear(2, 2)(torch.ones(2, 2).cuda())") == ["device"]
    assert said(tmp_path, "scores = torch.zeros(2, 84).view(2, -1, 21)\nscores[torch.ones(2, 5) > 0] = 0") == ["shape"]
    assert said(tmp_path, "torch.jit.trace(nn.Linear(2, 2), torch.ones(1, 2))(torch.ones(1, 3))") == ["shape"]
    assert said(tmp_path, 'rows = np.ndarray([2, 3], dtype="float32")\ntorch.from_numpy(rows).view(7)') == ["shape"]


def test_new_tensors_are_where_the_default_says(tmp_path):
    program = """
    device = torch.device("cuda")
    torch.set_default_tensor_type("torch.cuda.FloatTensor")
    net = nn.Linear(2, 2).to(device)
    total = torch.zeros(3)
    total += net(torch.ones(3, 2)).sum(1)
    """
    assert said(tmp_path, program) == []
    assert said(tmp_path, program + "\n    total + torch.zeros(3, device='cpu')") == ["device"]
    assert said(tmp_path, program + "\n    total + torch.from_numpy(np.zeros(3))") == ["device"]
    assert said(tmp_path, program.replace("torch.cuda.", "torch.")) == ["device"]
    assert said(tmp_path, "torch.set_default_device(unknown())\nnn.Linear(2, 2).cuda()(torch.ones(3, 2))") == []
    later = "\n    torch.set_default_tensor_type(torch.DoubleTensor)\n    net(torch.ones(3, 2).cuda())"
    assert said(tmp_path, program + later) == ["dtype"]


SEARCHES = """
from somewhere import is_it

def place(items, wanted):
    for i, item in enumerate(items):
        if item == wanted:
            return i, "found"
    raise ValueError("no such item")

def named(parameter, layers):
    for number, layer in enumerate(layers):
        for name, other in layer.named_parameters():
            if parameter.data_ptr() == other.data_ptr():
                return number, name

layers = [nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3)]
for bias in [layer.bias for layer in layers if hasattr(layer, "bias")]:
    number, name = named(bias, layers)
    torch.zeros_like(getattr(layers[number], name)) + torch.zeros(bias.shape)
torch.zeros(place([1, 2, 3], is_it())[0] + 2) + torch.zeros(3)
torch.zeros(next(n for n in (2, 3, 4) if is_it(n))) + torch.zeros(3)
torch.zeros([n for n in (2, 3, 4) if is_it(n)][0]) + torch.zeros(3)
nn.Sequential(*[layer for layer in layers if is_it(layer)])(torch.ones(2, 9))
torch.zeros(list(filter(is_it, [2, 3]))[0]) + torch.zeros(3)

class Fitting:
    def __init__(self):
        for size in (2, 3):
            if is_it(size):
                half = size // 2
                self.half = half
                break

torch.zeros(Fitting().half + 1) + torch.zeros(3)
"""


def test_a_search_by_what_nobody_knows_may_end_in_any_round(tmp_path):
    assert said(tmp_path, SEARCHES) == []
    known = SEARCHES + "\ntorch.zeros(place([1, 2, 3], 2)[0] + 1) + torch.zeros(3)"
    assert said(tmp_path, known) == ["shape"]
    assert said(tmp_path, "torch.zeros([n for n in (2, 3, 4) if n > 3][0]) + torch.zeros(3)") == ["shape"]


def test_a_base_that_is_made_by_its_name_is_made(tmp_path):
    program = """
    from somewhere import pair
    from torch.nn.modules.conv import _ConvNd

    class Conv(_ConvNd):
        def __init__(self, inputs, outputs):
            _ConvNd.__init__(
                self, inputs, outputs, pair(3), pair(1), pair(0), pair(1), False, pair(0), 1, True, "zeros"
            )
            self.register_buffer("state", torch.tensor([]), persistent=False)

    Conv(1, 1)
    """
    assert said(tmp_path, program) == []


HOOKED = """
import pytorch_lightning as pl
from torch.utils.data import DataLoader, TensorDataset

class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def training_step(self, batch, batch_idx):
        x, y, weights = batch
        return (F.mse_loss(self.fc(x), y, reduction="none") * weights).mean()

    def on_before_batch_transfer(self, batch, dataloader_idx):
        x, y = super().on_before_batch_transfer(batch, dataloader_idx)
        return x, y, torch.ones(len(x), WIDTH)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

pl.Trainer().fit(Net(), DataLoader(TensorDataset(torch.zeros(8, 4), torch.zeros(8, 2)), batch_size=4))
"""


@pytest.mark.parametrize("width, found", [(2, 0), (3, 1)])
def test_lightning_hands_batches_on_as_its_hooks_leave_them(tmp_path, width, found):
    program = HOOKED.replace("WIDTH", str(width))
    use = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
    assert len(faults_of(tmp_path, program, use)) == found
