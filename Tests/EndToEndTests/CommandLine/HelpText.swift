import Testing

/// What a command answers to `--help`.
struct HelpText: Sendable, CustomTestStringConvertible {
    let command: [String]
    /// Whether the command does something itself, rather than naming its subcommands.
    var runs = true
    let text: String

    var testDescription: String { (["counterfoil-server"] + command).joined(separator: " ") }

    static let all: [HelpText] = []
}
