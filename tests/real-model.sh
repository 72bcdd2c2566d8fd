#!/bin/sh
# The binary against counterparts that it did not bring along: a small real model behind llama.cpp's own server, and a
# scripted model server for exact answers and faults. Before each stands a gate that holds every request against the
# types of the vendors' own packages, and before that an HTTPS server with the paths of Azure. Everything runs on
# loopback.
#
# usage: real-model.sh AGENT FORCE_CALL [DIALECT...]
#   AGENT       the binary agentx
#   FORCE_CALL  the example force_call of agentx-tokio
#   DIALECT     as real_model.py lists them; default: all
#
# The start scripts come from $AGENTX_SHARED (default: the folder `shared` beside the repository) and install what they
# need by pip, npm and apt. Their state stays in $AGENTX_TEST_HOME (default: in the target folder), so a second run
# starts at once.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
agent=$(realpath "$1")
force_call=$(realpath "$2")
shift 2
scripts=$(cd "${AGENTX_SHARED:-$root/../shared}/testing/real-model" && pwd)

: "${AGENTX_TEST_HOME:=${CARGO_TARGET_DIR:-$root/target}/counterparts}"
mkdir -p "$AGENTX_TEST_HOME/second"
AGENTX_TEST_HOME=$(cd "$AGENTX_TEST_HOME" && pwd)
export AGENTX_TEST_HOME
# The gate and the HTTPS server of the real model have a home of their own, and in it the same tools.
second=$AGENTX_TEST_HOME/second
ln -sfn ../gate-venv "$second/gate-venv"

stop() {
  for home in "$AGENTX_TEST_HOME" "$second"; do
    AGENTX_TEST_HOME=$home "$scripts/start-tls.sh" stop
    AGENTX_TEST_HOME=$home "$scripts/start-gate.sh" stop
  done
  "$scripts/start-mock.sh" stop
  "$scripts/start-model.sh" stop
}
trap stop EXIT
trap 'exit 143' HUP INT TERM
# A server left over from a run that was killed may hold other fixtures, or counters that have moved on.
stop

work=$AGENTX_TEST_HOME/work
key=sk-counterpart-0123456789abcdef
rm -rf "$work"
mkdir -p "$work"
MOCK_FIXTURES=$AGENTX_TEST_HOME/mock-model.json
export MOCK_FIXTURES
sed -e "s|@WORK@|$work|g; s|@KEY@|$key|g" "$root/tests/fixtures/mock-model.json" >"$MOCK_FIXTURES"

# front HOME URL: the gate and the HTTPS server before a plain one; prints both addresses and the file of the CA.
front() {
  gate=$(AGENTX_TEST_HOME=$1 "$scripts/start-gate.sh" start "$2")
  echo "$gate" "$(TLS_API_KEY=$key AGENTX_TEST_HOME=$1 "$scripts/start-tls.sh" start "$gate" | tr '\n' ' ')"
}

mock=$("$scripts/start-mock.sh" start)
model=$("$scripts/start-model.sh" start)
mock_front=$(front "$AGENTX_TEST_HOME" "$mock")
model_front=$(front "$second" "$model")
# shellcheck disable=SC2086
python3 "$root/tests/real_model.py" --agent "$agent" --force-call "$force_call" --work "$work" --key "$key" \
  --fixtures "$MOCK_FIXTURES" --mock "$mock" $mock_front --model "$model" $model_front "$@"
