import CounterfoilProtocol
import CounterfoilServer
import CounterfoilTokens
import Foundation
import Testing

/// A store with one person and one application in it, and the records that a sign-in makes.
struct World {
    /// A time with milliseconds.
    static let now = Date(timeIntervalSince1970: 1_800_000_000.123)

    let store: any AuthorizationServerStore
    let person: Person
    let client: RegisteredClient

    init(in store: any AuthorizationServerStore) async throws {
        self.store = store
        person = try .named("ada", email: "ada@example.com")
        client = try .named("app-lightbox")
        #expect(try await store.addPerson(person) == .added)
        #expect(try await store.addClient(client) == .added)
    }

    func grant() -> Grant {
        Grant(
            personID: person.id,
            clientID: client.id,
            scope: Scope([.openID, .offlineAccess]),
            createdAt: Self.now,
            lastUsedAt: Self.now
        )
    }

    /// Records a grant with a code for it.
    @discardableResult
    func approve(_ grant: Grant, code: AuthorizationCode = AuthorizationCode()) async throws -> CodeRecord {
        let record = try CodeRecord.example(for: grant, code: code)
        #expect(try await store.recordConsent(grant, code: record) == .recorded)
        return record
    }
}

extension Person {
    static func named(_ name: String, email: String? = nil, disabledAt: Date? = nil) throws -> Person {
        Person(
            username: try #require(Username(name)),
            email: try email.map { try #require(EmailAddress($0)) },
            displayName: "Ada · 爱达",
            passwordHash: PasswordHash(encoded: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"),
            createdAt: World.now,
            disabledAt: disabledAt
        )
    }
}

extension RegisteredClient {
    static func named(
        _ id: String,
        scope: Scope = Scope([.openID, .offlineAccess]),
        createdAt: Date = World.now
    ) throws -> RegisteredClient {
        RegisteredClient(
            id: try #require(ClientIdentifier(id)),
            type: .native,
            name: "Lightbox",
            publisher: "Example Photos",
            redirectURIs: [
                try RedirectURI("http://127.0.0.1/callback?a=b%20c"), try RedirectURI("com.example.lightbox:/callback"),
            ],
            scope: scope,
            isFirstParty: true,
            requiresState: true,
            idTokenAlgorithm: .rs256,
            createdAt: createdAt
        )
    }
}

extension CodeRecord {
    static func example(
        for grant: Grant,
        code: AuthorizationCode = AuthorizationCode(),
        interaction: InteractionIdentifier = InteractionIdentifier()
    ) throws -> CodeRecord {
        CodeRecord(
            digest: ArtefactDigest(of: code),
            interaction: ArtefactDigest(of: interaction),
            grantID: grant.id,
            redirectURI: try RedirectURI("http://127.0.0.1:49152/callback?a=b%20c"),
            redirectURIWasGiven: true,
            codeChallenge: CodeChallenge(of: CodeVerifier()),
            nonce: Nonce("n-0S6_WzA2Mj é\u{0}\n"),
            authenticatedAt: Date(timeIntervalSince1970: 1_799_999_400.001),
            issuedAt: World.now,
            expiresAt: World.now.addingTimeInterval(60)
        )
    }
}

extension Session {
    static func example(of person: Person, token: SessionToken = SessionToken()) -> Session {
        Session(
            digest: ArtefactDigest(of: token),
            personID: person.id,
            authenticatedAt: World.now,
            lastSeenAt: World.now,
            expiresAt: World.now.addingTimeInterval(86_400)
        )
    }
}

/// Does the same at once, so many times, and counts what comes out.
func outcomes<Outcome: Hashable & Sendable>(
    of count: Int,
    _ attempt: @escaping @Sendable (Int) async throws -> Outcome
) async throws -> [Outcome: Int] {
    try await withThrowingTaskGroup(of: Outcome.self) { group in
        for number in 0..<count { group.addTask { try await attempt(number) } }
        return try await group.reduce(into: [:]) { counts, outcome in counts[outcome, default: 0] += 1 }
    }
}
