import ArgumentParser
import CounterfoilClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The options of every command that uses a token store.
struct CommonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The profile name. (default: default)", valueName: "name"),
        transform: CommonOptions.profileName)
    var profile: ProfileName = .standard

    @Option(
        help: ArgumentHelp(
            "Where tokens are stored: auto, keychain, secret-service, memory, or file:PATH for an encrypted file. "
                + "(default: $COUNTERFOIL_STORE, or auto)",
            valueName: "store"),
        transform: CommonOptions.storeChoice)
    var store: TokenStoreChoice?

    @OptionGroup var output: OutputOptions

    var json: Bool { output.json }
    var verbose: Bool { output.verbose }
    var console: CommandOutput { output.console }

    mutating func validate() throws {
        guard store == nil, let text = ProcessInfo.processInfo.environment["COUNTERFOIL_STORE"], !text.isEmpty else {
            return
        }
        do throws(TokenStoreChoice.Refusal) { store = try TokenStoreChoice(parsing: text) } catch {
            throw ValidationError("COUNTERFOIL_STORE is '\(text)'; \(error).")
        }
    }

    private static func storeChoice(_ text: String) throws -> TokenStoreChoice {
        do throws(TokenStoreChoice.Refusal) { return try TokenStoreChoice(parsing: text) } catch {
            throw ValidationError("--store is '\(text)'; \(error).")
        }
    }

    private static func profileName(_ text: String) throws -> ProfileName {
        guard let name = ProfileName(text) else {
            throw ValidationError("A profile name consists of 1 to 64 letters, digits, and the characters - _ and .")
        }
        return name
    }

    /// Opens the store of --store or COUNTERFOIL_STORE, or the automatically chosen one.
    func openStore() async throws(TokenStoreError) -> OpenedTokenStore {
        let opened = try await (store ?? .automatic).open(application: .commandLine)
        console.detail("\(opened)")
        return opened
    }

    /// Creates the session of the profile in --profile.
    func session() async throws(TokenStoreError) -> TokenSession {
        TokenSession(
            ofAnyClientIn: try await openStore().store, profile: profile, rememberingFirstOriginOver: .standard)
    }

    /// Returns the credentials of the profile in --profile, and refreshes them first if necessary.
    ///
    /// - Parameter seconds: The time for which the access token must stay valid; nil for any time.
    /// - Throws: ``Failure`` if the token expires earlier, and there is no refresh token or the server issues only
    ///   tokens with a shorter lifetime.
    func credentials(minimumLifetime seconds: Int? = nil) async throws -> Credentials {
        let session = try await session()
        var credentials = try await session.credentials()
        if let seconds, credentials.isExpired(early: seconds) {
            guard credentials.refreshToken != nil else {
                throw Failure(
                    .signInRequired,
                    "the access token expires in less than \(seconds) s, and there is no refresh token; "
                        + "run counterfoil login")
            }
            credentials = try await session.refreshed(replacing: credentials.accessToken)
        }
        await warnIfNotSaved(session)
        if let seconds, let expires = credentials.expires, credentials.isExpired(early: seconds) {
            throw Failure(
                .usage,
                "the server issued an access token that expires in \(max(0, Int(expires.timeIntervalSinceNow))) s; "
                    + "choose a shorter --min-lifetime")
        }
        return credentials
    }

    /// Warns if a refreshed token could not be stored and is therefore lost when the program ends.
    func warnIfNotSaved(_ session: TokenSession) async {
        guard let reason = await session.saveError else { return }
        console.say("The new token could not be stored, and the server may reject the old one: \(reason).")
    }
}

/// The option `--min-lifetime`.
struct LifetimeOption: ParsableArguments {
    @Option(
        name: .customLong("min-lifetime"),
        help: ArgumentHelp("Refresh the token first if it expires earlier than in this time.", valueName: "seconds"))
    var minimumLifetime: Int?

    func validate() throws {
        if let minimumLifetime, !(1...86400).contains(minimumLifetime) {
            throw ValidationError("--min-lifetime must be a number of seconds from 1 to 86400.")
        }
    }
}

/// The options `--json` and `--verbose`.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Write results and errors as JSON.")
    var json = false

    @Flag(help: "Report each step on standard error; codes and tokens are never printed.")
    var verbose = false

    var console: CommandOutput { CommandOutput(writesJSON: json, isVerbose: verbose) }
}
