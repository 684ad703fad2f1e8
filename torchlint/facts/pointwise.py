"""What computes each number by itself, or two in one place: arithmetic, roots, logarithms, activations."""

ROWS = """
abs          | torch . torch_ ._         | pointwise keeps_input
absolute     | torch . ._                | as:abs
acos         | torch . torch_ ._         | pointwise keeps_input
acosh        | torch . torch_ ._         | pointwise keeps_input
add          | torch . ._                | pointwise broadcasts
addcdiv      | torch . ._                | pointwise
addcmul      | torch . ._                | pointwise
angle        | torch .                   | pointwise keeps_input
apply        | ._                        | pointwise
arccos       | torch . torch_ ._         | as:acos
arccosh      | torch . torch_ ._         | as:acosh
arcsin       | torch . torch_ ._         | as:asin
arcsinh      | torch . torch_ ._         | as:asinh
arctan       | torch . torch_ ._         | as:atan
arctan2      | torch . ._                | as:atan2
arctanh      | torch . torch_ ._         | as:atanh
asin         | torch . torch_ ._         | pointwise keeps_input
asinh        | torch . torch_ ._         | pointwise keeps_input
atan         | torch . torch_ ._         | pointwise keeps_input
atan2        | torch . ._                | pointwise broadcasts keeps_input keeps_operands
atanh        | torch . torch_ ._         | pointwise keeps_input
ceil         | torch . torch_ ._         | pointwise flat
celu         | torch F                   | pointwise inplace keeps_input
celu         | torch_ F_                 | pointwise keeps_output
clamp        | torch . torch_ ._         | clips pointwise broadcasts keeps_input
clamp_max    | torch . torch_ ._         | clips pointwise broadcasts keeps_input
clamp_min    | torch . torch_ ._         | clips pointwise broadcasts keeps_input
clip         | torch . torch_ ._         | as:clamp
complex      | torch                     | pointwise broadcasts keeps_input
copysign     | torch . ._                | pointwise broadcasts keeps_input keeps_output
cos          | torch . torch_ ._         | pointwise keeps_input
cosh         | torch . torch_ ._         | pointwise keeps_input
deg2rad      | torch . torch_ ._         | pointwise
digamma      | torch . special ._        | pointwise keeps_input
div          | torch . ._                | pointwise broadcasts keeps_operands
divide       | torch . ._                | as:div
elu          | F                         | pointwise inplace keeps_input
elu          | F_                        | pointwise keeps_output
entr         | special                   | pointwise keeps_input
erf          | torch . special torch_ ._ | pointwise keeps_input
erfc         | torch . special torch_ ._ | pointwise keeps_input
erfcx        | special                   | pointwise keeps_input keeps_output
erfinv       | torch . special ._        | pointwise keeps_input
exp          | torch . torch_ ._         | pointwise keeps_output
exp2         | torch . special torch_ ._ | pointwise keeps_output
expit        | special                   | as:sigmoid
expm1        | torch . special torch_ ._ | pointwise keeps_output
fix          | torch . torch_ ._         | as:trunc
float_power  | torch . ._                | pointwise broadcasts
floor        | torch . torch_ ._         | pointwise flat
floor_divide | torch . ._                | pointwise broadcasts
fmax         | torch .                   | pointwise broadcasts keeps_input keeps_operands
fmin         | torch .                   | pointwise broadcasts keeps_input keeps_operands
fmod         | torch . ._                | pointwise broadcasts
frac         | torch . torch_ ._         | pointwise
frexp        | torch .                   | gives:tensors
gammainc     | special                   | pointwise broadcasts
gammaincc    | special                   | pointwise broadcasts
gammaln      | special                   | as:lgamma
gelu         | F                         | pointwise keeps_input
hardshrink   | torch F .                 | pointwise keeps_input
hardsigmoid  | F                         | pointwise inplace keeps_input
hardswish    | F                         | pointwise inplace keeps_input
hardtanh     | F F_                      | clips pointwise inplace keeps_input
heaviside    | torch . ._                | pointwise broadcasts
hypot        | torch . ._                | pointwise broadcasts keeps_input keeps_output
i0           | torch . special torch_ ._ | pointwise keeps_input
i0e          | special                   | pointwise keeps_input keeps_output
i1           | special                   | pointwise keeps_input keeps_output
i1e          | special                   | pointwise keeps_input keeps_output
igamma       | torch . ._                | pointwise broadcasts
igammac      | torch . ._                | pointwise broadcasts
ldexp        | torch . torch_ ._         | pointwise broadcasts keeps_output
leaky_relu   | F                         | pointwise inplace keeps_input
leaky_relu   | F_                        | pointwise keeps_output
lerp         | torch . ._                | pointwise
lgamma       | torch . ._                | pointwise keeps_input
log          | torch . torch_ ._         | pointwise keeps_input
log10        | torch . torch_ ._         | pointwise keeps_input
log1p        | torch . special torch_ ._ | pointwise keeps_input
log2         | torch . torch_ ._         | pointwise keeps_input
log_ndtr     | special                   | pointwise keeps_input keeps_output
logaddexp    | torch .                   | pointwise broadcasts keeps_input keeps_operands
logaddexp2   | torch .                   | pointwise broadcasts keeps_input keeps_operands
logit        | torch . special torch_ ._ | pointwise keeps_input
logsigmoid   | F                         | pointwise keeps_input
map          | ._                        | pointwise
map2         | ._                        | pointwise
maximum      | torch .                   | pointwise broadcasts keeps_input keeps_operands
minimum      | torch .                   | pointwise broadcasts keeps_input keeps_operands
mish         | F                         | pointwise inplace keeps_input
mul          | torch . ._                | pointwise broadcasts keeps_operands
multigammaln | special                   | pointwise keeps_input
multiply     | torch . ._                | as:mul
mvlgamma     | torch . ._                | pointwise keeps_input
nan_to_num   | torch . torch_ ._         | pointwise keeps_input
ndtr         | special                   | pointwise
ndtri        | special                   | pointwise keeps_output
neg          | torch . torch_ ._         | pointwise
negative     | torch . torch_ ._         | as:neg
nextafter    | torch . ._                | pointwise broadcasts keeps_input
polar        | torch                     | pointwise broadcasts keeps_output
polygamma    | torch . special ._        | pointwise keeps_input
pow          | torch . ._                | pointwise broadcasts keeps_input keeps_operands
prelu        | torch F .                 | pointwise keeps_input keeps_operands
psi          | special                   | as:digamma
rad2deg      | torch . torch_ ._         | pointwise
reciprocal   | torch . torch_ ._         | pointwise keeps_output
relu         | torch F . torch_ F_ ._    | pointwise inplace keeps_output own
relu6        | F                         | clips pointwise inplace keeps_input
remainder    | torch . ._                | pointwise broadcasts
round        | torch . special torch_ ._ | pointwise flat
rrelu        | torch F                   | random same_shape inplace keeps_input
rrelu        | torch_ F_                 | pointwise keeps_output
rsqrt        | torch . torch_ ._         | pointwise keeps_output
rsub         | torch                     | pointwise broadcasts
selu         | torch F                   | pointwise inplace keeps_input
selu         | torch_ F_                 | pointwise keeps_output
sgn          | torch . ._                | pointwise keeps_input keeps_output flat
sigmoid      | torch F . torch_ ._       | pointwise keeps_output own
sign         | torch . ._                | pointwise flat
silu         | F                         | pointwise inplace keeps_input
sin          | torch . torch_ ._         | pointwise keeps_input
sinc         | torch . special torch_ ._ | pointwise keeps_input
sinh         | torch . torch_ ._         | pointwise keeps_input
softplus     | F                         | pointwise keeps_input
softshrink   | F                         | pointwise keeps_input
softsign     | F                         | pointwise keeps_input
sqrt         | torch . torch_ ._         | pointwise keeps_output
square       | torch . torch_ ._         | pointwise keeps_input
sub          | torch . ._                | pointwise broadcasts
subtract     | torch . ._                | as:sub
tan          | torch . torch_ ._         | pointwise keeps_output
tanh         | torch F . torch_ ._       | pointwise keeps_output
tanhshrink   | F                         | pointwise
threshold    | torch F torch_ F_         | pointwise inplace keeps_input
true_divide  | torch . ._                | as:div
trunc        | torch . torch_ ._         | pointwise flat
xlog1py      | special                   | pointwise broadcasts keeps_input keeps_operands
xlogy        | torch . special torch_ ._ | pointwise broadcasts keeps_input keeps_operands
zeta         | special                   | same_shape
"""
