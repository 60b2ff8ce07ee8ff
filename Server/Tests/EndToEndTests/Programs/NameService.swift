#if os(Linux)
    import Foundation
    import TestSupport

    /// A resolver for a program of a test: the test chooses the addresses of names in the domain `test`
    /// (RFC 6761 §6.2).
    ///
    /// A preloaded library replaces `getaddrinfo`.
    struct NameService: Sendable {
        /// The environment for a program that uses the resolver.
        let environment: [String: String]

        private static let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <netdb.h>
            #include <stdlib.h>
            #include <string.h>
            #include <unistd.h>

            /* NAMES holds name=address pairs between commas; a name whose address is "silence" never gets an answer. */
            int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **list) {
                int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
                    dlsym(RTLD_NEXT, "getaddrinfo");
                const char *names = getenv("NAMES");
                size_t length = name ? strlen(name) : 0;
                while (names && length) {
                    const char *end = strchr(names, ',');
                    size_t size = end ? (size_t)(end - names) : strlen(names);
                    if (size > length && size - length < 64 && !strncmp(names, name, length) && names[length] == '=') {
                        char address[64] = {0};
                        memcpy(address, names + length + 1, size - length - 1);
                        if (!strcmp(address, "silence")) for (;;) sleep(1000);
                        return next(address, service, hints, list);
                    }
                    names = end ? end + 1 : NULL;
                }
                return next(name, service, hints, list);
            }
            """

        /// Builds the library, with names and their IP addresses.
        init(_ names: [String: String], in parent: TemporaryDirectory) async throws {
            let library = try await PreloadedLibrary.build(Self.source, in: parent)
            environment = [
                "LD_PRELOAD": library, "NAMES": names.map { "\($0.key)=\($0.value)" }.joined(separator: ","),
            ]
        }
    }
#endif
