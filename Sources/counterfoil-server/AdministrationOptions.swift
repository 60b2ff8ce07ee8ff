import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// The options of every administration command.
struct AdministrationOptions: ParsableArguments {
    @Option(name: .long, help: "The data directory. The first command that writes creates it.")
    var dataDir: String

    @Flag(name: .long, help: "Print JSON instead of text.")
    var json = false

    func validate() throws {
        guard !dataDir.isEmpty else { throw ValidationError("--data-dir cannot be empty.") }
    }

    /// Opens the data directory, and closes it after the work.
    func withDirectory<Result>(creating: Bool = true, _ work: (DataDirectory) async throws -> Result) async throws
        -> Result
    {
        try await Self.withDirectory(at: dataDir, creating: creating, work)
    }

    /// Opens a data directory, and closes it after the work.
    static func withDirectory<Result>(
        at path: String, creating: Bool = true, _ work: (DataDirectory) async throws -> Result
    ) async throws -> Result {
        let directory = try DataDirectory(at: path, creating: creating)
        do {
            let result = try await work(directory)
            await directory.store.close()
            return result
        } catch let fault as StoreFault {
            await directory.store.close()
            throw CommandFailure(fault)
        } catch {
            await directory.store.close()
            throw error
        }
    }
}

/// The output of commands.
enum Output {
    /// Prints a line on standard output.
    static func line(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    /// Prints a line on standard error.
    static func note(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    /// Prints a value as one line of JSON on standard output.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        line(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}

/// The input of commands.
enum Input {
    /// Reads one line of standard input, without its line end, for a secret that must not be in the arguments.
    static func passwordLine() throws -> String {
        guard let line = readLine(strippingNewline: true), !line.isEmpty else {
            throw CommandFailure.refused("no password on standard input; write it there as one line")
        }
        return line
    }
}
