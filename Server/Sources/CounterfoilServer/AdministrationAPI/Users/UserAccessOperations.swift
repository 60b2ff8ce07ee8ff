@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation
import HTTPTypes

extension AdministrationOperation {
    /// The operations on the sessions, sign-ins and ways in of users.
    static let userAccess: [AdministrationOperation] = [
        AdministrationOperation(
            "listSessions", .get, "/users/{user}/sessions", .readUsers, query: ["limit", "cursor"],
            answer: .list(SessionDocument.self)
        ) { call in
            let user = try await call.user()
            let live = try await call.store.sessions(of: user.id).filter { session in
                let facts = SessionFacts(session: session, user: user)
                return SessionRules.live(facts, now: call.now, settings: call.settings) != nil
            }
            return try call.page(of: live.map(SessionDocument.init), list: "sessions \(user.id)", id: \.id)
        },
        AdministrationOperation("endSessions", .delete, "/users/{user}/sessions", .writeUsers) { call in
            try await call.users.signOutEverywhere(try await call.changeableUser().id)
            return .none
        },
        AdministrationOperation("endSession", .delete, "/users/{user}/sessions/{session}", .writeUsers) { call in
            let user = try await call.changeableUser()
            return try call.ended(try await call.users.endSession(try call.digest("session"), of: user.id))
        },
        AdministrationOperation(
            "listGrants", .get, "/users/{user}/grants", .readUsers, query: ["limit", "cursor"],
            answer: .list(GrantDocument.self), Access.grants),
        AdministrationOperation("endGrant", .delete, "/users/{user}/grants/{grant}", .writeUsers) { call in
            let user = try await call.changeableUser()
            guard let grant = GrantIdentifier(try call.segment("grant")) else { throw NotFoundError() }
            return try call.ended(try await call.users.endAppSignIn(grant, of: user.id))
        },
        AdministrationOperation(
            "listPasskeys", .get, "/users/{user}/passkeys", .readUsers, query: ["limit", "cursor"],
            answer: .list(PasskeyDocument.self)
        ) { call in
            let user = try await call.user().id
            let passkeys = try await call.store.passkeys(of: user).map(PasskeyDocument.init)
            return try call.page(of: passkeys, list: "passkeys \(user)", id: \.id)
        },
        AdministrationOperation(
            "removePasskey", .delete, "/users/{user}/passkeys/{passkey}", .writeUsers, Access.removePasskey),
        AdministrationOperation("resetSecondFactor", .delete, "/users/{user}/second-factor", .writeUsers) { call in
            try call.ended(try await call.users.resetSecondFactor(of: try await call.changeableUser()))
        },
        AdministrationOperation(
            "createPasswordLink", .post, "/users/{user}/password-link", .writeUsers, body: PasswordLinkBody.self,
            answer: .object(PasswordLinkDocument.self), status: .created, Access.createLink),
        AdministrationOperation(
            "setPassword", .put, "/users/{user}/password", .writeUsers, body: PasswordBody.self, Access.setPassword),
    ]
}

/// The functions of the operations on sign-ins and ways in.
private enum Access {
    /// The maximum number of sign-ins in the list of a user.
    private static let grantLimit = 1000

    static func grants(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let user = try await call.user().id
        let signIns = try await call.store.appSignIns(
            of: user, at: call.now,
            idle: DefaultIdleLifetimes(
                inBrowser: call.settings.sessionIdleLifetime, elsewhere: call.settings.refreshTokenIdleLifetime),
            limit: grantLimit)
        return try call.page(of: signIns.recent.map(GrantDocument.init), list: "grants \(user)", id: \.id)
    }

    static func removePasskey(_ call: AdministrationCall) async throws -> AdministrationAnswer {
        let user = try await call.changeableUser()
        switch try await call.users.removePasskey(try call.digest("passkey"), of: user) {
        case .removed: return .none
        case .notFound: throw NotFoundError()
        case .neededAsWayIn:
            throw ProblemError.conflict("last-way-in", nil, "It is the only way in; nothing was changed.")
        }
    }

    static func createLink(_ call: AdministrationCall, _ body: PasswordLinkBody) async throws -> AdministrationAnswer {
        try call.requireKnownServer()
        let user = try await call.changeableUser()
        let link = try await call.users.createLink(for: user.id, hours: body.hours, at: call.settings.issuer)
        guard let link else { throw ProblemError.userDisabled }
        var answer = try AdministrationAnswer(PasswordLinkDocument(url: link.url, expiresAt: link.expires))
        answer.user = user.id
        return answer
    }

