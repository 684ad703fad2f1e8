"""The attributes of a tensor that are no methods."""

FIELDS = frozenset(
    "shape dtype device data grad T mT H mH ndim real imag layout is_cuda is_sparse is_leaf requires_grad grad_fn"
    " itemsize nbytes".split()
)
