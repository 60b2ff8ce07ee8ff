import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Two changes at two servers on one store, at the same time or one within the other.
enum Race {
    /// The stores of the races; each of the two servers has one on the same database.
    static let kinds = [StoreKind.sqlite, .postgreSQL]
    static let scope = "openid photos.read photos.write"

    /// The order of two changes.
    enum Order: CaseIterable, Sendable {
        /// Both begin at the same time.
        case together
        /// The second change happens when the first one is about to be committed, or the other way round.
        case secondWithinFirst, firstWithinSecond
    }

    /// A change at one server.
    struct Change<Outcome: Sendable>: Sendable {
        let store: TestStore
        let commit: StoreOperation
        let make: @Sendable () async throws -> Outcome
    }

    /// The outcome of a change within another one.
    private actor Inner<Outcome: Sendable> {
        private(set) var result: Result<Outcome, any Error>?

        func run(_ make: @Sendable () async throws -> Outcome) async {
            do { result = .success(try await make()) } catch { result = .failure(error) }
        }
    }

    static func run<A: Sendable, B: Sendable>(
        _ first: Change<A>, _ second: Change<B>, in order: Order
    ) async throws -> (A, B) {
        switch order {
        case .together:
            async let one = first.make()
            async let other = second.make()
            return try await (one, other)
        case .secondWithinFirst:
            let inner = Inner<B>()
            first.store.before(first.commit) { await inner.run(second.make) }
            let outer = try await first.make()
            return (outer, try #require(await inner.result).get())
        case .firstWithinSecond:
            let (second, first) = try await run(second, first, in: .secondWithinFirst)
            return (first, second)
        }
    }

    /// Two servers, a client that gets refresh tokens, and an API.
    struct Servers: Sendable {
        let here: TestStore
        let there: TestStore
        let first: TestServer
        let second: TestServer
        let client: RegisteredClient
        let api: TestAPI

        init(_ store: any SQLStore, _ other: any SQLStore) async throws {
            here = TestStore(store)
            there = TestStore(other)
            first = try await TestServer(store: here)
            second = try await TestServer(store: there, clock: first.clock)
            var policy = ClientPolicy.standard(for: .native)
            policy.isVouchedFor = true
            policy.requiresState = false
            policy.refreshTokens = .always
            client = try await first.register(
                "Stay", type: .native, redirectURIs: ["http://127.0.0.1:51004/callback"], scope: Race.scope,
                policy: policy)
            api = try await first.addAPI("https://id.example.com")
        }

        var attempt: Attempt { Attempt(first, by: client, for: Race.scope) }

        /// Lets alice sign in in a new browser, and returns the tokens of a new grant.
        func tokens(password: String = TestServer.password) async throws -> TokenResponse {
            let attempt = attempt
            var browser = first.browser()
            let reply = try await browser.authorize(attempt.url, username: "alice", password: password)
            return try await first.redeem(attempt.exchange(try reply.code)).tokenResponse
        }

        func refresh(_ tokens: TokenResponse, at server: TestServer) async throws -> Reply {
            await server.redeem(
                FormParameters([
                    "grant_type": "refresh_token", "client_id": client.id.rawValue,
                    "refresh_token": try #require(tokens.refreshToken).exposed,
                ]))
        }

        /// The scope of an access token by introspection at a server; nil if the token is not active.
        func scope(of tokens: TokenResponse, at server: TestServer) async throws -> Scope? {
            let form = FormParameters(["token": tokens.accessToken.exposed])
            let members = try await server.post(form, to: .introspection, fields: api.fields).members
            guard members["active"] as? Bool == true else { return nil }
            return try Scope(parsing: try #require(members["scope"] as? String))
        }

        /// Expects that no server accepts the tokens.
        func expectEnded(_ tokens: TokenResponse) async throws {
            for server in [first, second] {
                #expect(try await scope(of: tokens, at: server) == nil)
                #expect(try await refresh(tokens, at: server).tokenError.error == "invalid_grant")
            }
        }

        /// The browser of alice with the console of the second server.
        func owner() async throws -> ScriptedUserAgent {
            var browser = second.browser()
            _ = try await browser.signInToConsole(username: "alice")
            return browser
        }

        /// A submission of the page of the client in the account, at the second server.
        func submission(
            of fields: KeyValuePairs<String, String>, by owner: ScriptedUserAgent
        ) async throws -> Change<Reply> {
            var browser = owner
            let page = try await browser.open("/account/apps/\(client.id.rawValue)").connectedClientPage
            var form = FormParameters(["ticket": page.ticket])
            for (name, value) in fields { form.append(name, value) }
            let (ready, filled) = (browser, form)
            return Change(store: there, commit: .narrowConsent) {
                var browser = ready
                return try await browser.send(.post, to: page.action, form: filled)
            }
        }

        func redemption(_ form: FormParameters) -> Change<Reply> {
            Change(store: here, commit: .consumeCode) { await first.redeem(form) }
        }

        func refreshing(_ tokens: TokenResponse, at server: TestServer, _ store: TestStore) -> Change<Reply> {
            Change(store: store, commit: .recordRefresh) { try await refresh(tokens, at: server) }
        }

        func revocation(_ tokens: TokenResponse, at server: TestServer, _ store: TestStore) throws -> Change<Reply> {
            let form = FormParameters([
                "client_id": client.id.rawValue, "token": try #require(tokens.refreshToken).exposed,
            ])
            return Change(store: store, commit: .revokeGrant) { await server.post(form, to: .revocation) }
        }

        /// Expects that no token counted as stolen.
        func expectNoReuse() async throws {
            #expect(try await here.audit(AuditQuery(kind: .refreshReuse)).isEmpty)
        }
    }

    static func withServers(_ kind: StoreKind, _ test: (Servers) async throws -> Void) async throws {
        try await kind.withBoth { store, other in try await test(try await Servers(store, other)) }
    }

    /// Returns the tokens of an accepted request; a refused one must have the error `invalid_grant`.
    static func tokens(in reply: Reply) throws -> TokenResponse? {
        if reply.status == .ok { return try reply.tokenResponse }
        #expect(try reply.tokenError.error == "invalid_grant")
        return nil
    }
}
