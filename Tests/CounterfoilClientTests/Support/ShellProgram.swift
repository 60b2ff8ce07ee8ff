#if os(Linux) || os(macOS)
    import Foundation

    /// A program that is a shell script.
    enum ShellProgram {
        /// The failure of the shell to write the program.
        struct NotWritten: Error {}

        /// Writes the program to a file.
        ///
        /// A separate process writes it. A file that this process writes could still be open in a child that
        /// another test starts at the same time. The system refuses to start a program that is open for
        /// writing.
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
