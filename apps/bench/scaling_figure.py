#!/usr/bin/env python3
"""Predicts the weak scaling of four networks on three links, and draws it.

  apps/bench/scaling_figure.py [--convoke build/release/convoke] [--folder docs/results/scaling]

writes FOLDER/weak-scaling.csv by `convoke study predict --weak`, whose ranks are simulated, and draws
FOLDER/weak-scaling.svg from it. One core computes; it should be idle. --draw only draws the table again.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess

RANKS = [8, 16, 32, 64, 128, 256, 512, 1024]
NETWORKS = {
    "93k CNN, 64 a rank": ["mnist-sync"],
    "905k CNN, 512 a rank": ["mnist-ddp", "--set", "train.batch=512"],
    "ResNet-50, 16 a rank": ["resnet50", "--set", "train.batch=16"],
    "VGG-16, 8 a rank": ["vgg16", "--set", "train.batch=8"],
}
LINKS = {"100 Mbit/s": "94Mbit", "1 Gbit/s": "940Mbit", "10 Gbit/s": "9.4Gbit"}  # without the headers of TCP
COLORS = ["#0072b2", "#e69f00", "#009e73", "#d55e00"]  # Okabe and Ito: distinct for the color-blind, too
COLUMNS = ["network", "link", "ranks", "nodes", "compute_ms", "summing_ms", "waiting_ms", "step_ms", "images_per_second",
           "efficiency"]


def predict(options, network):
    """The rows of a network, which is measured once."""
    command = [options.convoke, "study", "predict", *NETWORKS[network], "--set", "run.threads=1", "--weak", "--json",
               "--seconds", str(options.seconds), "--ranks-per-node", str(options.ranks_per_node),
               "--ranks", ",".join(map(str, RANKS)), "--latency", "50us", "--bandwidth", ",".join(LINKS.values())]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    for link, line in zip(LINKS, lines, strict=True):
        for step in json.loads(line)["predictions"]:
            yield {"network": network, "link": link, "ranks": step["ranks"],
                   "nodes": -(-step["ranks"] // options.ranks_per_node),
                   **{f"{name}_ms": f"{1e3 * step[f'{key}_seconds']:.3f}"
                      for name, key in (("compute", "compute"), ("summing", "summing"), ("waiting", "exposed"),
                                        ("step", "step"))},
                   "images_per_second": f"{step['images_per_second']:.0f}", "efficiency": f"{step['efficiency']:.4f}"}


def svg(rows, ranks_per_node):
    """A panel for each link: efficiency by ranks (on a logarithmic axis), a line for each network."""
    width, height, top, gap = 230, 220, 62, 40
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 370" font-family="sans-serif" font-size="12">',
           '<rect width="860" height="370" fill="#ffffff"/>',
           '<text x="12" y="22" font-size="15" font-weight="bold">Predicted weak scaling: images/s relative to as many '
           'single ranks</text>']
    for panel, link in enumerate(LINKS):
        left = 52 + panel * (width + gap)
        out.append(f'<text x="{left + width / 2}" y="{top - 12}" text-anchor="middle" font-weight="bold">{link}</text>')
        for percent in range(0, 101, 25):
            y = top + height * (1 - percent / 100)
            out.append(f'<line x1="{left}" x2="{left + width}" y1="{y}" y2="{y}" stroke="#dddddd"/>')
            if panel == 0:
                out.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{percent} %</text>')
        place = {ranks: left + width * i / (len(RANKS) - 1) for i, ranks in enumerate(RANKS)}
        for ranks in RANKS:
            out.append(f'<text x="{place[ranks]:.1f}" y="{top + height + 16}" text-anchor="middle" font-size="10">'
                       f'{ranks:,}</text>')
        out.append(f'<text x="{left + width / 2}" y="{top + height + 32}" text-anchor="middle">ranks, {ranks_per_node} '
                   'a node</text>')
        for network, color in zip(NETWORKS, COLORS):
            points = [(place[int(row["ranks"])], top + height * (1 - float(row["efficiency"])))
                      for row in rows if row["network"] == network and row["link"] == link]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            out.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
            out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{color}"/>' for x, y in points]
    for i, (network, color) in enumerate(zip(NETWORKS, COLORS)):
        x = 52 + i * 200
        out.append(f'<line x1="{x}" x2="{x + 22}" y1="346" y2="346" stroke="{color}" stroke-width="3"/>')
        out.append(f'<text x="{x + 28}" y="350">{network}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--convoke", default=os.environ.get("CONVOKE", "build/release/convoke"))
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("docs/results/scaling"))
    parser.add_argument("--ranks-per-node", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=1, help="time to measure a step for")
    parser.add_argument("--draw", action="store_true", help="do not predict; draw the table in FOLDER")
    options = parser.parse_args()
    table = options.folder / "weak-scaling.csv"
    if not options.draw:
        rows = [row for network in NETWORKS for row in predict(options, network)]
        options.folder.mkdir(parents=True, exist_ok=True)
        with open(table, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    ranks_per_node = max(int(row["ranks"]) // int(row["nodes"]) for row in rows)
    (options.folder / "weak-scaling.svg").write_text(svg(rows, ranks_per_node))


if __name__ == "__main__":
    main()
