"""torch as the dry run knows it: real functions and classes from an allow-list, and our own where torch needs data or
hardware.
"""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

import torch
import torch.distributions
import torch.utils.checkpoint
from torch import nn
from torch.utils import _pytree

from torchlint.shapes.core.values import Special, Unknown, from_unknown, unknown_in
from torchlint.shapes.language.cut_short import may_be_longer
from torchlint.shapes.libraries import defaults, onlookers, packed_lengths, saving, sparse
from torchlint.shapes.libraries.builtins import NAMES
from torchlint.shapes.libraries.compilers import DECORATORS, compiled, transparent
from torchlint.shapes.libraries.data import DATA
from torchlint.shapes.libraries.distributions import DIVERGENCES
from torchlint.shapes.libraries.free_layers import REPARAMETRIZATIONS
from torchlint.shapes.libraries.function_transforms import TRANSFORMS
from torchlint.shapes.libraries.functional_calls import FUNCTIONAL_CALLS
from torchlint.shapes.libraries.open_lists import LENGTH, of_open_list
from torchlint.shapes.libraries.open_sizes import arange, factory, randperm, sized
from torchlint.shapes.libraries.processes import OF_TORCH
from torchlint.shapes.libraries.remote import REMOTE
from torchlint.shapes.libraries.scaler import make_scaler
from torchlint.shapes.libraries.start_values import initialiser
from torchlint.shapes.libraries.stdlib import Context
from torchlint.shapes.libraries.torchvision_ops import OPERATIONS
from torchlint.shapes.libraries.tuples import TUPLES
from torchlint.shapes.tensors import autocast, device_tags, wild
from torchlint.shapes.tensors.arrays import Array
from torchlint.shapes.tensors.generators import made

# Modules whose public classes and functions may be used as they are, apart from what is DENIED.
REAL = frozenset(
    "torch torch.nn torch.nn.functional torch.nn.modules torch.nn.parameter torch.nn.utils torch.nn.utils.rnn"
    " torch.nn.utils.weight_norm torch.nn.utils.parametrizations torch.nn.utils.parametrize torch.nn.attention"
    " torch.optim torch.optim.lr_scheduler torch.linalg torch.fft torch.special torch.distributions torch.autograd"
    " torch.autograd.function torch.autograd.variable torch.functional torch.nn.utils.spectral_norm"
    " torch.ao.nn.quantized torch.nn.quantized torch.ao.quantization.stubs torch.optim.swa_utils".split()
)
KNOWN = REAL | frozenset(
    "torch.cuda torch.cuda.amp torch.amp torch.backends torch.backends.cudnn torch.backends.cuda torch.backends.mps"
    " torch.utils torch.utils.data torch.utils.data.distributed torch.utils.data.dataset torch.utils.data.dataloader"
    " torch.utils.data.sampler torch.utils.checkpoint torch.utils.tensorboard torch.jit torch.onnx torch.fx"
    " torch.nn.parallel torch.nn.init torch.ops torch.ops.torchvision torch.accelerator torch.distributed"
    " torch.multiprocessing torch.random torch.hub torch.version torch.profiler torch.testing torch.types"
    " torch.utils.model_zoo torch.serialization torch.ao torch.ao.quantization torch.quantization torch.sparse"
    " torch.func torch.nn.utils.stateless torch.export torch.library torch.mps torch.overrides torch.return_types"
    " torch.storage"
    " torch.utils.hooks torch.masked torch.nested torch.compiler torch.xpu torch.utils._pytree"
    " torch.nn.attention.flex_attention torch._dynamo torch.backends.opt_einsum torch.distributed.fsdp torch._C"
    " torch._jit_internal torch.fx._symbolic_trace torch.distributed.rpc torch.distributed.rpc.functions"
    " torch.futures torch.autograd.functional torch.distributed.tensor torch.distributed.tensor.parallel".split()
)
PREFIXES = ("torch.nn.modules.", "torch.distributions.", "torch.optim.")
DENIED = frozenset(
    "load save from_file frombuffer from_dlpack compile hub ops classes set_printoptions fork wait UntypedStorage"
    " TypedStorage import_ir_module import_ir_module_from_buffer parse_ir parse_schema merge_type_from_type_comment"
    " set_num_threads set_num_interop_threads use_deterministic_algorithms set_deterministic_debug_mode get_file_path"
    " prepare_multiprocessing_environment seed initial_seed manual_seed get_rng_state set_rng_state vmap cond"
    " while_loop init_num_threads set_flush_denormal set_default_device set_default_tensor_type export library sym_int"
    " sym_float update_bn".split()
)
CLASSES = (
    nn.Module,
    nn.Parameter,
    torch.optim.Optimizer,
    torch.optim.lr_scheduler.LRScheduler,
    torch.distributions.Distribution,
    torch.distributions.Transform,
    torch.distributions.constraints.Constraint,
    torch.autograd.Function,
)
PLAIN = (
    *(torch.dtype, int, float, str, torch.layout, torch.memory_format, type(None)),
    torch.distributions.constraints.Constraint,
)


