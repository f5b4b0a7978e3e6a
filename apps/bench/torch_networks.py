"""The networks of peers.py in PyTorch: those of torchvision, the two MNIST CNNs and the LSTM of the zoo."""
import torch
from torch import nn

TORCHVISION = {"resnet50": "resnet50", "vgg16": "vgg16", "inception-v3": "inception_v3",
               "efficientnet-b0": "efficientnet_b0", "efficientnet-b5": "efficientnet_b5",
               "mobilenet-v2": "mobilenet_v2", "densenet121": "densenet121"}


def mnist_ensemble():
    return nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(576, 64), nn.ReLU(),
                         nn.Linear(64, 10))


def mnist_ddp():
    def conv(channels, filters):
        return [nn.Conv2d(channels, filters, 3, padding=1), nn.BatchNorm2d(filters), nn.ReLU()]

    def dense(features, units):
        return [nn.Dropout(0.3), nn.Linear(features, units), nn.BatchNorm1d(units), nn.ReLU()]

    return nn.Sequential(*conv(1, 32), *conv(32, 64), nn.MaxPool2d(2), *conv(64, 128), nn.MaxPool2d(2), nn.Flatten(),
                         *dense(6272, 128), *dense(128, 64), nn.Dropout(0.3), nn.Linear(64, 10))


class ImdbLstm(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.embedding = nn.Embedding(20000, 128)
        self.dropout = nn.Dropout(0.2)
        self.lstm = nn.LSTM(128, 128, batch_first=True)
        self.head = nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, classes))

    def forward(self, tokens):  # (N, L)
        states, _ = self.lstm(self.dropout(self.embedding(tokens)))
        return self.head(states[:, -1])


def network(name, classes):
    """The model, ending in logits."""
    if name == "imdb-lstm":
        return ImdbLstm(classes)
    if name in TORCHVISION:
        import torchvision
        more = {"aux_logits": False, "init_weights": False} if name == "inception-v3" else {}
        return torchvision.models.get_model(TORCHVISION[name], weights=None, num_classes=classes, **more)
    return {"mnist-ensemble": mnist_ensemble, "mnist-ddp": mnist_ddp}[name]()


def samples(name, batch, shape):
    """A batch of `shape` (C, H, W), or of tokens (L)."""
    if len(shape) == 1:
        return torch.randint(0, 20000, (batch, *shape))
    return torch.rand(batch, *shape).contiguous(memory_format=torch.channels_last)
