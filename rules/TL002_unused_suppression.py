"""Remove the suppression comment: there is nothing left for it to silence.

A comment such as `# noqa: TL105` that outlives its finding hides the next one. Only torchlint's own codes are judged,
and only those whose rule has run; other tools' codes in the same comment stay.

```python bad
loss = F.cross_entropy(logits, target)  # noqa: TL105  # TL002
```
```python fixed
loss = F.cross_entropy(logits, target)
```
```python good
probabilities = torch.softmax(logits, dim=1)
loss = F.cross_entropy(probabilities, target)  # noqa: TL101
loss = F.cross_entropy(logits, target)  # noqa: E501
```
"""
