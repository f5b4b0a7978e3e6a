#!/usr/bin/env bash
# A temporary Slurm on this machine, for tests; uses no systemd and does not change /etc. Needs root.
#   cluster.sh up [NODES=3] [CPUS=2] [SPARE=0]
#                                      start it, with SPARE more nodes in a partition `spare`, for a second job whose
#                                      nodes may be lost; prints the line to `eval`: export SLURM_CONF=...
#                                      If a cluster of a living shell (or ctest) is up, `up` ends with 1; the remains
#                                      of a dead one are removed first
#   cluster.sh down                    stop and remove everything; also after a failed `up` or a killed session
#   cluster.sh crash NODE              simulate a power failure of the node: all its processes die at once
#   cluster.sh boot NODE               start the node again
#   cluster.sh pids NODE PROGRAM       print the processes of that name on the node
#   cluster.sh check                   print why Slurm cannot run here, or nothing
# Exit code 77: Slurm cannot run here; the reason is printed.
# Every "node" is a slurmd in separate network, mount and UTS namespaces (address, host name, /dev/shm), so that ranks of
# different nodes talk over TCP, as on a cluster. State is in ${CONVOKE_SLURM:-/tmp/convoke-slurm}.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/eventually.sh"

folder=${CONVOKE_SLURM:-/tmp/convoke-slurm}
network=10.79.0 bridge=cvkbr0 prefix=cvk-  # separate names, addresses and ports: another Slurm may run here
skip=77
export SLURM_CONF=$folder/slurm.conf

cannot() { echo "no Slurm here: $1"; exit $skip; }

