/^task +200 /          { tasks = 1 }
/^wait for work +204 / { waits = 1 }
END { if (!tasks || !waits) { print "FAILED: 200 tasks and 204 waits expected"; exit 1 } }
