import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// The options that every administration command has.
struct AdministrationOptions: ParsableArguments {
    @Option(name: .long, help: "The data directory; made by the first command that writes.")
    var dataDir: String

    @Flag(name: .long, help: "Print JSON for programs instead of words for people.")
    var json = false

    func validate() throws {
        guard !dataDir.isEmpty else { throw ValidationError("--data-dir cannot be empty.") }
    }

    /// Opens the data directory and closes it when the work is done.
    func withDirectory<Result>(creating: Bool = true, _ work: (DataDirectory) async throws -> Result) async throws
        -> Result
    {
        try await Self.withDirectory(at: dataDir, creating: creating, work)
    }

    /// Opens a data directory and closes it when the work is done.
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

/// What commands print.
enum Output {
    /// A line on standard output.
    static func line(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    /// A line on standard error.
    static func note(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    /// A value as one line of JSON.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        line(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}

/// What commands read.
enum Input {
    /// One line of standard input without its end, for a secret that must not stand in the arguments.
    static func passwordLine() throws -> String {
        guard let line = readLine(strippingNewline: true), !line.isEmpty else {
            throw CommandFailure.refused("no password came on standard input; write it there as one line")
        }
        return line
    }
}