    static func setPassword(_ call: AdministrationCall, _ body: PasswordBody) async throws -> AdministrationAnswer {
        let user = try await call.changeableUser()
        guard user.disabledAt == nil else { throw ProblemError.userDisabled }
        let hash = try await call.hash(body.password, for: user.username, email: user.email, name: user.displayName)
        // First, so that no passkey begins a session after the sessions have ended.
        if body.removePasskeys { try await call.users.removePasskeys(of: user) }
        switch try await call.users.setPassword(hash, isTemporary: body.mustChangePassword, of: user) {
        case .reset: return .none
        case .permissionOutdated:
            let deleted = body.removePasskeys ? ", and the passkeys are deleted" : ""
            throw ProblemError.conflict(
                "changed-meanwhile", nil,
                "The password or the role was changed at the same time\(deleted). Try again.")
        case .userNotActive: throw ProblemError.userDisabled
        }
    }
}

extension ProblemError {
    static let userDisabled = conflict("user-disabled", nil, "The user is disabled; enable the user first.")
}

extension AdministrationCall {
    /// Returns the digest in a segment of the path; throws 404 if it is malformed.
    fileprivate func digest(_ segment: String) throws(NotFoundError) -> ArtefactDigest {
        guard let digest = Base64URL.decode(try self.segment(segment)).flatMap(ArtefactDigest.init(stored:)) else {
            throw NotFoundError()
        }
        return digest
    }

    /// Returns the answer to the end of something; throws 404 if there was nothing to end.
    fileprivate func ended(_ hasEnded: Bool) throws(NotFoundError) -> AdministrationAnswer {
        guard hasEnded else { throw NotFoundError() }
        return .none
    }
}

/// The body with which a link for a new password is created.
struct PasswordLinkBody: AdministrationBody {
    enum Member: String, CaseIterable { case hours }

    let hours: Int

    init?(_ members: inout BodyMembers<Member>) { hours = members.integer(.hours, UserAdministration.linkHours) ?? 24 }
}

/// The body with which a password is set.
struct PasswordBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case password
        case mustChangePassword = "must_change_password"
        case removePasskeys = "remove_passkeys"
    }

    let password: String
    let mustChangePassword: Bool
    /// Whether all passkeys are deleted, too.
    let removePasskeys: Bool

    init?(_ members: inout BodyMembers<Member>) {
        removePasskeys = members.flag(.removePasskeys) ?? false
        mustChangePassword = members.flag(.mustChangePassword) ?? false
        guard let password = members.required(.password, rule: "", { $0 }) else { return nil }
        self.password = password
    }
}

/// A link for a new password, which is shown once.
struct PasswordLinkDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case url
        case expiresAt = "expires_at"
    }

    let url: String
    let expiresAt: Date
}

/// A session of a user.
struct SessionDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, methods, source, persistent
        case authenticatedAt = "authenticated_at"
        case lastSeenAt = "last_seen_at"
        case expiresAt = "expires_at"
        case userAgent = "user_agent"
    }

    /// The digest of the session token, which is no secret.
    let id: String
    let methods: [String]
    let source: String
    let persistent: Bool
    let authenticatedAt: Date
    let lastSeenAt: Date
    let expiresAt: Date
    let userAgent: String

    init(_ session: Session) {
        id = Base64URL.encode(session.digest.bytes)
        methods = session.methods.all.map(\.rawValue).sorted()
        source = session.source
        persistent = session.isPersistent
        authenticatedAt = session.authenticatedAt
        lastSeenAt = session.lastSeenAt
        expiresAt = session.expiresAt
        userAgent = session.userAgent
    }
}

/// A grant of a user that still gives an app access.
struct GrantDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, scope, resources, source
        case clientID = "client_id"
        case clientName = "client_name"
        case deviceName = "device_name"
        case userAgent = "user_agent"
        case createdAt = "created_at"
        case lastUsedAt = "last_used_at"
    }

    let id: String
    let scope: String
    let resources: [String]
    let source: String
    let clientID: String
    let clientName: String
    let deviceName: String?
    let userAgent: String
    let createdAt: Date
    let lastUsedAt: Date

    init(_ signIn: AppSignIn) {
        let grant = signIn.grant
        id = grant.id.rawValue
        scope = grant.scope.description
        resources = grant.resources.map(\.rawValue)
        source = grant.device.source
        clientID = grant.clientID.rawValue
        clientName = signIn.client.presentation.name
        deviceName = grant.device.name
        userAgent = grant.device.userAgent
        createdAt = grant.createdAt
        lastUsedAt = signIn.lastUsedAt
    }
}

/// A passkey of a user, without its public key.
struct PasskeyDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, name, product, synced
        case createdAt = "created_at"
        case lastUsedAt = "last_used_at"
    }

    let id: String
    let name: String
    let product: String?
    let synced: Bool
    let createdAt: Date
    let lastUsedAt: Date?

    init(_ passkey: Passkey) {
        id = Base64URL.encode(passkey.digest.bytes)
        name = passkey.name
        product = PasskeyCeremonies.product(of: passkey)
        synced = passkey.isBackedUp
        createdAt = passkey.createdAt
        lastUsedAt = passkey.lastUse?.time
    }
}
