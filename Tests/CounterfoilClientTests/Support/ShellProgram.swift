#if os(Linux) || os(macOS)
    import Foundation

    /// A program that is a shell script.
    enum ShellProgram {
        /// The shell has not written it.
        struct NotWritten: Error {}

        /// Makes the program.
        ///
        /// Another process writes it: a file that this one writes can still be open in a child that another test is starting at
        /// the same moment, and a program that somebody writes cannot be started.
        static func write(_ script: String, to file: URL) throws {
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = [
                "-c", #"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 755 "$2""#, "sh", script, file.path,
            ]
            try shell.run()
            shell.waitUntilExit()
            guard shell.terminationStatus == 0 else { throw NotWritten() }
        }
    }
#endif
