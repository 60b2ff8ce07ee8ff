import CounterfoilProtocol
package import CounterfoilStore
import Crypto
package import Foundation
import HTTPTypes

/// A valid session: it has not expired, it was not idle for too long, and the account of its user is not disabled.
///
/// Only ``SessionRules`` and ``SessionManager`` create one.
package struct LiveSession: Sendable {
    package let digest: ArtefactDigest
    let id: SessionIdentifier
    /// The user; without a role if the user has signed in at another issuer.
    ///
    /// The rights of a role therefore need a sign-in here, whatever the other issuer signs.
    package let user: User
    /// Whether the user has a role, which the session does not have because it began at another issuer.
    package let lacksRole: Bool
    package let authenticatedAt: Date
    package let methods: AuthenticationMethods
    /// Whether the session cookie stays in the browser when the browser is closed.
    let isPersistent: Bool

    fileprivate init(_ facts: SessionFacts) {
        digest = facts.session.digest
        id = facts.session.id
        var user = facts.user
        lacksRole = user.role != nil && facts.session.methods.external != nil
        if lacksRole { user.role = nil }
        self.user = user
        authenticatedAt = facts.session.authenticatedAt
        methods = facts.session.methods
        isPersistent = facts.session.isPersistent
    }
}

/// The rules for valid sessions, as pure functions.
package enum SessionRules {
    package static func live(_ facts: SessionFacts, now: Date, settings: ServerSettings) -> LiveSession? {
        let idle = now.timeIntervalSince(facts.session.lastSeenAt)
        guard facts.user.disabledAt == nil, now < facts.session.expiresAt,
            idle < TimeInterval(settings.sessionIdleLifetime)
        else { return nil }
        return LiveSession(facts)
    }

    /// Returns true if the recorded time of last use is more than a minute old and must be updated.
    ///
    /// The time is updated at most once a minute, so most requests do not write to the store.
    static func isWorthNoting(_ session: Session, now: Date) -> Bool {
        now.timeIntervalSince(session.lastSeenAt) > 60
    }
}

