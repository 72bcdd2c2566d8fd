#!/bin/sh
# Builds agentx-core for a target without an operating system: what builds there has no clock, no environment, no
# threads and no files to lean on. Takes a bare-metal target that is installed, else installs one.
set -eu
cd "$(dirname "$0")/.."

target=$(rustup target list --installed | grep -m 1 -e '-none' || true)
if [ -z "$target" ]; then
  target=thumbv7em-none-eabihf
  rustup target add "$target"
fi
echo "agentx-core for $target"
cargo build --locked -p agentx-core --lib --target "$target"
