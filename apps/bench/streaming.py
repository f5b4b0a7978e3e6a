#!/usr/bin/env python3
"""How fast training is on a dataset that does not fit into memory, relative to one that does.

Makes a dataset of ten times the limit in a folder of shards, with random samples, and trains one epoch of a small network,
alternately

* in memory: on a part of the dataset that fits, without a limit;
* streamed: on all of it, cold (nothing of it in the page cache), with the address space of every rank limited by
  `ulimit -v`, of which data.memory = "auto" takes half of what is left.

Prints the rate within steps of each run, and the ratio of the medians. Needs h5py and numpy, and room on the disk of --folder.

    apps/bench/streaming.py --convoke build/release/convoke --samples uint8 --folder /var/tmp --rounds 3
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

import h5py
import numpy as np

MIB = 1 << 20

# For each kind: a stored sample, its type, and a network that leaves little time for reading.
KINDS = {
    "uint8": ((64, 64, 3), "uint8", "[3, 64, 64]", [
        '{ layer = "conv2d", filters = 16, kernel = 3, stride = 2, activation = "relu" }',
        '{ layer = "conv2d", filters = 32, kernel = 3, stride = 2, activation = "relu" }',
        '{ layer = "global_average_pool" }',
        '{ layer = "dense", units = 10, activation = "softmax" }']),
    "int32": ((512,), "int32", "[512]", [
        '{ layer = "embedding", vocabulary = 1000, units = 16 }',
        '{ layer = "conv1d", filters = 32, kernel = 5, activation = "relu" }',
        '{ layer = "global_average_pool1d" }',
        '{ layer = "dense", units = 10, activation = "softmax" }']),
    "float32": ((512,), "float32", "[512]", [
        '{ layer = "dense", units = 128, activation = "relu" }',
        '{ layer = "dense", units = 128, activation = "relu" }',
        '{ layer = "dense", units = 10, activation = "softmax" }']),
}


def write_split(folder, split, samples, labels_rng, block, shards):
    shape, dtype = block.shape[1:], block.dtype
    for shard in range(shards):
        first, last = samples * shard // shards, samples * (shard + 1) // shards
        with h5py.File(folder / f"{split}-{shard:05}-of-{shards:05}.h5", "w", libver=("earliest", "v108")) as f:
            f.attrs.update(convoke_format="dataset", format_version=1, classes=10, shard=shard, shards=shards)
            if dtype == np.int32:
                f.attrs["vocabulary"] = 1000
            f[f"{split}/labels"] = labels_rng.integers(0, 10, last - first, dtype="int32")
            data = f.create_dataset(f"{split}/samples", (last - first, *shape), dtype)
            for at in range(0, last - first, len(block)):
                n = min(len(block), last - first - at)
                data[at:at + n] = block[:n]


def make_dataset(folder, shape, dtype, total_bytes):
    rng = np.random.default_rng(1)
    sample_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    block_shape = (max(1, 32 * MIB // sample_bytes), *shape)
    block = (rng.standard_normal(block_shape, dtype="float32") if dtype == "float32" else
             rng.integers(0, 256 if dtype == "uint8" else 1000, block_shape, dtype=dtype))
    folder.mkdir()
    samples = total_bytes // sample_bytes
    write_split(folder, "train", samples, rng, block, max(1, total_bytes // (256 * MIB)))
    write_split(folder, "test", 100, rng, block, 1)
    return samples


def drop_from_cache(folder):
    for file in folder.glob("*.h5"):
        descriptor = os.open(file, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def train(args, folder, recipe, data, output, limit):
    shutil.rmtree(output, ignore_errors=True)
    command = [*args.launcher.split(), args.convoke, "train", str(recipe), "--quiet", "--output", str(output),
               "--set", f"data.path={data}", "--set", f"run.threads={args.threads}"]
    if limit is None:
        command += ["--set", "data.memory=1TiB"]
    drop_from_cache(data)
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
                            preexec_fn=lambda: limit and resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
    if (limit is not None) != ("more than data.memory allows" in result.stdout):
        sys.exit(f"expected {'a stream' if limit else 'samples in memory'}:\n{result.stdout}{result.stderr}")
    return json.loads((output / "summary.json").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--convoke", default="build/release/convoke")
    parser.add_argument("--launcher", default="", help='such as "mpirun -n 2"')
    parser.add_argument("--samples", choices=KINDS, default="uint8", help="kind of samples")
    parser.add_argument("--limit", type=int, default=512, help="MiB of address space of every rank")
    parser.add_argument("--times", type=float, default=10, help="the dataset is so many times the limit")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--shuffle", default='"chunks"', help='true, false or "chunks"')
    parser.add_argument("--window", default="64MiB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where the dataset is made, and removed")
    args = parser.parse_args()

    shape, dtype, model_input, layers = KINDS[args.samples]
    with tempfile.TemporaryDirectory(dir=args.folder, prefix="convoke-streaming-") as name:
        folder = pathlib.Path(name)
        count = make_dataset(folder / "large", shape, dtype, int(args.limit * args.times) * MIB)
        make_dataset(folder / "small", shape, dtype, min(256, args.limit) * MIB)
        recipe = folder / "recipe.toml"
        window = f'window = "{args.window}"\n' if args.shuffle == '"chunks"' else ""
        recipe.write_text(f'name = "streaming"\n[data]\npath = "x"\nnormalize = "none"\nshuffle = {args.shuffle}\n{window}'
                          f'[model]\ninput = {model_input}\nlayers = [\n  {", ".join(layers)}\n]\n'
                          f'[train]\nepochs = 1\nbatch = {args.batch}\noptimizer = {{ name = "sgd", learning_rate = 0.001 }}\n'
                          '[run]\ncheckpoint_every = 0\n')
        print(f"{args.samples}: {count:,} samples of {shape}, {args.times:g} x {args.limit} MiB, {args.launcher or 'one rank'}, "
              f"threads {args.threads}, shuffle {args.shuffle} {args.window}")
        rates = {"in memory": [], "streamed": []}
        for turn in range(args.rounds):
            for what, data, limit in (("in memory", "small", None), ("streamed", "large", args.limit * MIB)):
                summary = train(args, folder, recipe, folder / data, folder / "run", limit)
                rates[what].append(summary["images_per_second"])
                print(f"round {turn + 1}, {what:9}: {rates[what][-1]:12,.0f} samples/s   peak {summary['peak_rss_mib']:,.0f} MiB", flush=True)
        medians = {what: statistics.median(values) for what, values in rates.items()}
        print(f"median: {medians['streamed']:,.0f} / {medians['in memory']:,.0f} samples/s = "
              f"{medians['streamed'] / medians['in memory']:.3f}")


if __name__ == "__main__":
    main()
