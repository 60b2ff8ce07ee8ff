import ArgumentParser

/// The options that most administration commands share.
struct AdministrationOptions: ParsableArguments {
    @OptionGroup var location: InstallationOption

    @Flag(name: .long, help: "Print JSON instead of text.")
    var json = false

    /// Opens the data directory, runs `work`, and closes the store.
    ///
    /// If `creating` is false, a missing database is an error.
    func withInstallation<Result>(creating: Bool = true, _ work: (Installation) async throws -> Result) async throws
        -> Result
    {
        try await location.withInstallation(creating: creating, work)
    }
}
