import ArgumentParser

/// The options of a command that uses operations of the administration API: on the store of this machine, or with
/// `--remote` on a server.
struct OperationOptions: ParsableArguments {
    @OptionGroup var location: InstallationOption

    @OptionGroup(title: "Another machine") var remote: RemoteOptions

    @Flag(name: .long, help: "Print JSON instead of text.")
    var json = false

    /// Runs `work` with the store that options name, or with the server of `--remote`.
    ///
    /// If `creating` is false, a missing database is an error.
    func withServer<Result>(
        creating: Bool = false, _ work: (any AdministrationTransport) async throws -> Result
    ) async throws -> Result {
        try await remote.withTransport(on: location, creating: creating, work)
    }
}
