#!/usr/bin/env python3
"""Compares prediction by Convoke and by onnxruntime: one core, the same ONNX files.

    python3 -m venv torch && torch/bin/pip install torch torchvision numpy onnx onnxruntime
    apps/bench/inference.py --python torch/bin/python                            four networks of torchvision
    apps/bench/inference.py --python torch/bin/python --networks mobilenet-v2 --rounds 9
    apps/bench/inference.py --python torch/bin/python --files mine.onnx --batch 1 8

Both take turns, round after round, on one core. Printed are medians over the rounds, the range of the rounds' ratios,
and the ratio of the CPU times: on a machine with other work, compare these. A ratio above 1 means that Convoke is
faster. Standard library only, besides --python.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from peers_cases import MNIST, ZOO

HERE = pathlib.Path(__file__).resolve().parent
CASES = {case.network: case for case in reversed(MNIST + ZOO) if len(case.shape) == 3}
DEFAULT = ["resnet50", "mobilenet-v2", "efficientnet-b0", "mnist-ensemble"]


def run(command, core):
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    done = subprocess.run(["taskset", "-c", str(core), *map(str, command)], env=environment, capture_output=True,
                          text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stderr.strip()}\nfailed: {' '.join(map(str, command))}")
    return done.stdout


def onnx_file(name, folder, options):
    file = folder / f"{name}.onnx"
    case = CASES[name]
    run([options.python, HERE / "onnx_inference.py", "--network", name, "--classes", case.classes, "--shape",
         ",".join(map(str, case.shape)), "--write", file], options.core)
    return file


def results(command, core):
    """{batch: result} of one process."""
    rows = json.loads(run(command, core).strip().splitlines()[-1])["inference"]
    return {row["batch"]: row for row in rows}


def compare(label, file, options):
    batches = list(map(str, options.batch))
    ours = [options.convoke, "bench", "--inference", file, "--set", "run.threads=1", "--rounds", "1", "--json",
            "--seconds", options.seconds, "--batch", *batches]
    theirs = [options.python, HERE / "onnx_inference.py", "--file", file, "--seconds", options.seconds, "--batch",
              *batches]
    rounds = []
    for i in range(options.rounds):
        rounds.append((results(ours, options.core), results(theirs, options.core)))
        print(f"{label}: round {i + 1} of {options.rounds}", file=sys.stderr)
    for batch in options.batch:
        def values(key, side):
            return [pair[side][batch][key] for pair in rounds]

        def median(key, side):
            return statistics.median(values(key, side))

        def ratios(key):
            return [a / b for a, b in zip(values(key, 0), values(key, 1))]

        rate, cpu = ratios("images_per_second"), [1 / r for r in ratios("cpu_milliseconds_per_image")]
        cells = [label, str(batch)]
        for side in (0, 1):
            cells.append(f"{median('images_per_second', side):,.4g}, {median('latency_p50_milliseconds', side):.3g}, "
                         f"{median('latency_p99_milliseconds', side):.3g}")
        cells.append(f"**{statistics.median(rate):.2f}** ({min(rate):.2f}–{max(rate):.2f})")
        cells.append(f"{statistics.median(cpu):.2f} ({min(cpu):.2f}–{max(cpu):.2f})")
        cells.append(f"{100 * statistics.median(values('part_of_bound', 0)):.0f} %")
        print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--convoke", default=str(HERE.parent.parent / "build/release/convoke"),
                        help="the program (default: %(default)s)")
    parser.add_argument("--python", required=True, help="a Python that has onnxruntime, and torch for --networks")
    parser.add_argument("--networks", nargs="+", choices=list(CASES), default=None, help=f"(default: {' '.join(DEFAULT)})")
    parser.add_argument("--files", nargs="+", default=[], help="ONNX files to compare instead")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--rounds", type=int, default=5, help="how often both take turns (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=3, help="of each measurement (default: %(default)s)")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="to run on (default: the last)")
    options = parser.parse_args()
    networks = options.networks or ([] if options.files else DEFAULT)
    print("| network | batch | Convoke: images/s, p50, p99 ms | onnxruntime | ratio | ratio of CPU times | of bound |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in networks:
            compare(CASES[name].label, onnx_file(name, pathlib.Path(folder), options), options)
        for file in options.files:
            compare(pathlib.Path(file).name, file, options)


if __name__ == "__main__":
    main()
