@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// A refresh token family at a real token endpoint over any store, compared with its model at every step.
struct TokenFamilyUnderTest {
    private let server: RestartingServer
    private let client: RegisteredClient
    private let grant: Grant
    private var model: RefreshModel
    /// The issued tokens, by generation.
    private var tokens: [RefreshToken]

    /// Redeems a code of a new grant; its refresh token is generation 0.
    init(of client: RegisteredClient, at server: RestartingServer) async throws {
        let test = server.test
        let now = test.clock.now
        let (code, verifier) = (AuthorizationCode(), CodeVerifier())
        let session = Session(
            digest: ArtefactDigest(of: SessionToken()), userID: test.alice.id, authenticatedAt: now, lastSeenAt: now,
            expiresAt: now + 60)
        #expect(
            try await server.store.beginSession(
                session, proving: .password(try #require(test.alice.passwordHash)), replacing: nil)
                == .begun(session.id))
        let grant = Grant(
            userID: test.alice.id, clientID: client.id, scope: client.scope, sessionID: session.id, createdAt: now,
            lastUsedAt: now)
        let record = CodeRecord(
            digest: ArtefactDigest(of: code), interaction: ArtefactDigest(of: InteractionIdentifier()),
            grantID: grant.id, redirectURI: .registered(try #require(client.redirectURIs.first)),
            codeChallenge: CodeChallenge(of: verifier), nonce: nil, issuedAt: now,
            expiresAt: now + 60)
        let approval = Approval(
            grant: grant, code: record, asked: grant.scope, appearance: ClientAppearance(of: client),
            clientRevision: client.revision, pkce: .s256, passwordHash: test.alice.passwordHash,
            basis: .answer)
        #expect(try await server.store.recordConsent(approval) == .recorded)
        let form = FormParameters([
            "grant_type": "authorization_code", "client_id": client.id.rawValue, "code": code.exposed,
            "code_verifier": verifier.exposed,
        ])
        tokens = [try #require(try await test.redeem(form).tokenResponse.refreshToken)]
        model = RefreshModel(at: now)
        self.server = server
        self.client = client
        self.grant = grant
    }

    private var test: TestServer { server.test }
    private var store: TestStore { server.store }

    /// A step of a run.
    enum Event: CaseIterable {
        case refresh, lostAnswer, manyRetries, oldToken, twoAtOnce, fullDisk, wait, waitLong, clockSet, revoke, restart,
            outage, secondProcess
    }

    /// Applies an event to the server and to the model, and compares their responses.
    mutating func happen(_ event: Event, _ random: inout some RandomNumberGenerator) async throws {
        let newest = tokens.count - 1
        switch event {
        case .refresh: try await present(newest)
        case .lostAnswer: try await present(max(0, newest - 1))
        case .manyRetries:
            // Rarely more than may follow each other, because each is a request.
            let isFlood = Int.random(in: 0..<8, using: &random) == 0
            for _ in 0..<(isFlood ? RefreshModel.repeatLimit + 2 : 7) { try await present(max(0, newest - 1)) }
        case .oldToken: try await present(Int.random(in: 0...newest, using: &random))
        case .twoAtOnce:
            let other = Bool.random(using: &random) ? newest : Int.random(in: 0...newest, using: &random)
            try await presentWithAnother(newest, other)
        case .fullDisk:
            store.fail(.recordRefresh, .revokeGrant)
            let reply = await answer(to: newest)
            #expect(reply.status == .serviceUnavailable || reply.status == .badRequest)
            store.recover()
        case .wait: try await server.serve(for: [1, 59, 61].randomElement(using: &random) ?? 1)
        case .waitLong:
            try await server.serve(for: [3600, 29 * 86400, 31 * 86400].randomElement(using: &random) ?? 1)
        case .clockSet: test.clock.jump(by: Bool.random(using: &random) ? 3600 : -3600)
        case .revoke:
            _ = try await store.revokeGrant(grant.id, because: .client, at: test.clock.now)
            model.revoke()
        case .restart:
            let seconds: TimeInterval = [0, 30, 3600].randomElement(using: &random) ?? 0
            try await test.server.heartbeat.beat()
            test.clock.advance(by: seconds)
            try await server.restart()
            try await comeBack(after: seconds, &random)
        case .outage:
            let seconds: TimeInterval = [3, 6, 40, 3600].randomElement(using: &random) ?? 0
            try await test.server.heartbeat.beat()
            store.failEverything()
            test.clock.advance(by: seconds)
            let reply = await answer(to: newest)
            #expect(reply.status == .serviceUnavailable)
            store.recover()
            try await comeBack(after: seconds, &random)
        case .secondProcess: try await server.besideIt().server.heartbeat.beat()
        }
    }

    /// Ends an outage, whose end is recorded before or after the first request.
    ///
    /// A silence that is too short for an outage is always recorded; otherwise it would count as part of
    /// the next outage.
    private mutating func comeBack(
        after seconds: TimeInterval, _ random: inout some RandomNumberGenerator
    ) async throws {
        model.beAway(for: seconds)
        if seconds <= ServiceRecord.silenceLimit || Bool.random(using: &random) {
            try await test.server.heartbeat.beat()
        }
    }

    private mutating func present(_ generation: Int) async throws {
        let expected = model.present(generation, at: test.clock.now)
        try check(await answer(to: generation), expected)
    }

    /// Sends a second request after the first one was judged and before it is recorded.
    private mutating func presentWithAnother(_ generation: Int, _ other: Int) async throws {
        let between = Between()
        let (test, client, token) = (test, client, tokens[other])
        store.before(.recordRefresh) { between.set(await test.redeem(Self.form(token, of: client))) }
        let reply = await answer(to: generation)
        store.before(.recordRefresh) {}
        if let first = between.reply { try check(first, model.present(other, at: test.clock.now)) }
        try check(reply, model.present(generation, at: test.clock.now))
    }

    private func answer(to generation: Int) async -> Reply {
        await test.redeem(Self.form(tokens[generation], of: client))
    }

    private static func form(_ token: RefreshToken, of client: RegisteredClient) -> FormParameters {
        FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue, "refresh_token": token.exposed,
        ])
    }

    private mutating func check(_ reply: Reply, _ expected: RefreshModel.Answer) throws {
        switch expected {
        case .refused:
            #expect(reply.status == .badRequest)
            #expect(try reply.tokenError.error == "invalid_grant")
        case .wait:
            #expect(reply.status == .tooManyRequests)
            #expect(try reply.tokenError.error == "temporarily_unavailable")
        case .tokens(let generation):
            let token = try #require(try reply.tokenResponse.refreshToken)
            // Every response with the same generation contains the same token.
            if generation == tokens.count { tokens.append(token) }
            #expect(tokens.indices.contains(generation) && tokens[generation] == token)
        }
    }
}

/// The reply to the second request.
private final class Between: Sendable {
    private let answered = Mutex<Reply?>(nil)

    var reply: Reply? { answered.withLock { $0 } }

    func set(_ reply: Reply) { answered.withLock { $0 = reply } }
}
