"""Where what attends takes the masks that hide the future, and padding: names and positions of arguments."""

MASKS = {
    "torch.nn.MultiheadAttention()": {"attn_mask": 5},
    "torch.nn.TransformerEncoder()": {"mask": 1},
    "torch.nn.TransformerEncoderLayer()": {"src_mask": 1},
    "torch.nn.TransformerDecoder()": {"tgt_mask": 2},
    "torch.nn.TransformerDecoderLayer()": {"tgt_mask": 2},
    "torch.nn.Transformer()": {"src_mask": 2, "tgt_mask": 3},
    "torch.nn.functional.scaled_dot_product_attention": {"attn_mask": 3},
}
# Triangles of NumPy, of which such masks are made, too.
LOWER_OF_NUMPY = frozenset(("numpy.tril",))
TRIANGLES_OF_NUMPY = LOWER_OF_NUMPY | {"numpy.triu"}
_ENCODERS = {"src_key_padding_mask": 2}
_DECODERS = {"tgt_key_padding_mask": 4, "memory_key_padding_mask": 5}
# And the masks that hide padding: of each what attends the names and positions.
PADDING = {
    "torch.nn.MultiheadAttention()": {"key_padding_mask": 3},
    "torch.nn.TransformerEncoder()": _ENCODERS,
    "torch.nn.TransformerEncoderLayer()": _ENCODERS,
    "torch.nn.TransformerDecoder()": _DECODERS,
    "torch.nn.TransformerDecoderLayer()": _DECODERS,
    "torch.nn.Transformer()": {"src_key_padding_mask": 5, "tgt_key_padding_mask": 6, "memory_key_padding_mask": 7},
}
