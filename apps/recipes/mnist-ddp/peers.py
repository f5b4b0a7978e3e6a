#!/usr/bin/env python3
"""Trains mnist-ddp's network on MNIST in PyTorch or TensorFlow, and prints lines of a table of runs:

    peers.py FOLDER pytorch|tensorflow [--cores 1] [--samples 15000] [--epochs 1] [--repeats 3]

FOLDER has the four files of MNIST (IDX, gzip). Batch 2048, Adam 0.001, the fastest usual settings (channels-last and
fused Adam, or model.fit); a step of each kind comes before the measured ones. With RANK and WORLD_SIZE in the
environment, as torchrun sets them, PyTorch trains with DistributedDataParallel over gloo. Columns: system, ranks,
threads, repeat, epoch_seconds (the mean of the epochs), images_per_second, accuracy (on the test images). Needs a
Python with torch or tensorflow.
"""
import argparse
import gzip
import os
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

BATCH = 2048


def read(folder, name, header):
    file = next(pathlib.Path(folder).glob(f"*{name}*.gz"))
    return np.frombuffer(gzip.open(file).read(), np.uint8, offset=header)


def split(folder, name):
    pixels = read(folder, f"{name}-images", 16).reshape(-1, 28, 28) / np.float32(255)
    return pixels, read(folder, f"{name}-labels", 8).astype(np.int64)


def pytorch(options, train, test):
    import torch
    import torch.distributed as dist

    import torch_networks

    torch.set_num_threads(options.cores)
    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if ranks > 1:
        dist.init_process_group("gloo")
    samples, labels = torch.tensor(train[0])[:, None], torch.tensor(train[1])
    loss = torch.nn.CrossEntropyLoss()
    for repeat in range(1, options.repeats + 1):
        torch.manual_seed(repeat)
        network = torch_networks.network("mnist-ddp", 10).to(memory_format=torch.channels_last)
        model = torch.nn.parallel.DistributedDataParallel(network) if ranks > 1 else network
        optimizer = torch.optim.Adam(model.parameters(), 1e-3, fused=True)

        def epoch(count):
            for batch in torch.randperm(count).split(BATCH):
                mine = batch[rank::ranks]
                optimizer.zero_grad()
                loss(model(samples[mine]), labels[mine]).backward()
                optimizer.step()

        model.train()
        epoch(2 * ranks)
        begin = time.time()
        for _ in range(options.epochs):
            epoch(options.samples)
        seconds = (time.time() - begin) / options.epochs
        network.eval()
        with torch.no_grad():
            found = torch.cat([network(part).argmax(1) for part in torch.tensor(test[0])[:, None].split(1000)])
        if rank == 0:
            row("PyTorch DDP" if ranks > 1 else "PyTorch", ranks, options, repeat, seconds, (found.numpy() == test[1]).mean())


def tensorflow(options, train, test):
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", OMP_NUM_THREADS=str(options.cores))
    import keras
    import tensorflow as tf

    import keras_networks

    tf.config.threading.set_intra_op_parallelism_threads(options.cores)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    for repeat in range(1, options.repeats + 1):
        keras.utils.set_random_seed(repeat)
        model = keras_networks.network("mnist-ddp", (28, 28, 1), 10)
        model.compile(optimizer=keras.optimizers.Adam(1e-3),
                      loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        samples, labels = train[0][:options.samples, ..., None], train[1][:options.samples]
        for size in {min(options.samples, BATCH), options.samples % BATCH} - {0}:  # fit compiles each size once
            model.fit(samples[:size], labels[:size], batch_size=BATCH, verbose=0)
        begin = time.time()
        model.fit(samples, labels, batch_size=BATCH, epochs=options.epochs, verbose=0)
        seconds = (time.time() - begin) / options.epochs
        found = model.predict(test[0][..., None], batch_size=1000, verbose=0).argmax(1)
        row("TensorFlow", 1, options, repeat, seconds, (found == test[1]).mean())


def row(system, ranks, options, repeat, seconds, accuracy):
    print(system, ranks, options.cores, repeat, f"{seconds:.3f}", f"{options.samples / seconds:.2f}",
          f"{accuracy:.4f}", sep=",", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("system", choices=("pytorch", "tensorflow"))
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--samples", type=int, default=15000)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    globals()[given.system](given, split(given.folder, "train"), split(given.folder, "t10k"))
