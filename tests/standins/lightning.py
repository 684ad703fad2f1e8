"""A stand-in for Lightning, as little of it as the fixtures need to be run on real torch."""

import inspect
import types

import torch
from torch import nn


class LightningModule(nn.Module):
    """Keeps the constructor's arguments as `hparams` and ignores what is logged."""

    def save_hyperparameters(self):
        values = inspect.getargvalues(inspect.currentframe().f_back).locals
        self.hparams = types.SimpleNamespace(**{k: v for k, v in values.items() if k not in ("self", "__class__")})

    def log(self, name, value, **options):
        pass


class Trainer:
    """Trains as many epochs as it is told to."""

    def __init__(self, max_epochs=1, **options):
        self.max_epochs = max_epochs

    def fit(self, module, loader, others=()):
        optimizer = module.configure_optimizers()
        for _ in range(self.max_epochs):
            for index, batch in enumerate(loader):
                loss = module.training_step(batch, index)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            with torch.no_grad():
                for index, batch in enumerate(others):
                    module.validation_step(batch, index)
            if others:
                module.on_validation_epoch_end()
