"""Classes that no script builds come to the end of a forward: with examples of what only data knows, with inputs that
may be missing, and on layers of other libraries.
"""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("torch")

from torch import nn

from torchlint.project import Project
from torchlint.shapes.core.values import Unknown
from torchlint.shapes.language.cut_short import loosen
from torchlint.shapes.search.check import dry_run

USE = "from typing import List, Optional\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def run(tmp_path, text: str):
    path, program = tmp_path / "program.py", USE + textwrap.dedent(text)
    return dry_run(program, str(path), Project(tmp_path).view(path))


def share(tmp_path, text: str) -> tuple[int, int]:
    """(module classes, those that ran to their end) of a file that is never wrong."""
    result = run(tmp_path, text)
    assert result.faults == ()
    return result.statistics["modules"], result.statistics["modules_run"]


MASKED = """
class Graph(nn.Module):
    def __init__(self, in_channels=32, out_channels=16):
        super().__init__()
        self.lin = nn.Linear(in_channels, out_channels)

    def forward(self, x, edge_index):
        kept = edge_index[:, edge_index[0] != edge_index[1]]
        nodes = int(kept.max()) + 1
        out = self.lin(x)[kept[0]].new_zeros(nodes, 16)
        out = out.index_add(0, kept[1], self.lin(x)[kept[0]])
        return out{end}
"""


@pytest.mark.parametrize("end, ran", [("", 1), (".view(5, 7)", 0)])
def test_what_depends_on_data_is_run_with_an_example_and_never_refused_for_it(tmp_path, end, ran):
    assert share(tmp_path, MASKED.format(end=end)) == (1, ran)


def test_a_condition_on_data_has_no_example(tmp_path):
    text = """
    class Checked(nn.Module):
        def forward(self, ids):
            if bool((ids[ids > 0] == 1).any()):
                raise ValueError("one is not allowed")
            return torch.ones(int(ids.max()), 3)
    """
    assert share(tmp_path, text) == (1, 1)


def test_an_input_that_may_be_missing_is_given_where_a_layer_needs_what_it_is_joined_to(tmp_path):
    text = """
    class Decoder(nn.Module):
        def __init__(self, in_channels, skip_channels):
            super().__init__()
            self.conv = nn.Conv2d(in_channels + skip_channels, 8, 3, padding=1)

        def forward(self, x, skip=None):
            if skip is not None:
                x = torch.cat([x, skip], dim=1)
            return self.conv(x)
    """
    assert share(tmp_path, text) == (1, 1)


def test_a_list_with_holes_may_consist_of_them(tmp_path):
    text = """
    class Tokens(nn.Module):
        def forward(self, x: torch.Tensor, prefixes: List[Optional[torch.Tensor]]):
            for prefix in prefixes:
                if prefix is not None:
                    x = x + prefix.view(1, 77, 1, 13)
            return x
    """
    assert share(tmp_path, text) == (1, 1)


NORMED = """
class Norm(nn.LayerNorm):
    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm(48)
        self.conv = nn.Conv2d({channels}, 8, 1)

    def forward(self, x):
        return self.conv(self.norm(x))
"""


def test_sizes_are_found_that_layer_norm_takes(tmp_path):
    assert share(tmp_path, NORMED.format(channels=48)) == (2, 2)
    assert [f.kind for f in run(tmp_path, NORMED.format(channels=32)).faults] == ["shape"]


ENCODER = """
from torchvision.models.resnet import BasicBlock, ResNet

class Encoder(ResNet):
    def __init__(self, out_channels=(64, 128), **kwargs):
        super().__init__(**kwargs)
        del self.fc

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        return self.layer2(self.layer1(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder(block=BasicBlock, layers=[1, 1, 1, 1])
        self.head = nn.Conv2d({channels}, 2, 1)

    def forward(self, x):
        return self.head(self.encoder(x))
"""


def test_resnets_are_built_upon(tmp_path):
    assert share(tmp_path, ENCODER.format(channels=128)) == (2, 2)
    assert [f.kind for f in run(tmp_path, ENCODER.format(channels=256)).faults] == ["shape"]


