#include "CEmbeddedFiles.h"

#ifndef __has_embed
#error "The C compiler does not know #embed. Use the toolchain of a newer Swift."
#endif

// Clang has the directive in every version of C.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define FILE_FUNCTION(name) \
    struct embedded_file embedded_##name(void) { \
        return (struct embedded_file){.bytes = name, .count = sizeof name}; \
    }

static const uint8_t catalogue_de[] = {
#embed "../CounterfoilServer/Localization/Catalogue/de.json"
};
FILE_FUNCTION(catalogue_de)

static const uint8_t catalogue_en[] = {
#embed "../CounterfoilServer/Localization/Catalogue/en.json"
};
FILE_FUNCTION(catalogue_en)

static const uint8_t catalogue_es[] = {
#embed "../CounterfoilServer/Localization/Catalogue/es.json"
};
FILE_FUNCTION(catalogue_es)

static const uint8_t catalogue_fr[] = {
#embed "../CounterfoilServer/Localization/Catalogue/fr.json"
};
FILE_FUNCTION(catalogue_fr)

static const uint8_t catalogue_nb[] = {
#embed "../CounterfoilServer/Localization/Catalogue/nb.json"
};
FILE_FUNCTION(catalogue_nb)

static const uint8_t common_passwords[] = {
#embed "../CounterfoilServer/SignIn/Passwords/common-passwords.txt"
};
FILE_FUNCTION(common_passwords)

static const uint8_t openapi[] = {
#embed "../CounterfoilServer/AdministrationAPI/openapi.json"
};
FILE_FUNCTION(openapi)
