"""Runs training programs as they are, over made-up data, and says where they raise; one child process for each.

Reads JSON lines `{"folder", "script", "argv", "gpu", "seconds", "traced"}` and answers each with a JSON line. Data sets
of torchvision are made of noise, modules that are not installed are empty stand-ins, nothing is saved. With `gpu` the
device "meta" stands in for a GPU: torch refuses to mix it with the CPU's.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import io
import json
import os
import re
import runpy
import signal
import sys
import traceback
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy
import torch
from PIL import Image
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils.data import DataLoader, Dataset

with contextlib.suppress(RuntimeError):  # torchvision of another build has no operators of its own
    for operator in ("nms", "qnms"):
        torch.library.define(f"torchvision::{operator}", "(Tensor a, Tensor b, float c) -> Tensor")
import torchvision

LENGTH = 140  # samples of a data set: the last batch is a smaller one
STEPS = 24  # of optimizers, after which nothing new is expected
CLASSES = {"CIFAR100": 100, "CelebA": 40, "EMNIST": 47}
GRAY = ("MNIST", "FashionMNIST", "KMNIST", "EMNIST", "Omniglot")
_GPU = re.compile(rb"""(["'])cuda(:\d)?\1""")


class TimeIsUp(BaseException):
    """It has run long enough without an error."""


class MadeUp(Dataset):
    """A data set of noise in the shapes and with the attributes of one of torchvision's."""

    def __init__(self, *args: Any, transform: Any = None, target_transform: Any = None, train: bool = True, **_: Any):
        self.transform, self.target_transform, self.train = transform, target_transform, train
        name, chance = type(self).__name__, numpy.random.RandomState(0)
        shape = (28, 28) if name in GRAY else (96, 96, 3) if name in ("STL10", "ImageFolder", "LSUN") else (32, 32, 3)
        count = CLASSES.get(name, 10)
        pictures = chance.randint(0, 256, (LENGTH, *shape)).astype("uint8")
        labels = [i % count for i in range(LENGTH)]
        self.data: Any = torch.from_numpy(pictures) if name in GRAY else pictures
        self.targets: Any = torch.tensor(labels) if name in GRAY else labels
        self.train_labels = self.test_labels = torch.tensor(labels)
        self.train_data = self.test_data = self.data
        self.labels = numpy.array(labels)
        self.classes = [str(i) for i in range(count)]
        self._pictures, self._labels = pictures, labels
        self.imgs = self.samples = [(f"{i}.png", label) for i, label in enumerate(labels)]

    def __len__(self) -> int:
        return LENGTH

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        picture: Any = Image.fromarray(self._pictures[int(index)])
        label: Any = self._labels[int(index)]
        picture = self.transform(picture) if self.transform is not None else picture
        return picture, self.target_transform(label) if self.target_transform is not None else label


class _Empty(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules that are not installed can be imported, and do nothing."""

    def find_spec(self, name, path, target=None):
        if sys.modules.get(name.partition(".")[0]).__class__.__name__ == "module" or name in sys.builtin_module_names:
            return None  # a part of something that is there
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        made = MagicMock(name=spec.name)
        made.__path__, made.__spec__, made.__all__, made.__version__ = [], spec, [], "1.0"
        return made

    def exec_module(self, module):
        pass


class Parallel(torch.nn.DataParallel):
    """Of one device, which nobody asks for its properties."""

    def __init__(self, module, *args, **kwargs):
        torch.nn.Module.__init__(self)
        self.module = module

    def forward(self, *args, **kwargs):
        return self.module(*[a.to("meta") if isinstance(a, torch.Tensor) else a for a in args], **kwargs)  # scattered


def on_one_device(convolve):
    """A convolution that refuses what is not all on one device: without data torch itself does not look."""

    def checked(x, weight, *args, **kwargs):
        if x.is_meta != weight.is_meta:
            raise RuntimeError("Input type and weight type should be the same: they are on two devices")
        return convolve(x, weight, *args, **kwargs)

    return checked


def prepare() -> None:
    torch.set_num_threads(1)
    for name in (
        "MNIST",
        "FashionMNIST",
        "KMNIST",
        "EMNIST",
        "CIFAR10",
        "CIFAR100",
        "SVHN",
        "STL10",
        "CelebA",
        "LSUN",
        "ImageFolder",
    ):
        setattr(torchvision.datasets, name, type(name, (MadeUp,), {}))
    made = DataLoader.__init__

    def alone(self, *args, **kwargs):
        kwargs.update(
            {k: v for k, v in (("num_workers", 0), ("persistent_workers", False), ("pin_memory", False)) if k in kwargs}
        )
        kwargs.pop("prefetch_factor", None)
        if len(args) > 5:
            args = (*args[:5], 0, *args[6:])
        made(self, *args, **kwargs)

    DataLoader.__init__ = alone
    for old, new in (("int", int), ("float", float), ("bool", bool)):
        setattr(numpy, old, new)  # as it was when some of the programs were written
    saved = torch.save

    def save(*args, **kwargs):
        with contextlib.suppress(Exception):
            saved(*args, **kwargs)

    torch.save = save
    torch.utils.data.dataloader._BaseDataLoaderIter.next = torch.utils.data.dataloader._BaseDataLoaderIter.__next__
    torchvision.utils.save_image = lambda *a, **k: None
    sys.meta_path.append(_Empty())
    board = sys.modules["torch.utils.tensorboard"] = MagicMock()
    board.SummaryWriter.return_value.log_dir = "."
    os.popen = lambda *a: io.StringIO("24 80")  # the size of the terminal


def as_if_there_were_a_gpu() -> None:
    """`meta` stands in for it; what must be read from it is a number or noise."""
    torch.cuda.is_available = torch.accelerator.is_available = lambda: True
    torch.accelerator.current_accelerator = lambda *a, **k: torch.device("meta")
    torch.cuda.device_count = lambda: 1
    torch.nn.DataParallel = Parallel
    torch.cuda.manual_seed = torch.cuda.manual_seed_all = torch.cuda.empty_cache = torch.cuda.synchronize = lambda *a: (
        None
    )
    torch.cuda.device = torch.cuda.stream = lambda *a: contextlib.nullcontext()
    torch.cuda.set_device, torch.cuda.current_device = (lambda *a: None), (lambda: 0)
    for name in ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"):
        setattr(torch.nn.functional, name, on_one_device(getattr(torch.nn.functional, name)))
    tensor = torch.Tensor
    to, item, tolist, numpy_of, type_of = tensor.to, tensor.item, tensor.tolist, tensor.numpy, tensor.type

    def made(dtype):
        return lambda *a: (torch.empty(a, dtype=dtype) if all(map(is_size, a)) else torch.tensor(a[0], dtype=dtype)).to(
            "meta"
        )

    def is_size(value):
        return isinstance(value, int)

    types = {made(torch.float32): torch.float32, made(torch.int64): torch.int64}
    torch.cuda.FloatTensor, torch.cuda.LongTensor = types
    tensor.type = lambda self, *a: to(self, "meta", types[a[0]]) if a and a[0] in types else type_of(self, *a)

    def to_device(self, *args, **kwargs):
        kwargs.pop("non_blocking", None)
        wanted = to(torch.empty(0), *args, **kwargs)
        if self.is_meta and wanted.device.type == "cpu" and (wanted.device.type in str(args) + str(kwargs)):
            return torch.zeros(self.shape, dtype=wanted.dtype if "dtype" in str(args) + str(kwargs) else self.dtype)
        return to(self, *args, **kwargs)

    tensor.to = to_device
    tensor.cpu = lambda self: torch.zeros(self.shape, dtype=self.dtype) if self.is_meta else self
    tensor.cuda = lambda self, *a, **k: to(self, "meta")
    torch.nn.Module.cuda = lambda self, *a, **k: self.to("meta")
    tensor.item = lambda self: (
        (0.5 if self.dtype.is_floating_point else 0)
        if self.is_meta and self.numel() == 1
        else item(torch.zeros(self.shape))
        if self.is_meta
        else item(self)
    )
    tensor.tolist = lambda self: tolist(self.cpu())
    tensor.__bool__ = lambda self: bool(tensor.item(self))
    tensor.__float__ = lambda self: float(tensor.item(self))
    tensor.__int__ = lambda self: int(tensor.item(self))
    tensor.__index__ = lambda self: int(tensor.item(self))
    tensor.__format__ = lambda self, spec: format(tensor.item(self), spec)
    tensor.__repr__ = lambda self, **k: "tensor"

    def as_array(self, **kwargs):
        if self.is_meta:
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        return numpy_of(self, **kwargs)

    tensor.numpy = as_array


def run(task: dict[str, Any]) -> dict[str, Any]:
    """What one program does. This process is not used for anything else."""
    folder, script = task["folder"], task["script"]
    path = Path(folder, script)
    own, lines, steps = os.path.realpath(folder), {}, []
    os.chdir(path.parent)
    sys.argv = [str(path), *task["argv"]]
    sys.path.insert(0, str(path.parent))

    def stepped(*_):
        steps.append(1)
        if len(steps) >= STEPS and not task.get("traced"):
            raise TimeIsUp

    register_optimizer_step_post_hook(stepped)
    torch.manual_seed(0)
    if task["gpu"]:
        for one in Path(folder).rglob("*.py"):
            text = one.read_bytes()
            one.write_bytes(_GPU.sub(rb'"meta"', text))
        as_if_there_were_a_gpu()

    def local(frame, event, argument):
        lines.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
        return local

    def trace(frame, event, argument):
        return local(frame, event, argument) if frame.f_code.co_filename.startswith(own) else None

    def over(*_):
        raise TimeIsUp

    signal.signal(signal.SIGALRM, over)
    signal.alarm(task["seconds"])
    result: dict[str, Any] = {"error": None}
    try:
        if task.get("traced"):
            sys.settrace(trace)
        runpy.run_path(str(path), run_name="__main__")
    except TimeIsUp:
        result["timed_out"] = True
    except SystemExit as end:
        result["exit"] = str(end.code)
    except BaseException as error:
        frames = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
        result["error"] = f"{type(error).__name__}: {str(error)[:300]}"
        result["frames"] = [f for f in frames if os.path.realpath(f[0]).startswith(own)]
    finally:
        sys.settrace(None)
        signal.alarm(0)
    result["steps"] = len(steps)
    result["lines"] = {name: sorted(found) for name, found in lines.items()}
    return result


def alone(task: dict[str, Any]) -> dict[str, Any]:
    """The same in a child."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        silent = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(silent, number)
        with contextlib.suppress(BaseException):
            os.write(writing, json.dumps(run(task)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"error": None, "died": True, "steps": 0, "lines": {}}


if __name__ == "__main__":
    prepare()
    for line in sys.stdin:
        print(json.dumps(alone(json.loads(line))), flush=True)