def has_module(name: str) -> bool:
    """Whether torch has this module."""
    return name in KNOWN or name.startswith(PREFIXES) and name in sys.modules


def find(name: str) -> tuple[Any] | None:
    """The value with a dotted name."""
    if name in FOUND:
        return (FOUND[name],)
    module, _, last = name.rpartition(".")
    if has_module(name):
        return None
    if module == "torch.nn.init":
        return (initialiser(last),)
    if module.startswith(PREFIXES) or module in REAL:
        value = getattr(sys.modules.get(module), last, None)
        if last not in DENIED and _is_harmless(value, module):
            return (value,)
    return None


def _is_harmless(value: Any, module: str) -> bool:
    if isinstance(value, type):
        return issubclass(value, CLASSES) or value in (
            torch.Tensor,
            torch.Size,
            torch.dtype,
            torch.device,
            torch.Generator,
            torch.layout,
            torch.finfo,
            torch.iinfo,
            getattr(nn, "Buffer", None),
            nn.utils.rnn.PackedSequence,
            torch.no_grad,
            torch.enable_grad,
            torch.set_grad_enabled,
            torch.inference_mode,
        )
    if isinstance(value, types.BuiltinFunctionType):
        return value.__name__ in BUILTIN_FUNCTIONS or any(hasattr(home, value.__name__) for home in OPERATIONS_OF)
    if isinstance(value, types.FunctionType):
        return value.__module__ in REAL and (
            module != "torch" or value.__module__ == "torch.functional" or value.__name__ in PYTHON_FUNCTIONS
        )
    return value is not None and isinstance(value, PLAIN)


OPERATIONS_OF = (
    torch._C._VariableFunctions,
    torch._C._nn,
    torch._C._linalg,
    torch._C._fft,
    torch._C._special,
    torch._C._sparse,
    torch._C._nested,
)
# What is no operation on tensors: questions, nothing that changes what is true for the whole process.
BUILTIN_FUNCTIONS = frozenset(
    "tensordot get_default_dtype is_grad_enabled is_inference_mode_enabled is_autocast_enabled"
    " is_autocast_cpu_enabled is_autocast_cache_enabled get_autocast_dtype get_autocast_gpu_dtype"
    " get_autocast_cpu_dtype get_num_threads".split()
)
PYTHON_FUNCTIONS = frozenset(
    "is_tensor set_default_dtype get_default_dtype is_grad_enabled typename stack_ sym_max".split()
)


def names(module: str) -> list[str]:
    """The public names of a module, for `import *`."""
    real = sys.modules.get(module) if module in REAL or module.startswith(PREFIXES) else None
    start = module + "."
    mine = [n.removeprefix(start) for n in FOUND if n.startswith(start) and "." not in n.removeprefix(start)]
    return [*mine, *(n for n in getattr(real, "__all__", dir(real) if real else ()) if not n.startswith("_"))]


