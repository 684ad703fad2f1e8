"""What makes fewer numbers of many, and what adds them up on the way: sums, norms, largest ones."""

ROWS = """
adaptive_max_pool1d                | torch           | gives:tensors indices keeps_input
adaptive_max_pool1d_with_indices   | F               | gives:tensors indices keeps_input
adaptive_max_pool2d_with_indices   | F               | gives:tensors indices keeps_input
adaptive_max_pool3d_with_indices   | F               | gives:tensors indices keeps_input
all                                | torch .         | reduces cuts
amax                               | torch .         | reduces keeps_input keeps_output
amin                               | torch .         | reduces keeps_input keeps_output
aminmax                            | torch .         | gives:tensors keeps_input keeps_output
any                                | torch .         | reduces cuts
argmax                             | torch .         | reduces cuts
argmin                             | torch .         | reduces cuts
count_nonzero                      | torch .         | reduces cuts
cummax                             | torch .         | gives:tensors indices keeps_input
cummin                             | torch .         | gives:tensors indices keeps_input
cumprod                            | torch . ._      | same_shape keeps_input keeps_output
cumsum                             | torch . ._      | same_shape
cumulative_trapezoid               | torch           | same_rank
diff                               | torch .         | same_rank
dist                               | torch .         | reduces keeps_input keeps_operands keeps_output
fractional_max_pool2d_with_indices | F               | gives:tensors indices keeps_input
fractional_max_pool3d_with_indices | F               | gives:tensors indices keeps_input
gradient                           | torch           | gives:tensors
histogram                          | torch .         | gives:tensors
kthvalue                           | torch .         | gives:tensors indices
logcumsumexp                       | torch .         | same_shape keeps_input keeps_output
logsumexp                          | torch . special | reduces keeps_input keeps_output own
max                                | torch .         | gives:tensor|tensors reduces indices
max_pool1d_with_indices            | torch F         | gives:tensors indices keeps_input
max_pool2d_with_indices            | F               | gives:tensors indices keeps_input
max_pool3d_with_indices            | F               | gives:tensors indices keeps_input
mean                               | torch .         | reduces
median                             | torch .         | gives:tensor|tensors reduces indices
min                                | torch .         | gives:tensor|tensors reduces indices
mode                               | torch .         | gives:tensors indices
nanmean                            | torch .         | reduces keeps_input
nanmedian                          | torch .         | gives:tensor|tensors reduces indices
nanquantile                        | torch .         | reduces
nansum                             | torch .         | reduces keeps_input
norm_except_dim                    | torch           | keeps_input keeps_output
prod                               | torch .         | reduces keeps_input keeps_output
quantile                           | torch .         | reduces
renorm                             | torch . ._      | same_shape keeps_input
segment_reduce                     | torch           |
std                                | torch .         | reduces keeps_input keeps_output
std_mean                           | torch           | gives:tensors keeps_input keeps_output
sum                                | torch .         | reduces
sum_to_size                        | .               |
topk                               | torch .         | gives:tensors indices
trapezoid                          | torch           |
trapz                              | torch           | as:trapezoid
var                                | torch .         | reduces keeps_input
var_mean                           | torch           | gives:tensors keeps_input
"""
