import ArgumentParser

/// The options that most administration commands share.
struct AdministrationOptions: ParsableArguments {
    @OptionGroup var location: DataDirectoryOption

    @Flag(name: .long, help: "Print JSON instead of text.")
    var json = false

    /// Opens the data directory, runs `work`, and closes the store.
    ///
    /// If `creating` is false, a missing database is an error.
    func withDirectory<Result>(creating: Bool = true, _ work: (DataDirectory) async throws -> Result) async throws
        -> Result
    {
        try await location.withDirectory(creating: creating, work)
    }
}
