#!/bin/sh
# Makes the program list-sites in FOLDER from list-sites.go and the contract, with Debian's packages
# alone: golang-go protobuf-compiler protoc-gen-go protoc-gen-go-grpc golang-google-grpc-dev
# golang-google-protobuf-dev
#
#   proto/clients/go.sh FOLDER
#   FOLDER/list-sites HOST:PORT CA-FILE PASSWORD-FILE

set -eu

mkdir -p "$1/src/example.com/you/list-sites"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

# The contract names no Go packages: each of its folders becomes one of ours.
files=$(find waf/v1 buf -name '*.proto')
packages=
for file in $files; do
  packages="$packages,M$file=example.com/you/gen/$(dirname "$file")"
done
# shellcheck disable=SC2086
protoc -I . --go_out="$folder/src" --go_opt="${packages#,}" \
  --go-grpc_out="$folder/src" --go-grpc_opt="${packages#,}" $files

cp clients/list-sites.go "$folder/src/example.com/you/list-sites/main.go"
cd "$folder/src/example.com/you/list-sites"
# Debian's libraries are sources below one folder, without modules.
GO111MODULE=off GOFLAGS= GOPATH="$folder:/usr/share/gocode" GOCACHE="${GOCACHE:-$folder/cache}" \
  go build -o "$folder/list-sites" .
