#!/usr/bin/env bash
# The step of two or more hosts under each way to exchange: images/s of `convoke bench`, the exposed time of a step, and
# the bytes that the second host sends in a step. The hosts are namespaces of this machine (linked_hosts.sh).
#   apps/bench/exchange_over_links.sh [RECIPE [--set KEY=VALUE ...]]       (mnist-sync)
#   CONVOKE=build/release/convoke HOSTS="2 4" LINKS="1gbit 100mbit" ROUNDS=2: the program, hosts, links, how often
#   PYTHON=torch/bin/python NETWORK="mnist-ensemble --batch 64 --shape 1,28,28 --classes 10": also PyTorch's
#   DistributedDataParallel over gloo, with fp32, its bf16 hook, and post-local SGD (torch_ddp.py)
# Where the link is what is waited for, a few cores do for many ranks.
. "$(dirname "$0")/linked_hosts.sh"
[ $# -gt 0 ] || set -- mnist-sync
export OMPI_MCA_mpi_yield_when_idle=1
sent() { ip netns exec cvkbench2 cat /sys/class/net/eth0/statistics/tx_bytes; }
number() { sed -n "s/.*\"$1\": *\([0-9.e+-]*\).*/\1/p" <<< "$2"; }
row() {  # name, then what to set
  local name=$1 before result
  shift
  before=$(sent)
  result=$(mpirun --host "$hosts" "$convoke" bench "${recipe[@]}" --set run.threads=1 --rounds 3 --seconds 1 --json "$@")
  printf '%2s hosts, %-8s %-12s %8.4g images/s  exposed %8.2f ms  %10.0f bytes a step\n' "$count" "$link" "$name" \
    "$(number images_per_second "$result")" "$(number exposed_milliseconds "$result")" \
    "$(awk "BEGIN { print ($(sent) - $before) / $(number steps "$result") }")"
}
ddp() {  # the way to exchange
  local host before result pids=()
  before=$(sent)
  for host in $(seq "$count"); do
    ip netns exec "cvkbench$host" env RANK=$((host - 1)) WORLD_SIZE="$count" MASTER_ADDR=$linked_network.1 \
      MASTER_PORT=29533 GLOO_SOCKET_IFNAME=eth0 taskset -c $(((host - 1) % $(getconf _NPROCESSORS_ONLN))) \
      "$PYTHON" apps/bench/torch_ddp.py $NETWORK --cores 1 --seconds 1 --exchange "$1" > "$linked_folder/ddp$host" &
    pids+=($!)
  done
  wait "${pids[@]}"
  result=$(cat "$linked_folder/ddp1")
  printf '%2s hosts, %-8s DDP %-8s %8.4g images/s  (all of its start and run: %d bytes)\n' "$count" "$link" "$1" \
    "$(number images_per_second "$result")" $(($(sent) - before))
}
recipe=("$@")
for count in ${HOSTS:-2}; do
  for link in ${LINKS:-1gbit}; do
    linked_hosts "$count" "$link"
    for _ in $(seq "${ROUNDS:-2}"); do
      row fp32
      row bf16 --set train.wire=bf16
      row exact --set train.reduction=exact
      row local-sgd --set 'train.strategy={ name = "local-sgd", every = 8, optimizer_state = "keep" }'
      row none --set 'train.strategy="none"'
      if [ -n "${PYTHON:-}" ]; then
        for exchange in ddp bf16 post-local; do ddp $exchange; done
      fi
    done
  done
done
