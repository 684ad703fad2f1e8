"""torchvision's well-known models: the same parts, names and sizes at their ends, with few layers for each stage in
between.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from torch import nn

from torchlint.shapes.core.budget import TORCH_STEPS
from torchlint.shapes.core.values import Special, Unknown, machines, unknown_in


def conv3x3(in_planes: int, out_planes: int, stride: int = 1, groups: int = 1, dilation: int = 1) -> nn.Conv2d:
    return nn.Conv2d(in_planes, out_planes, 3, stride, dilation, dilation, groups, bias=False)


def conv1x1(in_planes: int, out_planes: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(in_planes, out_planes, 1, stride, bias=False)


class BasicBlock(nn.Module):
    """A ResNet's block of two convolutions."""

    expansion = 1

    def __init__(
        self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1, norm_layer=None
    ):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        self.conv1 = conv3x3(inplanes, planes, stride)
        self.bn1 = norm_layer(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm_layer(planes)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    """A ResNet's block of three convolutions, narrow in the middle."""

    expansion = 4

    def __init__(
        self, inplanes, planes, stride=1, downsample=None, groups=1, base_width=64, dilation=1, norm_layer=None
    ):
        super().__init__()
        norm_layer = norm_layer or nn.BatchNorm2d
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = conv1x1(inplanes, width)
        self.bn1 = norm_layer(width)
        self.conv2 = conv3x3(width, width, stride, groups, dilation)
        self.bn2 = norm_layer(width)
        self.conv3 = conv1x1(width, planes * self.expansion)
        self.bn3 = norm_layer(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn3(self.conv3(self.relu(self.bn2(self.conv2(out)))))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """ResNet, ResNeXt and WideResNet, with the names and arguments by which programs build on them."""

    def __init__(
        self,
        block,
        layers,
        num_classes=1000,
        zero_init_residual=False,
        groups=1,
        width_per_group=64,
        replace_stride_with_dilation=None,
        norm_layer=None,
    ):
        super().__init__()
        self._norm_layer = norm_layer or nn.BatchNorm2d
        self.inplanes = 64
        self.dilation = 1
        self.groups = groups
        self.base_width = width_per_group
        dilate = replace_stride_with_dilation or [False, False, False]
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = self._norm_layer(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = self._make_layer(block, 64, layers[0])
        self.layer2 = self._make_layer(block, 128, layers[1], 2, dilate[0])
        self.layer3 = self._make_layer(block, 256, layers[2], 2, dilate[1])
        self.layer4 = self._make_layer(block, 512, layers[3], 2, dilate[2])
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * block.expansion, num_classes)

    def _make_layer(self, block, planes, blocks, stride=1, dilate=False):
        before = self.dilation
        if dilate:
            self.dilation, stride = self.dilation * stride, 1
        norm_layer, channels, downsample = self._norm_layer, planes * block.expansion, None
        if stride != 1 or self.inplanes != channels:
            downsample = nn.Sequential(conv1x1(self.inplanes, channels, stride), norm_layer(channels))
        first = (self.inplanes, planes, stride, downsample, self.groups, self.base_width, before, norm_layer)
        made = [block(*first)]
        self.inplanes = channels
        for _ in range(1, blocks):
            machines[-1].budget.spend(8 * TORCH_STEPS)
            made.append(
                block(
                    channels,
                    planes,
                    groups=self.groups,
                    base_width=self.base_width,
                    dilation=self.dilation,
                    norm_layer=norm_layer,
                )
            )
        return nn.Sequential(*made)

    def _forward_impl(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))

    def forward(self, x):
        return self._forward_impl(x)


class Features(nn.Module):
    """Models made of `features`, an `avgpool` for some, and a `classifier`."""

    def __init__(self, features: nn.Sequential, classifier: nn.Module, pooled: int | None = None):
        super().__init__()
        self.features = features
        self.pooled = pooled
        if pooled is not None:
            self.avgpool = nn.AdaptiveAvgPool2d((pooled, pooled))
        self.classifier = classifier

    def forward(self, x):
        x = self.features(x)
        x = self.avgpool(x) if self.pooled is not None else nn.functional.adaptive_avg_pool2d(x, (1, 1))
        return self.classifier(x.flatten(1))


class BlockOfKnownEnds(nn.Sequential):
    """A block of which the sizes at its ends are known, and nothing else."""

    def __init__(self, width: int, channels: int, stride: int):
        super().__init__(
            nn.Conv2d(width, channels, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(inplace=True),
        )


_SHALLOW, _MIDDLE, _DEEP, _DEEPEST = (2, 2, 2, 2), (3, 4, 6, 3), (3, 4, 23, 3), (3, 8, 36, 3)


def _resnet(block: type[nn.Module], layers: tuple[int, ...], **widths: int):
    """One with all its blocks: programs take single ones out, and load the weights of each."""

    def make(machine, *args, num_classes=1000, norm_layer=None, replace_stride_with_dilation=None, **options):
        given = {"norm_layer": norm_layer, "replace_stride_with_dilation": replace_stride_with_dilation}
        if unknown_in(given.values()) is not None:
            return Unknown("a model with unknown layers")
        return _unless_unknown(num_classes, lambda n: ResNet(block, layers, n, **widths, **given))

    return make


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


def _features(layers: Any, head: Any, pooled: int | None = None):
    def make(machine, *args, num_classes=1000, **options):
        return _unless_unknown(num_classes, lambda n: Features(layers(), head(n), pooled))

    return make


def _blocks(*blocks: tuple[int, int]):
    """One part for each of the model, of so many channels and with such a stride: programs cut them at numbers."""

    def make() -> nn.Sequential:
        widths = (3, *(channels for channels, _ in blocks))
        return nn.Sequential(*[BlockOfKnownEnds(width, *block) for width, block in zip(widths, blocks)])

    return make


_MOBILENET_V2 = (
    (32, 2), (16, 1), (24, 2), (24, 1), (32, 2), (32, 1), (32, 1), (64, 2), (64, 1), (64, 1), (64, 1),
    (96, 1), (96, 1), (96, 1), (160, 2), (160, 1), (160, 1), (320, 1), (1280, 1),
)  # fmt: skip
_EFFICIENTNET_B0 = ((32, 2), (16, 1), (24, 2), (40, 2), (80, 2), (112, 1), (192, 2), (320, 1), (1280, 1))


def _densenet() -> nn.Sequential:
    return nn.Sequential(
        OrderedDict(
            conv0=nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False),
            norm0=nn.BatchNorm2d(64),
            relu0=nn.ReLU(inplace=True),
            pool0=nn.MaxPool2d(3, stride=2, padding=1),
            denseblock1=BlockOfKnownEnds(64, 256, 1),
            transition1=BlockOfKnownEnds(256, 128, 2),
            denseblock2=BlockOfKnownEnds(128, 512, 1),
            transition2=BlockOfKnownEnds(512, 256, 2),
            denseblock3=BlockOfKnownEnds(256, 1024, 1),
            transition3=BlockOfKnownEnds(1024, 512, 2),
            denseblock4=BlockOfKnownEnds(512, 1024, 1),
            norm5=nn.BatchNorm2d(1024),
        )
    )


def _vgg(stages: tuple[int, ...], normed: bool):
    """The layers of a VGG one by one: programs cut its features at certain numbers."""

    def make() -> nn.Sequential:
        layers: list[nn.Module] = []
        width = 3
        for channels, count in zip((64, 128, 256, 512, 512), stages):
            for _ in range(count):
                layers.append(nn.Conv2d(width, channels, 3, padding=1))
                layers += [nn.BatchNorm2d(channels)] * normed
                layers.append(nn.ReLU(inplace=True))
                width = channels
            layers.append(nn.MaxPool2d(2, stride=2))
        return nn.Sequential(*layers)

    return make


def _alexnet() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, 64, 11, stride=4, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(3, stride=2),
        nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(3, stride=2),
        nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(inplace=True),
        nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(inplace=True),
        nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(3, stride=2),
    )  # fmt: skip


