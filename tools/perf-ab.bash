# Completion of perf-ab for bash: options, their values where there are few, files, and behind -- of
# `perf-ab run` the names of commands.  Installed as share/bash-completion/completions/perf-ab.

_perf_ab()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} word
    local report='--accept --metric --confidence --json --csv --markdown --html --plot --quiet'
    local files='--paired --random --turns --format --value --ignore-failure --trust'
    local run='--measure --reported --reported= --unit --parameter --setup --prepare --cleanup
        --warmup --pairs --budget --timeout --seed --save --ignore-failure --shell --show-output
        --each --each= --duet --no-placement --link'
    local top='--once --json --tree --interval --count --sort --thread --rows --width'
    local look='--view --trace --flame --sort --thread --rows --width'
    local diagnose='--against --ranks --json'
    local merge='-o --name --offset --ranks' convert='--to -o --name --unit' dashes=0 i

    COMPREPLY=()
    if [[ ${COMP_WORDS[1]} = run && $COMP_CWORD -gt 1 ]]; then
        for ((i = 2; i < COMP_CWORD; i++)); do
            [[ ${COMP_WORDS[i]} != -- ]] || dashes=$i
        done
        if ((dashes)); then                         # a command, then its files
            if ((dashes == COMP_CWORD - 1)); then
                mapfile -t COMPREPLY < <(compgen -c -- "$cur")
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            fi
            return
        fi
    fi
    case $prev in
        --accept)
            word=$'speedup >= 1.3\ndown >= 20 %\nno regression beyond 2 %\nmemory down >= 10 %'
            mapfile -t COMPREPLY < <(IFS=$'\n' compgen -W "$word" -- "$cur")
            for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]="'${COMPREPLY[i]}'"; done
            return ;;
        --sort) word='self total calls mean max p99 name' ;;
        --view) word='table tree csv json diagnosis' ;;
        --metric) word='time p50 p95 p99 mean memory throughput pair' ;;
        --format) word='plain csv json go google hyperfine pyperf pytest jmh benchmarkdotnet criterion
            asv catch2' ;;
        --to) word='google go openmetrics csv results percentiles bars prometheus otlp' ;;
        --measure) word='wall cpu user system memory instructions cycles branches branch-misses' ;;
        --unit) word='ns us ms s B MB/s' ;;
        --confidence) word='0.9 0.95 0.99' ;;
        --setup | --prepare | --cleanup | --link)
            mapfile -t COMPREPLY < <(compgen -c -- "$cur")
            return ;;
        --warmup | --pairs | --budget | --timeout | --seed | --parameter | --value | --name | --offset | \
        --interval | --count | --thread | --rows | --width)
            return ;;
        --against | --json | --csv | --markdown | --html | --save | -o | --trace | --flame)
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            return ;;
        *)
            if [[ $cur != -* ]]; then
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                [[ $COMP_CWORD -ne 1 ]] ||
                    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W 'run merge convert history diagnose top look' -- "$cur")
                return
            fi
            case ${COMP_WORDS[1]} in
                merge) word=$merge ;;
                convert) word=$convert ;;
                history) word='--html --markdown --json --accept-change' ;;
                diagnose) word=$diagnose ;;
                top) word=$top ;;
                look) word=$look ;;
                run) word="$run $report --" ;;
                *) word="$report $files --help --version --batch --seq --sample" ;;
            esac ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$word" -- "$cur")
}

complete -o filenames -F _perf_ab perf-ab
