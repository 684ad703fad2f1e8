"""Lightning: a module with attributes of its own, and a trainer that takes one training step."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, machines
from torchlint.shapes.language.cut_short import Rounds
from torchlint.shapes.language.program import Frame
from torchlint.shapes.libraries.argparse import Namespace
from torchlint.shapes.libraries.data import Loader
from torchlint.shapes.libraries.settings_files import AttributeSettings
from torchlint.shapes.tensors import device_tags

_EPOCH = ast.For(ast.Name("batch", ast.Store()), ast.Name("loader", ast.Load()), [ast.Pass()], [])


def take_along(values):
    """A trainer brings the model and the batches to a device of its own choice."""
    device_tags.stamp(list(values.values()) if isinstance(values, dict) else values, device_tags.ANY)


class OpenModule(nn.Module):
    """Base for modules of libraries that add attributes we do not know: classes built on it are open."""

    def forward(self, *args, **kwargs):
        return Unknown("the forward of a library's module")


class BatchHooks:
    """What a batch goes through on its way to the device, for whoever defines no more."""

    def on_before_batch_transfer(self, batch, dataloader_idx):
        return batch

    on_after_batch_transfer = on_before_batch_transfer

    def transfer_batch_to_device(self, batch, device, dataloader_idx):
        take_along(batch)
        return batch


class HyperParameters(AttributeSettings):
    """What `self.hparams` is when something was saved there: a dict whose keys are attributes, too."""

    def __init__(self, values: dict[Any, Any]):
        self.__dict__["_held"] = dict(values)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._held[name] if name in self._held else Unknown(f"{name} of the hyperparameters")

    def update(self, values: dict[Any, Any]) -> None:
        self._held.update(values)


class Saving:
    """`self.save_hyperparameters()`: what `__init__` was given becomes `self.hparams`."""

    def save_hyperparameters(self, *args, ignore=(), frame=None, logger=True):
        machine = machines[-1]
        given = _given_to(machine.caller, machine.stack) if frame is None else Unknown("the names of a frame")
        values = [value for value in args if type(value) is not str]
        if len(values) == 1:
            given = values[0].values_by_name if isinstance(values[0], Namespace) else values[0]
        elif type(given) is dict and args:
            given = {name: given.get(name, Unknown(f"{name} of the hyperparameters")) for name in args}
        elif type(given) is dict:
            ignored = [ignore] if type(ignore) is str else ignore or ()
            given = {name: value for name, value in given.items() if name not in ignored}
        held = vars(self).get("hparams")
        if isinstance(held, HyperParameters) and type(given) is dict:
            held.update(given)
        elif (held is None or type(given) is not dict) and not hasattr(type(self), "hparams"):
            machine.set(self, "hparams", HyperParameters(given) if type(given) is dict else given)


def _given_to(frame: Frame, stack: list) -> Any:
    """The arguments of an `__init__` by their names, as they are now; those of a subclass, which are saved, too, are
    not known here.
    """
    code, above = frame.code, stack[-2][0] if len(stack) > 1 else None
    if code is None or code.name != "__init__" or not _knows_its_class(code) or above and _knows_its_class(above):
        return Unknown("hyperparameters of several functions")
    names = [*code.positional[1:], *code.only_named]
    more = frame.vars.get(code.named_rest, {}) if code.named_rest else {}
    return {**{name: frame.vars[name] for name in names if name in frame.vars}, **more}


def _knows_its_class(code: Any) -> bool:
    return any(isinstance(node, ast.Name) and node.id in ("super", "__class__") for node in ast.walk(code.node))


class LightningModule(BatchHooks, Saving, OpenModule):
    """What a LightningModule inherits, as far as it matters."""

    def log(self, *args, **kwargs):
        pass

    log_dict = print = log


class DataModule(BatchHooks, Saving, StandIn):
    """A LightningDataModule: its hooks are the program's."""

    def __init__(self, *args, **kwargs):
        pass


def _see_all(options):
    """Whether an epoch goes over all batches of a loader, and each of them comes to the one process that there is."""
    some = ("limit_", "overfit_", "fast_", "max_steps", "max_time")
    several = ("devices", "gpus", "num_nodes", "num_processes", "strategy", "tpu_cores")
    return not any(
        name.startswith(some) or name in several and not (value == 1 and type(value) is int)
        for name, value in options.items()
    )


