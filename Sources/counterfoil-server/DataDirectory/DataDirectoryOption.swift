import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer

/// The option `--data-dir`.
struct DataDirectoryOption: ParsableArguments {
    @Option(
        name: .customLong("data-dir"), help: ArgumentHelp("The data directory of the server.", valueName: "directory"))
    var path: String

    func validate() throws {
        guard !path.isEmpty else { throw ValidationError("--data-dir cannot be empty.") }
    }

    /// Opens the data directory, runs `work`, and closes the store.
    ///
    /// If `creating` is false, a missing database is an error.
    func withDirectory<Result>(creating: Bool = true, _ work: (DataDirectory) async throws -> Result) async throws
        -> Result
    {
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
