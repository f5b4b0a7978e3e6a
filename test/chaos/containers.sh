#!/usr/bin/env bash
# Trains in containers that lack something, made of namespaces: room in /dev/shm, calls that a sandbox refuses, /proc, a
# writable root, processors, memory, a name for the user, a steady clock. Every job ends with the bits of a job outside.
#   containers.sh [sizes [MODEL]]    (sizes: models of 1 to 600 MB under every size of /dev/shm, or one of these models)
# The environment: CONVOKE and MAKE_DATASET, the programs, and MISFORTUNE, a library that a rank preloads.
. "$(dirname "${BASH_SOURCE[0]}")/place.sh"
: "${MISFORTUNE:?}"
if ! unshare --mount mount -t tmpfs tmpfs /mnt 2> /dev/null; then
  echo "test skipped: needs root to mount"
  exit 0
fi
mount_shm() { echo "mount -t tmpfs -o size=$1 tmpfs /dev/shm"; }
# /dev without /dev/shm.
bare_dev='mount -t tmpfs tmpfs /dev && while read -r name numbers; do mknod -m 666 "/dev/$name" c $numbers; done <<< "null 1 3
zero 1 5
random 1 8
urandom 1 9
tty 5 0" && ln -s /proc/self/fd /dev/fd'
launch() { [ "$1" -eq 1 ] || echo mpirun --oversubscribe --bind-to none -n "$1"; }

# row NAME RANKS MOUNTS BEFORE RECIPE [TEXT...]: trains on RANKS ranks, after the commands MOUNTS in a mount namespace; BEFORE
# are words before the program. The model is that of RECIPE outside, and the output has these texts (-TEXT: has not).
count=0
row() {
  local name=$1 ranks=$2 mounts=$3 before=$4 recipe=$5 text code
  shift 5
  count=$((count + 1))
  [ -e "outside-$recipe/model.h5" ] || "$CONVOKE" train "$recipe" --quiet --output "outside-$recipe" > log 2>&1 || bad "$(cat log)"
  # A copy of the folder's mount stays writable, whatever is mounted over it.
  timeout 300 unshare --mount bash -c "$mounts"' || exit; cd "$0" && exec "$@"' "$place" \
    $(launch "$ranks") $before "$CONVOKE" train "$recipe" --quiet --output "run-$count" > log 2>&1 < /dev/null
  code=$?
  [ $code -eq 0 ] || bad "$name, $recipe, $ranks ranks: exit code $code: $(tail -n 8 log)"
  cmp -s "outside-$recipe/model.h5" "run-$count/model.h5" || bad "$name, $recipe, $ranks ranks: another model"
  for text in "$@"; do
    case $text in
      -*) grep -q -- "${text#-}" log && bad "$name: '${text#-}' in: $(cat log)" ;;
      *) grep -q -- "$text" log || bad "$name: no '$text' in: $(cat log)" ;;
    esac
  done
  printf '%-44s %2d ranks, %-10s %s\n' "$name" "$ranks" "${recipe%.toml}" "$(grep -c '^warning' log) warnings"
}
# dense NAME WIDTH: a recipe with a model of WIDTH^2 parameters.
dense() {
  sed "s/^epochs = .*/epochs = 1/; /^validation_split/d; /conv2d/d; /batch_norm/d; /max_pool/d
    s/^optimizer = .*/optimizer = { name = \"sgd\", learning_rate = 0.01 }/
    s/^  { layer = \"dropout\".*/  { layer = \"dense\", units = $2 },\n  { layer = \"dense\", units = $2 },/" \
    "$here/../support/tiny.toml" > "$1.toml"
  echo 'checkpoint_every = 0' >> "$1.toml"
}

if [ "${1:-}" = sizes ]; then
  "$MAKE_DATASET" data.h5 64
  dense 1MB 490 && dense 50MB 3530 && dense 200MB 7060 && dense 600MB 12240
  for recipe in ${2:-1MB 50MB 200MB 600MB}; do
    for ranks in 2 3; do
      for size in none read-only 4k 1m 16m 64m 200m; do
        case $size in
          none) mounts=$bare_dev ;;
          read-only) mounts=$(mount_shm 1g,ro) ;;
          *) mounts=$(mount_shm $size) ;;
        esac
        row "/dev/shm: $size" $ranks "$mounts" "" $recipe.toml "-own copy"
        rm -rf "run-$count"
      done
    done
  done
  [ $failed -eq 0 ]
  exit
fi

"$MAKE_DATASET" data.h5 320
make_recipe 2
dense 8MB 1400
with() { printf '#!/bin/sh\n%s "$@"\n' "$2" > "$1" && chmod +x "$1"; }  # SCRIPT WORDS: runs its arguments after the words
misfortune() { echo "exec env LD_PRELOAD=$MISFORTUNE CONVOKE_MISFORTUNE_RANK=all 'CONVOKE_MISFORTUNE=$1'"; }

# 1. Memory that ranks share.
row "no /dev/shm" 2 "$bare_dev" "" 8MB.toml "-own copy"
row "/dev/shm is read-only" 2 "$(mount_shm 1g,ro)" "" recipe.toml "-own copy"
row "/dev/shm of 4 KiB" 3 "$(mount_shm 4k)" "" 8MB.toml "-own copy"
with no-memfd "$(misfortune 'refuse 1 memfd_create')"
row "no memfd_create" 2 "$(mount_shm 96m)" ./no-memfd 8MB.toml "-own copy"
row "no memfd_create, no room in /dev/shm" 3 "$(mount_shm 1m)" ./no-memfd 8MB.toml "each rank keeps its own copy"
with no-cma "$(misfortune 'refuse 1 process_vm_readv')"
row "no process_vm_readv" 2 true ./no-cma recipe.toml "-own copy"
with own-numbers "unset OMPI_MCA_btl; exec unshare --pid --fork --mount-proc"
row "each rank is the first process of its container" 2 "$(mount_shm 64m)" ./own-numbers recipe.toml "-own copy"

