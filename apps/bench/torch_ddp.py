"""Times data-parallel training steps in PyTorch, one process a host, over gloo:

    torch_ddp.py NETWORK --batch 64 --shape 1,28,28 --classes 10 [--exchange ddp | bf16 | post-local]

--batch: of all processes together. `bf16`: the compression hook for bfloat16; `post-local`: models are averaged every 8
steps. RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and GLOO_SOCKET_IFNAME say where (exchange_over_links.sh sets them).
The first process prints one JSON object: samples/s of all processes, of the slowest one. Needs a Python with torch.
"""
import json
import sys
import time

import step_options

exchange = "ddp"
if "--exchange" in sys.argv:
    at = sys.argv.index("--exchange")
    exchange = sys.argv[at + 1]
    del sys.argv[at:at + 2]
options = step_options.parse(__doc__)

import torch
import torch.distributed as dist
import torch.distributed.algorithms.ddp_comm_hooks.default_hooks as hooks
from torch.distributed.algorithms.ddp_comm_hooks import post_localSGD_hook as post_local
from torch.distributed.algorithms.model_averaging import averagers

import torch_networks

torch.set_num_threads(options.cores)
dist.init_process_group("gloo")
model = torch_networks.network(options.network, options.classes).to(memory_format=torch.channels_last)
model = torch.nn.parallel.DistributedDataParallel(model)
batch = options.batch // dist.get_world_size()
samples = torch_networks.samples(options.network, batch, options.shape)
labels = torch.randint(0, options.classes, (batch,))
optimizer = torch.optim.Adam(model.parameters(), fused=True)
averager = None
if exchange == "bf16":
    model.register_comm_hook(None, hooks.bf16_compress_hook)
if exchange == "post-local":
    alone = [dist.new_group([rank]) for rank in range(dist.get_world_size())][dist.get_rank()]
    state = post_local.PostLocalSGDState(process_group=None, subgroup=alone, start_localSGD_iter=0)
    model.register_comm_hook(state, post_local.post_localSGD_hook)
    averager = averagers.PeriodicModelAverager(period=8, warmup_steps=0)
loss = torch.nn.CrossEntropyLoss()


def run(steps):
    dist.barrier()
    begin = time.time()
    for _ in range(steps):
        optimizer.zero_grad()
        loss(model(samples), labels).backward()
        optimizer.step()
        if averager is not None:
            averager.average_parameters(model.parameters())
    dist.barrier()
    return time.time() - begin


run(3)
one = torch.tensor(run(2) / 2)
dist.broadcast(one, 0)  # all processes make as many steps
steps = max(1, round(options.seconds / one.item()))
rates = sorted(options.batch * steps / run(steps) for _ in range(3))
if dist.get_rank() == 0:
    print(json.dumps({"images_per_second": rates[1], "version": "PyTorch " + torch.__version__}))
