#!/usr/bin/env python3
"""Compares the training step of Convoke with TensorFlow and PyTorch on this machine.

    python3 -m venv tf    && tf/bin/pip install tensorflow-cpu
    python3 -m venv torch && torch/bin/pip install torch numpy
    apps/bench/peers.py --tensorflow tf/bin/python --pytorch torch/bin/python

All systems take turns, round after round, on the same cores, because machines change their speed with time: compare
ratios, not rates of different days. Printed are medians over the rounds, and the median of each round's ratio to the
fastest of the others. Standard library only.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NAMES = {"convoke": "Convoke", "tensorflow": "TensorFlow", "pytorch": "PyTorch"}
COLOURS = {"convoke": "#0b6e99", "tensorflow": "#b5b5b5", "pytorch": "#d0d0d0"}
# Network, its batch by system (of 64 and 512 the better one for each), cores.
CASES = [
    ("mnist-ensemble", "93k CNN", {"convoke": 64, "tensorflow": 64, "pytorch": 64}, 1),
    ("mnist-ensemble", "93k CNN", {"convoke": 64, "tensorflow": 64, "pytorch": 64}, 2),
    ("mnist-ddp", "905k CNN", {"convoke": 512, "tensorflow": 64, "pytorch": 64}, 1),
]


def command(system, options, recipe, batch, cores):
    """What to run: Convoke with one rank on one core, and with as many synchronous ranks on more."""
    pin = ["taskset", "-c", ",".join(map(str, options.cores[:cores]))]
    if system != "convoke":
        script = {"tensorflow": "keras_step.py", "pytorch": "torch_step.py"}[system]
        return [*pin, getattr(options, system), str(HERE / script), recipe, str(batch), str(cores)]
    bench = [options.convoke, "bench", recipe, "--json"]
    for change in ("run.threads=1", "train.mode=sync", f"train.batch={batch}"):
        bench += ["--set", change]
    if cores == 1:
        return [*pin, *bench]
    return ["mpirun", "-n", str(cores), "--bind-to", "core", *bench]


def measure(system, options, case):
    recipe, _, batches, cores = case
    environment = dict(os.environ, OMP_NUM_THREADS=str(cores if system != "convoke" else 1))
    done = subprocess.run(command(system, options, recipe, batches[system], cores), env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"error: {NAMES[system]} failed\n{done.stderr}\n  hint: try {' '.join(done.args)}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def median(results, key):
    return statistics.median(result[key] for result in results)


def table(rows, systems):
    """Rows: (label, {system: [result of each round]}). Markdown."""
    lines = ["| training step | " + " | ".join(NAMES[s] for s in systems) + " | ratio to the best |",
             "|---" * (len(systems) + 2) + "|"]
    for label, results in rows:
        cells = [f"{median(results[s], 'images_per_second'):,.0f} images/s, first step "
                 f"{median(results[s], 'seconds_to_first_step'):.2f} s, {median(results[s], 'peak_rss_mib'):.0f} MiB"
                 for s in systems]
        others = [s for s in systems if s != "convoke"]
        ratio = "–"
        if others:
            ratios = [ours["images_per_second"] / max(results[s][i]["images_per_second"] for s in others)
                      for i, ours in enumerate(results["convoke"])]
            ratio = f"**{statistics.median(ratios):.2f}** ({min(ratios):.2f}–{max(ratios):.2f})"
        lines.append(f"| {label} | " + " | ".join(cells) + f" | {ratio} |")
    return "\n".join(lines)


def svg(rows, systems, machine):
    """A bar for each system, in groups; each group is scaled by its longest bar."""
    left, width, bar, gap = 190, 420, 20, 22
    height = len(rows) * (len(systems) * bar + gap) + 54
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" font-family="sans-serif" font-size="13">',
           f'<rect width="760" height="{height}" fill="#ffffff"/>',
           '<text x="12" y="22" font-size="15" font-weight="bold">Training step, images per second</text>']
    y = 40
    for label, results in rows:
        rates = {s: median(results[s], "images_per_second") for s in systems}
        out.append(f'<text x="{left - 12}" y="{y + len(systems) * bar / 2 + 4}" text-anchor="end">{label}</text>')
        for s in systems:
            length = width * rates[s] / max(rates.values())
            weight = ' font-weight="bold"' if s == "convoke" else ""
            out.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 3}" fill="{COLOURS[s]}"/>')
            out.append(f'<text x="{left + length + 8:.1f}" y="{y + 13}"{weight}>{NAMES[s]} {rates[s]:,.0f}</text>')
            y += bar
        y += gap
    out += [f'<text x="12" y="{height - 8}" font-size="11" fill="#666666">{machine}</text>', "</svg>"]
    return "\n".join(out) + "\n"


def machine_name():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "CPU")
    return f"{model}, {len(os.sched_getaffinity(0))} cores"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--convoke", default=str(ROOT / "build/release/convoke"), help="the program (default: %(default)s)")
    parser.add_argument("--tensorflow", metavar="PYTHON", help="a Python that has tensorflow")
    parser.add_argument("--pytorch", metavar="PYTHON", help="a Python that has torch")
    parser.add_argument("--rounds", type=int, default=3, help="how often all take turns (default: %(default)s)")
    parser.add_argument("--svg", metavar="FILE", help="also draw the table")
    options = parser.parse_args()
    options.cores = sorted(os.sched_getaffinity(0))
    systems = [s for s in NAMES if getattr(options, s)]
    cases = [case for case in CASES if case[3] <= len(options.cores)]
    rows, versions = [], {}
    for case in cases:
        label = f"{case[1]}, {case[3]} core{'s' if case[3] > 1 else ''}"
        results = {s: [] for s in systems}
        for i in range(options.rounds):
            for s in systems:
                results[s].append(measure(s, options, case))
                versions[s] = results[s][-1].get("version", "")
                print(f"{label}, round {i + 1} of {options.rounds}: {NAMES[s]} "
                      f"{results[s][-1]['images_per_second']:,.0f} images/s", file=sys.stderr)
        rows.append((label, results))
    machine = (f"{machine_name()}; {', '.join(v for v in versions.values() if v)}; medians of {options.rounds} rounds in "
               "which all take turns")
    print(f"{table(rows, systems)}\n\n{machine}")
    if options.svg:
        pathlib.Path(options.svg).write_text(svg(rows, systems, machine))


main()
