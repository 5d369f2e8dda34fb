# Four steps of each scope are recorded, not twenty.
/^(forward|backward|update) +4 / { n++ }
END { if (n != 3) { print "FAILED: " n " of 3 scopes have 4 calls"; exit 1 } }
