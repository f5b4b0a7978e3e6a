#!/usr/bin/env bash
# How far `convoke study predict` is from what happens: two ranks, each in a network namespace of its own, that talk
# over TCP through links of known speed. Prints the predicted and the measured step, and the error.
#   apps/bench/predicted_links.sh [RECIPE [--set KEY=VALUE ...]]       (mnist-sync, one thread a rank)
#   CONVOKE=build/release/convoke ROUNDS=3 LINKS="none 1gbit 100mbit": the program, how often, the links
# Needs root, iproute2 and two idle cores. Nothing is left behind.
set -euo pipefail
cd "$(dirname "$0")/../.."
convoke=$(realpath "${CONVOKE:-build/release/convoke}")
[ $# -gt 0 ] || set -- mnist-sync
folder=$(mktemp -d) network=10.78.0 bridge=cvkbench0

clean() {
  local host
  for host in 1 2; do ip netns del "cvkbench$host" 2> /dev/null || true; done
  ip link del $bridge 2> /dev/null || true
  rm -rf "$folder"
}
trap clean EXIT

ip link add $bridge type bridge
ip addr add $network.254/24 dev $bridge
ip link set $bridge up
for host in 1 2; do
  ip netns add "cvkbench$host"
  ip link add "cvkb$host" type veth peer name eth0 netns "cvkbench$host"
  ip link set "cvkb$host" master $bridge up
  ip -n "cvkbench$host" link set lo up
  ip -n "cvkbench$host" addr add "$network.$host/24" dev eth0
  ip -n "cvkbench$host" link set eth0 up
done

# What mpirun starts its daemon on a host with. Each host has a name and shared memory of its own, and one core.
cat > "$folder/agent" << 'AGENT'
#!/bin/bash
host=${1##*.}
shift
exec nsenter --net="/run/netns/cvkbench$host" unshare --mount --uts taskset -c "$((host - 1))" \
  sh -c "hostname bench$host; mount -t tmpfs tmpfs /dev/shm; $*"
AGENT
chmod +x "$folder/agent"
[ "$(id -u)" -ne 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm_rsh_agent=$folder/agent OMPI_MCA_oob_tcp_if_include=$network.0/24
export OMPI_MCA_btl_tcp_if_include=$network.0/24 OMPI_MCA_hwloc_base_binding_policy=none OMP_NUM_THREADS=1

for link in ${LINKS:-none 1gbit 100mbit}; do
  for host in 1 2; do
    ip netns exec "cvkbench$host" tc qdisc del dev eth0 root 2> /dev/null || true
    [ "$link" = none ] ||
      ip netns exec "cvkbench$host" tc qdisc add dev eth0 root tbf rate "$link" burst 128kb latency 100ms
  done
  echo "== link: $link"
  for _ in $(seq "${ROUNDS:-3}"); do
    mpirun --host "$network.1:1,$network.2:1" "$convoke" study predict "$@" --set run.threads=1 --ranks 1,2 --check |
      sed -n 's/^  between nodes/  link/p; s/^here, 2 ranks:/ /p'
  done
done
