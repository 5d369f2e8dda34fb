#!/bin/sh
# The vcpkg port: its manifest against the rules of vcpkg's format, and the portfile run with
# stand-ins for the vcpkg functions that it calls.  vcpkg itself needs the network.
. "$(dirname "$0")/../lib.sh"

need cmake gcc python3
python3 -c 'import jsonschema' 2>/dev/null || missing 'jsonschema is not installed (tests/python.txt)'
start_work
port=$root/packaging/vcpkg/ports/perfh
version=$(sh "$root/tests/version.sh")
try 'manifest' python3 - "$port/vcpkg.json" "$version" <<'EOT'
import json
import sys
import jsonschema

name = {"type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"}
schema = {
    "type": "object",
    "required": ["name", "version-semver"],
    "additionalProperties": False,
    "patternProperties": {r"^\$": {}},
    "properties": {
        "name": name,
        "version-semver": {"type": "string", "pattern": r"^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$"},
        "port-version": {"type": "integer", "minimum": 0},
        "description": {"anyOf": [{"type": "string"}, {"type": "array",
                                                       "items": {"type": "string"}}]},
        "homepage": {"type": "string", "format": "uri"},
        "license": {"type": ["string", "null"]},
        "supports": {"type": "string"},
        "dependencies": {"type": "array", "items": {"anyOf": [name, {
            "type": "object", "required": ["name"], "additionalProperties": False,
            "properties": {"name": name, "host": {"type": "boolean"},
                           "default-features": {"type": "boolean"},
                           "platform": {"type": "string"},
                           "version>=": {"type": "string"}}}]}},
    },
}
manifest = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(manifest, schema)
assert manifest["version-semver"] == sys.argv[2], "not PERF_VERSION"
assert manifest["name"] == "perfh"
for broken in ({**manifest, "name": "Perfh"}, {**manifest, "version-semver": "0.1"},
               {**manifest, "licence": "MIT"}):
    try:
        jsonschema.validate(broken, schema)
    except jsonschema.ValidationError:
        continue
    raise SystemExit("the schema takes anything")
EOT

cat >"$work/run.cmake" <<'EOT'
set(VCPKG_POLICY_EMPTY_PACKAGE disabled)
set(CURRENT_PACKAGES_DIR "${WORK}/packages/perfh_x64-linux")
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${WORK}/build"
    "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" ${arg_OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_install)
  execute_process(COMMAND "${CMAKE_COMMAND}" --install "${WORK}/build" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
include("${PORT}/portfile.cmake")
EOT
try 'portfile' cmake -DWORK="$work" -DPORT="$port" -P "$work/run.cmake"
package=$work/packages/perfh_x64-linux
# What vcpkg's own post-build checks ask for.
for header in $(headers); do
    try "package: $header" cmp "$root/$header" "$package/include/$header"
done
for file in copyright perfhConfig.cmake perfhConfigVersion.cmake usage; do
    try "package: share/perfh/$file" [ -s "$package/share/perfh/$file" ]
done
for folder in debug lib bin share/cmake share/doc debug/include; do
    try "package: no $folder" [ ! -e "$package/$folder" ]
done
mkdir "$work/user"
printf '#include <perf.h>\nint main(void) { PERF_SCOPE("x"); return 0; }\n' >"$work/user/user.c"
printf '%s\n' 'cmake_minimum_required(VERSION 3.14)' 'project(user C)' \
    'find_package(perfh CONFIG REQUIRED)' 'add_executable(user user.c)' \
    'target_link_libraries(user PRIVATE perfh::perfh)' >"$work/user/CMakeLists.txt"
try 'user: configure' cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$package"
try 'user: build' cmake --build "$work/user/build"
try 'user: runs' "$work/user/build/user"
finish
