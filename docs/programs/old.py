import torch

a = torch.randn(4, 4)
values, vectors = torch.symeig(a, eigenvectors=True)
q, r = torch.qr(a)
state = torch.load("model.pt")
