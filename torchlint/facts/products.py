"""Products, convolutions and linear algebra."""

ROWS = """
addbmm                       | torch . ._        |
addmm                        | torch . ._        | own
addmv                        | torch . torch_ ._ |
addr                         | torch . ._        |
baddbmm                      | torch . ._        | own
bilinear                     | torch F           | same_rank keeps_operands
bmm                          | torch .           | keeps_operands own
cdist                        | torch             | keeps_input keeps_operands keeps_output
chain_matmul                 | torch             | keeps_operands
cholesky                     | torch . linalg    | same_shape keeps_output
cholesky_ex                  | linalg            | gives:tensors keeps_output
cholesky_inverse             | torch .           | keeps_input keeps_output
cholesky_solve               | torch .           | keeps_input keeps_operands keeps_output
conv1d                       | torch F           | same_rank keeps_input keeps_operands
conv2d                       | torch F           | same_rank keeps_input keeps_operands
conv3d                       | torch F           | same_rank keeps_input keeps_operands
conv_tbc                     | torch F           | same_rank keeps_input keeps_operands
conv_transpose1d             | torch F           | same_rank keeps_input keeps_operands
conv_transpose2d             | torch F           | same_rank keeps_input keeps_operands
conv_transpose3d             | torch F           | same_rank keeps_input keeps_operands
convolution                  | torch             | same_rank keeps_input keeps_operands
corrcoef                     | torch .           |
cosine_similarity            | torch F           | keeps_input
cov                          | torch .           |
cross                        | torch . linalg    | same_shape keeps_operands
det                          | torch . linalg    | keeps_input keeps_output
dot                          | torch .           | keeps_operands
eig                          | torch . linalg    | gives:tensors keeps_output
eigh                         | linalg            | gives:tensors keeps_output
eigvals                      | linalg            | keeps_output
eigvalsh                     | linalg            | keeps_output
einsum                       | torch             | keeps_operands
frobenius_norm               | torch             | keeps_input keeps_output
geqrf                        | torch .           | gives:tensors
ger                          | torch .           | as:outer
gru                          | torch             | gives:tensors
gru_cell                     | torch             |
householder_product          | linalg            | keeps_input keeps_operands keeps_output
inner                        | torch .           | keeps_operands
inv                          | linalg            | same_shape keeps_output
inv_ex                       | linalg            | gives:tensors keeps_output
inverse                      | torch .           | as:inv
kron                         | torch .           | keeps_operands
ldl_factor                   | linalg            | gives:tensors
ldl_factor_ex                | linalg            | gives:tensors
ldl_solve                    | linalg            |
linear                       | F                 | keeps_operands
lobpcg                       | torch             | gives:tensors
logdet                       | torch .           | keeps_input
lstm                         | torch             | gives:tensors keeps_input keeps_operands keeps_output
lstm_cell                    | torch             | gives:tensors
lstsq                        | torch . linalg    | gives:tensors keeps_input keeps_operands keeps_output
lu                           | torch . linalg    | gives:tensors keeps_output
lu_factor                    | linalg            | gives:tensors keeps_output
lu_factor_ex                 | linalg            | gives:tensors keeps_output
lu_solve                     | torch . linalg    | keeps_output
lu_unpack                    | torch             | gives:tensors
matmul                       | torch . linalg    | keeps_operands own
matrix_exp                   | torch . linalg    | same_shape keeps_input
matrix_norm                  | linalg            | keeps_input keeps_output
matrix_power                 | torch . linalg    | keeps_input
matrix_rank                  | torch linalg      | cuts
mm                           | torch .           | same_rank keeps_operands
multi_dot                    | linalg            | keeps_operands
multi_head_attention_forward | F                 | gives:tensors
mv                           | torch .           | keeps_operands
norm                         | torch . linalg    | reduces keeps_input keeps_output
nuclear_norm                 | torch             | reduces
orgqr                        | torch .           | as:householder_product
ormqr                        | torch .           | keeps_input keeps_operands keeps_output
outer                        | torch .           | keeps_operands
pairwise_distance            | torch F           | keeps_output
pca_lowrank                  | torch             | gives:tensors keeps_output
pdist                        | torch F           | keeps_input keeps_output
pinv                         | linalg            | keeps_input keeps_output
pinverse                     | torch .           | keeps_input keeps_output
qr                           | torch . linalg    | gives:tensors keeps_output
rnn_relu                     | torch             | gives:tensors
rnn_relu_cell                | torch             | keeps_output
rnn_tanh                     | torch             | gives:tensors
rnn_tanh_cell                | torch             | keeps_output
scaled_dot_product_attention | F                 | keeps_input keeps_operands keeps_output
slogdet                      | torch . linalg    | gives:tensors keeps_input keeps_output
smm                          | torch .           |
solve                        | torch . linalg    | keeps_input keeps_output
solve_ex                     | linalg            | gives:tensors keeps_input keeps_output
solve_triangular             | linalg            | keeps_operands keeps_output
spmm                         | torch             | keeps_operands
sspaddmm                     | torch .           |
svd                          | torch . linalg    | gives:tensors keeps_output
svd_lowrank                  | torch             | gives:tensors keeps_input keeps_output
svdvals                      | linalg            | keeps_output
symeig                       | torch .           | gives:tensors
tensordot                    | torch             | keeps_operands
tensorinv                    | linalg            | keeps_output
tensorsolve                  | linalg            | keeps_input keeps_output
trace                        | torch .           | reduces
triangular_solve             | torch .           | gives:tensors keeps_input keeps_operands keeps_output
vander                       | torch             |
vander                       | linalg            | keeps_input
vdot                         | torch .           | keeps_operands
vecdot                       | linalg            | keeps_operands
vector_norm                  | linalg            | reduces keeps_input keeps_output
"""