/// The sessions of browsers: their cookies and their rows in the store.
package struct SessionManager: Sendable {
    var store: any SessionStore
    let settings: ServerSettings
    let cookies: Cookies
    var auditor: Auditor
    let random: RandomBytes

    /// The outcome of the beginning of a session.
    package enum Beginning: Sendable {
        /// The session began; the response must set the cookie.
        case begun(LiveSession, cookie: String)
        /// The account is disabled or deleted, or the proof does not hold any more; the reason is for the audit log.
        case refused(AuditEvent.Reason, detail: String?)
    }

    /// Returns the valid session of the browser that sent a request; nil if there is none.
    package func current(_ request: IncomingRequest, now: Date) async throws -> LiveSession? {
        guard let token = request.cookie(cookies.sessionName).flatMap(SessionToken.init),
            let facts = try await store.session(ArtefactDigest(of: token)),
            let live = SessionRules.live(facts, now: now, settings: settings)
        else { return nil }
        if SessionRules.isWorthNoting(facts.session, now: now) {
            try await store.touchSession(facts.session.digest, at: now)
        }
        return live
    }

    /// Returns the user of the session in the cookie of a request, also if the session or the account has ended; nil if
    /// it is unknown.
    ///
    /// It is for the audit log: the user is not authenticated.
    func owner(of request: IncomingRequest) async -> UserIdentifier? {
        guard let token = request.cookie(cookies.sessionName).flatMap(SessionToken.init) else { return nil }
        return try? await store.session(ArtefactDigest(of: token))?.session.userID
    }

    /// Begins a session with a new token, and invalidates the session token in the cookie of the request.
    ///
    /// - Parameters:
    ///   - user: The user who has proved who they are.
    ///   - proof: What the user has proved.
    ///   - request: The request with the proof.
    ///   - time: The time of the sign-in, which is earlier if a sign-in only becomes stronger.
    ///   - staysSignedIn: Whether the user chose that the browser keeps the cookie when it is closed. The choice counts
    ///     only if the settings allow it, also if a session with another choice is replaced.
    ///   - events: The events of the sign-in, which are recorded with the session.
    ///   - now: The time of the request.
    package func begin(
        for user: User,
        proving proof: SignInProof,
        replacing request: IncomingRequest,
        since time: Date,
        stayingSignedIn staysSignedIn: Bool,
        recording events: [AuditEvent],
        now: Date
    ) async throws -> Beginning {
        let former = request.cookie(cookies.sessionName).flatMap(SessionToken.init).map { ArtefactDigest(of: $0) }
        return try await begin(
            for: user, proving: proof, by: request, replacing: former, named: nil, since: time,
            stayingSignedIn: staysSignedIn, recording: events, now: now)
    }

    /// Continues a session under a new token, and leaves the current token valid.
    ///
    /// The time and the methods of the sign-in stay: a confirmed password alone renews no code and no passkey.
    ///
    /// The browser keeps the cookie with the new token as long as that with the current one, unless the settings no
    /// longer allow it.
    ///
    /// The caller invalidates the current token in a later transaction, which also stores the changed password.
    package func begin(
        for user: User,
        beside request: IncomingRequest,
        goingOnWith session: LiveSession,
        now: Date
    ) async throws -> Beginning {
        try await begin(
            for: user, proving: .continued(user.passwordHash, session.methods), by: request,
            replacing: nil, named: session.id, since: session.authenticatedAt, stayingSignedIn: session.isPersistent,
            recording: [], now: now)
    }

    private func begin(
        for user: User,
        proving proof: SignInProof,
        by request: IncomingRequest,
        replacing former: ArtefactDigest?,
        named id: SessionIdentifier?,
        since time: Date,
        stayingSignedIn staysSignedIn: Bool,
        recording events: [AuditEvent],
        now: Date
    ) async throws -> Beginning {
        let token = SessionToken(random: random)
        var session = Session(
            digest: ArtefactDigest(of: token),
            id: id ?? SessionIdentifier(random: random),
            userID: user.id,
            authenticatedAt: time,
            methods: proof.methods,
            lastSeenAt: now,
            expiresAt: now.addingTimeInterval(TimeInterval(settings.sessionLifetime)),
            userAgent: request.head.headerFields[.userAgent] ?? "",
            source: request.source,
            isPersistent: staysSignedIn && settings.sessionPersistence != .never
        )
        let outcome = try await store.beginSession(
            session, proving: proof, replacing: former, recording: events)
        switch outcome {
        case .userNotActive, .proofOutdated: return .refused(.accountChanged, detail: nil)
        case .challengeUsed: return .refused(.passkey, detail: "the challenge was answered before")
        case .begun(let id):
            auditor.countRecorded(events)
            session.id = id
            let live = LiveSession(SessionFacts(session: session, user: user))
            let cookie = cookies.session(token, for: session.isPersistent ? settings.sessionLifetime : nil)
            return .begun(live, cookie: cookie)
        }
    }

    /// Revokes what depends on a session, if the session has expired, was idle for too long, or was deleted.
    ///
    /// The store revokes the grants that single-page clients got in the session, and queues back-channel logout
    /// notifications. If the session is still valid, nothing changes.
    func revokeDependents(ofSession session: SessionIdentifier, now: Date) async throws {
        let idle = now.addingTimeInterval(-TimeInterval(settings.sessionIdleLifetime))
        try await store.revokeDependents(ofSession: session, notSeenSince: idle, at: now)
    }

    /// Ends a session; returns the cookie that deletes the session token in the browser.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - event: The event of the sign-out, which is recorded unless the session has ended meanwhile.
    ///   - now: The time of the request.
    package func end(_ session: LiveSession, recording event: AuditEvent, now: Date) async throws -> String {
        if try await store.endSession(session.digest, at: now, recording: [event]) { auditor.countRecorded(event) }
        return cookies.noSession
    }
}

/// The names of the server's cookies, and the values of the `Set-Cookie` fields that set or delete them.
///
/// With an https issuer, the cookies have the prefix `__Host-` and the attribute `Secure`. An http issuer is allowed
/// only on loopback. Its cookies have neither the prefix nor the attribute.
///
/// The prefix requires `Path=/`, so a browser sends the cookies to every issuer of the host. If the issuer has a path,
/// the names end with a digest of the path, so that two issuers of a host keep separate sessions.
struct Cookies: Sendable {
    let sessionName: String
    let browserName: String
    let earlierName: String
    let rememberedName: String
    /// The name of the cookie of a sign-in at another issuer, without the identifier of the request at its end.
    let externalName: String
    private let attributes: String

