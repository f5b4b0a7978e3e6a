# Sourced. eventually SECONDS COMMAND...: true as soon as the command succeeds, tried five times a second;
# false after that time.
eventually() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.2
  done
}
