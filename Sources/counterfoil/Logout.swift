import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// `counterfoil logout` deletes and revokes the tokens, and can end the session at the server.
struct Logout: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Delete the token here, and revoke it at the server if possible.",
        discussion: """
            The token is deleted from this device in any case, unless the token store cannot be read. With --browser, the user's session at the server is ended \
            too, in the browser in which it started. With --redirect-uri, the command waits for the end of the session.

            Examples:
              counterfoil logout
              counterfoil logout --browser open

            \(ExitStatus.help)
            """
    )

    @Option(
        help: ArgumentHelp(
            "End the session at the server too: open the browser, or only print the URL.",
            valueName: "browser"))
    var browser: BrowserChoice?

    @Option(
        help: ArgumentHelp(
            "With --browser, the registered post-logout redirect URI, on loopback or with a private-use scheme.",
            valueName: "uri"))
    var redirectURI: String?

    @Option(help: ArgumentHelp("With --redirect-uri, the time to wait for the browser.", valueName: "seconds"))
    var timeout = 300

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (1...86400).contains(timeout) else {
            throw ValidationError("--timeout must be a number of seconds from 1 to 86400.")
        }
        guard redirectURI == nil || browser != nil else {
            throw ValidationError("--redirect-uri requires --browser.")
        }
    }

    func run() async throws {
        let console = common.console
        try await console.run {
            let store = try await common.openStore().store
            let stored: Credentials?
            do throws(TokenStoreError) { stored = try await store.credentials(of: common.profile) } catch {
                guard try await removed(error, from: store) else { throw failure(error) }
                return try finish(Ended(profile: common.profile, isRemoved: true, remaining: .ofUnreadable))
            }
            guard let credentials = stored else {
                return try finish(Ended(profile: common.profile, isRemoved: false))
            }
            let ending = try ending()
            let remaining = RemainingTokens(of: credentials)
            let isRevoked: Bool
            do throws(SessionError) {
                isRevoked = try await TokenSession(ofAnyClientIn: store, profile: common.profile).signOut() == .revoked
            } catch {
                // If the tokens could not be revoked, end the user's session at the server anyway. Then report the
                // failure.
                guard case .signedOutHereOnly(let cause) = error else { throw error }
                let sentence =
                    "the token was deleted here, but could not be revoked at the server: \(cause)."
                    + (remaining.clause.map { " \($0.prefix(1).uppercased() + $0.dropFirst())." } ?? "")
                do { _ = try await end(ending, of: credentials) } catch {
                    let failure = Failure(any: error)
                    if failure.status == .interrupted { throw failure.saying(sentence) }
                }
                throw Failure(Failure(ofSignedIn: cause).status, sentence)
            }
            var ended = Ended(
                profile: common.profile, isRemoved: true, isRevoked: isRevoked, remaining: isRevoked ? nil : remaining)
            do { ended.session = try await end(ending, of: credentials) } catch {
                throw Failure(any: error).saying("\(ended.deletion), but \(reason(of: error))")
            }
            try finish(ended)
        }
    }

    /// Returns the failure of a sign-out from a store that cannot be read, so that nothing can be revoked.
    ///
    /// The store stays: the user may have a copy of the key, and the file contains the sign-ins of all profiles.
    private func failure(_ error: TokenStoreError) -> Failure {
        let failure = Failure(error)
        switch error {
        case .unreadable, .keyMissing, .newer, .damaged:
            let issuer = (try? ConfigurationFile.ofThisUser().read())?.logins[common.profile]?.issuer
            return failure.saying(
                "\(error). The refresh token in it stays valid at the server until it expires or you disconnect the app in"
                    + " your account" + (issuer.map { " at \($0)" } ?? ""))
        case .notPrivate, .unavailable, .busy, .cancelled, .failed: return failure
        }
    }

    /// Deletes a record that cannot be read; returns false if the error is about the whole store.
    private func removed(_ error: TokenStoreError, from store: any TokenStore) async throws -> Bool {
        switch error {
        case .damaged, .newer:
            do { return try await store.remove(common.profile) } catch { throw failure(error) }
        default: return false
        }
    }

    /// Returns the settings with which to end the user's session at the server; nil without --browser.
    private func ending() throws(Failure) -> BrowserSignOut? {
        guard let browser else { return nil }
        var ending = BrowserSignOut()
        if let redirectURI {
            ending.redirect = try Failure.usage { try .registered(redirectURI) }
        }
        ending.timeout = .seconds(timeout)
        if browser == .print { ending.browser = NoBrowser() }
        return ending
    }

    private func end(_ ending: BrowserSignOut?, of credentials: Credentials) async throws -> Ended.Session? {
        guard let ending else { return nil }
        let (console, timeout) = (common.console, timeout)
        let outcome = try await runUntilInterrupted {
            try await ending.run(credentials) { event in
                switch event {
                case .opening(let url, let isAwaited):
                    console.say("Open: \(url)")
                    if isAwaited {
                        let time = SpokenDuration(seconds: timeout)
                        console.say("Waiting \(time) for the browser to return; press Control-C to stop.")
                    }
                case .browser(.failed(let reason)):
                    console.say("The browser could not be opened (\(reason)); open the URL yourself.")
                case .browser: break
                }
            }
        }
        switch outcome {
        case .ended: return .ended
        case .opened: return .opened
        case .notOpened: return .notOpened
        case .unsupported: return .unsupported
        }
    }

    /// Returns the reason why the user's session at the server may continue, and the way to avoid it.
    private func reason(of error: any Error) -> String {
        let failure = Failure(any: error)
        if failure.status == .interrupted { return "the sign-out in the browser was interrupted" }
        guard error as? SignInError == .timedOut, let redirectURI else {
            return "the session at the server was not ended: \(failure.sentence)"
        }
        return "the browser did not return from the server's sign-out page. Register \(redirectURI) at the server as a"
            + " post-logout redirect URI of this client"
    }

    private func finish(_ end: Ended) throws {
        if common.json { try common.console.result(end) } else { try common.console.result(end.sentence) }
    }
}

