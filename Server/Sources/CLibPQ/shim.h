#include <libpq-fe.h>

#ifndef LIBPQ_HAS_PIPELINING
#error "libpq 14 or later is needed, for its pipeline mode"
#endif
