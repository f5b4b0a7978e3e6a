#!/usr/bin/env python3
"""Does train.convolution = "auto" choose well? For each case, the time of all passes as "auto" chooses them, beside those
of "direct" and "winograd" everywhere; exit code 1 where "auto" is more than 2 % behind the better one.

  apps/bench/convolution_choice.py [--convoke build/release/convoke] [--rounds 3] [CASE ...]
  ONEDNN_MAX_CPU_ISA=AVX2 apps/bench/convolution_choice.py          the same on processors without AVX-512

A case is a recipe (its whole plan) or a 3 x 3 convolution, as samples,channels,filters,pixels[,valid] (its three passes).
Times are those of `convoke bench --profile`, each step of the plan alone on one core, the least of all rounds; a kernel
that two choices take has one time. What is made once per update, the transformed weights, is not in them.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CASES = ["mnist-ensemble", "mnist-ddp", "32,32,64,28", "32,64,128,14", "64,32,64,13,valid", "64,64,64,5,valid", "16,64,64,56",
         "16,128,128,28", "16,256,256,14", "16,512,512,7", "8,64,64,224", "8,128,128,112"]
CHOICES = ["auto", "direct", "winograd"]
RECIPE = """name = "one-convolution"
[data]
path = "unused.h5"
normalize = "unit"
[model]
input = [1, {pixels}, {pixels}]
layers = [
  {{ layer = "conv2d", filters = {channels}, kernel = 1 }},
  {{ layer = "conv2d", filters = {filters}, kernel = 3, padding = "{padding}", activation = "relu", name = "tested" }},
  {{ layer = "global_average_pool" }},
  {{ layer = "dense", units = 10, activation = "softmax" }},
]
[train]
batch = {samples}
micro_batch = {samples}
"""
STEP = re.compile(r"^(\S+) +((?:forward|backward).*?)  +(\S+) +([0-9.]+)(?: +[0-9.]+)? *$", re.M)


def write_recipe(case, folder):
    """The recipe of a case, and the node whose passes count; "" means all."""
    if not case[0].isdigit():
        return case, ""
    samples, channels, filters, pixels, *valid = case.split(",")
    folder.joinpath("recipe.toml").write_text(RECIPE.format(samples=samples, channels=channels, filters=filters,
                                                           pixels=pixels, padding="valid" if valid else "same"))
    return str(folder), "tested.conv2d"


def profile(convoke, recipe, node, choice):
    """(node, pass, how often before) -> (kernel, microseconds an image)."""
    command = [convoke, "bench", recipe, "--profile", "--rounds", "1", "--seconds", "0.01", "--set", "run.threads=1", "--set",
               f"train.convolution={choice}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    steps, seen = {}, collections.Counter()
    for name, step, kernel, time in STEP.findall(done.stdout):
        if node in ("", name):
            steps[name, step, seen[name, step]] = kernel, float(time)
            seen[name, step] += 1
    return steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=CASES, metavar="CASE", help="default: all of the list in this file")
    parser.add_argument("--convoke", default=str(HERE.parents[1] / "build/release/convoke"))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    print(f"{'case':22}{'auto':>10}{'direct':>10}{'winograd':>10}  us/image   auto behind the better one, its passes")
    bad = 0
    for case in options.cases:
        with tempfile.TemporaryDirectory() as folder:
            recipe, node = write_recipe(case, pathlib.Path(folder))
            least, plans = {}, {}
            for _ in range(options.rounds):
                for choice in CHOICES:
                    plans[choice] = profile(options.convoke, recipe, node, choice)
                    for step, (kernel, time) in plans[choice].items():
                        least[step, kernel] = min(time, least.get((step, kernel), time))
        total = {choice: sum(least[step, kernel] for step, (kernel, _) in plan.items()) for choice, plan in plans.items()}
        behind = total["auto"] / min(total.values()) - 1
        bad += behind > 0.02
        chosen = " ".join("w" if "winograd" in kernel else "d" for kernel, _ in plans["auto"].values()) if node else ""
        print(f"{case:22}" + "".join(f"{total[choice]:10.2f}" for choice in CHOICES) +
              f"{100 * behind:13.1f} %  {chosen}{'   TOO FAR' if behind > 0.02 else ''}", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
