import Foundation

/// The fenced code of a page of this repository, word for word, in the order of the page.
///
///     let page = try GuidePage("docs/guide/moving-from-zoho.md")
///     let commands = try page.commands(replacing: [("https://accounts.example.com", issuer), ("8080", "\(port)")])
///     let shell = try GuideShell(in: folder, environment: ["BROWSER": device.browser])
///     let server = try shell.start(commands[0])
///     let created = try await shell.run(commands[1])
///
/// A test of a guide executes what the reader copies. It replaces only what a reader replaces too, such as a host name.
package struct GuidePage: Sendable {
    /// One fenced block.
    package struct Block: Sendable {
        /// The text of the nearest heading above the block, without `#`; empty above the first heading.
        package let heading: String
        /// The language after the opening fence, such as `sh`, `python` or `text`.
        package let language: String
        /// The lines between the fences.
        package let text: String
    }

    /// An error: the page is not as the test expects.
    package struct Unexpected: Error, CustomStringConvertible {
        package let description: String
    }

    /// The path of the page below the root of the repository.
    package let path: String
    package let blocks: [Block]

    package init(_ path: String) throws {
        self.init(path, text: try Repository.text(path))
    }

    init(_ path: String, text: String) {
        self.path = path
        var blocks: [Block] = []
        var heading = ""
        var open: (language: String, lines: [Substring])?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let block = open {
                    blocks.append(
                        Block(heading: heading, language: block.language, text: block.lines.joined(separator: "\n")))
                    open = nil
                } else {
                    open = (String(line.dropFirst(3)), [])
                }
            } else if open != nil {
                open?.lines.append(line)
            } else if line.hasPrefix("#") {
                heading = line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces)
            }
        }
        self.blocks = blocks
    }

    /// Returns the shell commands of the blocks with the language `sh`, in the order of the page.
    ///
    /// A command continues after a line that ends with `\` or `|`. Lines that contain only a comment are no commands.
    ///
    /// - Parameters:
    ///   - heading: The heading above the blocks; nil for the whole page.
    ///   - replacements: The words of the page and their replacements, applied in this order. The function throws if
    ///     one of the words is in no command, because the page then no longer says what the test expects.
    package func commands(
        under heading: String? = nil, replacing replacements: [(word: String, by: String)] = []
    ) throws -> [String] {
        let chosen = blocks.filter { $0.language == "sh" && (heading == nil || $0.heading == heading) }
        guard !chosen.isEmpty else {
            throw Unexpected(description: "\(path) has no shell commands under \(heading ?? "any heading")")
        }
        var commands = chosen.flatMap(\.commands)
        for (word, replacement) in replacements {
            guard commands.contains(where: { $0.contains(word) }) else {
                throw Unexpected(description: "no command of \(path) contains \(word)")
            }
            commands = commands.map { $0.replacing(word, with: replacement) }
        }
        return commands
    }
}

extension GuidePage.Block {
    /// The shell commands of the block.
    package var commands: [String] {
        var commands: [String] = []
        var lines: [Substring] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let trimmed = line.drop { $0 == " " }
            if lines.isEmpty, trimmed.isEmpty || trimmed.hasPrefix("#") { continue }
            lines.append(line)
            if line.hasSuffix("\\") || line.hasSuffix("|") { continue }
            commands.append(lines.joined(separator: "\n"))
            lines = []
        }
        if !lines.isEmpty { commands.append(lines.joined(separator: "\n")) }
        return commands
    }
}

/// The terminal of a reader who executes the commands of a guide: `/bin/sh`, in one directory, with the programs of
/// both packages on `PATH`.
package struct GuideShell: Sendable {
    /// The directory in which the commands run.
    package let directory: TemporaryDirectory
    private let environment: [String: String]

    /// Creates a terminal in a new directory, with more variables of the environment.
    package init(in parent: TemporaryDirectory, environment: [String: String] = [:]) throws {
        let directory = try parent.makeFolder("reader")
        self.init(at: directory, environment: environment)
    }

    private init(at directory: TemporaryDirectory, environment: [String: String]) {
        self.directory = directory
        self.environment = environment
    }

    /// Returns another terminal in the same directory, with more variables of the environment.
    package func terminal(_ variables: [String: String]) -> GuideShell {
        GuideShell(at: directory, environment: environment.merging(variables) { $1 })
    }

    /// Runs a command until it exits.
    package func run(_ command: String) async throws -> EndedProgram { try await program(command).ended() }

    /// Starts a single program that runs until it is stopped, such as a server; it gets the signals itself.
    package func start(_ command: String) throws -> RunningProgram { try program("exec env " + command) }

    private func program(_ command: String) throws -> RunningProgram {
        let programs = try Product.server.executable.deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try RunningProgram(
            at: "/bin/sh", ["-c", #"cd "$1" && eval "$2""#, "sh", directory.url.path, command],
            environment: ["HOME": directory.url.path, "PATH": "\(programs):\(path)"].merging(environment) { $1 },
            in: directory)
    }
}
