#!/usr/bin/env bash
# Exact models, trained on one host and on two and three hosts: the same bits. With summed gradients they do not depend
# on the number of ranks; with local SGD they do, so the same number of ranks trains on one host.
. "$(dirname "${BASH_SOURCE[0]}")/place.sh"
linked_hosts 3 none
"$convoke" train recipe.toml --quiet --output alone > alone.log
sent() { ip netns exec cvkbench2 cat /sys/class/net/eth0/statistics/tx_bytes; }  # by the second host, in bytes
strategy='"allreduce"' expected=alone
train_on() {  # name, then the ranks on each host
  local name=$1 before
  shift
  before=$(sent)
  if ! mpirun --host "$(list_of "$@")" "$convoke" train recipe.toml --quiet --output "$name" \
      --set train.strategy="$strategy" > "$name.log" 2>&1; then
    cat "$name.log"
    failed=1
  elif cmp "$expected/model.h5" "$name/model.h5"; then
    bytes=$(($(sent) - before))
    echo "ranks on hosts: $*: the same model, the second host sent $bytes bytes"
  else
    failed=1
  fi
}
train_on pair 1 1
of_a_pair=$bytes
mpirun --host "$(list_of 1 1)" -x CONVOKE_TOPOLOGY=core:2 "$convoke" train recipe.toml --output numa \
  --set run.share_memory=numa > numa.log 2>&1 || { cat numa.log; failed=1; }
check "the copies of two hosts are not those of NUMA nodes" grep -q 'share_memory = "numa" has no effect' numa.log
train_on even 2 2
# The ranks of a host send their sum, not a copy each; starting more ranks takes some bytes.
[ "$bytes" -le $((of_a_pair * 13 / 10)) ] || { echo "two ranks on each host send more than one"; failed=1; }
train_on uneven 2 1
train_on three 1 2 1

strategy='{ name = "local-sgd", every = 5, momentum = 0.5 }' expected=alone4
mpirun -n 4 --oversubscribe "$convoke" train recipe.toml --quiet --output alone4 --set train.strategy="$strategy" \
  > alone4.log
cmp -s alone/model.h5 alone4/model.h5 && { echo "local SGD trained the same model as sums of gradients"; failed=1; }
train_on local-even 2 2
train_on local-three 1 2 1
exit $failed
