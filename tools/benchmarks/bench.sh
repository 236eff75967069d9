#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# DLC beside its peers: bench.sh DLC [compare.py options] compares networks,
# bench.sh DLC --engine [dlc-engine-bench options] the dependency engine,
# bench.sh DLC --steady [steady.py options] programs with themselves,
# bench.sh DLC --shipped [shipped.py options] models that packages ship,
# bench.sh DLC --operators [operators.py options] single operations. The peers
# go into a virtual environment of their own, the networks into the build folder.
# bench.sh DLC --cpu LEVEL ... hides what a processor has beyond x86-64-v2,
# x86-64-v3, avx-vnni or x86-64-v4, from all of them (hide_cpu.c).
set -euo pipefail
command -v -- "${1:-}" >/dev/null || {
  echo "usage: bench.sh BUILD/bin/dlc [--cpu LEVEL]" \
    "[--engine | --steady | --shipped | --operators] [options]" >&2
  exit 2
}
dlc=$(realpath "$(command -v -- "$1")")
shift
here=$(cd "$(dirname "$0")" && pwd)
build=$(dirname "$(dirname "$dlc")")

# The stamp holds a copy of the requirements it was installed for.
venv=$build/bench-venv
if ! cmp -s "$here/requirements.txt" "$venv/installed.txt"; then
  echo "installing the peers into $venv" >&2
  /usr/bin/python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check \
    -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/installed.txt"
fi

results=$build/bench.json
if [ "${1:-}" = --cpu ]; then
  [ $# -ge 2 ] || {
    echo "bench.sh: expected a level behind --cpu" >&2
    exit 2
  }
  case $build in
  *[[:space:]:]*)
    echo "bench.sh: --cpu expects a build folder that can be preloaded from," \
      "without spaces and colons, got '$build'" >&2
    exit 2
    ;;
  esac
  ${CC:-cc} -O2 -shared -fPIC -o "$build/hide_cpu.so" "$here/hide_cpu.c"
  export HIDE_CPU=$2 LD_PRELOAD=$build/hide_cpu.so${LD_PRELOAD:+:$LD_PRELOAD}
  results=$build/bench-$2.json
  shift 2
fi

# MXNet's wheel is for an older Python; only its library is of use here.
if [ "${1:-}" = --engine ]; then
  shift
  if [ ! -f "$venv/mxnet/libmxnet.so" ]; then
    echo "fetching MXNet 1.9.1 into $venv" >&2
    download=$(mktemp -d)
    trap 'rm -rf "$download"' EXIT
    "$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps \
      --dest "$download" mxnet==1.9.1
    "$venv/bin/python" -m zipfile -e "$download"/mxnet-*.whl "$download/wheel"
    mv "$download/wheel/mxnet" "$venv/mxnet"
    rm -rf "$download"
    trap - EXIT
  fi
  exec "$build/bin/dlc-engine-bench" --mxnet "$venv/mxnet/libmxnet.so" "$@"
fi

for script in shipped operators; do
  if [ "${1:-}" = "--$script" ]; then
    shift
    exec "$venv/bin/python" "$here/$script.py" --dlc "$dlc" \
      --runtime "$build/lib/libdlc_rt.so" --models "$build/models" "$@"
  fi
done

# Seeded, so they are made once for each version of the script.
models=$build/models
if ! cmp -s "$here/models.py" "$models/models.py"; then
  mkdir -p "$models"
  "$venv/bin/python" "$here/models.py" "$models" >&2
  "$venv/bin/python" "$here/models.py" "$models" --others >&2
  "$venv/bin/python" "$here/models.py" "$models" minilm_open >&2
  cp "$here/models.py" "$models/models.py"
fi

if [ "${1:-}" = --steady ]; then
  shift
  exec "$venv/bin/python" "$here/steady.py" --dlc "$dlc" \
    --runtime "$build/lib/libdlc_rt.so" --models "$models" "$@"
fi

exec "$venv/bin/python" "$here/compare.py" --dlc "$dlc" \
  --runtime "$build/lib/libdlc_rt.so" --models "$models" \
  --json "$results" "$@"