# Making tensors from values


def _shape_of(data: Any) -> tuple[list[int], list]:
    """The shape of nested lists, and the values at their ends."""
    shape, items = [], data
    while isinstance(items, (list, tuple)) and items:
        shape.append(len(items))
        items = items[0]
    ends, level = data, len(shape)
    for _ in range(level - 1):
        ends = [x for part in ends for x in part]
    return shape, list(ends) if level else [ends]


def make_tensor(
    machine, data=None, dtype=None, device=None, requires_grad=False, copy=None, pin_memory=False, **options
):
    """`torch.tensor` and its kin, of numbers, lists, arrays and tensors; lists of unknowns keep their shape."""
    if type(data) is Unknown and wild.is_text(data):
        return machine.foreign(torch.tensor, (_SOME_TEXT,), {})
    if type(data) is Unknown or type(dtype) is Unknown:
        made = _of_unknown(machine, data, dtype, device)
        return made if requires_grad is False else Unknown(made.reason)
    place = {"device": device} if device is not None and type(device) is not Unknown else {}
    if isinstance(data, (range, map, zip)):
        data = list(machine.iterate(data))
    if isinstance(data, Array):
        _check_strides(machine, data, torch.tensor)
        made = machine.foreign(torch.empty, (data.shape,), {"dtype": dtype or data.tensor.dtype, **place})
    elif isinstance(data, torch.Tensor):
        made = machine.foreign(torch.empty_like, (data,), {"dtype": dtype or data.dtype, **place})
    else:
        machine.budget.touch(data)
        if machine.changes.cut and may_be_longer(data):
            made = of_open_list(make_tensor, machine, data, dtype, device) if requires_grad is False else None
            return Unknown(LENGTH) if made is None else made
        shape, ends = _shape_of(data)
        machine.budget.length(len(ends))
        if any(type(e) is Unknown and wild.is_text(e) for e in ends):  # which torch refuses, whatever stands in it
            return machine.foreign(torch.tensor, (functools.reduce(lambda part, _: [part], shape, _SOME_TEXT),), {})
        first = next((e for e in ends if type(e) is not Unknown), None)
        if ends and all(type(e) is Unknown for e in ends):  # each may be a number or a sequence
            number, numbers = wild.kind_of_all(ends), all(map(wild.is_number, ends))
            if requires_grad is False and (number is not None or numbers and dtype is not None):
                kind = _DTYPES.get(number, torch.get_default_dtype())
                return machine.foreign(torch.empty, (shape,), {"dtype": dtype or kind, **place})
            ranks = [len(shape)] if numbers else [r for r in wild.RANKS if r >= len(shape)]
            made = _of_unknown(machine, ends[0], dtype, device, ranks, shape[0] if len(shape) == 1 else None)
            return made if requires_grad is False else Unknown(made.reason)
        if any(type(e) is Unknown or machine.is_tensor(e) for e in ends):
            if isinstance(first, torch.Tensor) and first.numel() > 1:
                machine.refuse(
                    ValueError("only one element tensors can be converted to Python scalars"), torch.tensor, ()
                )
            if isinstance(first, torch.Tensor):  # of one element, which counts as a number
                kind = first.dtype
            elif isinstance(first, Array):
                shape += list(first.shape)
                kind = first.tensor.dtype
            else:
                number = wild.kind_of_all(ends)
                if dtype is None and number is None and not any(isinstance(e, float) for e in ends):
                    return Unknown("a tensor of unknown numbers")
                kind = _DTYPES.get(number, torch.get_default_dtype())
            made = machine.foreign(torch.empty, (shape,), {"dtype": dtype or kind, **place})
            device_tags.called.add(torch.tensor)  # what it really is told of, which torch cannot be given here
            for listener in device_tags.listeners:
                listener(torch.tensor, (data,), {}, made)
        else:
            made = machine.foreign(torch.tensor, (data,), {**({"dtype": dtype} if dtype else {}), **place})
    if requires_grad is True and type(made) is not Unknown:
        machine.foreign(torch.Tensor.requires_grad_, (made,), {})
    return made


