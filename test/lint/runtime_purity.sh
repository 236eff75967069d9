#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that the runtime library stands alone: no LLVM, no exceptions thrown
# or declared, nothing exported but the C API.
# usage: runtime_purity.sh libdlc_rt.so
set -euo pipefail
library=$1
status=0
complain() {
  echo "$library: $1" >&2
  status=1
}

if ldd "$library" | grep -E 'lib(LLVM|MLIR|lld)'; then
  complain 'expected no LLVM among the libraries that it needs'
fi
symbols=$(nm -DC "$library")
if grep -E 'llvm::|mlir::' <<<"$symbols"; then
  complain 'expected no symbol of LLVM'
fi
if grep -E '__cxa_throw|__cxa_allocate_exception' <<<"$symbols"; then
  complain 'expected no exceptions'
fi
if nm -DC --defined-only "$library" | grep -vE ' A | dlc[A-Z][A-Za-z0-9]*(@@?.*)?$'; then
  complain 'expected no exported symbol but those of the C API'
fi
[ "$status" -ne 0 ] || echo "$(nm -D --defined-only "$library" | grep -c dlc) functions, no LLVM"
exit "$status"
