# For the scripts beside it: simulated hosts that talk over TCP through links of known speed. Sourced.
#   linked_hosts NUMBER RATE [BURST]    network namespaces, each with a name and shared memory of its own; RATE as tc
#                               knows it ("100mbit"), or "none": as fast as the kernel copies. Sets `hosts` for mpirun
#                               --host. An idle link saves up to BURST bytes (128kb), which it then sends at once; a real
#                               link does not. A small BURST makes fast links slower, because the kernel wakes up late.
# Needs root and iproute2. Nothing is left behind.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
convoke=$(realpath "${CONVOKE:-build/release/convoke}")
exec {linked_lock}> "${TMPDIR:-/tmp}/cvkbench.lock"  # one set of hosts on a machine at a time
flock -w 120 "$linked_lock" || { echo "no hosts here: others are in use on this machine"; exit 77; }
linked_folder=$(mktemp -d) linked_network=10.78.0 linked_bridge=cvkbench0

cut_links() {
  local host
  for host in $(ip netns list | sed -n 's/^cvkbench\([0-9]*\).*/\1/p'); do
    ip link del "cvkb$host" 2> /dev/null || true  # the namespace goes later, if a process still uses it
    ip netns del "cvkbench$host"
  done
  ip link del $linked_bridge 2> /dev/null || true
}
trap 'cut_links; rm -rf "$linked_folder"' EXIT

linked_hosts() {
  local number=$1 rate=$2 burst=${3:-128kb} host
  cut_links
  ip link add $linked_bridge type bridge
  ip addr add $linked_network.254/24 dev $linked_bridge
  ip link set $linked_bridge up
  hosts=
  for host in $(seq "$number"); do
    ip netns add "cvkbench$host"
    ip link add "cvkb$host" type veth peer name eth0 netns "cvkbench$host"
    ip link set "cvkb$host" master $linked_bridge up
    ip -n "cvkbench$host" link set lo up
    ip -n "cvkbench$host" addr add "$linked_network.$host/24" dev eth0
    ip -n "cvkbench$host" link set eth0 up
    [ "$rate" = none ] ||
      ip netns exec "cvkbench$host" tc qdisc add dev eth0 root tbf rate "$rate" burst "$burst" latency 100ms
    hosts+=${hosts:+,}$linked_network.$host:1
  done
}

# mpirun starts its daemon on a host by this script, which binds it to a separate core while cores are left.
cat > "$linked_folder/agent" << 'AGENT'
#!/bin/bash
host=${1##*.}
shift
exec nsenter --net="/run/netns/cvkbench$host" unshare --mount --uts taskset -c "$(((host - 1) % $(getconf _NPROCESSORS_ONLN)))" \
  sh -c "hostname bench$host; mount -t tmpfs tmpfs /dev/shm; $*"
AGENT
chmod +x "$linked_folder/agent"
[ "$(id -u)" -ne 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm_rsh_agent=$linked_folder/agent OMPI_MCA_oob_tcp_if_include=$linked_network.0/24
export OMPI_MCA_btl_tcp_if_include=$linked_network.0/24 OMPI_MCA_hwloc_base_binding_policy=none OMP_NUM_THREADS=1
