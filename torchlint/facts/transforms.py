"""What torchvision's transforms of images take, give and draw."""

from __future__ import annotations

HOMES = ("torchvision.transforms.v2.", "torchvision.transforms.")
# Where pixels go is drawn anew at each call.
MOVING = frozenset(
    "AutoAugment AugMix ElasticTransform RandAugment RandomAffine RandomCrop RandomHorizontalFlip RandomPerspective"
    " RandomResizedCrop RandomRotation RandomVerticalFlip RandomZoomOut ScaleJitter TrivialAugmentWide".split()
)
# PIL images as well as tensors, and the same they give.
OF_EITHER = MOVING | frozenset(
    "CenterCrop ColorJitter GaussianBlur Grayscale Pad RandomAdjustSharpness RandomAutocontrast RandomEqualize"
    " RandomGrayscale RandomInvert RandomPosterize RandomSolarize Resize".split()
)
OF_TENSORS = frozenset(("Normalize", "RandomErasing", "LinearTransformation", "ConvertImageDtype"))
OF_IMAGES = frozenset(("ToTensor", "PILToTensor"))
OF_BYTES = frozenset("AutoAugment AugMix RandAugment RandomEqualize RandomPosterize TrivialAugmentWide".split())
OF_CROPS = frozenset(("FiveCrop", "TenCrop"))  # give several images at once
TOGETHER = frozenset(("RandomApply", "RandomChoice", "RandomOrder"))  # of which some run
GRAY = frozenset("MNIST FashionMNIST KMNIST EMNIST QMNIST USPS".split())  # datasets of images with one channel
OF_PIL = GRAY | frozenset(  # unless they are given a `loader`
    "CIFAR10 CIFAR100 Caltech101 Caltech256 CelebA CocoCaptions CocoDetection Country211 DTD EuroSAT FGVCAircraft"
    " FakeData Flowers102 Food101 GTSRB ImageFolder ImageNet Imagenette LFWPeople LSUN"
    " OxfordIIITPet PCAM Places365 STL10 SVHN StanfordCars SUN397 VOCDetection VOCSegmentation".split()
)
WITH_MAPS = {"VOCSegmentation": "", "OxfordIIITPet": "segmentation", "Cityscapes": "semantic"}  # and by which type
