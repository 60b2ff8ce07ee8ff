import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform

/// The options of every command that uses a token store.
struct CommonOptions: ParsableArguments {
    @Option(
        name: .customLong("profile"),
        help: ArgumentHelp(
            "The profile name. (default: $COUNTERFOIL_PROFILE, the profile of counterfoil use, or default)",
            valueName: "name"),
        transform: CommonOptions.profileName)
    var chosenProfile: ProfileName?

    @OptionGroup var storeOption: StoreOption

    @OptionGroup var output: OutputOptions

    var store: TokenStoreChoice? { storeOption.store }
    var json: Bool { output.json }
    var verbose: Bool { output.verbose }

    /// The output of the command, which ends with an error if the configuration file is not private.
    ///
    /// ``validate()`` leaves this error to the command, because ArgumentParser would show it with the usage of the
    /// command.
    var console: CommandOutput {
        var console = output.console
        if chosenProfile == nil {
            do throws(Failure) { _ = try Self.defaultProfile() } catch { console.refusal = error }
        }
        return console
    }

    /// The profile of the command.
    var profile: ProfileName { chosenProfile ?? .standard }

    mutating func validate() throws {
        guard chosenProfile == nil else { return }
        do throws(Failure) { chosenProfile = try Self.defaultProfile() } catch {
            guard error.status == .usage else { return }
            throw ValidationError(error.sentence.capitalizedSentence)
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
        return try ConfigurationFile.ofThisUser().read().defaultProfile
    }

    private static let nameRule = "consists of 1 to 64 letters, digits, and the characters - _ and ."

    static func profileName(_ text: String) throws -> ProfileName {
        guard let name = ProfileName(text) else { throw ValidationError("A profile name \(nameRule)") }
        return name
    }

    /// Opens the store of --store or COUNTERFOIL_STORE, or the automatically chosen one.
    func openStore() async throws(TokenStoreError) -> OpenedTokenStore { try await storeOption.open(console) }

    /// Creates the session of the profile.
    ///
    /// - Parameters:
    ///   - seconds: The time for which the access token of a service must stay valid.
    ///   - target: The part of the sign-in for which the access token of a service is.
    func session(minimumLifetime seconds: Int? = nil, for target: AccessTarget? = nil) async throws -> TokenSession {
        let store = try await openStore().store
        try await Self.renewService(profile, in: store, minimumLifetime: seconds, for: target)
        return session(of: profile, in: store)
    }

    /// Creates the session of a stored profile.
    ///
    /// This is the only way to a session that refreshes. Its host lets no refresh be lost when the program ends.
    ///
    /// - Parameter host: The host of another program than one that another process relieves of early refreshes.
    func session(
        of profile: ProfileName, in store: any TokenStore & ClientRegistrationStore, host: RefreshHost? = nil
    ) -> TokenSession {
        let choice = self.store
        let session = TokenSession(
            ofAnyClientIn: store, profile: profile, rememberingFirstOriginOver: .standard,
            host: host
                ?? .commandLine { target, limit in
                    await EarlyRefresh.start(for: profile, target, in: choice, waiting: limit)
                })
        console.follow(session)
        return session
    }

    /// Returns the stored credentials of the profile.
    ///
    /// - Throws: ``SessionError`` with the reason if there are none.
    func storedCredentials(
        in store: any TokenStore & ClientRegistrationStore
    ) async throws -> Credentials {
        if let stored = try await store.credentials(of: profile) { return stored }
        return try await session(of: profile, in: store).credentials()
    }

    /// Requests a new access token if a profile is that of a service (`login --grant client_credentials`) and its token
    /// expires within some seconds.
    static func renewService(
        _ profile: ProfileName, in store: any TokenStore, minimumLifetime seconds: Int? = nil,
        for target: AccessTarget? = nil
    ) async throws {
        guard let stored = try await store.credentials(of: profile), let signIn = ServiceSignIn(repeating: stored)
        else {
            return
        }
        _ = try await signIn.credentials(
            in: store, profile: profile, minimumLifetime: max(seconds ?? 10, 10), for: target)
    }

    /// Returns the credentials of the profile, and refreshes them first if necessary.
    ///
    /// - Parameters:
    ///   - seconds: The time for which the access token must stay valid; nil for any time.
    ///   - target: The part of the sign-in for which the access token is; nil for the whole sign-in.
    /// - Throws: ``Failure`` if the token expires earlier, and there is no refresh token or the server issues only
    ///   tokens with a shorter lifetime.
    func credentials(
        minimumLifetime seconds: Int? = nil, for target: AccessTarget? = nil
    ) async throws -> Credentials {
        let store = try await openStore().store
        return try await credentials(
            of: session(of: profile, in: store), in: store, minimumLifetime: seconds, for: target)
    }

    /// Returns the credentials of a session of the profile as above, for a program that asks for them again.
    ///
    /// The session knows a new refresh token that could not be stored.
    func credentials(
        of session: TokenSession, in store: any TokenStore, minimumLifetime seconds: Int?, for target: AccessTarget?
    ) async throws -> Credentials {
        try await Self.renewService(profile, in: store, minimumLifetime: seconds, for: target)
        var credentials = try await session.credentials(for: target)
        if let seconds, credentials.isExpired(early: seconds), !credentials.isOfService {
            guard credentials.isRefreshable else {
                throw Failure(
                    .signInRequired,
                    "the access token expires in less than \(seconds) s, and there is no refresh token; "
                        + "run counterfoil login")
            }
            credentials = try await session.refreshed(replacing: credentials.accessToken, for: target)
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

    /// Warns if a refreshed token could not be stored and is therefore lost when the program ends, or if the API of the
    /// first call could not be stored.
    func warnIfNotSaved(_ session: TokenSession) async {
        if let reason = await session.saveError {
            console.say("The new token could not be stored, and the server may reject the old one: \(reason).")
        }
        if let reason = await session.originSaveError {
            console.say("The API could not be stored as the one that the token is for: \(reason).")
        }
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