def _as_tensor(machine, data=None, dtype=None, device=None, *, copy=None, requires_grad=None, **options):
    """`torch.as_tensor` and `torch.asarray`: a tensor that is what is asked for already is handed back itself, and
    another one is made of it as `.to` does, with its gradients.
    """
    if not isinstance(data, torch.Tensor) or type(dtype) is Unknown:
        return make_tensor(machine, data, dtype, device, requires_grad is True)
    wanted = {"device": device} if device is not None and type(device) is not Unknown else {}
    wanted |= {"dtype": dtype} if dtype is not None else {}
    made = machine.foreign(torch.Tensor.to, (data,), {**wanted, "copy": copy is True}) if wanted or copy else data
    if type(requires_grad) is bool and type(made) is not Unknown:
        made = machine.foreign(torch.Tensor.detach, (made,), {})
        return machine.foreign(torch.Tensor.requires_grad_, (made,), {}) if requires_grad else made
    return made


_SOME_TEXT: Any = "…"
_DTYPES = {int: torch.int64, bool: torch.bool}


def _of_unknown(machine, data, dtype, device, ranks=wild.RANKS, first=None):
    """A tensor of data that nobody knows."""
    unknown = data if type(data) is Unknown else dtype
    if not machine.wild:
        return Unknown(unknown.reason)
    if ranks is wild.RANKS and unknown is data and wild.is_number(unknown):
        ranks = (0,)
    dtypes = (dtype,) if isinstance(dtype, torch.dtype) else _dtypes_of(unknown) if dtype is None else wild.DATA
    device = device if type(device) is not Unknown else None
    make = device_tags.anywhere if device is None else lambda made: made
    return wild.tensor(unknown.reason, ranks=ranks, dtypes=dtypes, device=device, first=first, make=make)


def _dtypes_of(data: Unknown) -> tuple[torch.dtype, ...]:
    """Those that a tensor of unknown data may have: a real number may be one of NumPy, which keeps its own."""
    if data.known == wild.FLOAT:
        return (torch.get_default_dtype(),)
    kind = wild.kind_of_all([data])
    return (_DTYPES[kind],) if kind in _DTYPES else wild.DATA


def _from_numpy(machine, array):
    if not isinstance(array, Array):
        if isinstance(array, (list, tuple, int, float, torch.Tensor)):
            machine.refuse(TypeError(f"expected np.ndarray (got {type(array).__name__})"), torch.from_numpy, ())
        if type(array) is Unknown and machine.wild:
            return wild.tensor(array.reason, dtypes=wild.DATA)
        return from_unknown(array, "an array that is not known")
    _check_strides(machine, array, torch.from_numpy)
    return machine.foreign(torch.empty, (array.shape,), {"dtype": array.tensor.dtype, "device": device_tags.CPU})


def _check_strides(machine, array, function):
    if array.backwards and min(array.shape, default=0) > 1:
        text = "At least one stride in the given numpy array is negative, and tensors with negative strides are not"
        machine.refuse(ValueError(f"{text} currently supported. (`array.copy()` has none)"), function, ())


def _pack_padded_sequence(machine, input, lengths, *args, **kwargs):
    """torch makes whole numbers of lengths that are no tensor."""
    if isinstance(lengths, Array):
        lengths = machine.foreign(torch.empty, (lengths.shape,), {"dtype": torch.int64, "device": device_tags.CPU})
    made = machine.foreign(nn.utils.rnn.pack_padded_sequence, (input, lengths, *args), kwargs)
    return packed_lengths.left_open(machine, made)


