#!/bin/sh
# The binary against counterparts that it did not bring along: a small real model behind llama.cpp's own server, and a
# scripted model server for exact answers and faults. Everything runs on loopback.
#
# usage: real-model.sh AGENT FORCE_CALL
#   AGENT       the binary agentx
#   FORCE_CALL  the example force_call of agentx-tokio
#
# The start scripts come from $AGENTX_SHARED (default: the folder `shared` beside the repository) and install what they
# need by pip and npm. Their state stays in the target folder, so a second run starts at once.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
agent=$(realpath "$1")
force_call=$(realpath "$2")
scripts=$(cd "${AGENTX_SHARED:-$root/../shared}/testing/real-model" && pwd)

mkdir -p "${CARGO_TARGET_DIR:-$root/target}/counterparts"
AGENTX_TEST_HOME=$(cd "${CARGO_TARGET_DIR:-$root/target}/counterparts" && pwd)
export AGENTX_TEST_HOME

stop() {
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

mock=$("$scripts/start-mock.sh" start)
model=$("$scripts/start-model.sh" start)
python3 "$root/tests/real_model.py" --agent "$agent" --force-call "$force_call" --work "$work" --key "$key" \
  --mock "$mock" --model "$model"
