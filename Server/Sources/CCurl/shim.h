// Calls of the function of libcurl that takes a variable number of arguments, which Swift cannot call.
//
// The library is loaded at run time, so nothing here needs its header or links it.

typedef int (*counterfoil_curl_call)(void *handle, int what, ...);

static inline int counterfoil_curl_set_number(void *setopt, void *handle, int option, long value) {
    return ((counterfoil_curl_call)setopt)(handle, option, value);
}

static inline int counterfoil_curl_set_pointer(void *setopt, void *handle, int option, const void *value) {
    return ((counterfoil_curl_call)setopt)(handle, option, value);
}
