#!/usr/bin/env python3
"""Compares the training step of Convoke with TensorFlow and PyTorch on this machine.

    python3 -m venv tf    && tf/bin/pip install tensorflow-cpu
    python3 -m venv torch && torch/bin/pip install torch torchvision numpy
    apps/bench/peers.py --tensorflow tf/bin/python --pytorch torch/bin/python                 the two MNIST CNNs
    apps/bench/peers.py --tensorflow tf/bin/python --pytorch torch/bin/python --zoo --precision fp32 bf16
    apps/bench/peers.py --pytorch torch/bin/python --networks resnet50 vgg16 --systems convoke eager --rounds 1

All systems take turns, round after round, on the same cores, one process after the other, because machines change
their speed with time: compare ratios, not rates of different days. Same network, batch and precision for all: Keras by
`fit` and as one tf.function with the fused Adam, PyTorch channels-last with the fused Adam, eager and compiled; bf16 is
mixed_bfloat16 and autocast there. Printed are medians over the rounds, the median of each round's ratio to the fastest
of the others, and our peak memory to that of the fastest. Standard library only; a system that is not there, or that
fails, is left out and named below the table.
"""
import argparse
import os
import pathlib
import sys

import peers_table
from peers_cases import MNIST, SYSTEMS, ZOO, Failed, measure, why_not

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--convoke", default=str(ROOT / "build/release/convoke"), help="the program (default: %(default)s)")
    parser.add_argument("--tensorflow", metavar="PYTHON", help="a Python that has tensorflow")
    parser.add_argument("--pytorch", metavar="PYTHON", help="a Python that has torch, and torchvision for the zoo")
    parser.add_argument("--zoo", action="store_true", help="large networks instead of the two MNIST CNNs: "
                        + ", ".join(case.network for case in ZOO))
    parser.add_argument("--networks", nargs="+", metavar="NAME", choices=[case.network for case in MNIST + ZOO],
                        help="only these")
    parser.add_argument("--precision", nargs="+", choices=["fp32", "bf16"], default=["fp32"])
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS), help="(default: all)")
    parser.add_argument("--rounds", type=int, default=3, help="how often all take turns (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=3, help="of measuring in each turn (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=1800, metavar="SECONDS",
                        help="after which a turn has failed (default: %(default)s)")
    parser.add_argument("--cores", type=lambda text: [int(core) for core in text.split(",")], metavar="LIST",
                        default=sorted(os.sched_getaffinity(0)), help="to run on, as 0,1 (default: all)")
    parser.add_argument("--svg", metavar="FILE", help="also draw the table")
    options = parser.parse_args()
    cases = ZOO if options.zoo else MNIST
    if options.networks:
        cases = [case for case in MNIST + ZOO if case.network in options.networks]
    options.cases = [case for case in cases if case.cores <= len(options.cores)]
    return options


def take_turns(case, precision, systems, options, left_out):
    """{system: [result of each round]} of those that got through all rounds."""
    results = {s: [] for s in systems}
    for i in range(options.rounds):
        for s in list(results):
            where = f"{peers_table.label(case, precision)}, round {i + 1} of {options.rounds}: {SYSTEMS[s].name}"
            try:
                results[s].append(measure(SYSTEMS[s], case, precision, options))
            except Failed as failure:
                del results[s]
                left_out.append(f"{SYSTEMS[s].name}, {peers_table.label(case, precision)}: {failure}")
                print(f"{where} failed: {failure}", file=sys.stderr)
                continue
            print(f"{where} {peers_table.rate(results[s][-1]['images_per_second'])} {case.unit}", file=sys.stderr)
    return results


def machine_name():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "CPU")
    return f"{model}, {len(os.sched_getaffinity(0))} cores"


def main():
    options = parse()
    left_out = []
    systems = []
    for s in options.systems:
        reason = why_not(SYSTEMS[s], options.cases, options)
        if reason:
            left_out.append(f"{SYSTEMS[s].name}: {reason}")
            print(f"without {SYSTEMS[s].name}: {reason}", file=sys.stderr)
        else:
            systems.append(s)
    if not systems:
        sys.exit("error: nothing to run\n  hint: build/release/convoke is the default of --convoke; see --help")

    rows, versions = [], {}
    for case in options.cases:
        for precision in options.precision:
            results = take_turns(case, precision, systems, options, left_out)
            rows.append((case, precision, results))
            versions.update({SYSTEMS[s].option: r[-1].get("version", "") for s, r in results.items()})
    machine = (f"{machine_name()}; {', '.join(v for v in versions.values() if v)}; medians of {options.rounds} "
               f"round{'s' if options.rounds > 1 else ''} in which all take turns")
    print(f"{peers_table.markdown(rows, systems)}\n\n{machine}")
    for line in left_out:
        print(f"left out: {line}")
    if options.svg:
        pathlib.Path(options.svg).write_text(peers_table.svg(rows, systems, machine))


main()
