/* Shared by the files of the test program. */
#if defined(__cplusplus)
extern "C"
#endif
void in_cpp(void);              /* other.cpp: a scope left by an exception                         */
typedef void in_module(int);    /* module.c, a shared object loaded RTLD_LOCAL: n scopes           */
