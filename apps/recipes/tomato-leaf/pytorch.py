"""Trains the network of this recipe in PyTorch, as the paper did, on the pictures of Convoke's dataset:

    pytorch.py tomato-leaf.h5 --epochs 5                                     one process
    RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29544 pytorch.py tomato-leaf.h5 --epochs 5      one of two

The batch is that of all processes together. The processes sum gradients by DistributedDataParallel over gloo. Equal to the recipe: flip, shear and zoom, Adam with an
exponential schedule. The first process prints one line of a table: system, ranks, repeat (the seed), seconds of an epoch (without
the first, which also prepares), test loss, test accuracy. Needs a Python with torch, torchvision and h5py.
"""
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torchvision.transforms import v2

import peers

options = peers.parser(__doc__).parse_args()

rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
torch.set_num_threads(1)
torch.manual_seed(options.seed)
if world > 1:
    dist.init_process_group("gloo")


def pictures(split):
    """All pictures of a split in memory, as bytes (N, C, H, W), and their labels."""
    samples, labels = map(torch.from_numpy, peers.pictures(options.dataset, split))
    return samples.permute(0, 3, 1, 2).contiguous(), labels


def convolution(channels, filters):
    return nn.Conv2d(channels, filters, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)


augment = v2.Compose([v2.RandomHorizontalFlip(), v2.RandomAffine(0, shear=(-0.2, 0.2), scale=(0.8, 1.2))])
train_x, train_y = pictures("train")
test_x, test_y = pictures("validation")
model = nn.Sequential(*convolution(3, 32), *convolution(32, 64), *convolution(64, 128), nn.Flatten(),
                      nn.Linear(128 * (train_x.shape[-1] // 8) ** 2, 128), nn.ReLU(), nn.Linear(128, 10)).to(memory_format=torch.channels_last)
parallel = nn.parallel.DistributedDataParallel(model) if world > 1 else model
optimizer = torch.optim.Adam(model.parameters(), lr=options.rate)
schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.96)
loss = nn.CrossEntropyLoss()
share = options.batch // world


def scaled(images):
    return (images.float() / 255).contiguous(memory_format=torch.channels_last)


ends = [time.time()]
order = torch.Generator().manual_seed(options.seed)  # the same in all processes
for epoch in range(options.epochs):
    chosen = torch.randperm(len(train_x), generator=order)
    for first in range(0, len(chosen) - options.batch + 1, options.batch):
        own = chosen[first + rank * share:first + (rank + 1) * share]
        images = scaled(torch.stack([augment(train_x[i]) for i in own]))
        optimizer.zero_grad()
        loss(parallel(images), train_y[own]).backward()
        optimizer.step()
    schedule.step()
    ends.append(time.time())

if rank == 0:
    model.eval()
    with torch.no_grad():
        scores = torch.cat([model(scaled(x)) for x in test_x.split(50)])
    accuracy = (scores.argmax(1) == test_y).float().mean().item()
    print(f"PyTorch,{world},{options.seed},{peers.epoch_seconds(ends):.3f},{loss(scores, test_y).item():.4f},{accuracy:.4f}")
