import Foundation

/// The program that a desktop starts with the address of an answer.
///
/// It hands the address over with ``RedirectHandoff`` and ends.
public struct RedirectHandler: Sendable, Hashable {
    /// The path of the program.
    public let program: String
    /// What stands before the address in its arguments.
    public let arguments: [String]
    /// What a browser calls it when it asks the person.
    public let name: String

    /// Names a program and what stands before the address.
    public init(program: String, arguments: [String] = [RedirectHandoff.command], name: String) {
        self.program = program
        self.arguments = arguments
        self.name = name
    }

    /// The executable of this process.
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
