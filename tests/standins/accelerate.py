"""What the fixtures need of Accelerate: one process, on the CPU."""

import contextlib

import torch


class Accelerator:
    sync_gradients = True

    def __init__(self, **options):
        pass

    def prepare(self, *parts):
        return parts

    def accumulate(self, model):
        return contextlib.nullcontext()

    def backward(self, loss):
        loss.backward()

    def clip_grad_norm_(self, parameters, most):
        return torch.nn.utils.clip_grad_norm_(parameters, most)
