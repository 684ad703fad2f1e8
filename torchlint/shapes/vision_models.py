"""torchvision's well-known models: the same parts, names and sizes at their ends, with one layer for each stage in between."""

from __future__ import annotations

from typing import Any

from torch import nn

from torchlint.shapes.values import Special, Unknown


class ResNet(nn.Module):
    """ResNet, ResNeXt and WideResNet; `expansion` is 4 for those with bottlenecks."""

    def __init__(self, expansion: int, num_classes: int = 1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = _stage(64, 64 * expansion, 1)
        self.layer2 = _stage(64 * expansion, 128 * expansion, 2)
        self.layer3 = _stage(128 * expansion, 256 * expansion, 2)
        self.layer4 = _stage(256 * expansion, 512 * expansion, 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * expansion, num_classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


class Features(nn.Module):
    """Models made of `features`, an `avgpool` for some, and a `classifier`."""

    def __init__(self, channels: int, stride: int, classifier: nn.Module, pooled: int | None = None):
        super().__init__()
        stages, width = [], 3
        for step in range(stride.bit_length() - 1):
            stages.append(_stage(width, channels, 2))
            width = channels
        self.features = nn.Sequential(*stages)
        self.pooled = pooled
        if pooled is not None:
            self.avgpool = nn.AdaptiveAvgPool2d((pooled, pooled))
        self.classifier = classifier

    def forward(self, x):
        x = self.features(x)
        x = self.avgpool(x) if self.pooled is not None else nn.functional.adaptive_avg_pool2d(x, (1, 1))
        return self.classifier(x.flatten(1))


def _stage(width: int, channels: int, stride: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(width, channels, 3, stride=stride, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(inplace=True))


def _resnet(expansion: int):
    return lambda machine, *args, num_classes=1000, **options: _unless_unknown(num_classes, lambda n: ResNet(expansion, n))


def _unless_unknown(classes: Any, make: Any) -> Any:
    return make(classes) if type(classes) is int else Unknown("a model with an unknown number of classes")


def _head(*sizes: int, dropout_first: bool = False):
    """The layers of a classifier as torchvision orders them, for a number of classes."""

    def make(classes: int) -> nn.Sequential:
        layers: list[nn.Module] = [nn.Dropout()] if dropout_first else []
        for a, b in zip(sizes, sizes[1:]):
            layers += [nn.Linear(a, b), nn.ReLU(inplace=True), nn.Dropout()]
        if dropout_first and len(sizes) > 1:
            layers.pop()
        return nn.Sequential(*layers, nn.Linear(sizes[-1], classes))

    return make


def _features(channels: int, stride: int, head: Any, pooled: int | None = None):
    def make(machine, *args, num_classes=1000, **options):
        return _unless_unknown(num_classes, lambda n: Features(channels, stride, head(n), pooled))

    return make


MODELS: dict[str, Any] = {
    **{f"torchvision.models.{name}": Special(name, _resnet(1)) for name in ("resnet18", "resnet34")},
    **{
        f"torchvision.models.{name}": Special(name, _resnet(4))
        for name in "resnet50 resnet101 resnet152 resnext50_32x4d resnext101_32x8d resnext101_64x4d wide_resnet50_2 wide_resnet101_2".split()
    },
    **{
        f"torchvision.models.{name}": Special(name, _features(512, 32, _head(512 * 49, 4096, 4096), 7))
        for name in "vgg11 vgg13 vgg16 vgg19 vgg11_bn vgg13_bn vgg16_bn vgg19_bn".split()
    },
    "torchvision.models.alexnet": Special("alexnet", _features(256, 32, _head(256 * 36, 4096, 4096, dropout_first=True), 6)),
    "torchvision.models.mobilenet_v2": Special("mobilenet_v2", _features(1280, 32, _head(1280, dropout_first=True))),
    "torchvision.models.efficientnet_b0": Special("efficientnet_b0", _features(1280, 32, _head(1280, dropout_first=True), 1)),
    "torchvision.models.densenet121": Special("densenet121", _features(1024, 32, lambda n: nn.Linear(1024, n))),
}
