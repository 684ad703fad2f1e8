"""What compilers make of functions and modules: what they were given, as far as shapes can tell."""

from __future__ import annotations

from torch import nn

from torchlint.shapes.core.values import Special, Unknown
from torchlint.shapes.language import functions

COMPILED = "_torchlint_compiled"  # an attribute of modules of which a compiler has made another

# What tells a compiler something, or autocast, and leaves its function or class as it is.
DECORATORS = (
    "compiler__disable compiler__allow_in_graph compiler__assume_constant_result compiler__nested_compile_region"
    " _dynamo__disable _dynamo__allow_in_graph _dynamo__disallow_in_graph jit__script_if_tracing"
    " amp__custom_fwd amp__custom_bwd cuda__amp__custom_fwd cuda__amp__custom_bwd"
).split()
_DECORATED = (nn.Module, type, staticmethod, classmethod, property)


def transparent(machine, function=None, *args, **kwargs):
    """A decorator, with or without arguments, that leaves what it decorates as it is."""
    if isinstance(function, _DECORATED) or functions.closure_of(function) is not None:
        return function
    return (
        Special("decorator", lambda machine, function: function)
        if function is None or type(function) is not Unknown
        else function
    )


def compiled(machine, function=None, *args, **kwargs):
    """What a compiler makes of a module computes the same, and can be saved, looked into and asked for the original."""
    if isinstance(function, nn.Module):
        function.__dict__[COMPILED] = True
    return transparent(machine, function)
