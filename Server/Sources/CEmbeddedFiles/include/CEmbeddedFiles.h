#ifndef COUNTERFOIL_EMBEDDED_FILES_H
#define COUNTERFOIL_EMBEDDED_FILES_H

#include <stddef.h>
#include <stdint.h>

/// The content of a file that is part of the program; it lasts as long as the process.
struct embedded_file {
    const uint8_t *_Nonnull bytes;
    size_t count;
};

struct embedded_file embedded_catalogue_de(void);
struct embedded_file embedded_catalogue_en(void);
struct embedded_file embedded_catalogue_es(void);
struct embedded_file embedded_catalogue_fr(void);
struct embedded_file embedded_catalogue_nb(void);
struct embedded_file embedded_common_passwords(void);
struct embedded_file embedded_openapi(void);

#endif