CUT = """
from torchvision.models import densenet121, efficientnet_b0, mobilenet_v2

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        mobile, efficient, dense = mobilenet_v2().features, efficientnet_b0().features, densenet121().features
        self.mobile = nn.Sequential(mobile[:14], *list(mobile.children())[14:18])
        self.efficient, self.dense = efficient[:5], nn.Sequential(*list(dense.children())[:6])
        self.head = nn.Conv2d({channels} + 80 + 128, 2, 1)

    def forward(self, x):
        sides = (x.shape[-2] // 32, x.shape[-1] // 32)
        parts = [part(x) for part in (self.mobile, self.efficient, self.dense)]
        return self.head(torch.cat([F.adaptive_avg_pool2d(part, sides) for part in parts], 1))

Net()(torch.zeros(2, 3, 64, 64))
"""


def test_models_of_torchvision_are_cut(tmp_path):
    assert share(tmp_path, CUT.format(channels=320)) == (1, 1)
    assert [f.kind for f in run(tmp_path, CUT.format(channels=1280)).faults] == ["shape"]


VIT = """
from functools import partial
from timm.models.vision_transformer import Block, PatchEmbed
from timm.models.layers import DropPath, to_2tuple, trunc_normal_

class Vit(nn.Module):
    def __init__(self, img_size=64, patch_size=8, embed_dim=48, norm_layer=partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        height, width = to_2tuple(img_size)
        self.embed = PatchEmbed(height, patch_size, 3, embed_dim)
        self.pos = nn.Parameter(torch.zeros(1, self.embed.num_patches, embed_dim))
        trunc_normal_(self.pos, std=0.02)
        self.blocks = nn.ModuleList(
            Block(embed_dim, 4, 4.0, qkv_bias=True, norm_layer=norm_layer, drop_path=0.1) for _ in range(2)
        )
        self.drop = DropPath(0.1)
        self.head = nn.Linear({features}, 10)

    def forward(self, x):
        x = self.embed(x) + self.pos
        for block in self.blocks:
            x = self.drop(block(x))
        return self.head(x.mean(1))
"""


def test_layers_of_timm_are_known(tmp_path):
    assert share(tmp_path, VIT.format(features=48)) == (1, 1)
    assert [f.kind for f in run(tmp_path, VIT.format(features=64)).faults] == ["shape"]


STORE = """
import numpy as np
from keyword import iskeyword
from textwrap import dedent

class Store:
    \"\"\"Layers by their names.\"\"\"

    def __init__(self):
        self.kinds = {{}}
        self.__doc__ = dedent(f"{{self.__doc__ or ''}} They are:").strip()

    def add(self, name, kind):
        if not name.isidentifier() or iskeyword(name):
            raise ValueError(name)
        self.kinds[name] = kind
        assert self.__doc__ is not None
        self.__doc__ += f" {{name}}"

    def __getitem__(self, name):
        return self.kinds[name]

LAYERS = Store()
LAYERS.add("conv", nn.Conv2d)
LAYERS.add("act", nn.ReLU)

def same_padding(kernel_size, dilation=1):
    kernel = np.atleast_1d(kernel_size)
    if np.any((kernel - 1) * dilation % 2 == 1):
        raise NotImplementedError(kernel)
    padding = tuple(int(p) for p in (kernel - 1) / 2 * np.atleast_1d(dilation))
    return padding if len(padding) > 1 else padding[0]

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = LAYERS["conv"](3, 8, 5, padding=same_padding({size}))
        self.act = LAYERS["act"]()
        self.head = nn.Linear(8 * 16 * 16, 10)

    def forward(self, x):
        x = self.act(self.conv(x))
        return self.head(x.view(x.shape[0], 8 * 16 * 16))

Block()(torch.zeros(2, 3, 16, 16))
"""


def test_layers_from_a_table_with_paddings_of_numpy(tmp_path):
    assert share(tmp_path, STORE.format(size=5)) == (1, 1)
    assert [f.kind for f in run(tmp_path, STORE.format(size=3)).faults] == ["shape"]


def test_what_is_changed_in_place_is_no_longer_known(tmp_path):
    text = """
    import numpy as np

    size = np.atleast_1d(4)
    other = size
    other += 1
    row = np.atleast_1d([4, 4])
    row[0] = 5
    nn.Linear(int(size[0]), 2)(torch.zeros(2, 5))
    nn.Linear(int(row[0]), 2)(torch.zeros(2, 5))
    """
    assert run(tmp_path, text).faults == ()


