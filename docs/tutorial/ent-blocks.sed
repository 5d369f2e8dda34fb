# sed -i -f ent-blocks.sed ent.c (Debian's 1.2): blocks of 64 KB in place of single bytes
103i\
	static unsigned char block[65536];\
	size_t got, at;\
	int bit;
181,201d
180a\
	while ((got = fread(block, 1, sizeof block, fp)) > 0) {\
	   for (at = 0; at < got; at++) {\
	      unsigned char *c = &block[at];\
	      if (fold && isISOalpha(*c) && isISOupper(*c))\
		 *c = toISOlower(*c);\
	      if (!binary)\
		 ccount[*c]++;\
	      for (bit = 0; binary && bit < 8; bit++)\
		 ccount[*c >> bit & 1]++;\
	   }\
	   totalc += (binary ? 8 : 1) * (long) got;\
	   rt_add(block, (int) got);\
	}
