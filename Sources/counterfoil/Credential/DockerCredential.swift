import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

/// `counterfoil credential docker` is a credential helper of docker (docker-credential-helpers).
struct DockerCredential: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "docker",
        abstract: "Pass the token to docker, podman or skopeo.",
        discussion: """
            The registry gets the access token as the password. Registries that expect an identity token, which their own \
            token server takes as a refresh token, need --username '<token>'.

            docker starts a helper by the name docker-credential-NAME and passes only the operation. A link \
            docker-credential-counterfoil to this program uses $COUNTERFOIL_PROFILE, or else the profile that names the \
            registry as an API. For other options, write a script docker-credential-NAME that passes "$@" on.

            Examples:
              ln -s "$(command -v counterfoil)" ~/.local/bin/docker-credential-counterfoil
              echo '{"credHelpers": {"registry.example.com": "counterfoil"}}' \\
                >~/.docker/config.json
              counterfoil login https://id.example.com --client-id docker \\
                --api https://registry.example.com

            \(ExitStatus.help)
            """
    )

    /// The name of a link to this program that stands for this command.
    private static let linkName = "docker-credential-counterfoil"

    /// The operation that docker asks for.
    enum Operation: String, ExpressibleByArgument, CaseIterable {
        case get
        case list
        case store
        case erase
        case version
    }

    @Argument(help: "The operation.")
    var operation: Operation

    @Flag(
        name: .customLong("any-profile"),
        help: "Use the profile that names the registry as an API, instead of --profile.")
    var usesAnyProfile = false

    @Option(help: ArgumentHelp("The user name for the registry.", valueName: "name"))
    var username: String = PassedToken.userName

    @OptionGroup var target: TargetOptions

    @OptionGroup var common: CommonOptions

    /// The message by which docker recognizes that a helper knows no password for the registry.
    private static let notFound = "credentials not found in native keychain"

    /// Returns the arguments of this process; those of this command if the program was started by the name of the link.
    static func arguments(of process: [String], environment: [String: String]) -> [String] {
        let arguments = Array(process.dropFirst())
        guard process.first?.split(separator: "/").last.map(String.init) == linkName else { return arguments }
        let profile = environment["COUNTERFOIL_PROFILE"] ?? ""
        return ["credential", "docker"] + (profile.isEmpty ? ["--any-profile"] : ["--profile", profile]) + arguments
    }

    func run() async throws {
        let console = common.console
        try await console.run {
            switch operation {
            case .get:
                do { try await get(console) } catch let error where !(error is ExitCode) {
                    // docker shows to its user what a failed helper writes to standard output.
                    try console.result(Failure(any: error).sentence)
                    throw error
                }
            case .list: try await list(console)
            case .store: _ = try RequestOnStandardInput.read()
            case .erase:
                _ = try RequestOnStandardInput.read()
                console.say("The sign-in stays. To end it, run: counterfoil logout")
            case .version: try console.result("counterfoil \(Counterfoil.configuration.version)")
            }
        }
    }

    private func get(_ console: CommandOutput) async throws {
        let registry = try RequestOnStandardInput.read().trimmingWhitespace()
        let store = try await common.openStore().store
        let found = try await Self.signIns(for: Self.origins(of: registry), of: profiles(in: store), in: store)
        guard let (name, stored, origin) = found.first else {
            try console.result(Self.notFound)
            throw ExitCode(1)
        }
        guard found.count == 1 else {
            throw Failure(
                .usage,
                "several profiles name \(registry) as an API: \(found.map { $0.0.rawValue }.joined(separator: ", ")); "
                    + "set COUNTERFOIL_PROFILE")
        }
        let passed = try await PassedToken.token(of: stored, name, for: origin, target.value, in: store, common)
        try console.result(
            compact: Answer(
                ServerURL: registry, Username: username, Secret: passed.credentials.accessToken.exposed))
    }

    private func list(_ console: CommandOutput) async throws {
        let store = try await common.openStore().store
        var servers: [String: String] = [:]
        for name in try await profiles(in: store) {
            for origin in try await store.credentials(of: name)?.apiOrigins ?? [] {
                servers[origin.rawValue] = username
            }
        }
        try console.result(compact: servers)
    }

    /// Returns the profiles among which to look for the registry.
    private func profiles(in store: any TokenStore & ClientRegistrationStore) async throws -> [ProfileName] {
        guard !usesAnyProfile else {
            // A record that cannot be read is no reason to fail for another one.
            return try await store.profiles().filter { (try? $0.content.get()) != nil }.map(\.name)
        }
        _ = try await common.storedCredentials(in: store)
        return [common.profile]
    }

    /// Returns the profiles whose token may be sent to one of the origins, each with the first such origin.
    private static func signIns(
        for origins: [EndpointURL], of profiles: [ProfileName], in store: any TokenStore
    ) async throws -> [(ProfileName, Credentials, EndpointURL)] {
        var found: [(ProfileName, Credentials, EndpointURL)] = []
        for name in profiles {
            guard let stored = try await store.credentials(of: name) else { continue }
            let allowed = origins.first { (try? stored.check($0, origins: stored.allowedOrigins)) != nil }
            if let allowed { found.append((name, stored, allowed)) }
        }
        return found
    }

    /// Returns the origins that docker can mean by a registry, whose name can have a scheme and a path.
    ///
    /// docker sends passwords with http only to a registry on this device, unless its user configured it otherwise.
    private static func origins(of registry: String) -> [EndpointURL] {
        let parts = registry.split(separator: "://", maxSplits: 1)
        let host = (parts.last ?? "").prefix { $0 != "/" }
        let schemes = parts.count == 2 ? [String(parts[0])] : ["https", "http"]
        return schemes.compactMap { try? APIOrigin("\($0)://\(host)") }.compactMap { try? EndpointURL($0.rawValue) }
    }

    /// The answer to the operation `get`.
    private struct Answer: Encodable {
        let ServerURL: String
        let Username: String
        let Secret: String
    }
}
