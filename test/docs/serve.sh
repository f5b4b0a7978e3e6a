#!/usr/bin/env bash
# Runs the blocks of docs/serving.md that serve an exported model, by hand:
#   CONVOKE_BINARY=build/dev/convoke test/docs/serve.sh PYTHON_WITH_ONNXRUNTIME_AND_TORCH PYTHON_WITH_KERAS
# The C++ block needs Debian's libonnxruntime-dev; without it, the script says so.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
binary=$(readlink -f "$CONVOKE_BINARY")
torch=$1 keras=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# block KIND: prints the block below the comment <!-- serve: KIND -->.
block() { awk -v mark="<!-- serve: $1 -->" '$0 == mark { found = 1 } /^```/ && inside { exit } inside; /^```/ && found { inside = 1 }' "$root/docs/serving.md"; }

CONVOKE_BINARY=$binary "$root/test/docs/data.sh" "$work" > /dev/null
CONVOKE_BINARY=$binary "$root/test/docs/run_page.sh" docs/serving.md "$work" > /dev/null
cd "$work/docs.serving.md/work"

echo "== onnxruntime"; block onnx | "$torch" -
echo "== PyTorch"; block torch | "$torch" -
echo "== Keras"; block keras | TF_CPP_MIN_LOG_LEVEL=3 "$keras" -
echo "== C++"
block c++ > serve.cpp
if echo '#include <onnxruntime/onnxruntime_cxx_api.h>' | g++ -E -x c++ - > /dev/null 2>&1; then
  g++ -std=c++17 serve.cpp -lonnxruntime -o serve
  ./serve
else
  echo "not run: apt-get install libonnxruntime-dev (Debian 13)"
fi
