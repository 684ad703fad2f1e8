"""What moves, arranges, casts, picks and joins numbers and computes none."""

ROWS = """
adjoint                 | torch .           | same_numbers same_rank view
affine_grid             | F                 |
argsort                 | torch .           | same_shape cuts
as_strided              | torch . torch_ ._ | view
as_strided_scatter      | torch .           | pointwise
as_subclass             | .                 | same_numbers pointwise view
atleast_1d              | torch             | same_numbers pointwise itself
atleast_2d              | torch             | same_numbers pointwise itself
atleast_3d              | torch             | same_numbers may_view
bfloat16                | .                 | same_numbers pointwise casts itself
block_diag              | torch             | joins
broadcast_tensors       | torch             | gives:tensors
broadcast_to            | torch .           | same_numbers view
cartesian_prod          | torch             |
cat                     | torch             | joins
cdouble                 | .                 | pointwise casts
cfloat                  | .                 | pointwise casts
chalf                   | .                 | pointwise casts
channel_shuffle         | torch F           | same_numbers same_shape
chunk                   | torch .           | gives:tensors picks view locked
clone                   | torch .           | same_numbers pointwise
column_stack            | torch             | joins
combinations            | torch             | keeps_input
concat                  | torch             | as:cat
concatenate             | torch             | as:cat
conj                    | torch .           | pointwise itself
conj_physical           | torch . torch_ ._ | pointwise itself
constant_pad_nd         | torch             | same_rank
contiguous              | .                 | same_numbers pointwise own itself
copy                    | ._                | same_shape
cpu                     | .                 | same_numbers pointwise moves itself
cuda                    | .                 | same_numbers pointwise moves itself
dequantize              | torch .           | pointwise itself
detach                  | torch . torch_ ._ | same_numbers pointwise view cuts own
diag                    | torch .           | picks
diag_embed              | torch .           |
diagflat                | torch .           |
diagonal                | torch . linalg    | picks view
diagonal_scatter        | torch .           | pointwise
double                  | .                 | same_numbers pointwise casts itself
dsplit                  | torch .           | gives:tensors picks view
dstack                  | torch             | joins
expand                  | .                 | same_numbers view own
expand_as               | .                 | same_numbers view own
fill                    | torch torch_ ._   | same_shape
fill_diagonal           | ._                | same_shape
flatten                 | torch .           | same_numbers itself
flip                    | torch .           | same_numbers same_shape
fliplr                  | torch .           | same_numbers same_shape
flipud                  | torch .           | same_numbers same_shape
float                   | .                 | same_numbers pointwise casts itself
fold                    | F                 |
gather                  | torch .           | picks keeps_input
grid_sample             | F                 | same_rank keeps_input keeps_operands
grid_sampler            | torch             | same_rank keeps_input keeps_operands
half                    | .                 | same_numbers pointwise casts itself
hsplit                  | torch .           | gives:tensors picks view
hstack                  | torch             | joins
imag                    | torch             | same_shape view
index                   | .                 |
index_add               | torch . ._        | pointwise
index_copy              | torch . ._        | pointwise
index_fill              | torch . ._        | pointwise
index_put               | torch . torch_ ._ | pointwise
index_reduce            | torch . ._        | pointwise keeps_input keeps_operands keeps_output
index_select            | torch .           | picks same_rank own
interpolate             | F                 | same_rank
ipu                     | .                 | same_numbers pointwise moves itself
masked_fill             | torch . ._        | pointwise own
masked_scatter          | torch . ._        | pointwise
masked_select           | torch .           | keeps_input
meshgrid                | torch             | gives:tensors
module_load             | .                 |
moveaxis                | torch .           | as:movedim
movedim                 | torch .           | same_numbers same_rank view
msort                   | torch .           | same_numbers same_shape
mtia                    | .                 | same_numbers pointwise moves itself
narrow                  | torch .           | picks same_rank view own
narrow_copy             | torch .           | picks same_rank
native_channel_shuffle  | torch F           | as:channel_shuffle
pad                     | F                 | same_rank
permute                 | torch .           | same_numbers same_rank view own
pin_memory              | .                 | same_numbers pointwise moves itself
pixel_shuffle           | torch F           | same_numbers same_rank
pixel_unshuffle         | torch F           | same_numbers same_rank
positive                | torch .           | same_numbers pointwise itself
put                     | torch . ._        | pointwise
ravel                   | torch .           | same_numbers may_view
real                    | torch             | pointwise itself
repeat                  | .                 | same_numbers
repeat_interleave       | torch .           | same_numbers
reshape                 | torch .           | same_numbers may_view
reshape_as              | .                 | same_numbers may_view
resize                  | . ._              | view
resize_as               | . torch_ ._       | view
resolve_conj            | torch .           | same_numbers pointwise itself
resolve_neg             | torch .           | same_numbers pointwise itself
roll                    | torch .           | same_numbers same_shape
rot90                   | torch .           | same_numbers
row_stack               | torch             | as:vstack
scatter                 | torch . ._        | pointwise own
scatter_add             | torch . ._        | pointwise own
scatter_reduce          | torch . ._        | pointwise keeps_input keeps_operands keeps_output
select                  | torch .           | picks view
select_scatter          | torch .           | pointwise
slice_inverse           | torch .           |
slice_scatter           | torch .           | pointwise
sort                    | torch .           | gives:tensors indices
sparse_mask             | .                 |
split                   | torch .           | gives:tensors picks view locked
split_with_sizes        | torch .           | gives:tensors picks view locked
squeeze                 | torch .           | same_numbers view
squeeze                 | ._                | same_numbers view own
stack                   | torch             | joins
swapaxes                | torch . ._        | as:transpose
swapdims                | torch . ._        | as:transpose
t                       | torch . ._        | same_numbers same_rank view
take                    | torch .           | picks keeps_input
take_along_dim          | torch .           | picks keeps_input
tensor_split            | torch .           | gives:tensors picks view
tile                    | torch .           | same_numbers
to                      | .                 | same_numbers pointwise moves casts itself
to_dense                | .                 | same_numbers pointwise itself
to_mkldnn               | .                 |
to_padded_tensor        | .                 |
to_sparse               | .                 |
to_sparse_bsc           | .                 |
to_sparse_bsr           | .                 |
to_sparse_coo           | .                 |
to_sparse_csc           | .                 |
to_sparse_csr           | .                 |
transpose               | torch . ._        | same_numbers same_rank view
tril                    | torch . ._        | pointwise
triu                    | torch . ._        | pointwise
type                    | .                 | same_numbers pointwise moves casts itself
type_as                 | .                 | same_numbers pointwise moves casts own itself
unbind                  | torch .           | gives:tensors picks view locked
unflatten               | torch .           | same_numbers view
unfold                  | F                 | picks
unfold                  | .                 | picks view
unique                  | torch .           | gives:tensor|tensors indices
unique_consecutive      | torch .           |
unsafe_chunk            | torch .           | gives:tensors picks view
unsafe_split            | torch .           | gives:tensors picks view
unsafe_split_with_sizes | torch .           | gives:tensors picks view
unsqueeze               | torch . ._        | same_numbers view own
upsample                | F                 | as:interpolate
upsample_bilinear       | F                 | same_rank
upsample_nearest        | F                 | same_rank
view                    | .                 | same_numbers view
view_as                 | .                 | same_numbers view own
view_as_complex         | torch             | same_numbers view
view_as_real            | torch             | same_numbers view
vsplit                  | torch .           | gives:tensors picks view
vstack                  | torch             | joins
where                   | torch             | gives:tensor|tensors broadcasts
where                   | .                 | broadcasts
xpu                     | .                 | same_numbers pointwise moves itself
zero                    | torch_ ._         | same_shape
"""
