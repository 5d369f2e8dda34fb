# shellcheck shell=sh disable=SC2034
# The warnings our headers must survive inside a strict user's file.  Source after lib.sh.

warn='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-qual -Wredundant-decls -Wswitch-default -Werror'
warn_c="$warn -Wstrict-prototypes -Wc++-compat"
warn_cxx="$warn -Wold-style-cast -Wzero-as-null-pointer-constant -Wuseless-cast -Wno-unknown-warning-option"

# clang -Weverything, less what is no defect:
#   padded                        reports every gap in every struct: a fact, not a fault
#   c++98-compat(-pedantic)       our floor is C++11
#   declaration-after-statement   our floor is C99
#   unsafe-buffer-usage           clang 16 and later: any p[i] in C
#   switch-default                clang 18 and later: contradicts covered-switch-default
#   nrvo                          clang 21: a struct is copied when it is returned, as in all of C
#   implicit-int-enum-cast        clang 21: {0} where the first member is an enum
#   unknown-warning-option        so that older clangs accept the line above
everything='-Weverything -Wno-unknown-warning-option -Wno-padded -Wno-c++98-compat
    -Wno-c++98-compat-pedantic -Wno-declaration-after-statement -Wno-unsafe-buffer-usage
    -Wno-switch-default -Wno-nrvo -Wno-implicit-int-enum-cast'

# nvcc's own output breaks -Wpedantic, -Wundef and -Wold-style-cast before our first line is read
# (4,206, 17 and 1,319 warnings for an empty file, CUDA 13.0), so a .cu goes without those three.
warn_nvcc='-Werror all-warnings
    -Xcompiler=-Wall,-Wextra,-Wconversion,-Wsign-conversion,-Wshadow,-Wcast-qual,-Werror'