def test_an_input_that_the_author_asks_for_its_kind_is_one(tmp_path):
    text = """
    class Up(nn.Module):
        def __init__(self, in_channels=32, skip_channels=16):
            super().__init__()
            self.conv = nn.Conv2d(in_channels + skip_channels, 8, 3)

        def forward(self, x, skip: Optional[torch.Tensor]):
            if skip is not None and torch.jit.isinstance(skip, torch.Tensor):
                x = torch.cat([x, skip], dim=1)
            return self.conv(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, 16, 3, padding=1)
            self.down = nn.Conv2d(16, 32, 3, padding=1)
            self.up = Up()

        def forward(self, x):
            x = self.stem(x)
            return self.up(self.down(x), x)
    """
    assert share(tmp_path, text) == (2, 2)


@pytest.mark.parametrize("size, kinds", [("(5, 5)", []), ("3", ["shape"])])
def test_pairs_of_torch(tmp_path, size, kinds):
    text = f"""
    from torch.nn.modules.utils import _pair

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 8, _pair({size}))
            self.head = nn.Linear(8 * 12 * 12, 10)

        def forward(self, x):
            return self.head(self.conv(x).flatten(1))

    Block()(torch.zeros(2, 3, 16, 16))
    """
    assert [f.kind for f in run(tmp_path, text).faults] == kinds


def test_guessed_sizes_that_belong_together_are_changed_together(tmp_path):
    text = """
    class Windows(nn.Module):
        def __init__(self, rows, columns, window=7):
            super().__init__()
            self.rows, self.columns, self.window = rows, columns, window
            self.norm = nn.LayerNorm(64)

        def forward(self, x):
            x = self.norm(x).view(x.shape[0], self.rows, self.columns, 64)
            return x + torch.zeros(self.window, self.window, 1)
    """
    assert share(tmp_path, text) == (1, 1)


def test_images_are_large_enough_to_be_normalized_after_many_strides(tmp_path):
    text = """
    class Down(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Conv2d(3, 3, 3, 2, 1) for _ in range(6))
            self.norm = nn.InstanceNorm2d(3)

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return self.norm(x)
    """
    assert share(tmp_path, text) == (1, 1)


def test_layers_that_were_left_out_may_have_any_attribute():
    layers = nn.ModuleList([nn.Linear(2, 2)])
    loosen(layers)
    assert type(layers[-1].start) is Unknown
    assert len(list(layers.parameters())) == 2


@pytest.mark.parametrize("joined", ["torch.cat([h, x], dim=1)", "torch.relu(torch.cat((x, h), 1))"])
def test_inputs_that_are_joined_share_the_channels_of_what_takes_them(tmp_path, joined):
    text = f"""
    class Cell(nn.Module):
        def __init__(self, hidden=77, channels=131):
            super().__init__()
            self.gate = nn.Conv2d(hidden + channels, hidden, 3, padding=1)
            self.state = nn.Conv2d(hidden + channels, hidden, 3, padding=1)

        def forward(self, h, x):
            z = torch.sigmoid(self.gate({joined}))
            return (1 - z) * h + z * torch.tanh(self.state({joined}))
    """
    assert share(tmp_path, text) == (1, 1)


@pytest.mark.parametrize("norm", ["BatchNorm2d", "InstanceNorm2d"])
def test_images_of_a_file_are_large_enough_for_a_resnet(tmp_path, norm):
    text = f"""
    from torchvision import models

    net = models.resnet18(norm_layer=nn.{norm})
    net.fc = nn.Identity()
    print(net(torch.load("images.pt").float()))
    """
    assert run(tmp_path, text).faults == ()


@pytest.mark.parametrize("channels, kinds", [(3, []), (4, ["shape"])])
def test_pictures_are_resized_with_a_filter(tmp_path, channels, kinds):
    text = f"""
    from PIL import Image
    from torchvision import transforms

    image = Image.open("a.png").convert("RGB").resize([32, 48], Image.LANCZOS)
    nn.Conv2d({channels}, 8, 3)(transforms.ToTensor()(image).unsqueeze(0))
    """
    assert [f.kind for f in run(tmp_path, text).faults] == kinds
