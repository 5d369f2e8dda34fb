# sed -i -f ent-scopes.sed ent.c (Debian's 1.2): what its main loop and the arithmetic after it take
38a\
#include "perf.h"
181i\
	perf_scope scan = perf_scope_begin("scan");
201a\
	perf_scope_end(&scan);
206s/.*/	{ PERF_SCOPE("calculate"); & }/
285i\
	perf_report();
