package import CounterfoilProtocol
import CounterfoilServer
package import CounterfoilStore
import CounterfoilTokens
package import Foundation

/// A store with one user and one client, and functions that add sessions, grants and codes.
package struct World {
    /// The current time in tests, with milliseconds, which a store must not lose.
    package static let now = Date(timeIntervalSince1970: 1_800_000_000.123)

    package let store: any AuthorizationServerStore
    package let user: User
    package let client: RegisteredClient
    /// The session in which the user approves; it lasts longer than any test.
    package let session: Session

    /// Adds a user and a client to a store; also adds the session of the user if `signedIn` is true.
    package init(in store: any AuthorizationServerStore, signedIn: Bool = true) async throws {
        self.store = store
        user = try .named("ada", email: "ada@example.com")
        client = try .named("app-lightbox")
        session = .lasting(of: user)
        try Self.expect(.added, try await store.addUser(user))
        try Self.expect(.added, try await store.addClient(client))
        if signedIn { try await begin(session) }
    }

    /// Creates a world from a user, a client and a session that the store already contains.
    package init(_ store: any AuthorizationServerStore, user: User, client: RegisteredClient, session: Session) {
        self.store = store
        self.user = user
        self.client = client
        self.session = session
    }

    /// Starts a session in the store, with the password that all users of `User.named` have.
    package func begin(_ session: Session) async throws {
        try Self.expect(
            .begun(session.id), try await store.beginSession(session, proving: .example, replacing: nil))
    }

    /// Adds another user with a session to the same store, and returns the world of that user and the same client.
    package func adding(_ name: String) async throws -> World {
        let user = try User.named(name)
        try Self.expect(.added, try await store.addUser(user))
        let world = World(store, user: user, client: client, session: .lasting(of: user))
        try await world.begin(world.session)
        return world
    }

    package func grant(_ scope: Scope = Scope([.openID, .offlineAccess]), at time: Date = World.now) -> Grant {
        Grant(
            userID: user.id, clientID: client.id, scope: scope, sessionID: session.id, createdAt: time,
            lastUsedAt: time)
    }

    /// Records an approval with a grant and a code, and returns the record of the code.
    @discardableResult
    package func approve(
        _ grant: Grant,
        code: AuthorizationCode = AuthorizationCode(),
        asked: Scope? = nil
    ) async throws -> CodeRecord {
        let record = try CodeRecord.example(for: grant, code: code)
        try Self.expect(.recorded, try await store.recordConsent(approval(grant, record, asked: asked)))
        return record
    }

    /// Returns an approval for the current registration of the client; `asked` is the scope of the grant by
    /// default.
    package func approval(
        _ grant: Grant, _ code: CodeRecord, asked: Scope? = nil, consentTarget: ConsentTarget? = nil,
        pkce: PKCEUse = .s256,
        basis: ApprovalBasis = .answer, pushedRequest: ArtefactDigest? = nil
    ) -> Approval {
        Approval(
            grant: grant, code: code, asked: asked ?? grant.scope, consentTarget: consentTarget,
            appearance: ClientAppearance(of: client),
            clientRevision: client.revision, pkce: pkce, passwordHash: user.passwordHash,
            basis: basis, pushedRequest: pushedRequest)
    }

    /// The error when the store returns an unexpected outcome.
    package struct Refused: Error, CustomStringConvertible {
        package let description: String
    }

    private static func expect<Outcome: Equatable>(_ expected: Outcome, _ outcome: Outcome) throws(Refused) {
        guard outcome == expected else { throw Refused(description: "\(outcome), not \(expected)") }
    }

    fileprivate static func made<Value>(_ value: Value?, from text: String) throws(Refused) -> Value {
        guard let value else { throw Refused(description: "\(text) is not a \(Value.self)") }
        return value
    }

    /// The consent of the user to the client; nil if there is none.
    package var consent: Consent? {
        get async throws { try await store.consent(of: user.id, to: client.id) }
    }
}

extension User {
    package static func named(_ name: String, email: String? = nil, disabledAt: Date? = nil) throws -> User {
        User(
            username: try World.made(Username(name), from: name),
            email: try email.map { try World.made(EmailAddress($0), from: $0) },
            displayName: "Ada · 爱达",
            passwordHash: .example,
            createdAt: World.now,
            disabledAt: disabledAt
        )
    }
}

