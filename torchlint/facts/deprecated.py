"""What torch has deprecated: it warns, or its documentation says so. `outdated.py` says how a row is read."""

from torchlint.facts.outdated import rows

DEPRECATED = rows("""
# linear algebra, now in torch.linalg
torch.cholesky | 1.10 | torch.linalg.cholesky({input}) | input, upper?, out? | safe |
torch.qr | 1.9 | torch.linalg.qr({input}) | input, some=True, out? | safe |
torch.qr | 1.9 | torch.linalg.qr({input}, mode="complete") | input, some==False, out? | safe |
torch.qr | 1.9 | torch.linalg.qr({input}, mode="reduced" if {some} else "complete") | input, some, out? | safe |
torch.svd | 1.9 | torch.linalg.svd | | | it returns V transposed, and takes full_matrices in the place of some
torch.lu | 1.11 | torch.linalg.lu_factor({A}) | A, pivot?, get_infos=False, out? | safe |
torch.lu | 1.11 | torch.linalg.lu_factor_ex | | |
torch.lu_solve | 1.13 | torch.linalg.lu_solve({LU_data}, {LU_pivots}, {b}) | b, LU_data, LU_pivots, out? | safe |
torch.triangular_solve | 1.11 | torch.linalg.solve_triangular({A}, {b}, upper=True) |
    first b, A, upper=True, transpose=False, unitriangular=False | safe |
    it takes the matrix first and returns only the solution
torch.triangular_solve | 1.11 | torch.linalg.solve_triangular({A}, {b}, upper=False) |
    first b, A, upper==False, transpose=False, unitriangular=False | safe |
    it takes the matrix first and returns only the solution
torch.triangular_solve | 1.11 | torch.linalg.solve_triangular | | |
    it takes the matrix first and returns only the solution
torch.chain_matmul | 1.9 | torch.linalg.multi_dot([...]) | all | safe |
torch.ger | 1.8 | torch.outer | same | safe |
torch.norm | 1.7 | torch.linalg.vector_norm({input}) |
    input, p="fro", dim?, keepdim?, out?, dtype? | safe unless sparse |
torch.norm | 1.7 | torch.linalg.vector_norm({input}, {p}) |
    input, p:number, dim?, keepdim?, out?, dtype? | safe unless sparse |
torch.norm | 1.7 | torch.linalg.norm, vector_norm or matrix_norm | | |
torch.cross(!dim@2) | 2.0 | torch.linalg.cross or dim= | | | without it the first dimension of size 3 is taken
torch.meshgrid(!indexing) | 1.10 | indexing="ij" | add | safe |
torch.range | 0.4 | torch.arange({start}, {end} + 1, dtype=torch.get_default_dtype()) |
    start:int, end:int, step=1 | safe | its end is included
torch.range | 0.4 | torch.arange | | | its end is included
# tensors
torch.autograd.Variable(-volatile) | 0.4 | {data}.detach() | data, requires_grad=False, volatile=False | safe |
    tensors are variables
torch.autograd.Variable(-volatile) | 0.4 | {data}.detach().requires_grad_() |
    data, requires_grad==True, volatile=False | safe | tensors are variables
torch.autograd.Variable(-volatile) | 0.4 | {data}.detach().requires_grad_({requires_grad}) |
    data, requires_grad, volatile=False | safe | tensors are variables
torch.autograd.Variable | 0.4 | torch.Tensor | value | safe | tensors are variables
torch.set_default_tensor_type | 2.1 | torch.set_default_dtype(torch.float32) |
    t==torch.FloatTensor | safe unless cuda |
torch.set_default_tensor_type | 2.1 | torch.set_default_dtype(torch.float64) |
    t==torch.DoubleTensor | safe unless cuda |
torch.set_default_tensor_type | 2.1 | torch.set_default_dtype(torch.float16) |
    t==torch.HalfTensor | safe unless cuda |
torch.set_default_tensor_type | 2.1 | torch.set_default_dtype(torch.bfloat16) |
    t==torch.BFloat16Tensor | safe unless cuda |
torch.set_default_tensor_type | 2.1 | torch.set_default_device("cuda") | t==torch.cuda.FloatTensor | |
torch.set_default_tensor_type | 2.1 | torch.set_default_device("cuda") and torch.set_default_dtype(torch.float64) |
    t==torch.cuda.DoubleTensor | |
torch.set_default_tensor_type | 2.1 | torch.set_default_device("cuda") and torch.set_default_dtype(torch.float16) |
    t==torch.cuda.HalfTensor | |
torch.set_default_tensor_type | 2.1 | torch.set_default_device("cuda") and torch.set_default_dtype(torch.bfloat16) |
    t==torch.cuda.BFloat16Tensor | |
torch.set_default_tensor_type | 2.1 | torch.set_default_dtype and torch.set_default_device | | |
torch.sparse.FloatTensor() | 2.0 | torch.sparse_coo_tensor({indices}, {values}, {size}) |
    indices, values, size | unsafe |
torch.sparse.FloatTensor() | 2.0 | torch.sparse_coo_tensor | | | of two numbers it makes an empty one, of that size
.add_(alpha, other) | 1.5 | {self}.add_({other}, alpha={alpha}) | self, alpha, other | safe |
    the number comes by its name
.sub_(alpha, other) | 1.5 | {self}.sub_({other}, alpha={alpha}) | self, alpha, other | safe |
    the number comes by its name
.addcmul_(value, tensor1, tensor2) | 1.5 | {self}.addcmul_({tensor1}, {tensor2}, value={value}) |
    self, value, tensor1, tensor2 | safe | the number comes by its name
.addcdiv_(value, tensor1, tensor2) | 1.5 | {self}.addcdiv_({tensor1}, {tensor2}, value={value}) |
    self, value, tensor1, tensor2 | safe | the number comes by its name
torch.add(input, alpha, other) | 1.5 | torch.add({input}, {other}, alpha={alpha}) | input, alpha, other | safe |
    the number comes by its name
torch.sub(input, alpha, other) | 1.5 | torch.sub({input}, {other}, alpha={alpha}) | input, alpha, other | safe |
    the number comes by its name
.resize_as | 0.4 | resize_as_ | | |
.storage | 2.0 | untyped_storage | | | it counts in bytes
# layers and losses
torch.nn.functional.upsample | 0.4 | torch.nn.functional.interpolate | same | safe |
torch.nn.functional.upsample_nearest | 0.4 | torch.nn.functional.interpolate(..., mode="nearest") | all | safe |
torch.nn.functional.upsample_bilinear | 0.4 |
    torch.nn.functional.interpolate(..., mode="bilinear", align_corners=True) | all | safe |
torch.nn.NLLLoss2d | 0.4 | torch.nn.NLLLoss | same | safe |
torch.nn.init.uniform | 0.4 | torch.nn.init.uniform_ | same | safe |
torch.nn.init.normal | 0.4 | torch.nn.init.normal_ | same | safe |
torch.nn.init.constant | 0.4 | torch.nn.init.constant_ | same | safe |
torch.nn.init.eye | 0.4 | torch.nn.init.eye_ | same | safe |
torch.nn.init.dirac | 0.4 | torch.nn.init.dirac_ | same | safe |
torch.nn.init.xavier_uniform | 0.4 | torch.nn.init.xavier_uniform_ | same | safe |
torch.nn.init.xavier_normal | 0.4 | torch.nn.init.xavier_normal_ | same | safe |
torch.nn.init.kaiming_uniform | 0.4 | torch.nn.init.kaiming_uniform_ | same | safe |
torch.nn.init.kaiming_normal | 0.4 | torch.nn.init.kaiming_normal_ | same | safe |
torch.nn.init.orthogonal | 0.4 | torch.nn.init.orthogonal_ | same | safe |
torch.nn.init.sparse | 0.4 | torch.nn.init.sparse_ | same | safe |
torch.nn.utils.clip_grad_norm | 0.4 | torch.nn.utils.clip_grad_norm_ | same | safe |
torch.nn.utils.weight_norm | 2.1 | torch.nn.utils.parametrizations.weight_norm | same |
    unsafe unless remove_weight_norm weight_g weight_v |
    the parameters have other names in checkpoints
torch.nn.utils.stateless.functional_call | 2.0 | torch.func.functional_call | same | safe |
torch.nn.parallel.DistributedDataParallelCPU | 1.2 | torch.nn.parallel.DistributedDataParallel | same | safe |
torch.nn.*(size_average=) | 0.4 | reduction="mean", "sum" or "none" | reduction | safe |
torch.nn.*(reduce=) | 0.4 | reduction="mean", "sum" or "none" | reduction | safe |
# by position
torch.nn.MSELoss(size_average@0:bool) torch.nn.L1Loss(size_average@0:bool)
    torch.nn.CrossEntropyLoss(size_average@1:bool) torch.nn.NLLLoss(size_average@1:bool)
    torch.nn.BCELoss(size_average@1:bool) torch.nn.BCEWithLogitsLoss(size_average@1:bool)
    torch.nn.SmoothL1Loss(size_average@0:bool) torch.nn.KLDivLoss(size_average@0:bool)
    torch.nn.SoftMarginLoss(size_average@0:bool) torch.nn.MultiLabelMarginLoss(size_average@0:bool)
    torch.nn.MultiLabelSoftMarginLoss(size_average@1:bool) torch.nn.functional.mse_loss(size_average@2:bool)
    torch.nn.functional.l1_loss(size_average@2:bool) torch.nn.functional.cross_entropy(size_average@3:bool)
    torch.nn.functional.nll_loss(size_average@3:bool)
    torch.nn.functional.binary_cross_entropy(size_average@3:bool)
    torch.nn.functional.binary_cross_entropy_with_logits(size_average@3:bool)
    torch.nn.functional.smooth_l1_loss(size_average@2:bool) torch.nn.functional.kl_div(size_average@2:bool)
    torch.nn.functional.soft_margin_loss(size_average@2:bool)
    torch.nn.functional.multilabel_margin_loss(size_average@2:bool) | 0.4 |
    reduction="mean", "sum" or "none" | reduction | safe |
torch.utils.checkpoint.checkpoint(!use_reentrant)
    torch.utils.checkpoint.checkpoint_sequential(!use_reentrant) | 2.0 | use_reentrant=True | add | safe |
    False is recommended, True is what it does now
# mixed precision
torch.cuda.amp.autocast() | 2.4 | torch.amp.autocast("cuda") | enabled?, dtype?, cache_enabled? | safe |
torch.cpu.amp.autocast() | 2.4 | torch.amp.autocast("cpu") | enabled?, dtype?, cache_enabled? | safe |
torch.cuda.amp.GradScaler() | 2.4 | torch.amp.GradScaler("cuda", ...) | all | safe |
torch.cpu.amp.GradScaler() | 2.4 | torch.amp.GradScaler("cpu", ...) | all | safe |
torch.cuda.amp.custom_fwd | 2.4 | torch.amp.custom_fwd(..., device_type="cuda") | all | safe |
torch.cuda.amp.custom_bwd | 2.4 | torch.amp.custom_bwd(..., device_type="cuda") | all | safe |
torch.get_autocast_gpu_dtype | 2.4 | torch.get_autocast_dtype("cuda") | all | safe |
torch.get_autocast_cpu_dtype | 2.4 | torch.get_autocast_dtype("cpu") | all | safe |
torch.set_autocast_gpu_dtype | 2.4 | torch.set_autocast_dtype("cuda", ...) | all | safe |
torch.set_autocast_cpu_dtype | 2.4 | torch.set_autocast_dtype("cpu", ...) | all | safe |
torch.is_autocast_cpu_enabled | 2.4 | torch.is_autocast_enabled("cpu") | all | safe |
# TorchScript and the old quantization
torch.jit.script torch.jit.trace torch.jit.trace_module torch.jit.load torch.jit.save torch.jit.script_method
    torch.jit.interface | 2.9 | torch.compile, or torch.export for other programs | | |
    TorchScript is no longer developed
torch.jit.freeze torch.jit.optimize_for_inference torch.jit.fork torch.jit.wait | 2.9 | torch.compile | | |
    TorchScript is no longer developed
torch.ao.quantization.quantize torch.ao.quantization.quantize_dynamic torch.ao.quantization.quantize_qat
    torch.ao.quantization.prepare torch.ao.quantization.prepare_qat torch.ao.quantization.convert
    torch.ao.quantization.quantize_fx.prepare_fx torch.ao.quantization.quantize_fx.prepare_qat_fx
    torch.ao.quantization.quantize_fx.convert_fx torch.quantization.quantize torch.quantization.quantize_dynamic
    torch.quantization.quantize_qat torch.quantization.prepare torch.quantization.prepare_qat
    torch.quantization.convert torch.quantization.quantize_fx.prepare_fx
    torch.quantization.quantize_fx.prepare_qat_fx torch.quantization.quantize_fx.convert_fx | 2.8 |
    torchao.quantization | | | it moved to the package torchao
# memory, distributed, tests
torch.cuda.memory_cached | 1.4 | torch.cuda.memory_reserved | same | safe |
torch.cuda.max_memory_cached | 1.4 | torch.cuda.max_memory_reserved | same | safe |
torch.cuda.reset_max_memory_cached torch.cuda.reset_max_memory_allocated | 1.4 |
    torch.cuda.reset_peak_memory_stats | same | safe |
torch.backends.cuda.sdp_kernel | 2.3 | torch.nn.attention.sdpa_kernel | | | it takes the backends to use
torch.distributed.reduce_op | 1.0 | torch.distributed.ReduceOp | same | safe |
torch.testing.assert_allclose | 1.12 | torch.testing.assert_close | | |
    it compares dtypes too, and has other tolerances
torch.has_cuda | 2.0 | torch.backends.cuda.is_built() | value | safe |
torch.has_mps | 2.0 | torch.backends.mps.is_built() | value | safe |
torch.utils._pytree._register_pytree_node | 2.2 | torch.utils._pytree.register_pytree_node | same | safe |
torch.library.impl_abstract | 2.4 | torch.library.register_fake | same | safe |
# functorch is torch.func
functorch.vmap | 2.0 | torch.func.vmap | same | safe |
functorch.grad | 2.0 | torch.func.grad | same | safe |
functorch.grad_and_value | 2.0 | torch.func.grad_and_value | same | safe |
functorch.vjp | 2.0 | torch.func.vjp | same | safe |
functorch.jvp | 2.0 | torch.func.jvp | same | safe |
functorch.jacrev | 2.0 | torch.func.jacrev | same | safe |
functorch.jacfwd | 2.0 | torch.func.jacfwd | same | safe |
functorch.hessian | 2.0 | torch.func.hessian | same | safe |
functorch.functionalize | 2.0 | torch.func.functionalize | same | safe |
functorch.make_functional functorch.make_functional_with_buffers | 2.0 | torch.func.functional_call | | |
    it takes the module and a dict of its parameters
functorch.combine_state_for_ensemble | 2.0 | torch.func.stack_module_state | | |
""")

# What is not public: it has a public name now, and may go without one.
DEPRECATED += rows("""
torch.utils.data._utils.collate.default_collate | 1.11 | torch.utils.data.default_collate | same | safe | not public
torch.utils.data._utils.collate.default_convert | 1.11 | torch.utils.data.default_convert | same | safe | not public
""")

# torchvision's versions by the torch they belong to: 0.13 is that of 1.12, 0.16 that of 2.1
DEPRECATED += rows("""
torchvision.models.*(pretrained=) | 1.12 | weights= | weights | safe |
torchvision.models.*(pretrained@0:bool) | 1.12 | weights= | weights | safe |
torchvision.models.*(pretrained_backbone=) | 1.12 | weights_backbone= | | |
torchvision.transforms.v2.ToTensor() | 2.1 |
    torchvision.transforms.v2.Compose([torchvision.transforms.v2.ToImage(),
    torchvision.transforms.v2.ToDtype(torch.float32, scale=True)]) | all | unsafe |
    it gives images, and scales tensors too
""")
