"""What `with` enters: contexts of the program, those of torch that we know, and the devices of new tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from torchlint.shapes.core.values import Stop, Unknown
from torchlint.shapes.language import functions, swallowing
from torchlint.shapes.libraries import guards
from torchlint.shapes.libraries.generator_contexts import Managed
from torchlint.shapes.tensors import device_tags


class Contexts:
    """The part of the machine that enters and leaves them."""

    def run_inside(self, manager: Any, body: Callable[[Any], Any]) -> Any:
        """`with manager as value: body(value)`"""
        if isinstance(manager, Managed):
            return manager.around(body)
        value = self.enter(manager)
        try:
            result = body(value)
        except Exception as error:
            if self.leave(manager, error):
                return None
            raise
        except Stop:
            self.leave(manager, None)
            raise
        self.leave(manager, None)
        return result

    def enter(self, manager: Any) -> Any:
        """The value of `with manager as …`."""
        if type(manager) is Unknown:
            return Unknown(manager.reason)
        if isinstance(manager, torch.device):
            self.placed.append(device_tags.default(manager))
            self.placed[-1].__enter__()
            return manager
        enter = getattr(type(manager), "__enter__", None)
        if enter is None:
            return Unknown("it is no context manager")
        if functions.closure_of(enter) is not None or isinstance(manager, guards.CONTEXTS):
            value = enter(manager)
            self.expected += self._may_swallow(manager)
            return value
        return Unknown("it is an unknown context manager")

    def leave(self, manager: Any, error: Exception | None) -> bool:
        """Whether leaving the context swallows the error."""
        if isinstance(manager, torch.device):
            self.placed.pop().__exit__(None, None, None)
            return False
        leave = getattr(type(manager), "__exit__", None)
        if leave is None or type(manager) is Unknown:
            return False
        if functions.closure_of(leave) is not None or isinstance(manager, guards.CONTEXTS):
            self.expected -= self._may_swallow(manager)
            answer = leave(manager, type(error) if error else None, error, None)
            return False if type(answer) is Unknown or error is None else bool(answer)
        return False

    def _may_swallow(self, manager: Any) -> bool:
        """Whether the `__enter__` and `__exit__` of the program's own keep back what torch raises."""
        kind = type(manager)
        enter, leave = (functions.closure_of(getattr(kind, name, None)) for name in ("__enter__", "__exit__"))
        return enter is not None and leave is not None and swallowing.keeps_back(leave.code.node)
