import CounterfoilPlatform

/// The program that a desktop starts with a callback URL.
///
/// The program passes the URL to the waiting process with ``RedirectHandoff`` and exits.
public struct RedirectHandler: Sendable, Hashable {
    /// The absolute path of the executable, or a name that the desktop looks up in `PATH`.
    public let program: String
    /// The arguments before the URL; by default ``RedirectHandoff/command``, which ``RedirectHandoff`` requires.
    public let arguments: [String]
    /// The name that a browser shows when it asks the user whether to open the program.
    public let name: String

    /// Creates a handler for another program than ``thisProgram``; it must call ``RedirectHandoff``.
    public init(program: String, arguments: [String] = [RedirectHandoff.command], name: String) {
        self.program = program
        self.arguments = arguments
        self.name = name
    }

    /// The executable of this process, with ``RedirectHandoff/command`` as the argument before the URL.
    public static var thisProgram: RedirectHandler {
        let given = CommandLine.arguments.first ?? ""
        #if os(Linux)
            let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? given
            return RedirectHandler(
                executable: path, ofProcess: getpid(), exists: { FileManager.default.isExecutableFile(atPath: $0) })
        #else
            return RedirectHandler(program: given, name: URL(fileURLWithPath: given).lastPathComponent)
        #endif
    }

    #if os(Linux)
        /// Creates a handler for a running program; `path` is the target of its link `/proc/PID/exe`.
        ///
        /// If the file was deleted, Linux appends ` (deleted)` to the path. An upgrade has then usually put the new
        /// program at the path. If not, the link still opens the deleted program while the process runs.
        init(executable path: String, ofProcess process: Int32, exists: (String) -> Bool) {
            let mark = " (deleted)"
            let isDeleted = path.hasSuffix(mark) && !exists(path)
            let original = isDeleted ? String(path.dropLast(mark.count)) : path
            self.init(
                program: isDeleted && !exists(original) ? "/proc/\(process)/exe" : original,
                name: URL(fileURLWithPath: original).lastPathComponent)
        }
    #endif
}
