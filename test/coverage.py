#!/usr/bin/env python3
"""Prints the share of the lines of src and data-prep that the tests run, by area, as gcov counts them:

    cmake --preset dev -B build/coverage -DCMAKE_CXX_FLAGS=--coverage -DCMAKE_C_FLAGS=--coverage
    cmake --build build/coverage && ctest --test-dir build/coverage
    python3 test/coverage.py build/coverage [--missing]     (--missing lists the lines that no test runs)

Ends with 1 if the share is below 90 %.
"""
import argparse
import collections
import json
import os
import subprocess
import sys

WANTED = 0.9
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def counts_of(build):
    """{file: {line: count}} of the files in src and data-prep. A line of a header or template counts once."""
    data = [os.path.join(folder, name) for folder, _, names in os.walk(build) for name in names if name.endswith(".gcda")]
    if not data:
        sys.exit(f"error: {build}: holds no .gcda files\n  hint: build with --coverage, then run the tests")
    counts = collections.defaultdict(dict)
    for one in data:
        out = subprocess.run(["gcov", "--json-format", "--stdout", one], capture_output=True, cwd=build, check=False).stdout
        for report in out.splitlines():
            found = json.loads(report)
            for file in found["files"]:
                path = os.path.normpath(os.path.join(found["current_working_directory"], file["file"]))
                path = os.path.relpath(os.path.realpath(path), ROOT)
                if not path.startswith(("src/", "data-prep/")):
                    continue
                for line in file["lines"]:
                    number = line["line_number"]
                    counts[path][number] = counts[path].get(number, 0) + line["count"]
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--missing", action="store_true")
    options = parser.parse_args()
    areas = collections.defaultdict(lambda: [0, 0])
    for path, lines in sorted(counts_of(os.path.abspath(options.build)).items()):
        run = sum(count > 0 for count in lines.values())
        area = areas["/".join(path.split("/")[: 2 if path.startswith("src/") else 1])]
        area[0] += run
        area[1] += len(lines)
        if options.missing and run < len(lines):
            print(f"{path}: " + " ".join(str(n) for n, count in sorted(lines.items()) if count == 0))
    for name, (run, lines) in sorted(areas.items()):
        print(f"{name:20} {run:6} of {lines:6} lines  {100 * run / lines:5.1f} %")
    run, lines = (sum(area[i] for area in areas.values()) for i in (0, 1))
    print(f"{'all':20} {run:6} of {lines:6} lines  {100 * run / lines:5.1f} %")
    return 0 if run >= WANTED * lines else 1


if __name__ == "__main__":
    sys.exit(main())
