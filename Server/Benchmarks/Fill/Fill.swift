@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// Fills the store of a server with users and refresh tokens, or with users and clients, so that a full store can be
/// measured and looked at.
///
/// It writes through the store with the same steps as requests: an approval, the redemption of its code, and
/// the deletion of expired codes.
@main
struct Fill {
    /// The number of refresh tokens of each user.
    private static let tokensPerUser = 10
    /// The number of users after which expired codes are deleted.
    private static let block = 5000
    /// The time over which the last uses of the tokens are spread, in seconds: 20 of the 30 days of their
    /// idle lifetime.
    private static let span: TimeInterval = 20 * 24 * 3600

    /// A password hash that matches no password.
    static let passwordHash = PasswordHash(encoded: "$argon2id$v=19$m=19456,t=2,p=1$")

    private let store: any AuthorizationServerStore
    private let client: RegisteredClient
    private let redirectURI: RedirectURI
    private let now = Date()

    static func main() async {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            try await options.withStore { store in
                switch options.content {
                case .tokens(let tokens, let client): try await Fill(store, client: client).add(tokens)
                case .records(let users, let clients): try await Records(store).add(users: users, clients: clients)
                }
            }
        } catch {
            FileHandle.standardError.write(Data("fill-store: \(error)\n".utf8))
            exit(1)
        }
    }

    private init(_ store: any AuthorizationServerStore, client id: ClientIdentifier) async throws {
        guard let client = try await store.client(id), let redirectURI = client.redirectURIs.first else {
            throw Failure("there is no application \(id) with an address to answer to")
        }
        self.store = store
        self.client = client
        self.redirectURI = redirectURI
    }

    private func add(_ tokens: Int) async throws {
        // Sorted like the tables and indexes, so that each is written from one end to the other.
        let users = Self.sortedNames("per_", (tokens + Self.tokensPerUser - 1) / Self.tokensPerUser)
        let grants = Self.sortedNames("gr_", tokens)
        let families = Self.sortedDigests(tokens)
        for start in stride(from: 0, to: users.count, by: Self.block) {
            let block = start..<min(start + Self.block, users.count)
            try await Self.each(block) { index in try await add(user: users[index], number: index) }
            let own = block.lowerBound * Self.tokensPerUser..<min(block.upperBound * Self.tokensPerUser, tokens)
            try await Self.each(own) { index in
                let lastUsed = now.addingTimeInterval(-Self.span * Double(tokens - index) / Double(tokens))
                try await add(
                    grant: grants[index], of: users[index / Self.tokensPerUser], family: families[index],
                    at: lastUsed)
            }
            try await removeCodes()
        }
    }

    private func add(user id: String, number: Int) async throws {
        guard let id = UserIdentifier(id), let username = Username("holder-\(number)") else {
            throw Failure("no name for a person")
        }
        let user = User(
            id: id, username: username, email: nil, displayName: "Holder \(number)",
            passwordHash: Self.passwordHash,
            createdAt: now.addingTimeInterval(-2 * Self.span))
        guard try await store.addUser(user, recording: []) == .added else {
            throw Failure("\(username.rawValue) is there already")
        }
        // An approval needs a session that has not expired; this one is deleted together with the codes.
        let begun = now.addingTimeInterval(-2 * Self.span)
        let session = Session(
            digest: ArtefactDigest(of: SessionToken()), id: try Self.session(of: id), userID: id,
            authenticatedAt: begun, lastSeenAt: now, expiresAt: now.addingTimeInterval(-0.001))
        let outcome = try await store.beginSession(
            session, proving: .password(Self.passwordHash), replacing: nil, recording: [])
        guard case .begun = outcome else {
            throw Failure("a session was not begun")
        }
    }

    /// Derives the identifier of a user's only session from that of the user.
    private static func session(of user: UserIdentifier) throws -> SessionIdentifier {
        guard let id = SessionIdentifier("ses_" + user.rawValue.dropFirst("per_".count)) else {
            throw Failure("no name for a session")
        }
        return id
    }

    private func add(grant id: String, of user: String, family: ArtefactDigest, at time: Date) async throws {
        guard let id = GrantIdentifier(id), let user = UserIdentifier(user) else {
            throw Failure("no name for a grant")
        }
        let code = ArtefactDigest(of: AuthorizationCode())
        let approval = Approval(
            grant: Grant(
                id: id, userID: user, clientID: client.id, scope: client.scope,
                sessionID: try Self.session(of: user), createdAt: time, lastUsedAt: time),
            code: CodeRecord(
                digest: code, interaction: ArtefactDigest(of: InteractionIdentifier()), grantID: id,
                redirectURI: .requested(redirectURI), codeChallenge: nil, nonce: nil,
                issuedAt: time, expiresAt: time.addingTimeInterval(60)),
            asked: client.scope, appearance: ClientAppearance(of: client), clientRevision: client.revision, pkce: .s256,
            passwordHash: Self.passwordHash, basis: .answer)
        guard try await store.recordConsent(approval) == .recorded else {
            throw Failure("an approval was not recorded")
        }
        let line = RefreshFamily(
            digest: family, grantID: id, rotatedAt: time, lastUsedAt: time,
            expiresAt: time.addingTimeInterval(180 * 24 * 3600))
        guard
            try await store.consumeCode(
                code, beginning: line, givingAccessUntil: time, attempt: CommitAttempt(), at: time) == .consumed
        else {
            throw Failure("a code was not redeemed")
        }
    }

    /// Deletes the codes, as the server does after they expire.
    private func removeCodes() async throws {
        let limits = ExpirationLimits(
            now: now, codesBefore: now.addingTimeInterval(3600), sessionsIdleBefore: .distantPast,
            refreshIdleBefore: .distantPast, grantsBefore: .distantPast)
        while try await store.deleteExpired(limits, atMost: 5000) > 0 {}
    }

    /// Creates identifiers like those of the server, sorted.
    private static func sortedNames(_ prefix: String, _ count: Int) -> [String] {
        let random = RandomBytes()
        return (0..<count).map { _ in prefix + Base64URL.encode(random.bytes(16)) }.sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
    }

    /// Creates sorted digests of token families; the texts behind them are unknown.
    private static func sortedDigests(_ count: Int) -> [ArtefactDigest] {
        let random = RandomBytes()
        return (0..<count).compactMap { _ in ArtefactDigest(stored: random.bytes(32)) }
            .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }
}

extension Fill {
    /// The number of commits that wait for the writer at a time.
    private static let width = 256

    /// Runs a task for each index, with enough tasks at a time that the writer is never idle.
    static func each(_ indices: Range<Int>, _ work: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in indices {
                if index - indices.lowerBound >= Self.width { try await group.next() }
                group.addTask { try await work(index) }
            }
            try await group.waitForAll()
        }
    }
}

/// A failure to fill the store.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
