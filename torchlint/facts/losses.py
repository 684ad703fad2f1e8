"""The losses of torch.nn.functional, and what stands under these names in torch."""

ROWS = """
binary_cross_entropy              | F       | reduces keeps_input keeps_operands
binary_cross_entropy_with_logits  | F       | reduces keeps_input keeps_operands
binary_cross_entropy_with_logits  | torch   | keeps_input keeps_operands
cosine_embedding_loss             | F       | reduces keeps_input keeps_operands
cosine_embedding_loss             | torch   | keeps_input keeps_operands
cross_entropy                     | F       | reduces
ctc_loss                          | F       | reduces keeps_input
ctc_loss                          | torch   | keeps_input keeps_output
gaussian_nll_loss                 | F       | reduces
hinge_embedding_loss              | F       | reduces
hinge_embedding_loss              | torch   |
huber_loss                        | F       | reduces keeps_input keeps_operands
kl_div                            | F       | reduces keeps_operands
kl_div                            | torch   | keeps_operands
l1_loss                           | F       | reduces
linear_cross_entropy              | F       | reduces keeps_operands
margin_ranking_loss               | F       |
margin_ranking_loss               | torch   |
mse_loss                          | F       | reduces keeps_input keeps_operands
multi_margin_loss                 | F       | reduces keeps_input
multilabel_margin_loss            | F       | reduces keeps_input
multilabel_soft_margin_loss       | F       | reduces keeps_input
nll_loss                          | F       | reduces keeps_input
poisson_nll_loss                  | torch F | reduces keeps_operands
smooth_l1_loss                    | F       | reduces keeps_input keeps_operands
soft_margin_loss                  | F       | reduces keeps_input
triplet_margin_loss               | F       | reduces
triplet_margin_loss               | torch   |
triplet_margin_with_distance_loss | F       | reduces
"""
