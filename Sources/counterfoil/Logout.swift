import ArgumentParser
import CounterfoilClient
import CounterfoilProtocol
import Foundation

/// `counterfoil logout` ends a sign-in.
struct Logout: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Forget the token here, and revoke it at the server where the server can.",
        discussion: """
            The token is removed from this device in any case. With --browser the person's session at the server is ended \
            too, in the browser in which it began; with --redirect-uri the end of it is waited for.

            Example:
              counterfoil logout
              counterfoil logout --browser open

            \(ExitStatus.help)
            """
    )

    @Option(
        help: ArgumentHelp(
            "End the session at the server too: open the browser for it, or only print the address.",
            valueName: "browser"))
    var browser: Browser?

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp(
            "With --browser, where it goes afterwards, as it is registered for that; on loopback or with a scheme of its own.",
            valueName: "uri"))
    var redirectURI: String?

    @Option(help: ArgumentHelp("With --redirect-uri, how long to wait for the browser.", valueName: "seconds"))
    var timeout = 300

    @OptionGroup var common: CommonOptions

    /// The way in which the end-session URL is opened.
    enum Browser: String, ExpressibleByArgument, CaseIterable {
        case open
        case print
    }

    func validate() throws {
        guard (1...86400).contains(timeout) else {
            throw ValidationError("--timeout must be a number of seconds from 1 to 86400.")
        }
        guard redirectURI == nil || browser != nil else {
            throw ValidationError("--redirect-uri is where the browser goes; add --browser.")
        }
    }

    func run() async throws {
        let console = common.console
        try await console.run {
            let store = try await common.openStore().store
            guard let credentials = try await store.credentials(of: common.profile) else {
                return try finish(Ended(profile: common.profile, isRemoved: false, isRevoked: false, expires: nil))
            }
            let ending = try ending()
            let expires = credentials.isExpired() ? nil : credentials.expires
            let isRevoked: Bool
            do throws(SessionError) {
                isRevoked = try await TokenSession(store: store, profile: common.profile).signOut() == .revoked
            } catch {
                // The session at the server is ended anyway, and the failure is reported afterwards.
                if case .unavailable = error { _ = try? await end(ending, of: credentials) }
                guard case .unavailable(let cause) = error else { throw error }
                throw Failure(
                    Failure(cause).status,
                    "the token was removed here, but the server could not be told: \(cause)."
                        + (expires.map { " It expires there at \($0.formatted(.iso8601))." } ?? ""))
            }
            var ended = Ended(
                profile: common.profile, isRemoved: true, isRevoked: isRevoked, expires: isRevoked ? nil : expires)
            ended.session = try await end(ending, of: credentials)
            try finish(ended)
        }
    }

    /// Configures the sign-out at the server; returns nil without --browser.
    private func ending() throws(Failure) -> BrowserSignOut? {
        guard let browser else { return nil }
        var ending = BrowserSignOut()
        if let redirectURI {
            do { ending.redirect = try .registered(redirectURI) } catch { throw Failure(.usage, "\(error)") }
        }
        ending.timeout = .seconds(timeout)
        if browser == .print { ending.browser = NoBrowser() }
        return ending
    }

    private func end(_ ending: BrowserSignOut?, of credentials: Credentials) async throws -> Ended.Session? {
        guard let ending else { return nil }
        let (console, timeout) = (common.console, timeout)
        let outcome = try await UntilControlC.run {
            try await ending.run(credentials) { event in
                switch event {
                case .opening(let url, let isAwaited):
                    console.say("Open: \(url)")
                    if isAwaited { console.say("Waiting \(timeout) s for the browser to come back; Control-C stops.") }
                case .browser(.failed(let reason)):
                    console.say("The browser could not be opened (\(reason)); open the address by hand.")
                case .browser: break
                }
            }
        }
        switch outcome {
        case .ended: return .ended
        case .opened: return .opened
        case .unsupported: return .unsupported
        }
    }

    private func finish(_ end: Ended) throws {
        if common.json { try common.console.result(end) } else { common.console.result(end.sentence) }
    }
}

/// The result of a sign-out.
private struct Ended: Encodable {
    let profile: String
    let removed: Bool
    let revoked: Bool
    let expires_at: Date?
    var session: Session?

    /// The result for the session at the server.
    enum Session: String, Encodable {
        case ended
        case opened
        case unsupported

        var sentence: String {
            switch self {
            case .ended: " The session at the server has ended."
            case .opened: " Whether the session at the server has ended, its page says."
            case .unsupported: " This server has no page at which a session is ended."
            }
        }
    }

    init(profile: ProfileName, isRemoved: Bool, isRevoked: Bool, expires: Date?) {
        self.profile = profile.rawValue
        removed = isRemoved
        revoked = isRevoked
        expires_at = expires
    }

    var sentence: String { tokens + (session?.sentence ?? "") }

    private var tokens: String {
        guard removed else { return "Nobody was signed in under the profile \(profile)." }
        if revoked { return "Signed out: the token was removed here and revoked at the server." }
        guard let expires_at else { return "Signed out: the token was removed here." }
        return "Signed out: the token was removed here. This server revokes none, so it expires there at "
            + "\(expires_at.formatted(.iso8601))."
    }
}
