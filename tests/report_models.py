"""Ten small models, and two recurrent ones: programs for the report of costs, and for the real runs it is compared with."""

import torch
import torch.nn.functional as F
from torch import nn


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.drop = nn.Linear(32, 64), nn.Linear(64, 10), nn.Dropout(0.1)

    def forward(self, x):
        return self.b(self.drop(F.relu(self.a(x))))


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, groups=4), nn.GroupNorm(4, 32), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        )  # fmt: skip
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)
        self.c2, self.b2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)

    def forward(self, x):
        return F.relu(x + self.b2(self.c2(F.relu(self.b1(self.c1(x))))))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.blocks = nn.Sequential(*[Block(16) for _ in range(3)])
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(64, 192), nn.Linear(64, 64)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, 4, 16).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) * 0.25).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(b, n, d))


class Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.qkv, self.out = nn.Embedding(50, 64), nn.Linear(64, 192), nn.Linear(64, 64)
        self.norm = nn.LayerNorm(64)

    def forward(self, ids):
        x = self.norm(self.words(ids))
        b, n, d = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, 4, 16).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(mixed.transpose(1, 2).reshape(b, n, d))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2)

    def forward(self, x):
        return self.layers(x)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2 = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.up, self.out = nn.ConvTranspose2d(16, 8, 2, stride=2), nn.Conv2d(16, 1, 1)

    def forward(self, x):
        a = F.gelu(self.d1(x))
        return torch.sigmoid(self.out(torch.cat([self.up(F.silu(self.d2(a))), a], 1)))


class Variational(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.encode, self.decode = nn.LayerNorm(50), nn.Linear(50, 20), nn.Linear(10, 50)

    def forward(self, x):
        mean, deviation = self.encode(self.norm(x)).chunk(2, 1)
        return torch.tanh(self.decode(mean + torch.exp(0.5 * deviation) * torch.randn_like(deviation)))


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64)), nn.Linear(64, 3)
        self.body.requires_grad_(False)

    def forward(self, x):
        return self.head(self.body(x))


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.channels = nn.Conv1d(20, 20, 1), nn.Bilinear(16, 16, 8)

    def forward(self, x):
        y = F.softplus(self.tokens(x)) * torch.tanh(x)
        return F.log_softmax(self.channels(y.amax(1), y.mean(1)), -1)


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.lstm, self.head = nn.Embedding(100, 16), nn.LSTM(16, 32, batch_first=True), nn.Linear(32, 5)

    def forward(self, ids):
        return self.head(self.lstm(self.words(ids))[0][:, -1])


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.head = nn.GRU(16, 32, num_layers=2, batch_first=True), nn.Linear(32, 5)

    def forward(self, x):
        return self.head(self.gru(x)[0])


def inputs():
    """What each is called with."""
    images = torch.randn(4, 3, 32, 32)
    return {
        Plain: torch.randn(16, 32),
        Convolutions: images,
        Residual: images,
        Attention: torch.randn(4, 20, 64),
        Fused: torch.randint(50, (4, 20)),
        Encoder: torch.randn(4, 20, 32),
        UNet: images,
        Variational: torch.randn(16, 50),
        Frozen: torch.randn(16, 32),
        Mixer: torch.randn(8, 20, 16),
        Words: torch.randint(100, (4, 12)),
        Gated: torch.randn(4, 12, 16),
    }


if __name__ == "__main__":
    for kind, given in inputs().items():
        kind()(given)
