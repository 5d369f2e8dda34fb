# The interval of large requests stands out, and the intervals add up to the whole.
$1 == "interval" { p50[$2] = $6; sum += $3 }
$1 == "all"      { all = $2; whole = $5 }
END {
    if (!(p50[3] > 2 * p50[2] && p50[3] > 2 * p50[4])) { print "FAILED: interval 3 does not stand out"; exit 1 }
    if (!(whole < p50[3])) { print "FAILED: the whole run does not hide it"; exit 1 }
    if (!(sum > 0 && sum <= all)) { print "FAILED: " sum " in the intervals, " all " in all"; exit 1 }
}
