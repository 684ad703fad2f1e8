"""What is asked of a tensor or done with it, and what gives no tensor of numbers."""

ROWS = """
allclose                           | torch .   | gives:number
backward                           | .         | gives:none own
broadcast_shapes                   | torch     | gives:size
can_cast                           | torch     | gives:number
ccol_indices                       | .         |
coalesce                           | .         |
col_indices                        | .         |
const_data_ptr                     | .         | gives:number
crow_indices                       | .         |
data_ptr                           | .         | gives:number
dense_dim                          | .         | gives:number
dim                                | .         | gives:number
dim_order                          | .         | gives:other
element_size                       | .         | gives:number
equal                              | torch .   | gives:number
get_device                         | torch .   | gives:number
histogramdd                        | torch     | gives:tensors
indices                            | .         |
initial_seed                       | torch     | gives:number
int_repr                           | torch .   | cuts
is_coalesced                       | .         | gives:number
is_complex                         | torch .   | gives:number
is_conj                            | torch .   | gives:number
is_contiguous                      | .         | gives:number
is_distributed                     | torch .   | gives:number
is_floating_point                  | torch .   | gives:number
is_inference                       | torch .   | gives:number
is_neg                             | torch .   | gives:number
is_nonzero                         | torch .   | gives:number
is_pinned                          | .         | gives:number
is_same_size                       | torch .   | gives:number
is_set_to                          | .         | gives:number
is_shared                          | .         | gives:number
is_signed                          | torch .   | gives:number
is_storage                         | torch     | gives:number
is_tensor                          | torch     | gives:number
item                               | .         | gives:number
load                               | torch     | gives:other
manual_seed                        | torch     | gives:other
ndimension                         | .         | as:dim
nelement                           | .         | as:numel
numel                              | torch .   | gives:number
numpy                              | .         | gives:other
promote_types                      | torch     | gives:other
q_per_channel_axis                 | torch .   | gives:other
q_per_channel_scales               | torch .   | gives:other
q_per_channel_zero_points          | torch .   | gives:other
q_scale                            | torch .   | gives:other
q_zero_point                       | torch .   | gives:other
qscheme                            | .         | gives:other
record_stream                      | .         | gives:none
register_hook                      | .         | gives:other
register_post_accumulate_grad_hook | .         | gives:other
reinforce                          | .         | gives:none
requires_grad                      | ._        | same_numbers
resize_as_sparse                   | torch_ ._ |
result_type                        | torch     | gives:other
retain_grad                        | .         | gives:none
row_indices                        | .         |
save                               | torch     | gives:none
seed                               | torch     | gives:number
set                                | ._        | view
share_memory                       | ._        | same_numbers
size                               | .         | gives:size
sparse_dim                         | .         | gives:number
sparse_resize                      | ._        |
sparse_resize_and_clear            | ._        |
storage                            | .         | gives:other
storage_offset                     | .         | gives:number
storage_type                       | .         | gives:other
stride                             | .         | gives:other
tolist                             | .         | gives:other
untyped_storage                    | .         | gives:other
values                             | .         |
"""
