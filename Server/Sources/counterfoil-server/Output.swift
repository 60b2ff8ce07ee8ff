import Foundation

/// The output of commands: results on standard output, notes on standard error.
enum Output {
    /// Prints a line on standard output.
    static func line(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    /// Prints a line on standard error.
    static func note(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    /// Prints a question on standard error, without a line end.
    static func prompt(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }

    /// Prints a value as one line of JSON on standard output.
    static func json(_ value: some Encodable) throws {
        line(String(decoding: try encoded(value), as: UTF8.self))
    }

    /// Returns a value as one line of JSON, with sorted members.
    static func encoded(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}