check() {
  local command package
  [ "$(id -u)" -eq 0 ] || cannot "network namespaces need root"
  for command in slurmctld:slurmctld slurmd:slurmd sbatch:slurm-client munged:munge ip:iproute2 nsenter:util-linux; do
    package=${command#*:} command=${command%:*}
    command -v "$command" > /dev/null ||
      cannot "$command is missing (apt-get install --no-install-recommends slurmctld slurmd slurm-client munge iproute2)"
  done
  ip netns add ${prefix}try 2> /dev/null || cannot "this machine (a container?) cannot create network namespaces"
  ip netns del ${prefix}try
}

# True while a process runs; false for a zombie.
runs() { grep -q '^State:.[^ZX]' "/proc/$1/status" 2> /dev/null; }
ended() { ! runs "$1"; }
all_ended() { local pid; for pid in "$@"; do ended "$pid" || return 1; done; }

# Prints the processes of a daemon of this folder's cluster, identified by its configuration file.
daemons() {  # name of the daemon
  local cmdline
  for cmdline in $(grep -lszxF -- "$SLURM_CONF" /proc/[0-9]*/cmdline); do
    cmdline=${cmdline%/cmdline}
    ! grep -qsx "$1" "$cmdline/comm" || echo "${cmdline#/proc/}"
  done
}

stop() {  # processes; sends TERM, then KILL after 5 s
  local pid
  for pid in "$@"; do
    kill "$pid" 2> /dev/null || continue
    eventually 5 ended "$pid" || kill -9 "$pid" 2> /dev/null || true
  done
}

# The owner of the cluster: the shell or ctest that started it, with its start time, because process numbers
# are reused.
began() { sed 's/.*) //' "/proc/$1/stat" 2> /dev/null | cut -d ' ' -f 20; }
owner_is_there() {
  local owner start
  read -r owner start 2> /dev/null < "$folder/owner" && [ "$(began "$owner")" = "$start" ]
}
in_use() { [ -e "$SLURM_CONF" ] && [ -n "$(daemons slurmctld)" ] && owner_is_there; }

node_names() { ip netns list 2> /dev/null | sed -n "s/^$prefix\(node[0-9]*\).*/\1/p"; }  # nodes that have a network
require_up() { [ -e "$SLURM_CONF" ] || { echo "no cluster is up in $folder" >&2; exit 1; }; }

munge_daemon() { local pid; read -r pid < /run/munge/munged.pid && grep -qsx munged "/proc/$pid/comm" && echo "$pid"; } 2> /dev/null

start_munge() {  # the package has the key; the daemon may be running already
  ! munge -n 2> /dev/null | unmunge > /dev/null 2>&1 || return 0
  install -d -o munge -g munge -m 755 /run/munge
  rm -f /run/munge/munge.socket*
  runuser -u munge -- munged || cannot "munged does not start"
  touch "$folder/munged-is-ours"
}

write_config() {
  local nodes=$1 cpus=$2 all=$(($1 + $3)) i
  {
    echo "127.0.0.1 localhost"
    echo "$network.1 $(hostname)"
    for i in $(seq "$all"); do echo "$network.$((10 + i)) node$i"; done
  } > "$folder/hosts"
  # If /sys/fs/cgroup is not mounted (in containers), slurmd starts only if it is told to ignore it.
  echo CgroupPlugin=cgroup/v1 > "$folder/cgroup.conf"
  cat > "$SLURM_CONF" << CONFIG
ClusterName=convoke-test
SlurmctldHost=$(hostname)($network.1)
SlurmUser=root
SlurmctldPort=16917
SlurmdPort=16918
# A requeued job may start again after this many seconds (120).
AuthInfo=cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
# mpi/pmix makes folders named after the job on every node, and all nodes share this machine's /tmp.
TmpFS=$folder/tmp-%n
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/%n.log
# Records jobs and how they ended, without a database.
JobCompType=jobcomp/filetxt
JobCompLoc=$folder/log/jobs.txt
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=256
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
# More CPUs and memory than exist, if requested.
SlurmdParameters=config_overrides
ReturnToService=2
# Seconds from TERM to KILL (30), and until a silent node counts as down (300).
KillWait=5
SlurmdTimeout=20
NodeName=DEFAULT CPUs=$cpus RealMemory=4000 State=UNKNOWN
$(for i in $(seq "$all"); do echo "NodeName=node$i NodeAddr=$network.$((10 + i))"; done)
PartitionName=main Nodes=node[1-$nodes] Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=node1 MaxTime=5 State=UP
PartitionName=physics Nodes=node1 AllowAccounts=physics State=UP
$([ "$all" = "$nodes" ] || echo "PartitionName=spare Nodes=node[$((nodes + 1))-$all] MaxTime=INFINITE State=UP")
CONFIG
}

boot() {
  local name=$1 number=${1#node}
  ip netns add "$prefix$name"
  # Always the same hardware address, because others remember that of a node that crashes and comes back.
  ip link add "cvkv$number" type veth peer name eth0 address "02:00:00:00:00:$(printf %02x "$number")" netns "$prefix$name"
  ip link set "cvkv$number" master $bridge up
  ip -n "$prefix$name" link set lo up
  ip -n "$prefix$name" addr add "$network.$((10 + number))/24" dev eth0
  ip -n "$prefix$name" link set eth0 up
  mkdir -p "$folder/spool-$name" "$folder/tmp-$name"
  # Open MPI 4 removes the folder of its jobs when it is empty, and a job that starts just then fails.
  mkdir -p "/tmp/ompi.$name.0/keep"
  nsenter --net="/run/netns/$prefix$name" unshare --mount --uts sh -ec "
    hostname $name
    mount --bind $folder/hosts /etc/hosts
    mount -t tmpfs -o size=50% tmpfs /dev/shm
    exec slurmd -f $SLURM_CONF -N $name" > "$folder/log/$name.start" 2>&1
}

# Ends all processes first, and the network only after that: other nodes then learn that connections are
# closed, and mpirun reacts at once. Without the network, mpirun would not know, and Slurm would end the job
# after SlurmdTimeout.
crash() {
  local pids pid
  pids=$(ip netns pids "$prefix$1" 2> /dev/null) || return 0
  for pid in $pids; do kill -9 "$pid" 2> /dev/null || true; done
  eventually 5 all_ended $pids || true
  sleep 0.2  # their last messages arrive
  ip netns del "$prefix$1" 2> /dev/null || true
  ip link del "cvkv${1#node}" 2> /dev/null || true
}

all_idle() { [ "$(sinfo -h -N -p main,spare -o %T 2> /dev/null | grep -cx idle)" = "$1" ]; }

up() {
  local nodes=$1 cpus=$2 spare=$3 i
  ! in_use || { echo "a cluster is up in $folder (cluster.sh down ends it)" >&2; exit 1; }
  check
  down  # removes what a killed session has left
  trap 'code=$?; [ $code -eq 0 ] || { tail -n 5 "$folder"/log/* 2> /dev/null; down; } >&2' EXIT
  mkdir -p "$folder"/{state,log,run}
  echo "$PPID $(began $PPID)" > "$folder/owner"
  start_munge
  ip link add $bridge type bridge
  ip addr add $network.1/24 dev $bridge
  ip link set $bridge up
  write_config "$nodes" "$cpus" "$spare"
  slurmctld -f "$SLURM_CONF"
  eventually 60 scontrol ping > /dev/null 2>&1 || { echo "slurmctld does not answer" >&2; exit 1; }
  for i in $(seq "$((nodes + spare))"); do boot "node$i"; done
  eventually 60 all_idle "$((nodes + spare))" || { sinfo -N >&2; echo "the nodes do not become idle" >&2; exit 1; }
  echo "export SLURM_CONF=$SLURM_CONF"
}

down() {
  local name jobs
  if [ -e "$SLURM_CONF" ] && [ -n "$(daemons slurmctld)" ]; then
    jobs=$(timeout 5 squeue -h -o %A 2> /dev/null || true)
    [ -z "$jobs" ] || timeout 10 scancel --full --signal=KILL $jobs 2> /dev/null || true
  fi
  stop $(daemons slurmctld)
  stop $(daemons slurmd)
  for name in $(node_names); do crash "$name"; done  # remaining steps and ranks
  ip link del $bridge 2> /dev/null || true
  [ ! -e "$folder/munged-is-ours" ] || stop $(munge_daemon)
  rm -rf "$folder" /tmp/ompi.node[0-9]*.0
}

case "${1:-}" in
  up) up "${2:-3}" "${3:-2}" "${4:-0}" ;;
  down) down ;;
  crash) require_up; crash "${2:?which node?}" ;;
  pids) for pid in $(ip netns pids "$prefix${2:?which node?}"); do grep -qsx "$3" "/proc/$pid/comm" && echo "$pid"; done || true ;;
  boot) require_up; boot "${2:?which node?}" ;;
  check) check ;;
  *) sed -n '2,/^set/{/^#/p}' "$0" >&2; exit 2 ;;
esac
