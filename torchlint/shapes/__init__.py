"""The program world: a dry run of a file on tensors without data.

`check.dry_run` is its entry; the only package that imports torch.
"""
