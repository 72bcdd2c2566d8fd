#!/bin/sh
# The fuzz targets under libFuzzer, one after the other.
#
#   tests/fuzz.sh --smoke [TARGET...]       a few seconds each
#   tests/fuzz.sh --seconds N [TARGET...]   so long each
#
# Needs a nightly compiler and a C++ compiler, and ends with 0 where there is none of the first: nothing but fuzzing
# needs it. The code is built with the coverage counters that cargo-fuzz would ask for, so that it need not be
# installed; `cargo +nightly fuzz run --fuzz-dir tests/fuzz TARGET` works where it is.
#
# New inputs go to corpus-TARGET in the build folder, findings to artifacts there. A finding ends with status 1.
set -eu
cd "$(dirname "$0")/.."

usage() {
  sed -n '4,5s/^# *//p' "$0" >&2
  exit 2
}

case ${1:-} in
  # What runs for seconds is not worth a long build.
  --smoke) seconds=4 level=1 && shift ;;
  --seconds) seconds=${2:?seconds are missing} level=3 && shift 2 ;;
  *) usage ;;
esac
known=$(ls tests/fuzz/fuzz_targets | sed 's/\.rs$//')
for target in "$@"; do
  echo "$known" | grep -qx "$target" || { echo "no target $target" >&2; exit 2; }
done

if ! cargo +nightly --version >/dev/null 2>&1; then
  echo 'fuzz: there is no nightly compiler, so nothing is fuzzed (rustup toolchain install nightly)'
  exit 0
fi

build=${FUZZ_TARGET_DIR:-${CARGO_TARGET_DIR:-target}/fuzz}
mkdir -p "$build/artifacts"
build=$(cd "$build" && pwd)
host=$(rustc -vV | sed -n 's/^host: //p')
coverage='-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
  -Cllvm-args=-sanitizer-coverage-trace-compares'
(
  cd tests/fuzz
  # With --target the flags are for what is fuzzed alone, and not for build scripts.
  CARGO_TARGET_DIR=$build CARGO_PROFILE_RELEASE_OPT_LEVEL=$level \
    RUSTFLAGS="--cfg fuzzing $(echo $coverage) -Cdebug-assertions" \
    cargo +nightly build --quiet --release --bins --target "$host"
)

printf '%-14s %12s %10s %8s  %s\n' target executions 'per second' edges found
status=0
for target in ${@:-$known}; do
  fresh=$build/corpus-$target
  log=$build/$target.log
  mkdir -p "$fresh"
  found=nothing
  "$build/$host/release/$target" "$fresh" "tests/fuzz/corpus/$target" -dict=tests/fuzz/words.dict \
    -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$build/artifacts/$target-" >"$log" 2>&1 || {
    found="a fault, see $log"
    status=1
  }
  stat() { sed -n "s/^stat::$1: *//p" "$log" | tail -1; }
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
  printf '%-14s %12s %10s %8s  %s\n' "$target" "$(stat number_of_executed_units)" \
    "$(stat average_exec_per_sec)" "$edges" "$found"
done
exit $status