/// The tokens that stay valid at the server because they could not be revoked.
struct RemainingTokens {
    /// The expiration of the access token; nil if it has expired, or if its expiration is not known.
    let expires: Date?
    private let hasRefreshToken: Bool
    /// Whether they are those of a record that cannot be read.
    let isUnreadable: Bool

    /// The tokens of a record that cannot be read; it probably contains a refresh token.
    static let ofUnreadable = RemainingTokens(expires: nil, hasRefreshToken: true, isUnreadable: true)

    init(of credentials: Credentials) {
        self.init(
            expires: credentials.isExpired() ? nil : credentials.expires,
            hasRefreshToken: credentials.refreshToken != nil)
    }

    private init(expires: Date?, hasRefreshToken: Bool, isUnreadable: Bool = false) {
        self.expires = expires
        self.hasRefreshToken = hasRefreshToken
        self.isUnreadable = isUnreadable
    }

    /// The tokens and their expiration, as the beginning of a sentence; nil if nothing is known.
    var clause: String? {
        let access = expires.map { "the access token expires at \($0.formatted(.iso8601))" }
        guard hasRefreshToken else { return access }
        return [
            access,
            "the refresh token stays valid at the server until it expires or you disconnect the app in your account",
        ].compactMap(\.self).joined(separator: ", and ")
    }
}

/// The result of a sign-out, as text or JSON.
private struct Ended: Encodable {
    let profile: String
    let removed: Bool
    let revoked: Bool
    let expires_at: Date?
    var session: Session?
    /// The reason why tokens stay valid, and which; nil if none is known.
    private let remaining: String?

    private enum CodingKeys: CodingKey {
        case profile, removed, revoked, expires_at, session
    }

    /// The outcome for the user's session at the server.
    enum Session: String, Encodable {
        case ended
        case opened
        case notOpened = "not_opened"
        case unsupported

        var sentence: String {
            switch self {
            case .ended: " The session at the server has ended."
            case .opened: " Check the browser to see whether you were signed out there."
            case .notOpened: " Open the URL above to sign out at the server too."
            case .unsupported: " The session at the server continues, because the server has no end-session endpoint."
            }
        }
    }

    init(profile: ProfileName, isRemoved: Bool, isRevoked: Bool = false, remaining: RemainingTokens? = nil) {
        self.profile = profile.rawValue
        removed = isRemoved
        revoked = isRevoked
        expires_at = remaining?.expires
        let reason = remaining?.isUnreadable == true ? "It could not be read" : "This server does not revoke tokens"
        self.remaining = remaining?.clause.map { "\(reason): \($0)." }
    }

    var sentence: String { tokens + (session?.sentence ?? "") }

    private var tokens: String {
        guard removed else { return "No user was signed in under the profile \(profile)." }
        return "Signed out: \(deletion)." + (remaining.map { " \($0)" } ?? "")
    }

    /// The end of the tokens, as the beginning of a sentence.
    var deletion: String {
        revoked ? "the token was deleted here and revoked at the server" : "the token was deleted here"
    }
}
