"""What torch has removed: the name is gone, or does nothing but raise. `outdated.py` says how a row is read."""

from torchlint.facts.outdated import rows

REMOVED = rows("""
# linear algebra, now in torch.linalg
torch.symeig .symeig | 2.0 | torch.linalg.eigh({input}, UPLO="U") | input, eigenvectors==True, upper=True | safe |
torch.symeig .symeig | 2.0 | torch.linalg.eigh({input}) | input, eigenvectors==True, upper==False | safe |
torch.symeig .symeig | 2.0 | torch.linalg.eigvalsh({input}, UPLO="U") |
    first input, eigenvectors=False, upper=True | safe |
torch.symeig .symeig | 2.0 | torch.linalg.eigh or torch.linalg.eigvalsh | | |
torch.solve | 1.13 | torch.linalg.solve({A}, {input}) | first input, A | safe |
    it takes the matrix first and returns only the solution
torch.eig .eig | 1.13 | torch.linalg.eig or torch.linalg.eigvals | | | they return complex tensors
torch.lstsq .lstsq | 1.13 | torch.linalg.lstsq | | |
    it takes the matrix first, and its solution has no rows of residuals
torch.matrix_rank | 1.13 | torch.linalg.matrix_rank({input}) | input, tol?, symmetric=False | safe |
torch.matrix_rank | 1.13 | torch.linalg.matrix_rank({input}, hermitian=True) | input, tol?, symmetric==True | safe |
torch.matrix_rank | 1.13 | torch.linalg.matrix_rank | | |
torch.gels | 1.2 | torch.linalg.lstsq | | |
torch.gesv | 1.2 | torch.linalg.solve({A}, {input}) | first input, A | safe |
    it takes the matrix first and returns only the solution
torch.potrf | 1.2 | torch.linalg.cholesky | | | potrf gave the upper triangle
torch.potri | 1.2 | torch.cholesky_inverse | | | potri took the upper triangle
torch.potrs | 1.2 | torch.cholesky_solve | | | potrs took the upper triangle
torch.pstrf | 1.2 | torch.linalg.cholesky | | |
torch.trtrs | 1.2 | torch.linalg.solve_triangular | | | it takes the matrix first
torch.btrifact | 1.2 | torch.linalg.lu_factor | | |
torch.btrisolve | 1.2 | torch.linalg.lu_solve | | |
# Fourier transforms, now in torch.fft
torch.rfft | 1.8 | torch.fft.rfft(...) |
    input, signal_ndim==1, normalized?, onesided=True | | it returns a complex tensor
torch.rfft | 1.8 | torch.fft.rfft2(...) |
    input, signal_ndim==2, normalized?, onesided=True | | it returns a complex tensor
torch.rfft | 1.8 | torch.fft.rfftn(..., dim=...) |
    input, signal_ndim, normalized?, onesided=True | | it returns a complex tensor
torch.rfft | 1.8 | torch.fft.fft(...) |
    input, signal_ndim==1, normalized?, onesided==False | | it returns a complex tensor
torch.rfft | 1.8 | torch.fft.fft2(...) |
    input, signal_ndim==2, normalized?, onesided==False | | it returns a complex tensor
torch.rfft | 1.8 | torch.fft.fftn(..., dim=...) |
    input, signal_ndim, normalized?, onesided==False | | it returns a complex tensor
torch.rfft | 1.8 | torch.fft.rfftn, or torch.fft.fftn for onesided=False | | | it returns a complex tensor
torch.irfft | 1.8 | torch.fft.irfft(...) |
    input, signal_ndim==1, normalized?, onesided=True, signal_sizes? | | it takes a complex tensor
torch.irfft | 1.8 | torch.fft.irfft2(...) |
    input, signal_ndim==2, normalized?, onesided=True, signal_sizes? | | it takes a complex tensor
torch.irfft | 1.8 | torch.fft.irfftn(..., dim=...) |
    input, signal_ndim, normalized?, onesided=True, signal_sizes? | | it takes a complex tensor
torch.irfft | 1.8 | torch.fft.ifft(...).real |
    input, signal_ndim==1, normalized?, onesided==False, signal_sizes? | | it takes a complex tensor
torch.irfft | 1.8 | torch.fft.ifft2(...).real |
    input, signal_ndim==2, normalized?, onesided==False, signal_sizes? | | it takes a complex tensor
torch.irfft | 1.8 | torch.fft.ifftn(..., dim=...).real |
    input, signal_ndim, normalized?, onesided==False, signal_sizes? | | it takes a complex tensor
torch.irfft | 1.8 | torch.fft.irfftn, or torch.fft.ifftn for onesided=False | | | it takes a complex tensor
torch.ifft | 1.8 | torch.fft.ifft(...) | input, signal_ndim==1, normalized? | | it takes and returns complex tensors
torch.ifft | 1.8 | torch.fft.ifft2(...) | input, signal_ndim==2, normalized? | | it takes and returns complex tensors
torch.ifft | 1.8 | torch.fft.ifftn(..., dim=...) |
    input, signal_ndim, normalized? | | it takes and returns complex tensors
torch.ifft | 1.8 | torch.fft.ifftn | | | it takes and returns complex tensors
torch.fft() | 1.8 | torch.fft.fft(...) | input, signal_ndim==1, normalized? | | it takes and returns complex tensors
torch.fft() | 1.8 | torch.fft.fft2(...) | input, signal_ndim==2, normalized? | | it takes and returns complex tensors
torch.fft() | 1.8 | torch.fft.fftn(..., dim=...) |
    input, signal_ndim, normalized? | | it takes and returns complex tensors
torch.fft() | 1.8 | torch.fft.fftn | | | it takes and returns complex tensors
torch.stft(!return_complex@9) .stft(!return_complex@8) | 2.0 |
    torch.view_as_real(torch.stft({input}, ..., return_complex=True)) | | |
    for a real tensor it has to be said whether the result is complex
# names of the package
torch._six.inf | 2.0 | torch.inf | same | safe |
torch._six.nan | 2.0 | torch.nan | same | safe |
torch._six.string_classes | 2.0 | (str, bytes) | same | safe |
torch._six.int_classes | 2.0 | builtins.int | same | safe |
torch._six.container_abcs | 2.0 | collections.abc | same | safe |
torch._six | 2.0 | Python's own names | | | it was there for Python 2
torch._utils._accumulate | 2.3 | itertools.accumulate | same | safe |
torch.set_deterministic() | 1.11 | torch.use_deterministic_algorithms({d}) | d | safe |
torch.set_deterministic | 1.11 | torch.use_deterministic_algorithms | same | safe |
torch.is_deterministic | 1.11 | torch.are_deterministic_algorithms_enabled | same | safe |
torch.utils.ffi | 1.0 | torch.utils.cpp_extension | | |
torch.utils.serialization.load_lua | 1.0 | a file written by torch.save | | |
torch.legacy | 1.0 | torch.nn | | |
torch.nn._functions | 1.5 | torch.nn.functional | | |
torch.nn.functional.nll_loss2d | 1.0 | torch.nn.functional.nll_loss | same | safe |
torch.utils.data.dataloader._DataLoaderIter | 1.2 | iter(loader) | | |
torch.utils.data.dataloader.string_classes | 2.0 | (str, bytes) | same | safe |
torch.utils.data.dataloader.int_classes | 2.0 | builtins.int | same | safe |
torch.distributed.all_gather_multigpu torch.distributed.all_reduce_multigpu torch.distributed.broadcast_multigpu
    torch.distributed.reduce_multigpu torch.distributed.reduce_scatter_multigpu | 2.2 | one process for each GPU | | |
torch.distributed.pipeline | 2.4 | torch.distributed.pipelining | | |
# arguments
torch.optim.lr_scheduler.*(verbose=) | 2.7 | print(scheduler.get_last_lr()) | drop | safe |
torch.autograd.Variable(volatile=) | 0.4 | with torch.no_grad(): | | |
    it has no effect: the graph is recorded all the same
iter().next | 1.13 | next({input}) | input | safe | iterators of Python 3 have no such method
.reinforce | 0.4 | torch.distributions | | |
""")

