#!/usr/bin/env bash
# Slow and lossy links, a rank that stops for a while, a rank that is killed, and a link that is cut. The first three
# change no bit of the model. The others end the job on all hosts within seconds, with the cause.
. "$(dirname "${BASH_SOURCE[0]}")/place.sh"
linked_hosts 2 none
short=(--set train.epochs=2)
"$convoke" train recipe.toml --quiet --output alone "${short[@]}" > alone.log
train() {  # a name, then options
  local name=$1
  shift
  exec timeout --foreground 120 mpirun --host "$(list_of 1 1)" "$convoke" train recipe.toml --output "$name" "$@" \
    > "$name.log" 2>&1
}
trains() { (train "$@"); }
equal() { cmp alone/model.h5 "$1/model.h5" || { cat "$1.log"; return 1; }; }
says() { grep -q "$2" "$1.log" || { cat "$1.log"; return 1; }; }
wait_for() { timeout 60 bash -c "until $1; do sleep 0.2; done" || { echo "never: $1"; return 1; }; }
started() { wait_for "[ -e $1/checkpoints/epoch-0001.h5 ] || grep -qs 'epoch 2/' $1.log" || { cat "$1.log"; exit 1; }; }
alive() { [ -n "$(processes_on 1 convoke)$(processes_on 2 convoke)" ]; }
end_daemons() {  # of Open MPI, on hosts that are cut off
  local host
  for host in 1 2; do kill -9 $(ip netns pids "cvkbench$host") 2> /dev/null || true; done
}
all_gone() {
  local i
  for i in $(seq 150); do alive || return 0; sleep 0.2; done
  return 1
}

shape() {  # a token bucket filter for what each host sends
  local host
  for host in 1 2; do ip netns exec "cvkbench$host" tc qdisc replace dev eth0 root tbf "$@"; done
}
shape rate 20mbit burst 16kb latency 500ms
check "a slow link: the job succeeds" trains slow "${short[@]}"
check "and changes no bit" equal slow
# A queue with room for a packet or two loses the others, which TCP repeats.
shape rate 100mbit burst 16kb latency 1ms
check "a lossy link: the job succeeds" trains lossy "${short[@]}"
check "and changes no bit" equal lossy
lost=$(ip netns exec cvkbench1 tc -s qdisc show dev eth0 | sed -n 's/.*dropped \([0-9]*\).*/\1/p')
check "it lost $lost packets" [ "$lost" -gt 0 ]
for host in 1 2; do ip netns exec "cvkbench$host" tc qdisc del dev eth0 root; done

# The rank of the second host runs a tenth of the time, for a minute: on a busy machine it would not end in time.
train stopped "${short[@]}" &
job=$!
wait_for "ip netns pids cvkbench2 | xargs -I{} cat /proc/{}/comm 2> /dev/null | grep -qx convoke"
end=$((SECONDS + 60))
while kill -0 $job 2> /dev/null && [ $SECONDS -lt $end ]; do
  rank=$(processes_on 2 convoke)
  kill -STOP $rank 2> /dev/null || break
  sleep 0.45
  kill -CONT $rank 2> /dev/null || break
  sleep 0.05
done
check "a rank that is ten times slower: the job succeeds" wait $job
check "and changes no bit" equal stopped

endless=(--set train.epochs=1000000)
train killed "${endless[@]}" &
job=$!
started killed
kill -9 $(processes_on 2 convoke)
code=0
wait $job || code=$?
check "a killed rank: the exit code is 137" [ $code = 137 ]
check "no rank is left" all_gone

# mpirun notices that it has lost a host, with the settings of the job scripts, here shorter.
export OMPI_MCA_oob_tcp_keepalive_time=4 OMPI_MCA_oob_tcp_keepalive_intvl=1 OMPI_MCA_oob_tcp_keepalive_probes=4
train lost "${endless[@]}" &
job=$!
started lost
begin=$SECONDS
ip link set cvkb2 down
code=0
wait $job || code=$?
check "a cut link: the exit code is 205" [ $code = 205 ]
check "within half a minute, here $((SECONDS - begin)) s" [ $((SECONDS - begin)) -lt 30 ]
check "mpirun names the host" says lost "lost communication\|node $linked_network.2"
check "no rank is left" all_gone

# The ranks notice it. mpirun then waits for the lost host, as long as the kernel does.
end_daemons
linked_hosts 2 none
unset OMPI_MCA_oob_tcp_keepalive_time OMPI_MCA_oob_tcp_keepalive_intvl OMPI_MCA_oob_tcp_keepalive_probes
export CONVOKE_LINK_TIMEOUT=6s
trains limit "${short[@]}" || true
check "a limit that is no number is refused" says limit 'LINK_TIMEOUT=6s: not a whole number'
export CONVOKE_LINK_TIMEOUT=6
train cut "${endless[@]}" &
job=$!
started cut
ip link set cvkb2 down
check "a cut link: an error names the host" wait_for "grep -q 'error: $linked_network.[12] has not answered for 6 s' cut.log"
check "no rank is left" all_gone
kill -9 $(pgrep -P $job) $job 2> /dev/null || true  # mpirun and its time limit
wait $job 2> /dev/null || true
end_daemons
exit $failed
