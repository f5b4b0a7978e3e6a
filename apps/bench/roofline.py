#!/usr/bin/env python3
"""Draws the roofline of a network on one core: each convolution and product of a training step by its operational
intensity (operations for each byte that it must move) and its speed, below what the core can reach.

    apps/bench/roofline.py [--convoke build/release/convoke] [--network resnet50] [--batch 16] [--output FILE.svg]

The roof has two parts: the speed of the fastest direct kernel of the network (the horizontal line), and the bandwidth with
which one core copies memory, measured before (the slope). A kernel must move its input, its output and its weights once;
caches may save some of it. Winograd convolutions count the operations of the direct method, so they can lie above the
roof.
S. Williams, A. Waterman, D. Patterson: Roofline, Communications of the ACM 52, 2009. Standard library only.
"""
import argparse
import math
import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PASSES = {"forward": "#0072b2", "backward data": "#e69f00", "backward weights": "#009e73",
          "backward weights, data": "#d55e00"}  # Okabe and Ito: distinct for the color-blind, too
LEFT, TOP, WIDTH, HEIGHT = 70, 40, 640, 400


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--convoke", default=str(ROOT / "build/release/convoke"), help="the program (default: %(default)s)")
    parser.add_argument("--network", default="resnet50", help="a recipe or zoo model (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=16, help="of one micro-batch (default: %(default)s)")
    parser.add_argument("--core", default="0", help="to run on (default: %(default)s)")
    parser.add_argument("--output", default="roofline.svg", metavar="FILE", help="(default: %(default)s)")
    return parser.parse_args()


def output_of(options, *words):
    return subprocess.run(["taskset", "-c", options.core, options.convoke, *words], check=True, capture_output=True,
                          text=True).stdout


def profile(options):
    """[(node, pass, implementation, microseconds an image, GFLOP/s or None)] of all kernels."""
    text = output_of(options, "bench", options.network, "--profile", "--rounds", "1", "--set", "run.threads=1", "--set",
                     "train.mode=sync", "--set", f"train.batch={options.batch}", "--set", f"train.micro_batch={options.batch}")
    line = re.compile(r"(\S+) +(\S.*?) {2,}(\S+) +([0-9.]+)(?: +([0-9.]+))?$")
    found = [line.match(text_line.rstrip()) for text_line in text.splitlines()]
    return [(m[1], m[2], m[3], float(m[4]), float(m[5]) if m[5] else None) for m in found if m]


def sizes(options):
    """{node: (elements of an image, parameters, the node that it reads)}"""
    line = re.compile(r"(\S+) .*\(N, ([0-9, ]+)\) +([0-9,]+)(?: +(\S.*))?$")
    found = [line.match(text_line.rstrip()) for text_line in output_of(options, "summary", options.network).splitlines()]
    return {m[1]: (math.prod(int(extent) for extent in m[2].split(",")), int(m[3].replace(",", "")),
                   (m[4] or "").split(",")[0].strip()) for m in found if m}


def points(options, kernels):
    """[(node, pass, operations a byte, GFLOP/s, share of the time)] of the convolutions and products."""
    size, total = sizes(options), sum(micros for _, _, _, micros, _ in kernels)
    result = []
    for node, step, _, micros, speed in kernels:
        if speed is None or node not in size:
            continue
        out, parameters, source = size[node]
        moved = size[source][0] + out + parameters / options.batch
        if step == "backward weights, data":
            moved += size[source][0] + parameters / options.batch
        result.append((node, step, speed * micros * 1e3 / (4 * moved), speed, micros / total))
    return result


def bandwidth():
    """GB/s of a copy of 256 MiB, read and written bytes together: the best of five."""
    source, target = memoryview(bytearray(1 << 28)), memoryview(bytearray(1 << 28))
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        target[:] = source
        seconds.append(time.perf_counter() - start)
    return 2 * len(source) / min(seconds) / 1e9


def svg(found, peak, copied, title):
    low, high = 1, 1000
    slowest, fastest = 10, 2 ** math.ceil(math.log2(1.2 * max([peak] + [speed for _, _, _, speed, _ in found])))

    def x(intensity):
        return LEFT + WIDTH * math.log(intensity / low) / math.log(high / low)

    def y(speed):
        return TOP + HEIGHT * (1 - math.log(max(speed, slowest) / slowest) / math.log(fastest / slowest))

    bottom = TOP + HEIGHT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {bottom + 124}" '
           'font-family="sans-serif" font-size="13">', '<rect width="100%" height="100%" fill="#ffffff"/>',
           f'<text x="{LEFT}" y="22" font-size="15" font-weight="bold">{title}</text>']
    for value in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        if value <= fastest:
            out.append(f'<path d="M{LEFT} {y(value):.1f}h{WIDTH}" stroke="#e4e4e4"/>'
                       f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value}</text>')
        out.append(f'<path d="M{x(value):.1f} {TOP}v{HEIGHT}" stroke="#e4e4e4"/>'
                   f'<text x="{x(value):.1f}" y="{bottom + 18}" text-anchor="middle">{value}</text>')
    ridge, start = peak / copied, max(low, slowest / copied)
    out += [f'<path d="M{x(start):.1f} {y(start * copied):.1f}L{x(ridge):.1f} {y(peak):.1f}H{LEFT + WIDTH}" fill="none" '
            'stroke="#333333" stroke-width="2"/>',
            f'<text x="{LEFT + WIDTH - 4}" y="{y(peak) - 6:.1f}" text-anchor="end">fastest direct kernel {peak:.0f} GFLOP/s</text>',
            f'<text x="{x(start) + 8:.1f}" y="{y(start * copied) + 14:.1f}">copy {copied:.1f} GB/s</text>',
            f'<text x="{LEFT + WIDTH / 2}" y="{bottom + 40}" text-anchor="middle">operations for each byte</text>',
            f'<text x="18" y="{TOP + HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 18 {TOP + HEIGHT / 2})">'
            'GFLOP/s of one core</text>']
    for node, step, intensity, speed, share in sorted(found, key=lambda point: -point[4]):
        out.append(f'<circle cx="{x(intensity):.1f}" cy="{y(speed):.1f}" r="{3 + 40 * math.sqrt(share) / 2:.1f}" '
                   f'fill="{PASSES.get(step, "#999999")}" fill-opacity="0.55"><title>{node} {step}: {speed:.0f} GFLOP/s, '
                   f'{100 * share:.1f} % of the time</title></circle>')
    for i, (step, color) in enumerate(PASSES.items()):
        out.append(f'<circle cx="{LEFT + 6 + 160 * i}" cy="{bottom + 66}" r="6" fill="{color}" fill-opacity="0.55"/>'
                   f'<text x="{LEFT + 18 + 160 * i}" y="{bottom + 70}">{step}</text>')
    out += [f'<text x="{LEFT}" y="{bottom + 96}" font-size="11" fill="#666666">A circle is a kernel; its area grows with its '
            'share of the time.</text>',
            f'<text x="{LEFT}" y="{bottom + 112}" font-size="11" fill="#666666">Winograd kernels count the operations of the '
            'direct method.</text>', "</svg>"]
    return "\n".join(out) + "\n"


def main():
    options = parse()
    copied, kernels = bandwidth(), profile(options)
    peak = max(speed or 0 for _, _, name, _, speed in kernels if "winograd" not in name)
    found = points(options, kernels)
    shares = {step: sum(p[4] for p in found if p[1] == step) for step in PASSES}
    print(f"fastest direct kernel {peak:.0f} GFLOP/s, copy {copied:.1f} GB/s; of the time of all kernels: "
          + ", ".join(f"{step} {100 * share:.0f} %" for step, share in shares.items() if share))
    pathlib.Path(options.output).write_text(
        svg(found, peak, copied, f"{options.network}, fp32, {options.batch} images: kernels of a training step on one core"))


main()