# 2. Processors and memory that a control group grants: threads by default and the budget of memory follow.
sed '/^threads/d' recipe.toml > threads.toml
threads_are() { grep -q "\"threads\": $1[,}]" "run-$count/environment.json" || bad "not $1 threads: $(grep threads "run-$count/environment.json")"; }
# new_group VERSION CONTROLLER: makes `group`, or says why it cannot.
new_group() {
  local root=/sys/fs/cgroup
  if [ "$1" = v1 ]; then
    root=$root/$2
    [ -e "$root/tasks" ] || { echo "skipped: no hierarchy of cgroup v1 for $2"; return 1; }
  else
    [ -e $root/cgroup.controllers ] || root=$root/unified
    grep -qsw "$2" $root/cgroup.controllers || { echo "skipped: cgroup v2 does not control $2 here"; return 1; }
    echo "+$2" 2> /dev/null > $root/cgroup.subtree_control || { echo "skipped: cgroup v2 cannot grant $2 here"; return 1; }
  fi
  group=$root/convoke-$$
  mkdir "$group" 2> /dev/null || { echo "skipped: cannot make a control group $1 for $2"; return 1; }
}
remove_group() { for _ in $(seq 100); do rmdir "$group" 2> /dev/null && return; sleep 0.05; done; bad "$group stays"; }
dense 200MB 7060
for version in v1 v2; do
  if new_group $version cpu; then
    if [ $version = v1 ]; then
      echo 100000 > "$group/cpu.cfs_period_us" && echo 120000 > "$group/cpu.cfs_quota_us"
    else
      echo "120000 100000" > "$group/cpu.max"
    fi
    row "a quota of 1.2 processors, cgroup $version" 1 "echo \$\$ > $group/cgroup.procs" "" threads.toml
    threads_are 1
    remove_group
  fi
  if new_group $version memory; then
    if [ $version = v1 ]; then limit=memory.limit_in_bytes; else limit=memory.max; fi
    echo 300M > "$group/$limit"
    row "300 MB of memory, cgroup $version" 1 "echo \$\$ > $group/cgroup.procs" "" recipe.toml
    bash -c 'echo $$ > "$0/cgroup.procs" && exec "$@"' "$group" "$CONVOKE" train 200MB.toml --quiet --output large > log 2>&1
    code=$?
    [ $code -eq 1 ] || bad "a model of 200 MB in 300 MB of memory, cgroup $version: exit code $code: $(tail -n 8 log)"
    grep -q "does not fit into memory.* are left" log || bad "cgroup $version: no limit of memory in: $(cat log)"
    remove_group
  fi
done
# The same files without the kernel behind them.
if grep -q '^0::' /proc/self/cgroup; then
  unified="mount -t tmpfs tmpfs /sys/fs/cgroup && cd /sys/fs/cgroup && echo '120000 100000' > cpu.max"
  row "a quota of 1.2 processors, cgroup v2" 1 "$unified" "" threads.toml
  threads_are 1
  unshare --mount sh -c "$unified; echo 99000000 > memory.max; echo 98000000 > memory.current; cd '$place'; exec '$CONVOKE' train \
    8MB.toml --quiet --output small" > log 2>&1 && bad "a model of 8 MB was trained in 1 MB (cgroup v2)"
  grep -q "it may use\|are left" log || bad "cgroup v2: no limit of memory in: $(cat log)"
fi

# 3. The root, the user, the clock.
writable="mount --bind '$place' '$place'"
read_only="$writable && mount -o remount,ro,bind / && { mount -o remount,ro,bind /tmp 2> /dev/null || true; }"
row "a read-only root" 2 "$read_only" "" recipe.toml
row "a read-only root, no folder for MPI" 1 "$read_only && unset OMPI_MCA_orte_tmpdir_base TMPDIR" "" recipe.toml
chmod 777 . mpi mpi/*
# The mpirun of Open MPI 4 needs HOME for such a user: without it, PMIx 4.2 dies of SIGSEGV.
with nobody "unset USER LOGNAME; exec setpriv --reuid 54321 --regid 54321 --clear-groups"
row "a user without a name" 2 'export HOME=/ && set -- ./nobody "$@"' "" recipe.toml
row "a user without name and home" 1 'unset HOME && set -- ./nobody "$@"' "" recipe.toml
sed 's/^epochs = .*/epochs = 8/; s/^\[run\]/[run]\nstall_timeout = 30\ncheckpoint_every = "1 s"/' recipe.toml > clock.toml
for jump in 86400 -86400; do
  with clock-$jump "$(misfortune "clock 5 $jump")"
  row "the clock jumps by $jump s" 2 true ./clock-$jump clock.toml "the clock jumps"
  awk -F'[:,]' '{ for (i = 1; i < NF; i++) if ($i ~ /seconds"$/ && ($(i + 1) < 0 || $(i + 1) > 300)) { print $i, $(i + 1); exit 1 } }' \
    "run-$count/summary.json" > times || bad "the clock jumps by $jump s: $(cat times)"
done
[ $failed -eq 0 ]
