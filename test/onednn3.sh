#!/usr/bin/env bash
# Builds Convoke against oneDNN 3.x (the PyPI packages, 2023.2) in build/onednn3 and runs the tests that depend on it.
# Not part of CI: it downloads from PyPI. Usage: test/onednn3.sh
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
root=$PWD/build/onednn3-package
if [ ! -d "$root" ]; then
  python3 -m venv "$root"
  "$root/bin/pip" install -q --no-deps onednn-devel-cpu-gomp==2023.2.0 onednn-cpu-gomp==2023.2.0
fi
library=$(find "$root" -name 'libdnnl.so.3' | head -1)
header=$(find "$root" -path '*oneapi/dnnl/dnnl.hpp' | head -1)
cmake --preset dev -B build/onednn3 -DDNNL_LIBRARY="$library" -DDNNL_INCLUDE_DIR="${header%/oneapi/dnnl/dnnl.hpp}"
cmake --build build/onednn3
LD_LIBRARY_PATH="$(dirname "$library")" ctest --test-dir build/onednn3 --output-on-failure -LE slow
