"""Times the training step of a network in PyTorch:

    torch_step.py NETWORK --batch 16 --shape 3,224,224 --classes 1000 [--cores 1] [--seconds 3] [--bf16] [--compile]

Random data, channels-last, fused Adam (the fastest eager settings), after a step of warming up; --bf16: autocast;
--compile: torch.compile. Prints one JSON object. Needs a Python with torch, and torchvision for the zoo.
"""
import json
import time

START = time.time()

import step_options

options = step_options.parse(__doc__, "--compile")

import torch

import torch_networks

torch.set_num_threads(options.cores)
model = torch_networks.network(options.network, options.classes).to(memory_format=torch.channels_last)
samples = torch_networks.samples(options.network, options.batch, options.shape)
labels = torch.randint(0, options.classes, (options.batch,))
optimizer = torch.optim.Adam(model.parameters(), fused=True)
loss = torch.nn.CrossEntropyLoss()
forward = torch.compile(model) if options.compile else model


def run(steps):
    begin = time.time()
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=options.bf16):
            value = loss(forward(samples), labels)
        value.backward()
        optimizer.step()
    return time.time() - begin


run(1)
first = time.time() - START
rate = step_options.rate(run, options)
print(json.dumps({"images_per_second": rate, "seconds_to_first_step": first,
                  "peak_rss_mib": step_options.peak_rss_mib(), "version": "PyTorch " + torch.__version__}))
