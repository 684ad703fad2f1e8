import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 100)
        self.fc2 = nn.Linear(100, 10)

    def forward(self, x):
        x = x.flatten(1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


class Broken(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(10, 20)
        self.head = nn.Linear(30, 5)

    def forward(self, x):
        features = torch.relu(self.body(x))
        return self.head(features)


def train(model, loader, optimizer):
    for images, labels in loader:
        optimizer.zero_grad()
        logits = model(images)
        loss = F.cross_entropy(F.softmax(logits, dim=1), labels)
        loss.backward()
        optimizer.step()


model = Net()
batch = torch.zeros(8, 1, 28, 28), torch.zeros(8, dtype=torch.long)
train(model, [batch], torch.optim.SGD(model.parameters(), lr=0.1))
