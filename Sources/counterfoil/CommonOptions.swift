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
        name: .customLong("profile"),
        help: ArgumentHelp(
            "The profile name. (default: $COUNTERFOIL_PROFILE, the profile of counterfoil use, or default)",
            valueName: "name"),
        transform: CommonOptions.profileName)
    var chosenProfile: ProfileName?

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

    /// The profile of the command.
    var profile: ProfileName { chosenProfile ?? .standard }

    mutating func validate() throws {
        try Self.chooseStore(&store)
        guard chosenProfile == nil else { return }
        do throws(Failure) { chosenProfile = try Self.defaultProfile() } catch {
            throw ValidationError(error.sentence.capitalizedSentence)
        }
    }

    /// Sets a store that was not chosen to that of COUNTERFOIL_STORE.
    static func chooseStore(_ store: inout TokenStoreChoice?) throws {
        guard store == nil, let text = ProcessInfo.processInfo.environment["COUNTERFOIL_STORE"], !text.isEmpty else {
            return
        }
        do throws(TokenStoreChoice.Refusal) { store = try TokenStoreChoice(parsing: text) } catch {
            throw ValidationError("COUNTERFOIL_STORE is '\(text)'; \(error).")
        }
    }

    /// Returns the profile of COUNTERFOIL_PROFILE or of the configuration file; nil if neither names one.
    static func defaultProfile() throws(Failure) -> ProfileName? {
        if let text = ProcessInfo.processInfo.environment["COUNTERFOIL_PROFILE"], !text.isEmpty {
            guard let name = ProfileName(text) else {
                throw Failure(.usage, "COUNTERFOIL_PROFILE is '\(text)'; a profile name \(nameRule)")
            }
            return name
        }
        return try ConfigurationFile.ofThisUser()?.read().defaultProfile
    }

    private static let nameRule = "consists of 1 to 64 letters, digits, and the characters - _ and ."

    static func storeChoice(_ text: String) throws -> TokenStoreChoice {
        do throws(TokenStoreChoice.Refusal) { return try TokenStoreChoice(parsing: text) } catch {
            throw ValidationError("--store is '\(text)'; \(error).")
        }
    }

    static func profileName(_ text: String) throws -> ProfileName {
        guard let name = ProfileName(text) else { throw ValidationError("A profile name \(nameRule)") }
        return name
    }

    /// Opens the store of --store or COUNTERFOIL_STORE, or the automatically chosen one.
    func openStore() async throws(TokenStoreError) -> OpenedTokenStore {
        let opened = try await (store ?? .automatic).open(application: .commandLine)
        console.detail("\(opened)")
        return opened
    }

    /// Creates the session of the profile.
    ///
    /// - Parameter seconds: The time for which the access token of a service must stay valid.
    func session(minimumLifetime seconds: Int? = nil) async throws -> TokenSession {
        let store = try await openStore().store
        try await Self.renewService(profile, in: store, minimumLifetime: seconds)
        return TokenSession(ofAnyClientIn: store, profile: profile, rememberingFirstOriginOver: .standard)
    }

    /// Requests a new access token if a profile is that of a service (`login --grant client_credentials`) and its token
    /// expires within some seconds.
    static func renewService(
        _ profile: ProfileName, in store: any TokenStore, minimumLifetime seconds: Int? = nil
    ) async throws {
        guard let stored = try await store.credentials(of: profile), let signIn = ServiceSignIn(repeating: stored)
        else {
            return
        }
        _ = try await signIn.credentials(in: store, profile: profile, minimumLifetime: max(seconds ?? 10, 10))
    }

    /// Returns the credentials of the profile, and refreshes them first if necessary.
    ///
    /// - Parameter seconds: The time for which the access token must stay valid; nil for any time.
    /// - Throws: ``Failure`` if the token expires earlier, and there is no refresh token or the server issues only
    ///   tokens with a shorter lifetime.
    func credentials(minimumLifetime seconds: Int? = nil) async throws -> Credentials {
        let session = try await session(minimumLifetime: seconds)
        var credentials = try await session.credentials()
        if let seconds, credentials.isExpired(early: seconds), !credentials.isOfService {
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
        name: .customLong("min-lifetime"), parsing: .unconditional,
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