_VGG = {"vgg11": (1, 1, 2, 2, 2), "vgg13": (2, 2, 2, 2, 2), "vgg16": (2, 2, 3, 3, 3), "vgg19": (2, 2, 4, 4, 4)}


_RESNETS = ("torchvision.models", "torchvision.models.resnet")
_OF_RESNETS: dict[str, Any] = {
    "resnet18": Special("resnet18", _resnet(BasicBlock, _SHALLOW)),
    "resnet34": Special("resnet34", _resnet(BasicBlock, _MIDDLE)),
    "resnet50": Special("resnet50", _resnet(Bottleneck, _MIDDLE)),
    "resnet101": Special("resnet101", _resnet(Bottleneck, _DEEP)),
    "resnet152": Special("resnet152", _resnet(Bottleneck, _DEEPEST)),
    "resnext50_32x4d": Special("resnext50_32x4d", _resnet(Bottleneck, _MIDDLE, groups=32, width_per_group=4)),
    "resnext101_32x8d": Special("resnext101_32x8d", _resnet(Bottleneck, _DEEP, groups=32, width_per_group=8)),
    "resnext101_64x4d": Special("resnext101_64x4d", _resnet(Bottleneck, _DEEP, groups=64, width_per_group=4)),
    "wide_resnet50_2": Special("wide_resnet50_2", _resnet(Bottleneck, _MIDDLE, width_per_group=128)),
    "wide_resnet101_2": Special("wide_resnet101_2", _resnet(Bottleneck, _DEEP, width_per_group=128)),
    "ResNet": ResNet,
}
_PARTS_OF_RESNETS = {"BasicBlock": BasicBlock, "Bottleneck": Bottleneck, "conv1x1": conv1x1, "conv3x3": conv3x3}


MODELS: dict[str, Any] = {
    **{f"torchvision.models.resnet.{name}": part for name, part in _PARTS_OF_RESNETS.items()},
    **{f"{home}.{name}": make for home in _RESNETS for name, make in _OF_RESNETS.items()},
    **{
        f"torchvision.models.{name}{suffix}": Special(
            name, _features(_vgg(stages, bool(suffix)), _head(512 * 49, 4096, 4096), 7)
        )
        for name, stages in _VGG.items()
        for suffix in ("", "_bn")
    },
    "torchvision.models.alexnet": Special(
        "alexnet", _features(_alexnet, _head(256 * 36, 4096, 4096, dropout_first=True), 6)
    ),
    "torchvision.models.mobilenet_v2": Special(
        "mobilenet_v2", _features(_blocks(*_MOBILENET_V2), _head(1280, dropout_first=True))
    ),
    "torchvision.models.efficientnet_b0": Special(
        "efficientnet_b0", _features(_blocks(*_EFFICIENTNET_B0), _head(1280, dropout_first=True), 1)
    ),
    "torchvision.models.densenet121": Special("densenet121", _features(_densenet, lambda n: nn.Linear(1024, n))),
}
