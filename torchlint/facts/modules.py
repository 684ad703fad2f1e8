"""The methods of nn.Module that return the module."""

ROWS = """
apply          | Module | same_object
bfloat16       | Module | casts same_object
cpu            | Module | moves same_object
cuda           | Module | moves same_object
double         | Module | casts same_object
eval           | Module | same_object
float          | Module | casts same_object
half           | Module | casts same_object
ipu            | Module | moves same_object
mtia           | Module | moves same_object
requires_grad_ | Module | same_object
share_memory   | Module | same_object
to             | Module | moves casts same_object
to_empty       | Module | same_object
train          | Module | same_object
type           | Module | casts same_object
xpu            | Module | moves same_object
"""
