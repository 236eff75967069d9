#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs a build twice: all of it, and the runtime alone.
# usage: install.sh CMAKE BUILD PREFIX RUNTIME_PREFIX
set -eu
cmake=$1 build=$2 prefix=$3 runtime=$4
rm -rf "$prefix" "$runtime"
"$cmake" --install "$build" --prefix "$prefix" >/dev/null
"$cmake" --install "$build" --prefix "$runtime" --component Runtime >/dev/null

if [ -n "$(find "$runtime" -name Compiler.h -o -name 'libdlc.so*')" ]; then
  echo "expected the runtime alone in $runtime, got:"
  find "$runtime" -type f
  exit 1
fi
# Static libraries of ours would pull in what they were built from.
if [ -n "$(find "$prefix" -name '*.a')" ]; then
  echo "expected no static library in $prefix"
  exit 1
fi
