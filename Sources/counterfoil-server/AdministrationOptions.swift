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
