# Sourced. eventually SECONDS COMMAND...: true as soon as the command succeeds, tried ten times a second;
# false after that time.
eventually() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.1
  done
}
