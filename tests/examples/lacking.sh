#!/bin/sh
# An example that could not be compiled here: skipped, with CI=true a failure.
. "$(dirname "$0")/../lib.sh"
missing "it needs what is not installed: $*"
