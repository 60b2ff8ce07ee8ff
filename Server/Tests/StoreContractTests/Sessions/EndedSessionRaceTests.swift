import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// An attacker with a stolen session cookie who requests codes while the user ends the session.
@Suite("The contract: requests concurrent with the end of their session")
struct EndedSessionRaceTests {
    private static let callback = "https://thief.example/cb"

    /// The reaction of the user.
    enum Remedy: CaseIterable, Sendable { case password, everywhere }

    /// A web client with a stored consent, and an authorization request that it answers without a page.
    private struct Thief {
        let test: TestServer
        let client: RegisteredClient
        let secret = ClientSecret()
        let verifier = CodeVerifier()

        init(_ test: TestServer) async throws {
            self.test = test
            client = try await test.register("Thief", type: .web, redirectURIs: [EndedSessionRaceTests.callback])
            let record = ClientSecretRecord(
                digest: ArtefactDigest(of: secret), clientID: client.id, createdAt: test.clock.now)
            #expect(try await test.store.addClientSecret(record) == .added)
        }

        var url: String {
            test.issuer.endpoint("/oauth2/authorize") + "?"
                + FormParameters([
                    "response_type": "code", "client_id": client.id.rawValue, "scope": "photos.read",
                    "redirect_uri": EndedSessionRaceTests.callback,
                    "code_challenge": CodeChallenge(of: verifier).rawValue, "code_challenge_method": "S256",
                ]).encoded
        }

        /// Requests codes until the session has ended, and returns them.
        func collect(with stolen: ScriptedUserAgent) async throws -> [AuthorizationCode] {
            var (browser, codes) = (stolen, [AuthorizationCode]())
            while true {
                let reply = try await browser.send(.get, to: url)
                guard reply.status == .seeOther, let code = try? reply.code else { return codes }
                codes.append(code)
                await Task.yield()
            }
        }

        func redeem(_ code: AuthorizationCode) async -> Reply {
            await test.redeem(
                FormParameters([
                    "grant_type": "authorization_code", "client_id": client.id.rawValue, "code": code.exposed,
                    "client_secret": secret.exposed, "redirect_uri": EndedSessionRaceTests.callback,
                    "code_verifier": verifier.exposed,
                ]))
        }
    }

    private static func end(_ remedy: Remedy, with owner: ScriptedUserAgent, in round: Int) async throws {
        var owner = owner
        switch remedy {
        case .password:
            let page = try await owner.open("/account/password").passwordPage
            let reply = try await owner.send(
                .post, to: page.action,
                form: FormParameters([
                    "ticket": page.ticket, "username": page.username,
                    "current_password": password(round), "new_password": password(round + 1),
                ]))
            #expect(reply.location == "/account?done=password-changed")
        case .everywhere:
            let page = try await owner.open("/account/sessions").sessionsPage
            let reply = try await owner.send(
                .post, to: page.action, form: FormParameters(["ticket": page.ticket, "decision": "end-others"]))
            #expect(reply.location == "/account/sessions?done=others-ended")
        }
    }

    /// Returns the password of alice in a round.
    private static func password(_ round: Int) -> String {
        round == 0 ? TestServer.password : "a password of round \(round) that nobody else has"
    }

    @Test(arguments: StoreKind.allCases, Remedy.allCases)
    func `no code that is issued while the session ends can be redeemed`(
        _ kind: StoreKind, _ remedy: Remedy
    ) async throws {
        try await kind.withStore { store in
            let test = try await TestServer(store: store) { $0.approvalsPerMinute = 1_000_000 }
            let thief = try await Thief(test)
            var (given, redeemed) = (0, 0)
            for round in 0..<20 {
                let known = Self.password(remedy == .password ? round : 0)
                var browser = test.browser()
                _ = try await browser.authorize(thief.url, username: "alice", password: known)
                let stolen = browser
                var owner = browser
                if remedy == .everywhere {
                    owner = test.browser()
                    try await owner.signInToConsole(username: "alice", password: known)
                }
                let user = owner
                let codes = try await withThrowingTaskGroup(of: [AuthorizationCode].self) { group in
                    for _ in 0..<8 { group.addTask { try await thief.collect(with: stolen) } }
                    group.addTask {
                        try await Self.end(remedy, with: user, in: round)
                        return []
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                given += codes.count
                for code in codes where await thief.redeem(code).status == .ok { redeemed += 1 }
            }
            #expect(given > 0)
            #expect(redeemed == 0, "of \(given) codes")
        }
    }
}
