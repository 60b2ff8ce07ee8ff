import ArgumentParser

/// The options of every administration command.
struct AdministrationOptions: ParsableArguments {
    @OptionGroup var location: DataDirectoryOption

    @Flag(name: .long, help: "Print JSON instead of text.")
    var json = false

    /// Opens the data directory, and closes it after the work.
    func withDirectory<Result>(creating: Bool = true, _ work: (DataDirectory) async throws -> Result) async throws
        -> Result
    {
        try await location.withDirectory(creating: creating, work)
    }
}
