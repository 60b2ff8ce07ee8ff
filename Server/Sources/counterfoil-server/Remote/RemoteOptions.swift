import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// The options of a command that works on the store of this machine, or on a server over its administration API.
struct RemoteOptions: ParsableArguments {
    /// The maximum size of a token in bytes.
    private static let tokenLimit = 16 * 1024

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The issuer of a server with --administration-api, whose API is used instead of a store.",
            valueName: "url"))
    var remote: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The file with the access token for --remote, or - for standard input.", valueName: "file"))
    var tokenFile: String?

    func validate() throws {
        guard (remote == nil) == (tokenFile == nil) else {
            throw ValidationError("--remote and --token-file belong together.")
        }
        do { _ = try issuer } catch { throw ValidationError("--remote: \(error).") }
    }

    /// Whether the command works on a server, and on nothing of this machine.
    var isGiven: Bool { remote != nil }

    /// Refuses options of `serve`, which are settings of this machine, together with `--remote`.
    func refuse(_ options: ServeOptions) throws {
        guard !isGiven || (options.texts.isEmpty && options.location.settingsFile == nil) else {
            throw ValidationError(
                "--remote uses the settings of the server, so options of serve cannot be combined with it.")
        }
    }

    private var issuer: Issuer? {
        get throws(Issuer.Refusal) { try remote.map { (text) throws(Issuer.Refusal) in try Issuer(text) } }
    }

    /// Runs `work` with the store that options name, or with the server of `--remote`.
    ///
    /// - Parameter creating: Whether a missing data directory is created.
    func withTransport<Result>(
        on location: InstallationOption, creating: Bool, _ work: (any AdministrationTransport) async throws -> Result
    ) async throws -> Result {
        guard let issuer = try issuer, let tokenFile else {
            return try await location.withInstallation(creating: creating) { installation in
                try await work(try await LocalTransport(installation))
            }
        }
        guard location.directory == nil, location.database == nil, location.serverKeyFile == nil,
            location.settingsFile == nil
        else {
            throw CommandFailure.usage("--remote and the options that name a store cannot be combined.")
        }
        return try await RemoteTransport.with(issuer, token: try Self.token(in: tokenFile)) { try await work($0) }
    }

    private static func token(in path: String) throws(CommandFailure) -> AccessToken {
        let text =
            path == "-"
            ? String(
                decoding: try InputFile.bytes(of: .standardInput, at: "-", limit: tokenLimit), as: UTF8.self)
            : try RegularFile.text(at: path, for: "--token-file", limit: tokenLimit, isSecret: true)
        guard let token = AccessToken(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw .refused("--token-file: \(path) must contain one access token, and nothing else")
        }
        return token
    }
}
