#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what a build, the tests and the examples need and this machine
# lacks: Debian 12 packages (as root or through sudo) and, in .venv, packages
# from PyPI. Installs nothing that is there already.
set -euo pipefail
cd "$(dirname "$0")/../.."

packages=(
  cmake ninja-build g++ ccache mold make git
  clang-22 lld-22 liblld-22-dev llvm-22-dev llvm-22-tools libmlir-22-dev
  mlir-22-tools libclang-rt-22-dev
  libflatbuffers-dev flatbuffers-compiler libcli11-dev
  libdnnl-dev libgtest-dev zlib1g-dev libzstd-dev libxml2-dev
  python3-minimal python3-venv
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing Debian packages: ${missing[*]}"
  asRoot=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "setup: expected root or sudo to install: ${missing[*]}" >&2
      exit 1
    }
    asRoot=(sudo)
  fi
  "${asRoot[@]}" apt-get update -qq
  "${asRoot[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# The stamp holds a copy of the requirements it was installed for.
requirements=tools/requirements.txt
if ! cmp -s "$requirements" .venv/installed.txt; then
  echo "installing Python packages into .venv"
  /usr/bin/python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check -r "$requirements"
  cp "$requirements" .venv/installed.txt
fi