class Trainer(StandIn):
    """Runs an epoch of each kind, or two steps of training and one of each other kind where an epoch may be shorter."""

    def __init__(self, *args, **options):
        self._owners = []
        self._sees_all = not args and _see_all(options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown(f"{name} of a trainer")

    def fit(self, model=None, train_dataloaders=None, val_dataloaders=None, datamodule=None, **options) -> None:
        loaders = self._loaders(model, datamodule, train_dataloaders, "train_dataloader")
        self._train(model, loaders)
        self._step(model, "validation_step", self._loaders(model, datamodule, val_dataloaders, "val_dataloader"))

    def _train(self, model, loaders):
        """Two batches; the gradients of each loss, and a step of the one optimizer."""
        machine = machines[-1]
        before = machine.updates
        optimizer = self._optimizer(model)

        def learn(loss):
            if isinstance(loss, dict):
                loss = loss.get("loss")
            if optimizer is None or not isinstance(loss, torch.Tensor) or machine.updates > before:
                return
            machine.foreign(optimizer.zero_grad, (), {})
            machine.foreign(loss.backward, (), {})
            machine.foreign(optimizer.step, (), {})

        self._epoch(model, "training_step", loaders, 2, learn)

    def _optimizer(self, model):
        """The optimizer that Lightning would use by itself, if there is one and all is known on the way to it."""
        machine = machines[-1]
        if not isinstance(model, nn.Module) or not hasattr(type(model), "configure_optimizers"):
            return None
        made = machine.call(machine.get(model, "configure_optimizers"), [], {})
        if isinstance(made, dict):
            made = made.get("optimizer")
        while isinstance(made, (list, tuple)) and made and len(made) < 3:
            if len(made) == 2 and not isinstance(made[0], (list, tuple)):
                return None
            made = made[0]
        automatic = model.__dict__.get("automatic_optimization", True) is True
        if not isinstance(made, torch.optim.Optimizer) or isinstance(made, torch.optim.LBFGS):
            return None  # to which Lightning gives what computes the loss again
        return made if automatic and machine.is_sure() else None

    def validate(self, model=None, dataloaders=None, datamodule=None, **options) -> Unknown:
        self._step(model, "validation_step", self._loaders(model, datamodule, dataloaders, "val_dataloader"))
        return Unknown("the metrics of each loader")

    def test(self, model=None, dataloaders=None, datamodule=None, **options) -> Unknown:
        self._step(model, "test_step", self._loaders(model, datamodule, dataloaders, "test_dataloader"))
        return Unknown("the metrics of each loader")

    def _loaders(self, model, datamodule, given, name):
        machine = machines[-1]
        if isinstance(given, DataModule):
            given, datamodule = None, given
        self._owners = [owner for owner in (datamodule, model) if owner is not None and type(owner) is not Unknown]
        if given is not None:
            return given
        for owner in self._owners:
            for hook in ("prepare_data", "setup"):
                if owner is datamodule and hasattr(type(owner), hook):
                    machine.call(machine.get(owner, hook), ["fit"] if hook == "setup" else [], {})
            if hasattr(type(owner), name):
                return machine.call(machine.get(owner, name), [], {})
        return None

    def _brought(self, batch):
        """A batch as the hooks around its way to the device leave it; those of the data come before the model's."""
        machine = machines[-1]
        device = Unknown("the device of a trainer")
        for hook in ("on_before_batch_transfer", "transfer_batch_to_device", "on_after_batch_transfer"):
            plain = getattr(BatchHooks, hook)
            owner = next((owner for owner in self._owners if getattr(type(owner), hook, plain) is not plain), None)
            if owner is not None:
                given = [batch, device, 0] if hook == "transfer_batch_to_device" else [batch, 0]
                batch = machine.call(machine.get(owner, hook), given, {})
            elif hook == "transfer_batch_to_device":
                take_along(batch)
        return batch

    def _step(self, model, name, loaders):
        if not isinstance(model, nn.Module):
            return
        machine = machines[-1]
        machine.call(machine.get(model, "eval"), [], {})
        with torch.no_grad():
            self._epoch(model, name, loaders, 1, lambda output: None)
        machine.call(machine.get(model, "train"), [], {})

    def _epoch(self, model, name, loaders, batches: int, take: Callable[[Any], None]) -> None:
        """What a hook gives for each batch is taken: for the first ones at least."""
        machine = machines[-1]
        if loaders is None or not isinstance(model, nn.Module) or not hasattr(type(model), name):
            return
        if isinstance(loaders, (list, tuple)):
            loaders = loaders[0] if loaders else None
        take_along(model.state_dict(keep_vars=True))
        stage = name.removesuffix("ing_step").removesuffix("_step")
        is_whole = self._sees_all and isinstance(loaders, Loader)
        self._call(model, f"on_{stage}_start")
        self._call(model, f"on_{stage}_epoch_start")
        with Rounds(_EPOCH, Frame({}, None, {}, machine), [], []) as rounds:
            for index, batch in enumerate(machine.iterate(loaders)):
                rounds.trained()
                take(machine.call(machine.get(model, name), [self._brought(batch), index], {}))
                if index + 1 == batches and not is_whole:
                    break
            rounds.leave_open(like_the_last=True)
        if is_whole:
            self._call(model, f"on_{stage}_epoch_end")

    def _call(self, model, hook):
        if hasattr(type(model), hook):
            machines[-1].call(machines[-1].get(model, hook), [], {})


_HOMES = ("pytorch_lightning", "lightning", "lightning.pytorch")
LIGHTNING: dict[str, Any] = {
    **{f"{home}.LightningModule": LightningModule for home in _HOMES},
    **{f"{home}.LightningDataModule": DataModule for home in _HOMES},
    **{
        f"{home}.Trainer": Special("Trainer", lambda machine, *args, **options: Trainer(*args, **options))
        for home in _HOMES
    },
}
