#!/usr/bin/env bash
# Several users on one machine: the modes of all files that Convoke makes, with two umasks; what it makes in /tmp and
# /dev/shm; and links and folders that somebody planted at the names that it writes.
#   users.sh
# The environment: CONVOKE and MAKE_DATASET, the programs. What needs root, an own /dev/shm or strace is left out without it.
if [ -z "${CONVOKE_OWN_SHM:-}" ] && unshare --mount mount -t tmpfs tmpfs /dev/shm 2> /dev/null; then
  export CONVOKE_OWN_SHM=1
  exec unshare --mount bash -c 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && exec bash "$@"' bash "${BASH_SOURCE[0]}" "$@"
fi
. "$(dirname "${BASH_SOURCE[0]}")/place.sh"
"$MAKE_DATASET" data.h5 320
"$MAKE_DATASET" idx 600 8 4
make_recipe 3
mkdir private && echo secret > private/secret

ok() { "$@" > out.log 2>&1 || bad "$*: $(tail -n 3 out.log)"; }
refused() {  # TEXT COMMAND...
  local text=$1
  shift
  if "$@" > out.log 2>&1; then bad "accepted: $*"; fi
  grep -q -- "$text" out.log || bad "no '$text' in: $(cat out.log)"
}
untouched() { [ "$(ls -A private)" = secret ] && [ "$(cat private/secret)" = secret ] || bad "$1: followed a link: $(ls -lA private)"; }

# 1. Modes. Everything is for this user alone with 077, and readable for all with 022, but writable for nobody else.
commands() {  # FOLDER
  cd "$1" || return
  trace=()
  [ "$1" = with-077 ] && command -v strace > /dev/null &&
    trace=(strace -f --seccomp-bpf -qq -e trace=openat,open,creat,mkdir,mkdirat,mknodat,symlinkat,linkat,link,rename,renameat,renameat2 -o ../calls)
  ok mpirun --oversubscribe --bind-to none -n 2 "${trace[@]}" "$CONVOKE" train ../recipe.toml --set data.path=../data.h5 --quiet --output run
  ok "$CONVOKE" prepare ../idx --output made.h5
  ok "$CONVOKE" prepare ../idx --output shards --shards 2
  ok "$CONVOKE" report run --output page.html
  ok "$CONVOKE" export run --format onnx --output model.onnx
  ok "$CONVOKE" slurm train ../recipe.toml --set data.path=../data.h5 --nodes 1 --ranks-per-node 2 --cpus-per-rank 1 \
    --partition p --time 1:00:00
  rm -f out.log
  cd ..
}
for mask in 077 022; do
  mkdir with-$mask
  touch begin
  (
    while [ -d with-$mask ] && [ ! -e stop-$mask ]; do
      find /dev/shm -mindepth 1 -user "$(id -un)" -newer begin -printf '%m %f\n' 2> /dev/null
      sleep 0.02
    done | sort -u > shm-$mask
  ) &
  watcher=$!
  (umask $mask && commands with-$mask && exit $failed) || failed=1
  touch stop-$mask
  wait $watcher
  wrong=022
  [ $mask = 077 ] && wrong=077
  found=$(find with-$mask -mindepth 1 -not -type l -perm /$wrong -printf '%m %P\n')
  [ -z "$found" ] || bad "umask $mask: others may use: $found"
  found=$([ $mask = 022 ] && find with-022 -mindepth 1 -not -perm -044 -printf '%m %P\n')
  [ -z "$found" ] || bad "umask $mask: others may not read: $found"
  echo "umask $mask: $(find with-$mask -mindepth 1 | wc -l) files and folders"
done
# MPI's segments have the mode 0600 with any umask.
if [ -n "${CONVOKE_OWN_SHM:-}" ]; then
  found=$(cat shm-* | grep -v '^[67]00 ' || true)
  [ -z "$found" ] || bad "/dev/shm: others may use: $found"
  found=$(cat shm-* | grep -v '^[67]00 \(vader_segment\|osc_rdma\|osc_sm\|open_mpi\|sm_segment\|ompi\|psm\|mpich\|.*shm\)' || true)
  [ -z "$found" ] || bad "/dev/shm: not MPI's: $found"
  [ -z "$(ls -A /dev/shm)" ] || bad "/dev/shm: left: $(ls -A /dev/shm)"
  echo "/dev/shm: $(cat shm-* | wc -l) files of MPI, none of them for others"
fi
if [ -s calls ]; then
  found=$(grep -E 'O_CREAT|^[0-9]+ +(creat|mkdir|mknod|symlink|link|rename)' calls | grep -E '"/(tmp|var/tmp|dev/shm)/' |
    grep -vF "\"$place" | grep -vE '/(ompi\.|vader_segment|osc_rdma|osc_sm|open_mpi|sm_segment|pmix|dstore|openmpi-sessions)|= -1|shared_mem_cuda|btl_' || true)
  [ -z "$found" ] || bad "made in /tmp or /dev/shm: $(echo "$found" | head -n 5)"
  echo "strace: $(wc -l < calls) calls, no file of Convoke in /tmp or /dev/shm"
fi

# 2. Links at the names that are written.
ln -s private link.h5.work
refused "link.h5.work: is not a folder of this user" "$CONVOKE" prepare idx --output link.h5
untouched "the folder of prepare"
mkdir mine.h5.work && echo notes > mine.h5.work/notes
ok "$CONVOKE" prepare idx --output mine.h5
[ "$(cat mine.h5.work/notes 2> /dev/null)" = notes ] || bad "prepare removed a file that it has not made"
ln -s private/secret part.h5.part
ok "$CONVOKE" prepare idx --output part.h5
untouched "the unfinished dataset"
mkdir rerun && cp with-022/run/recipe.toml rerun/
ln -s ../private rerun/.heartbeats
ln -s private .rerun.heartbeats
ok mpirun --oversubscribe --bind-to none -n 2 "$CONVOKE" train --resume rerun --quiet --set data.path=data.h5
untouched "the heartbeats"
ln -s private/secret rerun/lock
refused "rerun: is in use by" "$CONVOKE" train --resume rerun --quiet
untouched "the lock"

# 3. Names that another user made in a folder for all users.
if [ "$(id -u)" -eq 0 ]; then
  mkdir -m 1777 shared
  mkdir -m 777 shared/run shared/made.h5.work
  ln -s "$place/private/page.html" shared/page.html
  chown -h 65534 shared/*
  refused "shared/run: cannot be used as a run folder: another user made it" \
    "$CONVOKE" train recipe.toml --quiet --output shared/run
  refused "shared/made.h5.work: is not a folder of this user" "$CONVOKE" prepare idx --output shared/made.h5
  refused "shared/page.html: is a link of another user" "$CONVOKE" report with-022/run --output shared/page.html
  untouched "a shared folder"
  [ -z "$(ls -A shared/run)" ] || bad "files in another user's folder: $(ls -A shared/run)"
  echo "a folder for all users: a folder and links of another user are refused"
fi
[ $failed -eq 0 ]