def _legacy(dtype: torch.dtype, home: str | None = None):
    """`torch.FloatTensor` and, at home on the GPU, `torch.cuda.FloatTensor`."""

    def make(machine, *args, device=None, **options):
        place = {"device": torch.device(home)} if home and machine.has_cuda() else {}
        if "size" in options:
            sizes = options["size"]
            if type(sizes) is Unknown or unknown_in(sizes) is not None:
                return Unknown("a tensor of unknown size")
            return machine.foreign(torch.empty, (sizes,), {"dtype": dtype, **place})
        if len(args) == 1 and type(args[0]) is Unknown and not wild.is_number(args[0]):
            return _of_unknown(machine, args[0], dtype, place.get("device"))
        if unknown_in(args) is not None and not isinstance(args[0], (list, tuple)):
            return sized(machine, args, dtype, **place)
        if len(args) == 1 and type(args[0]) is tuple and unknown_in(args) is not None:
            return Unknown("a tensor of these sizes, or with these numbers")  # `x.size()` is a tuple here
        if (
            len(args) == 1
            and isinstance(args[0], (list, tuple, range, torch.Tensor, Array))
            and not isinstance(args[0], torch.Size)
        ):
            return make_tensor(machine, args[0], dtype=dtype, **place)
        return machine.foreign(torch.empty, args or (0,), {"dtype": dtype, **place})

    made = Special(str(dtype), make)
    made.__dict__.update(dtype=dtype, home=home or "cpu")
    made.__dict__["kind"] = torch.Tensor
    return made


def _variable(machine, data, requires_grad=False, volatile=False):
    if not isinstance(data, torch.Tensor):
        return data
    made = machine.foreign(torch.Tensor.detach, (data,), {})
    return machine.foreign(torch.Tensor.requires_grad_, (made,), {}) if requires_grad is True else made


# Hardware and precision


class Autocast(Context):
    """A region of mixed precision."""

    def __init__(self, dtype: Any, enabled: Any, on_cpu: bool):
        dtype = dtype if isinstance(dtype, torch.dtype) else None
        self.region = autocast.region(dtype, enabled is not False, on_cpu)

    def __enter__(self):
        return self.region.__enter__()

    def __exit__(self, *error):
        return self.region.__exit__(None, None, None)


def _autocast(machine, device_type="cuda", dtype=None, enabled=True, *args, **kwargs):
    if isinstance(device_type, (torch.device, bool, torch.dtype)):
        machine.foreign(torch.autocast, (device_type,), {})  # which torch refuses at once
    on_cpu = type(device_type) is str and device_type == "cpu" and machine.cuda  # else only for want of a GPU
    return Autocast(dtype, enabled, on_cpu)


def _autocast_on_cuda(machine, enabled=True, dtype=None, *args, **kwargs):
    """The one of `torch.cuda.amp`, which takes no device."""
    return Autocast(dtype, enabled, on_cpu=False)


def _checkpoint(
    machine,
    function,
    *args,
    use_reentrant=None,
    preserve_rng_state=None,
    context_fn=None,
    determinism_check=None,
    debug=None,
    **kwargs,
):
    result = machine.call(function, list(args), kwargs)
    if use_reentrant is True and isinstance(result, torch.Tensor) and all(map(_is_constant, args)):
        return result.detach()  # torch runs it without gradients, and gives it one only if an argument has one
    return result


def _is_constant(value: Any) -> bool:
    return type(value) is not Unknown and not (isinstance(value, torch.Tensor) and value.requires_grad)


def _checkpoint_sequential(machine, function, segments, value, **options):
    for one in machine.iterate(function):
        value = machine.call(one, [value], {})
    return value


def _nothing(machine, *args, **kwargs):
    return None


def _context(machine, *args, **kwargs):
    return Context()


def _unknown(machine, *args, **kwargs):
    return Unknown("a value that depends on the machine")


def _answer(value):
    return lambda machine, *args, **kwargs: value


def _clip(machine, parameters=None, *args, **kwargs):
    """`clip_grad_norm_(model.parameters(), …)`, not of the model or of the method."""
    if isinstance(parameters, (nn.Module, types.MethodType)) and not hasattr(type(parameters), "__iter__"):
        machine.protest(TypeError(f"'{type(parameters).__name__}' object is not iterable: `.parameters()` gives them"))
    return Unknown("a value that depends on the machine")


