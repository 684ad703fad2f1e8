"""What the dry run is not sure of: conditions that make no difference are none of it, losses and modules of others are."""

from __future__ import annotations

import textwrap

import pytest

torch = pytest.importorskip("torch")

from torchlint.config import Selection, Settings
from torchlint.linter import Job, lint

TILES = """
    import random
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset

    class Tiles(Dataset):
        def __len__(self):
            return 64

        def __getitem__(self, number):
            tile = torch.zeros(1, 32, 32)
            {changed}
            return tile, number % 4

    net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.Flatten(), nn.Linear(8 * 30 * 30, 4))
    for tiles, kinds in DataLoader(Tiles(), batch_size=8):
        nn.functional.cross_entropy(net(tiles), kinds).backward()
    """
ALIKE = {
    "turned": "if random.random() < 0.5: tile = tile.flip(-1)",
    "turned by an expression": "tile = torch.flip(tile, (1,)) if random.random() < 0.5 else tile",
    "made noisy": "if random.random() < 0.5: tile += 0.1 * torch.randn(32, 32)",
}
OTHERWISE = {
    "made larger": "if random.random() < 0.5: tile = torch.cat([tile, tile], dim=2)",
    "made larger by an expression": "tile = tile.repeat(1, 2, 1) if random.random() < 0.5 else tile",
    "of another dtype": "if random.random() < 0.5: tile = tile.double()",
    "changed by who knows what": "if random.random() < 0.5: tile = unknown.turned(tile)",
    "listed once more": "rows = [tile]\n            if random.random() < 0.5: rows += [tile]\n            tile = torch.cat(rows)",
    "left": "if random.random() < 0.5: return tile[:, :30, :30], 1",
}


def said(text: str) -> list[str]:
    """The codes of what is said of a program, without remarks."""
    settings = Settings(selections=(Selection(("TL9",)),))
    outcome = lint(textwrap.dedent(text), Job.of("program.py", settings))
    return [finding.code for finding in outcome.findings if finding.severity != "info"]


@pytest.mark.parametrize("changed", ALIKE.values(), ids=ALIKE)
def test_what_is_of_the_same_shape_either_way_fails_for_sure(changed: str) -> None:
    assert said(TILES.format(changed=changed)) == ["TL901"]


@pytest.mark.parametrize("changed", OTHERWISE.values(), ids=OTHERWISE)
def test_what_is_not_of_the_same_shape_may_fit(changed: str) -> None:
    assert said(TILES.format(changed=changed)) == []


def test_nobody_knows_whom_the_backward_of_an_unknown_loss_reaches() -> None:
    text = """
        import torch

        from torch import nn
        from torch.nn import functional as F
        from torchvision import datasets

        cifar_train_set = datasets.CIFAR10('./data/cifar10/', train=True, download=True)
        train_input = torch.from_numpy(cifar_train_set.data).permute(0, 3, 1, 2).float()
        train_targets = torch.tensor(cifar_train_set.targets, dtype=torch.int64)

        class ResNetBlock(nn.Module):
            def __init__(self, nb_channels, kernel_size):
                super().__init__()

                self.conv1 = nn.Conv2d(nb_channels, nb_channels, kernel_size=kernel_size, padding=(kernel_size - 1) // 2)
                self.conv2 = nn.Conv2d(nb_channels, nb_channels, kernel_size=kernel_size, padding=(kernel_size - 1) // 2)

            def forward(self, x):
                y = self.conv1(x)
                y = F.relu(y)

                y = self.conv2(y)
                y = F.relu(y)

                return y

        class ResNet(nn.Module):
            def __init__(self, nb_residual_blocks, nb_channels, kernel_size=3, nb_classes=10):
                super().__init__()

                self.conv = nn.Conv2d(3, nb_channels, kernel_size=kernel_size, padding=(kernel_size - 1) // 2)
                self.resnet_blocks = nn.Sequential(
                    *(ResNetBlock(nb_channels, kernel_size)
                      for _ in range(nb_residual_blocks))
                )
                self.fc = nn.Linear(nb_channels, nb_classes)

            def forward(self, x):
                x = F.relu(self.conv(x))
                x = self.resnet_blocks(x)
                x = F.avg_pool2d(x, 32).view(x.size(0), -1)
                x = self.fc(x)
                return x

        def get_stats(samples=4):
            model = ResNet(nb_residual_blocks=30, nb_channels=10, kernel_size=3, nb_classes=10)
            criterion = nn.CrossEntropyLoss()
            params = [b.conv1.weight for b in model.resnet_blocks]

            grad_norm = torch.empty(len(params), samples)

            for sample_idx in range(samples):
                y_output = model(train_input[sample_idx:sample_idx+1])
                loss = criterion(y_output, train_targets[sample_idx:sample_idx+1])

                model.zero_grad()
                loss.backward()
                for idx, w in enumerate(params):
                    grad_norm[idx, sample_idx] = w.grad.norm()

            return grad_norm

        for name in ("first", "second", "third", "fourth"):
            print(name, get_stats().mean(1))
        """
    assert said(text) == []


def test_what_fails_otherwise_on_the_other_device_is_for_whoever_moves_the_module() -> None:
    text = """
        import torch
        from torch import nn

        class Generator(nn.Module):
            def __init__(self):
                super().__init__()
                self.dense = nn.Linear(128, 64)

            def forward(self, count: int = 16):
                latents = torch.normal(0.0, 1.0, size=(count, 128)).to(torch.float16).cuda()
                return self.dense(latents)
        """
    assert said(text) == []


def test_what_is_changed_in_place_may_have_a_graph_only_then() -> None:
    text = """
        import random
        import torch
        from torch import nn

        bias, shown = nn.Parameter(torch.zeros(3)), torch.ones(3)
        if random.random() < 0.5:
            shown += bias
        print(shown.numpy())
        """
    assert said(text) == []


def test_the_index_of_padding_may_fit_a_vocabulary_that_is_not_at_hand() -> None:
    text = """
        import json
        from torch import nn

        words = len(json.load(open("vocabulary.json")))
        embedding = nn.Embedding(words + 1, 300, padding_idx=8019)
        """
    assert said(text) == []


def test_a_setting_that_turns_a_layer_both_ways_is_true_or_false() -> None:
    text = """
        import torch
        from torch import nn

        class Encoder(nn.Module):
            def __init__(self, params):
                super().__init__()
                self.params = params
                self.directions = 2 if params.rnn_encoder_bidirectional == True else 1
                self.embedding = nn.Embedding(params.vocab_size, params.embed_size)
                self.rnn = nn.GRU(
                    params.embed_size,
                    params.rnn_hidden_size,
                    num_layers=params.rnn_num_layers,
                    bidirectional=params.rnn_encoder_bidirectional,
                    batch_first=True,
                )

            def forward(self, words):
                count, _ = words.shape
                size = (self.params.rnn_num_layers * self.directions, count, self.params.rnn_hidden_size)
                return self.rnn(self.embedding(words), torch.zeros(size))
        """
    assert said(text) == []
