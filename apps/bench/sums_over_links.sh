#!/usr/bin/env bash
# Which of Open MPI's ways to sum gradients is fastest over a network: images/s of `convoke bench` with each, ranks on
# hosts of their own (linked_hosts.sh). The table in src/mpi/session.cpp comes from here.
#   apps/bench/sums_over_links.sh [RECIPE [--set KEY=VALUE ...]]       (mnist-sync)
#   CONVOKE=build/release/convoke RANKS="2 3 4 8" LINK=100mbit ROUNDS=2: the program, ranks, the link, how often
# Where the link is what is waited for, a few cores do for many ranks.
. "$(dirname "$0")/linked_hosts.sh"
[ $# -gt 0 ] || set -- mnist-sync
export OMPI_MCA_mpi_yield_when_idle=1
for ranks in ${RANKS:-2 3 4 8}; do
  linked_hosts "$ranks" "${LINK:-100mbit}"
  for _ in $(seq "${ROUNDS:-2}"); do
    for algorithm in 2:tree 3:Rabenseifner 1:ring; do
      rate=$(OMPI_MCA_coll_libnbc_iallreduce_algorithm=${algorithm%:*} mpirun --host "$hosts" "$convoke" bench "$@" \
        --set run.threads=1 --rounds 3 --seconds 1 --json | sed -n 's/.*"images_per_second": *\([0-9]*\).*/\1/p')
      printf '%3s ranks, %s  %-14s %8s images/s\n' "$ranks" "${LINK:-100mbit}" "${algorithm#*:}" "$rate"
    done
  done
done
