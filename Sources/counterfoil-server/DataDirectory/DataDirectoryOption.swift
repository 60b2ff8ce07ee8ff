import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import Foundation

/// The option `--data-dir`.
struct DataDirectoryOption: ParsableArguments {
    @Option(
        name: .customLong("data-dir"),
        help: ArgumentHelp(
            "The data directory of the server. (default: $\(StandardDataDirectory.variable) or the user's data folder)",
            valueName: "directory"))
    var directory: String?

    /// The path of the data directory.
    ///
    /// - Throws: `ValidationError` if the option is empty, or if it is missing and there is no default.
    var path: String {
        get throws {
            guard let directory else { return try StandardDataDirectory.path() }
            guard !directory.isEmpty else { throw ValidationError("--data-dir cannot be empty.") }
            return directory
        }
    }

    func validate() throws { _ = try path }

    /// Opens the data directory, runs `work`, and closes the store.
    ///
    /// If `creating` is false, a missing database is an error.
    func withDirectory<Result>(creating: Bool = true, _ work: (DataDirectory) async throws -> Result) async throws
        -> Result
    {
        let directory = try DataDirectory(at: try path, creating: creating)
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
