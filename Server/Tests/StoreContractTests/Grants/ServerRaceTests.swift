import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// Two changes at two servers on one store.
@Suite("The contract: two changes at two servers at the same time", .timeLimit(.minutes(5)))
struct ServerRaceTests {
    @Test(arguments: Race.kinds, Race.Order.allCases)
    func `a code redeemed while the user disconnects the app gives no usable tokens`(
        kind: StoreKind, order: Race.Order
    ) async throws {
        try await Race.withServers(kind) { servers in
            let attempt = servers.attempt
            let form = attempt.exchange(try await attempt.authorize().code)
            let owner = try await servers.owner()
            let (redeemed, done) = try await Race.run(
                servers.redemption(form), try await servers.submission(of: ["decision": "disconnect"], by: owner),
                in: order)
            #expect(done.status == .seeOther)
            if let tokens = try Race.tokens(in: redeemed) {
                #expect(order != .secondWithinFirst)
                try await servers.expectEnded(tokens)
            }
            #expect(try await servers.scope(of: servers.tokens(), at: servers.second) != nil)
        }
    }

    @Test(arguments: Race.kinds, Race.Order.allCases)
    func `a code redeemed while the user changes the password gives no usable tokens`(
        kind: StoreKind, order: Race.Order
    ) async throws {
        try await Race.withServers(kind) { servers in
            let attempt = servers.attempt
            let form = attempt.exchange(try await attempt.authorize().code)
            var owner = try await servers.owner()
            let page = try await owner.open("/account/password").passwordPage
            let (ready, password) = (owner, "the new password of this user")
            let change = Race.Change(store: servers.there, commit: .changePassword) {
                var browser = ready
                return try await browser.send(
                    .post, to: page.action,
                    form: FormParameters([
                        "ticket": page.ticket, "username": page.username, "current_password": TestServer.password,
                        "new_password": password,
                    ]))
            }
            let (redeemed, done) = try await Race.run(servers.redemption(form), change, in: order)
            #expect(done.location == "/account?done=password-changed")
            if let tokens = try Race.tokens(in: redeemed) {
                #expect(order != .secondWithinFirst)
                try await servers.expectEnded(tokens)
            }
            // The browser of the change stays signed in, and the new password works.
            #expect(try await owner.open("/account").status == .ok)
            let fresh = try await servers.tokens(password: password)
            #expect(try await servers.scope(of: fresh, at: servers.second) != nil)
        }
    }

    @Test(arguments: Race.kinds, Race.Order.allCases)
    func `a refresh while the user withdraws a permission succeeds, and loses the permission`(
        kind: StoreKind, order: Race.Order
    ) async throws {
        try await Race.withServers(kind) { servers in
            let tokens = try await servers.tokens()
            let kept = try await servers.submission(
                of: ["decision": "save", "permission.photos.read": "granted"], by: try await servers.owner())
            let (refreshed, done) = try await Race.run(
                servers.refreshing(tokens, at: servers.first, servers.here), kept, in: order)
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

    @Test(arguments: Race.kinds, Race.Order.allCases)
    func `a refresh while the client revokes the token gives no usable tokens`(
        kind: StoreKind, order: Race.Order
    ) async throws {
        try await Race.withServers(kind) { servers in
            let (tokens, others) = (try await servers.tokens(), try await servers.tokens())
            let (refreshed, done) = try await Race.run(
                servers.refreshing(tokens, at: servers.first, servers.here),
                try servers.revocation(tokens, at: servers.second, servers.there), in: order)
            #expect(done.status == .ok)
            if let next = try Race.tokens(in: refreshed) {
                #expect(order != .secondWithinFirst)
                try await servers.expectEnded(next)
            }
            try await servers.expectEnded(tokens)
            try await servers.expectNoReuse()
            // Another grant of the same user to the same client.
            #expect(try await servers.refresh(others, at: servers.second).status == .ok)
        }
    }

    @Test(arguments: Race.kinds, Race.Order.allCases)
    func `two revocations of one grant succeed, and end it once`(kind: StoreKind, order: Race.Order) async throws {
        try await Race.withServers(kind) { servers in
            let (tokens, others) = (try await servers.tokens(), try await servers.tokens())
            let replies = try await Race.run(
                try servers.revocation(tokens, at: servers.first, servers.here),
                try servers.revocation(tokens, at: servers.second, servers.there), in: order)
            #expect(replies.0.status == .ok && replies.1.status == .ok)
            #expect(try await servers.here.audit(AuditQuery(kind: .revocation)).count == 1)
            try await servers.expectEnded(tokens)
            #expect(try await servers.refresh(others, at: servers.second).status == .ok)
        }
    }

    @Test(arguments: Race.kinds, Race.Order.allCases)
    func `two rotations of a key leave one key that signs, for both servers`(
        kind: StoreKind, order: Race.Order
    ) async throws {
        try await Race.withServers(kind) { servers in
            let serverKey = try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32)))
            let former = try await servers.tokens()
            let now = servers.first.clock.now
            func rotation(_ store: TestStore) -> Race.Change<SealedSigningKey?> {
                Race.Change(store: store, commit: .addSigningKey) {
                    try await KeyRotation(store, serverKey: serverKey).rotate(
                        .es256, .atOnce, recording: { _ in [] }, now: now)
                }
            }
            let (one, other) = try await Race.run(rotation(servers.here), rotation(servers.there), in: order)
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

    @Test(arguments: Race.kinds, Race.Order.allCases)
    func `a consent page that is sent to two servers gives one code`(kind: StoreKind, order: Race.Order) async throws {
        try await Race.withServers(kind) { servers in
            let attempt = servers.attempt
            var browser = servers.first.browser()
            let page = try await browser.signIn(
                on: try await browser.open(attempt.url), username: "alice", password: TestServer.password)
            let cookies = browser.cookies
            func decision(at server: TestServer, _ store: TestStore) -> Race.Change<Reply> {
                Race.Change(store: store, commit: .recordConsent) {
                    var browser = server.browser()
                    browser.cookies = cookies
                    return try await browser.decide(.allow, on: page)
                }
            }
            let replies = try await Race.run(
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
