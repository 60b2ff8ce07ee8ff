#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

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
        #else
            let path = given
        #endif
        return RedirectHandler(program: path, name: URL(fileURLWithPath: path).lastPathComponent)
    }
}
