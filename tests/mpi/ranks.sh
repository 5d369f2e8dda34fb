#!/bin/sh
# examples/mpi with Open MPI: compiled as its first comment says, as strictly as users can ask, in
# C and C++, and for simulated machines; then ranks.py runs it with 4 ranks.
. "$(dirname "$0")/../lib.sh"
need mpicc mpirun python3
start_work
strict='-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wundef -Werror'
example=$root/examples/mpi/ranks.c

# shellcheck disable=SC2086
try 'C99' mpicc -O2 -std=c99 -Wpedantic $strict -I"$root" "$example" -o "$work/ranks"
printf '#include "perf_mpi.h"\n#include "perf_mpi.h"\nint main(void) { return 0; }\n' >"$work/only.cpp"
# shellcheck disable=SC2086
command -v mpicxx >/dev/null && command -v g++ >/dev/null &&
    try 'C++11' mpicxx -std=c++11 $strict -Wno-old-style-cast -DOMPI_SKIP_MPICXX -I"$root" \
        -I"$root/examples/mpi" -c "$work/only.cpp" -o "$work/only.o"
# shellcheck disable=SC2086
try 'PERF_DISABLE=1' mpicc -O2 -std=c99 $strict -DPERF_DISABLE=1 -I"$root" "$example" -o "$work/off"
# shellcheck disable=SC2086
try 'simulated' mpicc -O1 -g -std=gnu99 -DPERF_CLOCK_FN=sim_now -include "$root/tests/mpi/sim.h" \
    -fsanitize=undefined -fno-sanitize-recover=all -I"$root" "$example" -o "$work/simulated"
[ "$failed" = 0 ] || finish
tried=$((tried + 1))
python3 "$root/tests/mpi/ranks.py" "$work/ranks" "$work/simulated" || fail 'ranks.py'
finish
