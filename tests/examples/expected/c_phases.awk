# Four scopes, once each.
/^(write|read|build|sum) +1 / { n++ }
END { if (n != 4) { print "FAILED: " n " of 4 scopes"; exit 1 } }
