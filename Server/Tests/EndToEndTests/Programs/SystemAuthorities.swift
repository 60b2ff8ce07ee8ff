#if os(Linux)
    import TestSupport

    /// The certificate authorities that a program of a test trusts in place of those of the system, for programs that
    /// read no `SSL_CERT_FILE`.
    enum SystemAuthorities {
        private static let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>

            /* The files in which swift-nio-ssl looks for the authorities of the system. */
            static const char *replaced(const char *path) {
                const char *file = getenv("AUTHORITIES");
                int is_system = !strcmp(path, "/etc/ssl/certs/ca-certificates.crt")
                    || !strcmp(path, "/etc/pki/tls/certs/ca-bundle.crt");
                return file && is_system ? file : path;
            }

            FILE *fopen(const char *path, const char *mode) {
                FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");
                return next(replaced(path), mode);
            }

            FILE *fopen64(const char *path, const char *mode) {
                FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen64");
                return next(replaced(path), mode);
            }
            """

        /// Returns the environment for a program that trusts the authorities in a file.
        static func environment(_ file: String, in parent: TemporaryDirectory) async throws -> [String: String] {
            ["LD_PRELOAD": try await PreloadedLibrary.build(source, in: parent), "AUTHORITIES": file]
        }
    }
#endif
