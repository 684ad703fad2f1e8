"""What sees several numbers at a time: softmax, norms, pooling, dropout, embeddings."""

ROWS = """
adaptive_avg_pool1d   | torch F           | same_rank
adaptive_avg_pool2d   | F                 | same_rank
adaptive_avg_pool3d   | F                 | same_rank
adaptive_max_pool1d   | F                 | same_rank keeps_input
adaptive_max_pool2d   | F                 | same_rank keeps_input
adaptive_max_pool3d   | F                 | same_rank keeps_input
alpha_dropout         | torch F torch_    | random same_shape inplace
avg_pool1d            | torch F           | same_rank keeps_input
avg_pool2d            | F                 | same_rank keeps_input
avg_pool3d            | F                 | same_rank keeps_input
batch_norm            | torch F           | same_shape keeps_input
dropout               | torch F torch_    | random same_shape inplace
dropout1d             | F                 | random same_shape inplace
dropout2d             | F                 | random same_shape inplace
dropout3d             | F                 | random same_shape inplace
embedding             | torch F           |
embedding_bag         | torch             | gives:tensors
embedding_bag         | F                 |
feature_alpha_dropout | torch F torch_    | random same_shape inplace
feature_dropout       | torch torch_      | random same_shape
fractional_max_pool2d | F                 | same_rank keeps_input
fractional_max_pool3d | F                 | same_rank keeps_input
glu                   | F                 | same_rank keeps_input
group_norm            | torch F           | same_shape keeps_input
gumbel_softmax        | F                 | random same_shape keeps_output
instance_norm         | torch F           | same_shape keeps_input
istft                 | torch .           |
layer_norm            | torch F           | same_shape keeps_input
local_response_norm   | F                 | same_shape keeps_input
log_softmax           | torch F . special | same_shape keeps_output own
lp_pool1d             | F                 | same_rank keeps_input
lp_pool2d             | F                 | same_rank keeps_input
lp_pool3d             | F                 | same_rank keeps_input
max_pool1d            | torch F           | same_rank keeps_input
max_pool2d            | torch F           | same_rank keeps_input
max_pool3d            | torch F           | same_rank keeps_input
max_unpool1d          | F                 | same_rank
max_unpool2d          | F                 | same_rank
max_unpool3d          | F                 | same_rank
normalize             | F                 | same_shape keeps_input
one_hot               | F                 | cuts
rms_norm              | torch F           | same_shape keeps_input
softmax               | torch F . special | same_shape keeps_output own
softmin               | F                 | same_shape keeps_output
stft                  | torch .           | keeps_input
"""
