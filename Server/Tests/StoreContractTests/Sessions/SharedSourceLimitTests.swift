import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The limit of failed sign-ins from one IP address, at two servers on one store.
@Suite("The contract: failed sign-ins from one address at two servers")
struct SharedSourceLimitTests {
    /// Tries to sign in with a new browser whose header fields name another address.
    private static func attempt(
        at server: TestServer, _ name: String, _ password: String, source: String = "203.0.113.7", forwarded: String
    ) async throws -> Reply {
        var browser = server.browser(source: source)
        browser.fields = [
            try HTTPField.Name.named("X-Forwarded-For"): forwarded,
            try HTTPField.Name.named("Forwarded"): "for=\(forwarded)",
        ]
        return try await browser.signIn(
            on: try await browser.open(Attempt(server).url), username: name, password: password)
    }

    // The web server decides which address a request comes from, by its trusted proxies.
    @Test(arguments: Race.kinds)
    func `failures at two servers count together for the address, whatever the header fields say`(
        kind: StoreKind
    ) async throws {
        try await kind.withBoth { store, other in
            let limit = 4
            let first = try await TestServer(store: store) { $0.signInLimits.failuresPerSource = limit }
            let second = try await TestServer(store: other, clock: first.clock) {
                $0.signInLimits.failuresPerSource = limit
            }
            for number in 0...limit { _ = try await first.addUser("person\(number)") }
            for number in 0..<limit {
                let server = number.isMultiple(of: 2) ? first : second
                let reply = try await Self.attempt(
                    at: server, "person\(number)", "wrong", forwarded: "198.51.100.\(number)")
                #expect(reply.status == .badRequest)
            }
            for server in [first, second] {
                let stopped = try await Self.attempt(
                    at: server, "person\(limit)", TestServer.password, forwarded: "198.51.100.200")
                #expect(stopped.status == .tooManyRequests)
                let elsewhere = try await Self.attempt(
                    at: server, "person\(limit)", TestServer.password, source: "192.0.2.9", forwarded: "203.0.113.7")
                _ = try elsewhere.consentPage
            }
        }
    }
}
