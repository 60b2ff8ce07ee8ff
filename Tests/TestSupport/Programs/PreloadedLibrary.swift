#if os(Linux)
    import Foundation

    /// A library that a program of a test loads before all others, to replace functions of the system.
    ///
    /// So a test needs neither root nor a change of this device.
    package enum PreloadedLibrary {
        /// Compiles C code and returns the path of the library, for `LD_PRELOAD`.
        package static func build(_ code: String, in parent: TemporaryDirectory) async throws -> String {
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
#endif