# torchvision's versions by the torch they belong to: 0.13 is that of 1.12, 0.15 that of 2.0, 0.17 that of 2.2
REMOVED += rows("""
torchvision.transforms.Scale | 1.12 | torchvision.transforms.Resize | same | safe |
torchvision.transforms.RandomSizedCrop | 1.12 | torchvision.transforms.RandomResizedCrop | same | safe |
torchvision.transforms.functional_tensor.rgb_to_grayscale | 2.2 |
    torchvision.transforms.functional.rgb_to_grayscale | same | safe |
torchvision.transforms.functional_tensor | 2.2 | torchvision.transforms.functional | | |
torchvision.models.utils.load_state_dict_from_url | 1.12 | torch.hub.load_state_dict_from_url | same | safe |
torchvision.models.utils | 1.12 | torch.hub | | |
torchvision.models.mobilenet.model_urls torchvision.models.segmentation.segmentation.model_urls | 1.12 |
    ResNet18_Weights.IMAGENET1K_V1.url and the like | | |
torchvision.models.alexnet.model_urls torchvision.models.densenet.model_urls
    torchvision.models.googlenet.model_urls torchvision.models.inception.model_urls
    torchvision.models.resnet.model_urls torchvision.models.squeezenet.model_urls
    torchvision.models.vgg.model_urls torchvision.models.video.resnet.model_urls | 2.0 |
    ResNet18_Weights.IMAGENET1K_V1.url and the like | | |
""")
