import torch
import torch.nn.functional as F
from torch import nn


class Digits(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2))
        self.classify = nn.Linear(32 * 14 * 14, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.features(x).flatten(1)
        return F.softmax(self.classify(x), dim=1)


net = Digits()
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
total = 0
for step in range(100):
    images, digits = torch.randn(64, 1, 28, 28), torch.randint(10, (64,))
    loss = F.cross_entropy(net(images), digits)
    loss.backward()
    optimizer.step()
    total += loss
print(total)
