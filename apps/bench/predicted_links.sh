#!/usr/bin/env bash
# How far `convoke study predict` is from what happens: ranks on hosts of their own (linked_hosts.sh) that talk over TCP
# through links of known speed. Prints the predicted and the measured step, and the error.
#   apps/bench/predicted_links.sh [RECIPE [--set KEY=VALUE ...]]       (mnist-sync, one thread a rank)
#   CONVOKE=build/release/convoke RANKS="2 4" ROUNDS=3 SECONDS_EACH=1 LINKS="10gbit 1gbit 100mbit": the program, numbers of
#   ranks, how often, seconds of each measurement, the links (linked_hosts.sh)
# On fewer idle cores than ranks only a slow link says anything: there waiting ranks yield, and computing is not what counts.
. "$(dirname "$0")/linked_hosts.sh"
[ $# -gt 0 ] || set -- mnist-sync
for ranks in ${RANKS:-2}; do
  [ "$ranks" -le "$(nproc)" ] || export OMPI_MCA_mpi_yield_when_idle=1
  for link in ${LINKS:-10gbit 1gbit 100mbit}; do
    case $link in 10gbit) burst=128kb ;; 1gbit) burst=40kb ;; *) burst=16kb ;; esac
    linked_hosts "$ranks" "$link" "$burst"
    echo "== $ranks ranks, link: $link"
    for _ in $(seq "${ROUNDS:-3}"); do
      mpirun --host "$hosts" "$convoke" study predict "$@" --set run.threads=1 --ranks "1,$ranks" --check \
        --seconds "${SECONDS_EACH:-1}" | sed -n 's/^  links between nodes:/  link:/p; s/^here, [0-9]* ranks:/ /p'
    done
  done
done
