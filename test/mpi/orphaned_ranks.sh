#!/usr/bin/env bash
# Kills mpirun while its ranks start MPI. They notice and end.
#   orphaned_ranks.sh COMMAND...     an mpirun whose ranks never come out of MPI_Init
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
fail() {
  echo "FAILED: $*"
  cat "$log"
  exit 1
}
running() {  # whether a rank is left
  local rank
  for rank in $ranks; do grep -s '^State' "/proc/$rank/status" | grep -qv 'Z (zombie)' && return 0; done
  return 1
}

"$@" > "$log" 2>&1 &
launcher=$!
for _ in $(seq 100); do
  ranks=$(cat /proc/$launcher/task/*/children)
  [ "$(wc -w <<< "$ranks")" -eq 2 ] && break
  sleep 0.1
done
sleep 2.5  # longer than the ranks wait between two looks at their parent
running || fail "the ranks ended while mpirun was there"
kill -KILL $launcher
for _ in $(seq 50); do
  running || exit 0
  sleep 0.1
done
kill -KILL $ranks
fail "the ranks are left"
