"""A residual network of fifty layers."""

import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride=1):
        super().__init__()
        self.narrow = nn.Sequential(nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        self.look = nn.Sequential(nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        self.widen = nn.Sequential(nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width))
        self.short = nn.Identity()
        if stride != 1 or inputs != 4 * width:
            self.short = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        return torch.relu(self.widen(self.look(self.narrow(x))) + self.short(x))


class ResNet50(nn.Module):
    def __init__(self, blocks=(3, 4, 6, 3), classes=1000):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        stages, inputs = [], 64
        for number, count in enumerate(blocks):
            width = 64 * 2**number
            made = []
            for block in range(count):
                made.append(Bottleneck(inputs, width, stride=2 if number and not block else 1))
                inputs = 4 * width
            stages.append(nn.Sequential(*made))
        self.stages = nn.ModuleList(stages)
        self.head = nn.Linear(inputs, classes)

    def forward(self, images):
        x = self.stem(images)
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean((2, 3)))


if __name__ == "__main__":
    print(ResNet50()(torch.zeros(8, 3, 224, 224)).shape)
