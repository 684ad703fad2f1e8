"""Call torch's layers and functions with arguments they accept.

What the dry run meets that is neither a matter of shapes nor of dtypes: heads that do not divide the width, groups that
do not divide the channels, a tuple where a tensor belongs, an argument that does not exist.

```python bad
layer = nn.LSTM(8, 16, batch_first=True)
head = nn.Linear(16, 2)
print(head(layer(torch.zeros(2, 5, 8))))  # TL907
```
```python good
layer = nn.LSTM(8, 16, batch_first=True)
head = nn.Linear(16, 2)
output, _ = layer(torch.zeros(2, 5, 8))
print(head(output))
```
```python bad
attention = nn.MultiheadAttention(250, 8)  # TL907
```
```python good
attention = nn.MultiheadAttention(256, 8)
```

What torch is said to have, and what its classes are said to take, is looked at wherever it stands.

```python bad
def make(data, width):
    head = nn.Paramter(torch.ones(width))  # TL907
    return head, torch.utils.data.DataLoader(data, num_worker=4)  # TL907
```
```python good
def make(data, width):
    head = nn.Parameter(torch.ones(width))
    return head, torch.utils.data.DataLoader(data, num_workers=4)
```
"""

from torchlint import on_error

read_on = ("TL901", "nn")
also_said_by = ("TL108", "TL110", "TL208", "TL210", "TL601", "TL602", "TL701", "TL802")


@on_error("operation")
def check(fault):
    yield fault.finding()
