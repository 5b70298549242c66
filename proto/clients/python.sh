#!/bin/sh
# Makes the Python modules of the contract in FOLDER, with Debian's packages alone:
# protobuf-compiler protobuf-compiler-grpc python3-grpcio python3-protobuf
#
#   proto/clients/python.sh FOLDER
#   PYTHONPATH=FOLDER /usr/bin/python3 proto/clients/list-sites.py HOST:PORT CA-FILE PASSWORD-FILE

set -eu

mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
# Debian's python3-grpc-tools is too old for this contract; protoc and the plug-in are not.
# shellcheck disable=SC2046
protoc -I . --python_out="$folder" --grpc_python_out="$folder" \
  --plugin=protoc-gen-grpc_python="$(command -v grpc_python_plugin)" \
  $(find waf/v1 buf -name '*.proto')