def _flex_attention(machine, query, key, value, *args, **kwargs):
    return machine.foreign(nn.functional.scaled_dot_product_attention, (query, key, value), {})


def _device(machine, kind="cpu", *index):
    if type(kind) is Unknown:
        return kind
    if isinstance(kind, int):
        return torch.device("cuda", kind)
    return machine.foreign(torch.device, (kind, *index), {})


def _generator(machine, device="cpu"):
    if type(device) is Unknown:
        return from_unknown(device, "a generator")
    return made("cpu" if device is None else device_tags.name(device))


def _special(**table) -> dict[str, Any]:
    return {
        "torch." + name.replace("__", "."): Special(name.rpartition("__")[2], function)
        for name, function in table.items()
    }


FOUND: dict[str, Any] = {
    "torch.__version__": torch.__version__,
    **DIVERGENCES,
    **onlookers.of("torch"),
    **sparse.FOUND,
    **REPARAMETRIZATIONS,
    **OPERATIONS,
    **OF_TORCH,
    **REMOTE,
    **TUPLES,
    **{
        f"torch.{prefix}{name}Tensor": _legacy(dtype, home)
        for prefix, home in (("", None), ("cuda.", "cuda"))
        for name, dtype in {
            "Float": torch.float32,
            "Double": torch.float64,
            "Half": torch.float16,
            "Long": torch.int64,
            "Int": torch.int32,
            "Short": torch.int16,
            "Byte": torch.uint8,
            "Bool": torch.bool,
        }.items()
    },
    **{f"torch.utils.data.{name}": value for name, value in DATA.items()},
    **{
        f"torch.utils.data.{module}.{name}": value
        for name, value in DATA.items()
        for module in ("dataset", "dataloader", "sampler", "distributed")
    },
    **{
        f"torch.utils._pytree.{name}": getattr(_pytree, name) for name in ("tree_map", "tree_flatten", "tree_unflatten")
    },
    **{f"torch.{name}": factory(name) for name in ("zeros", "ones", "empty", "rand", "randn", "full")},
    "torch.randint": factory("randint", first=1),
    **FUNCTIONAL_CALLS,
    **TRANSFORMS,
    **_special(
        tensor=make_tensor,
        arange=arange,
        randperm=randperm,
        as_tensor=_as_tensor,
        asarray=_as_tensor,
        from_numpy=_from_numpy,
        autograd__Variable=_variable,
        autograd__variable__Variable=_variable,
        cuda__is_available=lambda machine: machine.has_cuda(),
        cuda__device_count=lambda machine: machine.count_gpus(),
        cuda__current_device=_answer(0),
        cuda__get_device_name=_unknown,
        cuda__synchronize=_nothing,
        cuda__empty_cache=_nothing,
        cuda__manual_seed=_nothing,
        cuda__manual_seed_all=_nothing,
        cuda__set_device=_nothing,
        cuda__is_bf16_supported=_answer(True),
        backends__mps__is_available=_answer(False),
        backends__mps__is_built=_answer(False),
        xpu__is_available=_answer(False),
        accelerator__is_available=lambda machine: machine.has_cuda(),
        accelerator__device_count=lambda machine: machine.count_gpus(),
        accelerator__current_accelerator=lambda machine, *args, **kwargs: (
            torch.device("cuda") if machine.has_cuda() else None
        ),
        accelerator__set_device_index=_nothing,
        accelerator__set_device_idx=_nothing,
        accelerator__synchronize=_nothing,
        ao__quantization__QuantStub=lambda machine, *args: torch.ao.quantization.QuantStub(),
        ao__quantization__DeQuantStub=lambda machine, *args: torch.ao.quantization.DeQuantStub(),
        quantization__QuantStub=lambda machine, *args: torch.ao.quantization.QuantStub(),
        quantization__DeQuantStub=lambda machine, *args: torch.ao.quantization.DeQuantStub(),
        distributed__is_available=_answer(False),
        distributed__is_initialized=_answer(False),
        distributed__get_rank=_answer(0),
        distributed__get_world_size=lambda machine, *args, **kwargs: machine.count_processes(),
        manual_seed=_nothing,
        seed=_unknown,
        random__manual_seed=_nothing,
        set_num_threads=_nothing,
        set_printoptions=_nothing,
        use_deterministic_algorithms=_nothing,
        set_float32_matmul_precision=_nothing,
        set_default_device=defaults.set_device,
        set_default_tensor_type=defaults.set_tensor_type,
        save=saving.save,
        load=saving.load,
        serialization__add_safe_globals=saving.trust,
        serialization__safe_globals=saving.trust,
        compile=compiled,
        jit__script=compiled,
        jit__trace=compiled,
        jit__ignore=transparent,
        jit__unused=transparent,
        jit__export=transparent,
        **dict.fromkeys(DECORATORS, transparent),
        compiler__is_compiling=_answer(False),
        compiler__is_exporting=_answer(False),
        compiler__is_dynamo_compiling=_answer(False),
        _dynamo__is_compiling=_answer(False),
        jit__isinstance=NAMES["isinstance"].function,
        jit__is_scripting=_answer(False),
        jit__is_tracing=_answer(False),
        _jit_internal__is_scripting=_answer(False),
        _C___get_tracing_state=_answer(None),
        _C___log_api_usage_once=_nothing,
        fx___symbolic_trace__is_fx_tracing=_answer(False),
        onnx__is_in_onnx_export=_answer(False),
        cuda__is_current_stream_capturing=_answer(False),
        jit__annotate=lambda machine, kind, value: value,
        fx__wrap=transparent,
        onnx__export=_nothing,
        autocast=_autocast,
        amp__autocast=_autocast,
        cuda__amp__autocast=_autocast_on_cuda,
        amp__GradScaler=make_scaler,
        cuda__amp__GradScaler=make_scaler,
        utils__checkpoint__checkpoint=_checkpoint,
        utils__checkpoint__checkpoint_sequential=_checkpoint_sequential,
        nn__utils__clip_grad_norm_=_clip,
        nn__utils__clip_grad_norm=_clip,
        nn__utils__clip_grad_value_=_clip,
        nn__utils__rnn__pack_padded_sequence=_pack_padded_sequence,
        nn__attention__flex_attention__flex_attention=_flex_attention,
        device=_device,
        Generator=_generator,
        is_tensor=lambda machine, value: NAMES["isinstance"].function(machine, value, torch.Tensor),
        is_storage=_answer(False),
        # In earnest every operation would write down the whole stack for a backward, for three times what it costs.
        autograd__detect_anomaly=_context,
        autograd__set_detect_anomaly=_context,
        set_anomaly_enabled=_nothing,
        profiler__profile=lambda machine, *args, **kwargs: Context(Unknown("a profiler")),
        profiler__record_function=_context,
    ),
}
for _name in ("tensor", "as_tensor", "asarray", "from_numpy", "zeros", "ones", "empty", "rand", "randn"):
    FOUND[f"torch.{_name}"].__dict__["pure"] = True
FOUND["torch.device"].__dict__["kind"] = torch.device
FOUND["torch.Generator"].__dict__["kind"] = torch.Generator
FOUND["torch.autograd.Variable"].__dict__["kind"] = torch.Tensor


class ScriptModule(nn.Module):
    """`torch.jit.ScriptModule` as a base: a module of the program is none unless it says so."""


FOUND["torch.jit.ScriptModule"] = ScriptModule
FOUND["torch.OutOfMemoryError"] = FOUND["torch.cuda.OutOfMemoryError"] = torch.OutOfMemoryError
FOUND["torch.utils._pytree.register_pytree_node"] = Special("register_pytree_node", _nothing)
FOUND["torch.Tensor"] = torch.Tensor
