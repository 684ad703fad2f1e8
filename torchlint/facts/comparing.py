"""What gives integers or truth, through which no gradient comes: comparisons, casts to integers, places."""

ROWS = """
argwhere            | torch .           | cuts
bincount            | torch .           | cuts
bitwise_and         | torch . ._        | broadcasts same_shape cuts
bitwise_left_shift  | torch . ._        | broadcasts same_shape cuts
bitwise_not         | torch . ._        | same_shape cuts
bitwise_or          | torch . ._        | broadcasts same_shape cuts
bitwise_right_shift | torch . ._        | broadcasts same_shape cuts
bitwise_xor         | torch . ._        | broadcasts same_shape cuts
bool                | .                 | same_shape casts cuts
bucketize           | torch             | same_shape cuts
byte                | .                 | same_shape casts cuts
char                | .                 | same_shape casts cuts
eq                  | torch . ._        | broadcasts same_shape cuts
gcd                 | torch . torch_ ._ | broadcasts same_shape cuts
ge                  | torch . ._        | broadcasts same_shape cuts
greater             | torch . ._        | as:gt
greater_equal       | torch . ._        | as:ge
gt                  | torch . ._        | broadcasts same_shape cuts
hash_tensor         | torch .           | reduces cuts
histc               | torch .           | cuts
int                 | .                 | same_shape casts cuts
isclose             | torch .           | broadcasts same_shape cuts
isfinite            | torch .           | same_shape cuts
isin                | torch             | same_shape cuts
isinf               | torch .           | same_shape cuts
isnan               | torch .           | same_shape cuts
isneginf            | torch .           | same_shape cuts
isposinf            | torch .           | same_shape cuts
isreal              | torch .           | same_shape cuts
lcm                 | torch . torch_ ._ | broadcasts same_shape cuts
le                  | torch . ._        | broadcasts same_shape cuts
less                | torch . ._        | as:lt
less_equal          | torch . ._        | as:le
logical_and         | torch . ._        | broadcasts same_shape cuts
logical_not         | torch . ._        | same_shape cuts
logical_or          | torch . ._        | broadcasts same_shape cuts
logical_xor         | torch . ._        | broadcasts same_shape cuts
long                | .                 | same_shape casts cuts
lt                  | torch . ._        | broadcasts same_shape cuts
ne                  | torch . ._        | broadcasts same_shape cuts
nonzero             | torch .           | cuts
nonzero_static      | torch .           | cuts
not_equal           | torch . ._        | as:ne
searchsorted        | torch             | cuts
short               | .                 | same_shape casts cuts
signbit             | torch .           | same_shape cuts
unravel_index       | torch             | gives:tensors indices cuts
"""