extension PasswordHash {
    package static let example = PasswordHash(encoded: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA")
    package static let other = PasswordHash(encoded: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdB$b3RoZXI")
}

extension Passkey {
    /// A passkey whose key verifies nothing.
    package static func example(_ number: UInt8, of user: User) -> Passkey {
        Passkey(
            credentialID: [number], userID: user.id, publicKey: [], name: "Key \(number)", createdAt: World.now)
    }
}

extension SecondFactor {
    /// A second factor with a random digest.
    package static func example(of user: User) -> SecondFactor {
        SecondFactor(
            userID: user.id, digest: ArtefactDigest(of: SessionToken()), sealedSecret: [1, 2, 3], keyName: "0a0a0a0a",
            createdAt: World.now, lastStep: 60_000_000)
    }
}

extension SignInProof {
    package static let example = password(.example)
    package static let other = password(.other)
}

extension RegisteredClient {
    package static func named(
        _ id: String,
        owner: UserIdentifier? = nil,
        scope: Scope = Scope([.openID, .offlineAccess, .profile, .email]),
        createdAt: Date = World.now
    ) throws -> RegisteredClient {
        RegisteredClient(
            id: try World.made(ClientIdentifier(id), from: id),
            type: .native,
            owner: owner,
            presentation: ClientPresentation(name: "Lightbox", publisher: "Example Photos"),
            redirectURIs: [
                try RedirectURI("http://127.0.0.1/callback?a=b%20c"), try RedirectURI("com.example.lightbox:/callback"),
            ],
            scope: scope,
            policy: ClientPolicy(isFirstParty: true, requiresState: true, idTokenAlgorithm: .rs256),
            createdAt: createdAt
        )
    }
}

extension CodeRecord {
    package static func example(
        for grant: Grant,
        code: AuthorizationCode = AuthorizationCode(),
        interaction: InteractionIdentifier = InteractionIdentifier()
    ) throws -> CodeRecord {
        CodeRecord(
            digest: ArtefactDigest(of: code),
            interaction: ArtefactDigest(of: interaction),
            grantID: grant.id,
            redirectURI: .requested(try RedirectURI("http://127.0.0.1:49152/callback?a=b%20c")),
            requestedScope: Scope(grant.scope.tokens + [.offlineAccess]),
            codeChallenge: CodeChallenge(of: CodeVerifier()),
            keyThumbprint: .example,
            nonce: Nonce("n-0S6_WzA2Mj é\u{0}\n"),
            issuedAt: World.now,
            expiresAt: World.now.addingTimeInterval(60)
        )
    }
}

extension KeyThumbprint {
    /// The thumbprint of the key in RFC 9449 §4.1.
    package static let example = KeyThumbprint("0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
}

extension Session {
    /// Returns a session that is neither idle nor expired at any time of a test.
    package static func lasting(of user: User) -> Session {
        let years: TimeInterval = 10 * 365 * 86_400
        return Session(
            digest: ArtefactDigest(of: SessionToken()), userID: user.id, authenticatedAt: World.now,
            lastSeenAt: World.now + years, expiresAt: World.now + years)
    }

    package static func example(
        of user: User,
        token: SessionToken = SessionToken(),
        lastSeenAt: Date = World.now,
        isPersistent: Bool = false
    ) -> Session {
        Session(
            digest: ArtefactDigest(of: token),
            userID: user.id,
            authenticatedAt: World.now,
            lastSeenAt: lastSeenAt,
            expiresAt: World.now.addingTimeInterval(86_400),
            userAgent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
            source: "2001:db8::7",
            isPersistent: isPersistent
        )
    }
}

extension Logo {
    /// Returns a logo with different bytes for each number.
    package static func example(_ number: UInt8 = 1, format: Format = .png) -> Logo {
        Logo(format: format, bytes: [0x89, 0x50, 0x4E, 0x47, 0x00, number])
    }
}

extension ClientSecretRecord {
    package static func example(of client: RegisteredClient, after seconds: TimeInterval = 0) -> ClientSecretRecord {
        ClientSecretRecord(
            digest: ArtefactDigest(of: ClientSecret()),
            clientID: client.id,
            createdAt: World.now.addingTimeInterval(seconds)
        )
    }
}
