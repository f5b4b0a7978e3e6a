#!/usr/bin/env bash
# Both commands of the README in a bare Debian 13, as its users get them (GCC 14, Open MPI 5, oneDNN 3, Catch2 3): the
# last commit, in a fresh root, without a warning. Run before every release. Not part of CI: it needs root,
# debootstrap, a Debian mirror, 3 GB and half an hour on two cores.
# Usage: test/debian13.sh; with $CONVOKE_DATA set, MNIST comes from there. CMAKE_BUILD_PARALLEL_LEVEL is respected.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

if [ "${1:-}" != in ]; then
  root=$(mktemp -d)
  if ! unshare --mount test/debian13.sh in "$root"; then  # the mounts below end with it
    echo "The root stays in $root, to look into (the build is in root/convoke/build); remove it."
    exit 1
  fi
  rm -rf --one-file-system "$root"
  exit
fi

root=$2
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' 'Created-By: Packages' 2> /dev/null | head -1)
echo "== Debian 13 in $root"
debootstrap --variant=minbase --include=ca-certificates trixie "$root" ${mirror:+"$mirror"} > /dev/null
chmod 755 "$root"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"  # proxies
for folder in proc sys dev; do mount --rbind "/$folder" "$root/$folder"; done
mount -t tmpfs tmpfs "$root/dev/shm"
environment=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin
             ${CMAKE_BUILD_PARALLEL_LEVEL:+"CMAKE_BUILD_PARALLEL_LEVEL=$CMAKE_BUILD_PARALLEL_LEVEL"})
if [ -n "${CONVOKE_DATA:-}" ]; then
  mkdir "$root/data"
  mount --bind -o ro "$CONVOKE_DATA" "$root/data"
  environment+=(CONVOKE_DATA=/data)
fi
mkdir "$root/root/convoke"
git archive HEAD | tar -x -C "$root/root/convoke"

for arguments in test ""; do
  chroot "$root" env -i "${environment[@]}" bash -c "cd /root/convoke && ./quickstart $arguments" 2>&1 | tee -a "$root/log"
done
# Those of compilers and CMake; the program's own notes on three short runs are not meant.
! grep -E '(:[0-9]+: |CMake )[Ww]arning' "$root/log" || { echo "error: the build gave the warnings above"; exit 1; }
printf '\nDebian 13: both commands passed, without a warning.\n'
