import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Two changes at two servers on one store.
@Suite("The contract: two changes at two servers at the same time", .timeLimit(.minutes(5)))
struct ServerRaceTests {
    private static let kinds = [StoreKind.memory, .postgreSQL]
    private static let scope = "openid photos.read photos.write"

    /// The order of two changes.
    enum Order: CaseIterable, Sendable {
        /// Both begin at the same time.
        case together
        /// The second change happens when the first one is about to be committed, or the other way round.
        case secondWithinFirst, firstWithinSecond
    }

    /// A change at one server.
    private struct Change<Outcome: Sendable>: Sendable {
        let store: FaultyStore
        let commit: FaultyStore.Verb
        let make: @Sendable () async throws -> Outcome
    }

    /// The outcome of a change within another one.
    private actor Inner<Outcome: Sendable> {
        private(set) var result: Result<Outcome, any Error>?

        func run(_ make: @Sendable () async throws -> Outcome) async {
            do { result = .success(try await make()) } catch { result = .failure(error) }
        }
    }

    private static func run<A: Sendable, B: Sendable>(
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
    private struct Servers: Sendable {
        let here: FaultyStore
        let there: FaultyStore
        let first: TestServer
        let second: TestServer
        let client: RegisteredClient
        let api: TestAPI

        init(_ store: any AuthorizationServerStore, _ other: any AuthorizationServerStore) async throws {
            here = FaultyStore(store)
            there = FaultyStore(other)
            first = try await TestServer(store: here)
            second = try await TestServer(store: there, clock: first.clock)
            var policy = ClientPolicy.standard(for: .native)
            policy.isVouchedFor = true
            policy.requiresState = false
            policy.refreshTokens = .always
            client = try await first.register(
                "Stay", type: .native, redirectURIs: ["http://127.0.0.1:51004/callback"], scope: ServerRaceTests.scope,
                policy: policy)
            api = try await first.addAPI("https://id.example.com")
        }

        var attempt: Attempt { Attempt(first, by: client, for: ServerRaceTests.scope) }

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
            let page = try await browser.open("/account/apps/\(client.id.rawValue)").connectedAppPage
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

        func refreshing(_ tokens: TokenResponse) -> Change<Reply> {
            Change(store: here, commit: .recordRefresh) { try await refresh(tokens, at: first) }
        }

        func revocation(_ tokens: TokenResponse, at server: TestServer, _ store: FaultyStore) throws -> Change<Reply> {
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

    private static func withServers(_ kind: StoreKind, _ test: (Servers) async throws -> Void) async throws {
        try await kind.withBoth { store, other in try await test(try await Servers(store, other)) }
    }

    /// Returns the tokens of an accepted request; a refused one must have the error `invalid_grant`.
    private static func tokens(in reply: Reply) throws -> TokenResponse? {
        if reply.status == .ok { return try reply.tokenResponse }
        #expect(try reply.tokenError.error == "invalid_grant")
        return nil
    }

    @Test(arguments: kinds, Order.allCases)
    func `a code redeemed while the user disconnects the app gives no usable tokens`(
        kind: StoreKind, order: Order
    ) async throws {
        try await Self.withServers(kind) { servers in
            let attempt = servers.attempt
            let form = attempt.exchange(try await attempt.authorize().code)
            let owner = try await servers.owner()
            let (redeemed, done) = try await Self.run(
                servers.redemption(form), try await servers.submission(of: ["decision": "disconnect"], by: owner),
                in: order)
            #expect(done.status == .seeOther)
            if let tokens = try Self.tokens(in: redeemed) {
                #expect(order != .secondWithinFirst)
                try await servers.expectEnded(tokens)
            }
            #expect(try await servers.scope(of: servers.tokens(), at: servers.second) != nil)
        }
    }

    @Test(arguments: kinds, Order.allCases)
    func `a code redeemed while the user changes the password gives no usable tokens`(
        kind: StoreKind, order: Order
    ) async throws {
        try await Self.withServers(kind) { servers in
            let attempt = servers.attempt
            let form = attempt.exchange(try await attempt.authorize().code)
            var owner = try await servers.owner()
            let page = try await owner.open("/account/password").passwordPage
            let (ready, password) = (owner, "the new password of this user")
            let change = Change(store: servers.there, commit: .changePassword) {
                var browser = ready
                return try await browser.send(
                    .post, to: page.action,
                    form: FormParameters([
                        "ticket": page.ticket, "username": page.username, "current_password": TestServer.password,
                        "new_password": password,
                    ]))
            }
            let (redeemed, done) = try await Self.run(servers.redemption(form), change, in: order)
            #expect(done.location == "/account?done=password-changed")
            if let tokens = try Self.tokens(in: redeemed) {
                #expect(order != .secondWithinFirst)
                try await servers.expectEnded(tokens)
            }
            // The browser of the change stays signed in, and the new password works.
            #expect(try await owner.open("/account").status == .ok)
            let fresh = try await servers.tokens(password: password)
            #expect(try await servers.scope(of: fresh, at: servers.second) != nil)
        }
    }

    @Test(arguments: kinds, Order.allCases)
    func `a refresh while the user withdraws a permission succeeds, and loses the permission`(
        kind: StoreKind, order: Order
    ) async throws {
        try await Self.withServers(kind) { servers in
            let tokens = try await servers.tokens()
            let kept = try await servers.submission(
                of: ["decision": "save", "permission.photos.read": "granted"], by: try await servers.owner())
            let (refreshed, done) = try await Self.run(servers.refreshing(tokens), kept, in: order)
            #expect(done.status == .seeOther)
            let withdrawn = try #require(Scope.Token("photos.write"))
            let next = try refreshed.tokenResponse
            if order == .secondWithinFirst { #expect(next.scope?.contains(withdrawn) == false) }
            for server in [servers.first, servers.second] {
                #expect(try await servers.scope(of: next, at: server) == Scope(parsing: "photos.read"))
            }
            let later = try await servers.refresh(next, at: servers.second).tokenResponse
            #expect(later.scope?.contains(withdrawn) == false)
            try await servers.expectNoReuse()
        }
    }

    // R231
    @Test(arguments: kinds, Order.allCases)
    func `a refresh while the client revokes the token gives no usable tokens`(
        kind: StoreKind, order: Order
    ) async throws {
        try await Self.withServers(kind) { servers in
            let (tokens, others) = (try await servers.tokens(), try await servers.tokens())
            let (refreshed, done) = try await Self.run(
                servers.refreshing(tokens), try servers.revocation(tokens, at: servers.second, servers.there),
                in: order)
            #expect(done.status == .ok)
            if let next = try Self.tokens(in: refreshed) {
                #expect(order != .secondWithinFirst)
                try await servers.expectEnded(next)
            }
            try await servers.expectEnded(tokens)
            try await servers.expectNoReuse()
            // Another grant of the same user to the same client.
            #expect(try await servers.refresh(others, at: servers.second).status == .ok)
        }
    }

    // R231
    @Test(arguments: kinds, Order.allCases)
    func `two revocations of one grant succeed, and end it once`(kind: StoreKind, order: Order) async throws {
        try await Self.withServers(kind) { servers in
            let (tokens, others) = (try await servers.tokens(), try await servers.tokens())
            let replies = try await Self.run(
                try servers.revocation(tokens, at: servers.first, servers.here),
                try servers.revocation(tokens, at: servers.second, servers.there), in: order)
            #expect(replies.0.status == .ok && replies.1.status == .ok)
            #expect(try await servers.here.audit(AuditQuery(kind: .revocation)).count == 1)
            try await servers.expectEnded(tokens)
            #expect(try await servers.refresh(others, at: servers.second).status == .ok)
        }
    }

    @Test(arguments: kinds, Order.allCases)
    func `two rotations of a key leave one key that signs, for both servers`(
        kind: StoreKind, order: Order
    ) async throws {
        try await Self.withServers(kind) { servers in
            let serverKey = try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32)))
            let former = try await servers.tokens()
            let now = servers.first.clock.now
            func rotation(_ store: FaultyStore) -> Change<SealedSigningKey?> {
                Change(store: store, commit: .addSigningKey) {
                    try await KeyRotation(store, serverKey: serverKey).rotate(
                        .es256, .atOnce, recording: { _ in [] }, now: now)
                }
            }
            let (one, other) = try await Self.run(rotation(servers.here), rotation(servers.there), in: order)
            let made = [one, other].compactMap(\.self)
            // Of two at the same time, the second can begin after the first one.
            #expect(order == .together ? !made.isEmpty : made.count == 1)
            let keys = try await servers.here.signingKeys().filter { $0.algorithm == .es256 }
            #expect(keys.count == 1 + made.count)
            #expect(keys.filter { $0.replacedAt == nil }.count == 1)
            for tokens in [former, try await servers.tokens()] {
                for server in [servers.first, servers.second] {
                    #expect(try await servers.scope(of: tokens, at: server) != nil)
                }
            }
        }
    }

    // UI-15
    @Test(arguments: kinds, Order.allCases)
    func `a consent page that is sent to two servers gives one code`(kind: StoreKind, order: Order) async throws {
        try await Self.withServers(kind) { servers in
            let attempt = servers.attempt
            var browser = servers.first.browser()
            let page = try await browser.signIn(
                on: try await browser.open(attempt.url), username: "alice", password: TestServer.password)
            let cookies = browser.cookies
            func decision(at server: TestServer, _ store: FaultyStore) -> Change<Reply> {
                Change(store: store, commit: .recordConsent) {
                    var browser = server.browser()
                    browser.cookies = cookies
                    return try await browser.decide(.allow, on: page)
                }
            }
            let replies = try await Self.run(
                decision(at: servers.first, servers.here), decision(at: servers.second, servers.there), in: order)
            let (accepted, refused) = replies.0.status == .ok ? replies : (replies.1, replies.0)
            #expect(refused.status == .badRequest)
            #expect(try refused.problemPage.title == "You have already answered this")
            #expect(await servers.second.redeem(attempt.exchange(try accepted.code)).status == .ok)
            // The back button, at either server.
            for server in [servers.first, servers.second] {
                let late = try await decision(at: server, servers.here).make()
                #expect(late.status == .badRequest)
            }
        }
    }
}
