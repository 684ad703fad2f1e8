"""What makes new tensors, and what draws numbers."""

ROWS = """
arange                   | torch      | creates row
as_tensor                | torch      |
asarray                  | torch      |
bartlett_window          | torch      | creates row
bernoulli                | torch . ._ | random same_shape flat
BFloat16Tensor           | torch      | creates
binomial                 | torch      | broadcasts random same_shape
blackman_window          | torch      | creates row
BoolTensor               | torch      | creates
ByteTensor               | torch      | creates
cauchy                   | ._         | random same_shape
CharTensor               | torch      | creates
DoubleTensor             | torch      | creates
empty                    | torch      | creates of_sizes
empty_like               | torch      | same_shape like cuts
empty_permuted           | torch      | creates
empty_strided            | torch      | creates
exponential              | ._         | random same_shape
eye                      | torch      | creates
FloatTensor              | torch      | creates
from_numpy               | torch      | creates
full                     | torch      | creates
full_like                | torch      | same_shape like cuts
geometric                | ._         | random same_shape
HalfTensor               | torch      | creates
hamming_window           | torch      | creates row
hann_window              | torch      | creates row
IntTensor                | torch      | creates
kaiser_window            | torch      | creates row
linspace                 | torch      | creates row
log_normal               | ._         | random same_shape
logspace                 | torch      | creates row
LongTensor               | torch      | creates
multinomial              | torch .    | random cuts
new                      | .          | like cuts
new_empty                | .          | like cuts own
new_empty_strided        | .          | like cuts
new_full                 | .          | like cuts own
new_ones                 | .          | like cuts own
new_tensor               | .          | like cuts own
new_zeros                | .          | like cuts own
normal                   | torch ._   | random same_shape flat
ones                     | torch      | creates of_sizes
ones_like                | torch      | same_shape like cuts
poisson                  | torch      | random same_shape flat
rand                     | torch      | random creates of_sizes
rand_like                | torch      | random same_shape like cuts
randint                  | torch      | random creates
randint_like             | torch      | random same_shape like cuts
randn                    | torch      | random creates of_sizes
randn_like               | torch      | random same_shape like cuts
random                   | ._         | random same_shape
randperm                 | torch      | random creates row
range                    | torch      | row
scalar_tensor            | torch      | creates
ShortTensor              | torch      | creates
sparse_bsc_tensor        | torch      | creates
sparse_bsr_tensor        | torch      | creates
sparse_compressed_tensor | torch      | creates
sparse_coo_tensor        | torch      | creates
sparse_csc_tensor        | torch      | creates
sparse_csr_tensor        | torch      | creates
Tensor                   | torch      | creates
tensor                   | torch      | creates
tril_indices             | torch      | creates
triu_indices             | torch      | creates
uniform                  | ._         | random same_shape
zeros                    | torch      | creates of_sizes
zeros_like               | torch      | same_shape like cuts
"""
