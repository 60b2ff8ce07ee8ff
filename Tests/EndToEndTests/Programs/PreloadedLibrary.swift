#if os(Linux)
    import Foundation
    import TestSupport

    /// A library that a program of a test loads before all others, to replace functions of the system.
    ///
    /// So a test needs neither root nor a change of this device.
    enum PreloadedLibrary {
        /// Compiles C code and returns the path of the library, for `LD_PRELOAD`.
        static func build(_ code: String, in parent: TemporaryDirectory) async throws -> String {
            let folder = try parent.makeFolder("preloaded")
            let (source, library) = (folder.path("library.c"), folder.path("library.so"))
            try Data(code.utf8).write(to: URL(fileURLWithPath: source))
            let compiler = Process()
            compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            compiler.arguments = ["clang", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                compiler.terminationHandler = { _ in continuation.resume() }
                do { try compiler.run() } catch {
                    compiler.terminationHandler = nil
                    continuation.resume(throwing: error)
                }
            }
            guard compiler.terminationStatus == 0 else {
                throw Site.Refused(description: "clang did not build the library of the test")
            }
            return library
        }
    }

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
