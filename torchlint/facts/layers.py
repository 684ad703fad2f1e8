"""The layers of torch.nn: what a call of one does."""

ROWS = """
AdaptiveAvgPool1d             | nn | as:adaptive_avg_pool1d
AdaptiveAvgPool2d             | nn | as:adaptive_avg_pool2d
AdaptiveAvgPool3d             | nn | as:adaptive_avg_pool3d
AdaptiveLogSoftmaxWithLoss    | nn | gives:tensors keeps_input weights
AdaptiveMaxPool1d             | nn | as:adaptive_max_pool1d
AdaptiveMaxPool2d             | nn | as:adaptive_max_pool2d
AdaptiveMaxPool3d             | nn | as:adaptive_max_pool3d
AlphaDropout                  | nn | as:alpha_dropout
AvgPool1d                     | nn | as:avg_pool1d
AvgPool2d                     | nn | as:avg_pool2d
AvgPool3d                     | nn | as:avg_pool3d
BatchNorm1d                   | nn | same_shape keeps_input weights
BatchNorm2d                   | nn | same_shape keeps_input weights
BatchNorm3d                   | nn | same_shape keeps_input weights
BCELoss                       | nn | as:binary_cross_entropy
BCEWithLogitsLoss             | nn | as:binary_cross_entropy_with_logits
Bilinear                      | nn | same_rank keeps_input keeps_operands weights
CELU                          | nn | as:celu
ChannelShuffle                | nn | as:channel_shuffle
CircularPad1d                 | nn | same_rank
CircularPad2d                 | nn | same_rank
CircularPad3d                 | nn | same_rank
ConstantPad1d                 | nn | same_rank
ConstantPad2d                 | nn | same_rank
ConstantPad3d                 | nn | same_rank
Container                     | nn | gives:other weights
Conv1d                        | nn | same_rank keeps_input weights affine
Conv2d                        | nn | same_rank keeps_input weights affine
Conv3d                        | nn | same_rank keeps_input weights affine
ConvTranspose1d               | nn | same_rank keeps_input weights affine
ConvTranspose2d               | nn | same_rank keeps_input weights affine
ConvTranspose3d               | nn | same_rank keeps_input weights affine
CosineEmbeddingLoss           | nn | as:cosine_embedding_loss
CosineSimilarity              | nn | as:cosine_similarity
CrossEntropyLoss              | nn | as:cross_entropy
CrossMapLRN2d                 | nn | same_shape
CTCLoss                       | nn | as:ctc_loss
DataParallel                  | nn | gives:other weights
Dropout                       | nn | as:dropout
Dropout1d                     | nn | as:dropout1d
Dropout2d                     | nn | as:dropout2d
Dropout3d                     | nn | as:dropout3d
ELU                           | nn | as:elu
Embedding                     | nn | weights
EmbeddingBag                  | nn | weights
FeatureAlphaDropout           | nn | as:feature_alpha_dropout
Flatten                       | nn | as:flatten
Fold                          | nn | as:fold
FractionalMaxPool2d           | nn | as:fractional_max_pool2d
FractionalMaxPool3d           | nn | as:fractional_max_pool3d
GaussianNLLLoss               | nn | as:gaussian_nll_loss
GELU                          | nn | as:gelu
GLU                           | nn | as:glu
GroupNorm                     | nn | same_shape keeps_input weights
GRU                           | nn | gives:tensors keeps_input weights
GRUCell                       | nn | same_rank keeps_input weights
Hardshrink                    | nn | as:hardshrink
Hardsigmoid                   | nn | as:hardsigmoid
Hardswish                     | nn | as:hardswish
Hardtanh                      | nn | as:hardtanh
HingeEmbeddingLoss            | nn | as:hinge_embedding_loss
HuberLoss                     | nn | as:huber_loss
Identity                      | nn | same_numbers pointwise view
InstanceNorm1d                | nn | same_shape keeps_input
InstanceNorm2d                | nn | same_shape keeps_input
InstanceNorm3d                | nn | same_shape keeps_input
KLDivLoss                     | nn | as:kl_div
L1Loss                        | nn | as:l1_loss
LayerNorm                     | nn | same_shape keeps_input weights
LazyBatchNorm1d               | nn | same_shape keeps_input weights
LazyBatchNorm2d               | nn | same_shape keeps_input weights
LazyBatchNorm3d               | nn | same_shape keeps_input weights
LazyConv1d                    | nn | same_rank keeps_input weights affine
LazyConv2d                    | nn | same_rank keeps_input weights affine
LazyConv3d                    | nn | same_rank keeps_input weights affine
LazyConvTranspose1d           | nn | same_rank keeps_input weights affine
LazyConvTranspose2d           | nn | same_rank keeps_input weights affine
LazyConvTranspose3d           | nn | same_rank keeps_input weights affine
LazyInstanceNorm1d            | nn | same_shape keeps_input weights
LazyInstanceNorm2d            | nn | same_shape keeps_input weights
LazyInstanceNorm3d            | nn | same_shape keeps_input weights
LazyLinear                    | nn | same_rank keeps_input weights affine
LeakyReLU                     | nn | as:leaky_relu
Linear                        | nn | same_rank keeps_input weights affine
LinearCrossEntropyLoss        | nn | reduces keeps_input weights
LocalResponseNorm             | nn | as:local_response_norm
LogSigmoid                    | nn | as:logsigmoid
LogSoftmax                    | nn | as:log_softmax
LPPool1d                      | nn | as:lp_pool1d
LPPool2d                      | nn | as:lp_pool2d
LPPool3d                      | nn | as:lp_pool3d
LSTM                          | nn | gives:tensors keeps_input keeps_output weights
LSTMCell                      | nn | gives:tensors keeps_input weights
MarginRankingLoss             | nn |
MaxPool1d                     | nn | as:max_pool1d
MaxPool2d                     | nn | as:max_pool2d
MaxPool3d                     | nn | as:max_pool3d
MaxUnpool1d                   | nn | as:max_unpool1d
MaxUnpool2d                   | nn | as:max_unpool2d
MaxUnpool3d                   | nn | as:max_unpool3d
Mish                          | nn | as:mish
Module                        | nn | gives:other weights
ModuleDict                    | nn | gives:other weights
ModuleList                    | nn | gives:other weights
MSELoss                       | nn | as:mse_loss
MultiheadAttention            | nn | gives:tensors keeps_input keeps_operands weights
MultiLabelMarginLoss          | nn | as:multilabel_margin_loss
MultiLabelSoftMarginLoss      | nn | as:multilabel_soft_margin_loss
MultiMarginLoss               | nn | as:multi_margin_loss
NLLLoss                       | nn | as:nll_loss
NLLLoss2d                     | nn | reduces keeps_input
PairwiseDistance              | nn | as:pairwise_distance
Parameter                     | nn | gives:other weights
ParameterDict                 | nn | gives:other weights
ParameterList                 | nn | gives:other weights
PixelShuffle                  | nn | as:pixel_shuffle
PixelUnshuffle                | nn | as:pixel_unshuffle
PoissonNLLLoss                | nn | as:poisson_nll_loss
PReLU                         | nn | pointwise keeps_input weights
ReflectionPad1d               | nn | same_rank keeps_input
ReflectionPad2d               | nn | same_rank keeps_input
ReflectionPad3d               | nn | same_rank keeps_input
ReLU                          | nn | as:relu
ReLU6                         | nn | as:relu6
ReplicationPad1d              | nn | same_rank keeps_input
ReplicationPad2d              | nn | same_rank keeps_input
ReplicationPad3d              | nn | same_rank keeps_input
RMSNorm                       | nn | same_shape keeps_input weights
RNN                           | nn | gives:tensors keeps_input weights
RNNBase                       | nn | gives:other weights
RNNCell                       | nn | same_rank keeps_input keeps_output weights
RNNCellBase                   | nn | gives:other weights
RReLU                         | nn | as:rrelu
SELU                          | nn | as:selu
Sequential                    | nn | gives:other weights
Sigmoid                       | nn | as:sigmoid
SiLU                          | nn | as:silu
SmoothL1Loss                  | nn | as:smooth_l1_loss
SoftMarginLoss                | nn | as:soft_margin_loss
Softmax                       | nn | as:softmax
Softmax2d                     | nn | as:softmax
Softmin                       | nn | as:softmin
Softplus                      | nn | as:softplus
Softshrink                    | nn | as:softshrink
Softsign                      | nn | as:softsign
SyncBatchNorm                 | nn | same_shape keeps_input weights
Tanh                          | nn | as:tanh
Tanhshrink                    | nn | as:tanhshrink
Threshold                     | nn | as:threshold
Transformer                   | nn | random same_shape keeps_input keeps_operands weights
TransformerDecoder            | nn | same_shape keeps_input keeps_operands weights
TransformerDecoderLayer       | nn | random same_shape keeps_input keeps_operands weights
TransformerEncoder            | nn | same_shape keeps_input weights
TransformerEncoderLayer       | nn | random same_shape keeps_input weights
TripletMarginLoss             | nn | as:triplet_margin_loss
TripletMarginWithDistanceLoss | nn | as:triplet_margin_with_distance_loss
Unflatten                     | nn | as:unflatten
Unfold                        | nn |
Upsample                      | nn | as:interpolate
UpsamplingBilinear2d          | nn | same_rank
UpsamplingNearest2d           | nn | same_rank
ZeroPad1d                     | nn | same_rank
ZeroPad2d                     | nn | same_rank
ZeroPad3d                     | nn | same_rank
"""
