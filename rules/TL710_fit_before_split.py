"""Split the data first, and fit scalers on the training part only: test data must stay unseen.

`X = StandardScaler().fit_transform(X)` before `train_test_split(X, y)` computes means and spreads of the test rows too.
What they tell leaks into the training, and the test result is better than that on really new data. Fit on the training
part, and only `transform` the other.

```python bad
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

scaler = StandardScaler()
X = scaler.fit_transform(X)  # TL710
X_train, X_test, y_train, y_test = train_test_split(X, y)
X_train = torch.tensor(X_train, dtype=torch.float32)
```
```python good
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

scaler = StandardScaler()
X_train, X_test, y_train, y_test = train_test_split(X, y)
X_train = torch.tensor(scaler.fit_transform(X_train), dtype=torch.float32)
X_test = torch.tensor(scaler.transform(X_test), dtype=torch.float32)
```

What learns nothing of the values, as one-hot encodings and numbers for words, may come first.

```python good
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder, OneHotEncoder

y = LabelEncoder().fit_transform(y)
X = OneHotEncoder().fit_transform(X)
X_train, X_test, y_train, y_test = train_test_split(X, y)
X_train = torch.tensor(X_train, dtype=torch.float32)
```
"""

from torchlint import Call, on_call

read_on = ("TL708", "data#torch.utils.data.random_split")
in_tests = False

LEARNS = (
    "sklearn.preprocessing.StandardScaler",
    "sklearn.preprocessing.MinMaxScaler",
    "sklearn.preprocessing.RobustScaler",
    "sklearn.preprocessing.MaxAbsScaler",
    "sklearn.preprocessing.PowerTransformer",
    "sklearn.preprocessing.QuantileTransformer",
    "sklearn.decomposition.PCA",
    "sklearn.impute.SimpleImputer",
    "sklearn.feature_selection.SelectKBest",
)


@on_call("sklearn.model_selection.train_test_split", needs=("sklearn", "fit_transform"))
def check(split: Call):
    for given in split.node.args:
        for made in split.origins(given):
            if made.module is not split.module or not made.is_call(".fit_transform"):
                continue
            learns = [o for o in made.origins(made.node.func.value) if o.is_call(*LEARNS)]
            if learns and not is_a_part(made):
                yield split.finding(
                    f"`{made.short}` learns from the test data too, which is split off in line {split.node.lineno}",
                    help="split first, and fit on the training part",
                    notes=[split.note(split.node, "split here")],
                    at=made,
                )


def is_a_part(made) -> bool:
    """Does it learn from what an earlier split gave? The test data is safe then."""
    data = [o for given in made.node.args[:1] for o in made.origins(given)]
    return any(made.word(o.node) == "train_test_split" for o in data if o.node is not None)