    init(issuer: Issuer) {
        let prefix = issuer.isSecure ? "__Host-" : ""
        let suffix = issuer.path.isEmpty ? "" : "-" + Self.digest(of: issuer.path)
        sessionName = prefix + "counterfoil-session" + suffix
        browserName = prefix + "counterfoil-browser" + suffix
        earlierName = prefix + "counterfoil-earlier" + suffix
        rememberedName = prefix + "counterfoil-remembered" + suffix
        externalName = prefix + "counterfoil-external" + suffix + "-"
        attributes = "; Path=/; HttpOnly; SameSite=Lax" + (issuer.isSecure ? "; Secure" : "")
    }

    /// Returns eight characters that differ between the issuers of a host.
    private static func digest(of path: String) -> String {
        Base64URL.encode(Array(SHA256.hash(data: Data(path.utf8)).prefix(6)))
    }

    /// The session cookie, which the browser deletes after `age` seconds.
    ///
    /// Without an age, the browser deletes it when the user closes the browser.
    func session(_ token: SessionToken, for age: Int?) -> String {
        "\(sessionName)=\(token.exposed)\(age.map { "; Max-Age=\($0)" } ?? "")\(attributes)"
    }

    /// The expired session cookie, which deletes the session token in the browser.
    var noSession: String { "\(sessionName)=; Max-Age=0\(attributes)" }

    /// The cookie that remembers for 180 days which user has signed in; `value` is encrypted.
    func earlier(_ value: String) -> String { "\(earlierName)=\(value); Max-Age=15552000\(attributes)" }

    /// The expired cookie that deletes the remembered user from the browser.
    var noEarlierUser: String { "\(earlierName)=; Max-Age=0\(attributes)" }

    /// The cookie of a browser that is remembered for a second factor for `age` seconds; `value` is encrypted.
    func remembered(_ value: String, for age: Int) -> String {
        "\(rememberedName)=\(value); Max-Age=\(age)\(attributes)"
    }

    /// The cookie of a sign-in at another issuer for `age` seconds; `value` is encrypted.
    func external(_ id: String, _ value: String, for age: Int) -> String {
        "\(externalName)\(id)=\(value); Max-Age=\(age)\(attributes)"
    }

    /// The expired cookie that deletes a sign-in at another issuer from the browser.
    func noExternal(_ id: String) -> String { "\(externalName)\(id)=; Max-Age=0\(attributes)" }

    /// The cookie that binds forms to the browser before a sign-in, so that other sites cannot submit them.
    func browser(_ token: BrowserToken) -> String { "\(browserName)=\(token.exposed)\(attributes)" }
}

/// The random token that binds forms to a browser before a sign-in.
struct BrowserToken: Secret {
    let exposed: String

    init?(_ text: String) {
        guard text.utf8.count == 22, Base64URL.decode(text) != nil else { return nil }
        exposed = text
    }

    init(random: RandomBytes) {
        exposed = Base64URL.encode(random.bytes(16))
    }
}

extension SignInProof {
    /// The methods of a sign-in with this proof.
    fileprivate var methods: AuthenticationMethods {
        switch self {
        case .password, .twoFactors(_, .remembered), .twoFactors(_, .confirmed): [.password]
        case .twoFactors(_, .setup(let factor, _, _)): [.password, factor.hasApp ? .code : .securityKey]
        case .twoFactors(_, .code): [.password, .code]
        case .twoFactors(_, .recoveryCode): [.password, .recoveryCode]
        case .twoFactors(_, .key): [.password, .securityKey]
        case .continued(_, let methods): methods
        case .passkey: [.passkey]
        case .identity(_, let external): AuthenticationMethods(external)
        }
    }
}

extension LiveSession {
    /// The value that binds form tickets to this session.
    ///
    /// If the user signs in again in the same browser, the session gets a new token and keeps its identifier. A page in
    /// another tab therefore stays valid. The tickets of another user or another browser are invalid.
    package var holder: String { id.rawValue }
}
