"""Residual networks for images of 32 x 32 pixels in PyTorch, written from their papers, because torchvision has none.

Nodes have the zoo's names.
"""
import torch
from torch import nn
from torch.nn.functional import pad, relu


def conv(channels, filters, kernel, stride):
    return nn.Conv2d(channels, filters, kernel, stride, kernel // 2, bias=False)


class Basic(nn.Module):
    """He et al., CVPR 2016, section 4.2, with shortcuts of option A."""

    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1, self.bn1 = conv(channels, width, 3, stride), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = conv(width, width, 3, 1), nn.BatchNorm2d(width)
        self.stride, self.new = stride, width - channels

    def forward(self, x):
        y = self.bn2(self.conv2(relu(self.bn1(self.conv1(x)))))
        return relu(y + pad(x[:, :, ::self.stride, ::self.stride], (0, 0, 0, 0, 0, self.new)))


class Wide(nn.Module):
    """Zagoruyko and Komodakis, BMVC 2016, figure 1 (c) without dropout."""

    def __init__(self, channels, width, stride):
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(channels), conv(channels, width, 3, stride)
        self.bn2, self.conv2 = nn.BatchNorm2d(width), conv(width, width, 3, 1)
        self.shortcut = conv(channels, width, 1, stride) if channels != width else None

    def forward(self, x):
        active = relu(self.bn1(x))
        y = self.conv2(relu(self.bn2(self.conv1(active))))
        return y + (x if self.shortcut is None else self.shortcut(active))


class ThreeStages(nn.Module):
    def __init__(self, block, width, depth, classes):
        super().__init__()
        self.conv1, channels = conv(3, 16, 3, 1), 16
        if block is Basic:
            self.bn1 = nn.BatchNorm2d(16)
        for stage in range(3):
            blocks = []
            for i in range(depth):
                blocks.append(block(channels, width << stage, 2 if stage > 0 and i == 0 else 1))
                channels = width << stage
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        if block is Wide:
            self.bn = nn.BatchNorm2d(channels)
        self.predictions = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.conv1(x)
        x = relu(self.bn1(x)) if hasattr(self, "bn1") else x
        x = self.layer3(self.layer2(self.layer1(x)))
        x = relu(self.bn(x)) if hasattr(self, "bn") else x
        return self.predictions(torch.mean(x, (2, 3)))


MODELS = {"resnet20": lambda classes: ThreeStages(Basic, 16, 3, classes),
          "resnet56": lambda classes: ThreeStages(Basic, 16, 9, classes),
          "wide-resnet-28-10": lambda classes: ThreeStages(Wide, 160, 4, classes)}
