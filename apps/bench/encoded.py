#!/usr/bin/env python3
"""Measures encoded pictures (`convoke prepare --encoded jpeg|png`): bytes of a dataset, and images/s of training.

Makes pictures of shapes of 128 x 128 and of 256 x 256 pixels, prepares each as pixels, PNG and JPEG, and trains three epochs
of a network on each, alternating: with the samples in memory, where pictures are decoded once, and streamed, where a thread
decodes them in every epoch while the network computes. "small" is a network that leaves little time for reading, "medium"
one as people train. Prints the medians, relative to pixels in memory, as a table. Needs only Convoke.

    apps/bench/encoded.py --convoke build/release/convoke --rounds 3
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

SIDES = [128, 256]
CLASSES = 10
CONV = '{{ layer = "conv2d", filters = {}, kernel = 3, stride = {}, padding = "same", activation = "relu" }}'
NETWORKS = {
    "small": [CONV.format(16, 2), CONV.format(32, 2)],
    "medium": [CONV.format(32, 2), CONV.format(64, 2), CONV.format(64, 1), CONV.format(128, 2), CONV.format(128, 1)],
}
STORED = {"pixels": [], "PNG": ["--encoded", "png"], "JPEG": ["--encoded", "jpeg"]}


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--convoke", default="build/release/convoke")
    parser.add_argument("--launcher", default="", help='such as "mpirun -n 2"')
    parser.add_argument("--samples", type=int, default=600)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sides", nargs="+", type=int, default=SIDES, help="heights and widths of the pictures")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    args = parser.parse_args()

    print("| pictures | stored as | MB | ratio | network | in memory | streamed |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="convoke-encoded-") as name:
        folder = pathlib.Path(name)
        for side in args.sides:
            source = f"{side}x{side}"
            run(args.convoke, "synthesize", "shapes", "--output", folder / source, "--samples", args.samples,
                "--classes", CLASSES, "--size", source)
            for stored, encoding in STORED.items():
                run(args.convoke, "prepare", folder / source, "--output", folder / f"{source}-{stored}.h5",
                    "--split", "train=0.9,test=0.1", "--allow-duplicates", *encoding)
            bytes_of = {stored: (folder / f"{source}-{stored}.h5").stat().st_size for stored in STORED}
            for network in args.networks:
                recipe = folder / "recipe.toml"
                layers = ",\n  ".join(NETWORKS[network] + ['{ layer = "global_average_pool" }',
                                                           f'{{ layer = "dense", units = {CLASSES}, activation = "softmax" }}'])
                recipe.write_text(f'name = "encoded"\n[data]\npath = "x"\n[model]\ninput = [3, {side}, {side}]\n'
                                  f'layers = [\n  {layers}\n]\n[train]\nepochs = 3\nbatch = 32\n[run]\ncheckpoint_every = 0\n')
                rates = {}
                for _ in range(args.rounds):
                    for stored in STORED:
                        # Streamed: no split fits, and two steps of the samples are read ahead.
                        for memory in ("1TiB", f"{100 * side * side * 3 // 1024}KiB"):
                            shutil.rmtree(folder / "run", ignore_errors=True)
                            run(*args.launcher.split(), args.convoke, "train", recipe, "--quiet", "--output", folder / "run",
                                "--set", f"data.path={folder}/{source}-{stored}.h5",
                                "--set", f"data.memory={memory}", "--set", f"run.threads={args.threads}")
                            summary = json.loads((folder / "run/summary.json").read_text())
                            rates.setdefault((stored, memory == "1TiB"), []).append(summary["images_per_second"])
                median = {key: statistics.median(values) for key, values in rates.items()}
                best = median["pixels", True]
                for stored in STORED:
                    print(f"| {source} | {stored} | {bytes_of[stored] / 1e6:.1f} | {bytes_of['pixels'] / bytes_of[stored]:.1f} "
                          f"| {network} | {median[stored, True] / best:.2f} | {median[stored, False] / best:.2f} |", flush=True)
                print(f"{source}, {network}: 1 is {best:,.0f} images/s", file=sys.stderr)


if __name__ == "__main__":
    main()
