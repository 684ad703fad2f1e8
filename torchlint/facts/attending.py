"""Where what attends takes the mask that hides the future: the name and the position of the argument."""

MASKS = {
    "torch.nn.MultiheadAttention()": ("attn_mask", 5),
    "torch.nn.TransformerEncoder()": ("mask", 1),
    "torch.nn.TransformerEncoderLayer()": ("src_mask", 1),
    "torch.nn.TransformerDecoder()": ("tgt_mask", 2),
    "torch.nn.TransformerDecoderLayer()": ("tgt_mask", 2),
    "torch.nn.Transformer()": ("tgt_mask", 3),
    "torch.nn.functional.scaled_dot_product_attention": ("attn_mask", 3),
}
