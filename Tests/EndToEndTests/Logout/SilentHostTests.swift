import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilWeb
import Dispatch
import Foundation
import NIOCore
import Synchronization
import Testing

/// Back-channel logout with hosts that never respond (OpenID Connect Back-Channel Logout §2.5).
@Suite(.timeLimit(.minutes(5)))
struct SilentHostTests {
    /// A resolver that never answers for names that start with `nameless`.
    private final class NameService: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let hanging = Mutex(0)

        func addresses(of host: String) -> [[UInt8]] {
            guard host.hasPrefix("nameless") else { return [[127, 0, 0, 1]] }
            hanging.withLock { $0 += 1 }
            gate.wait()
            return []
        }

        func release() { for _ in 0..<hanging.withLock({ $0 }) { gate.signal() } }
    }

    // SEC-36
    @Test func `a client is notified at once beside fifty whose hosts never respond`() async throws {
        let names = NameService()
        defer { names.release() }
        let authority = TestAuthority()
        let (honest, silent) = (LogoutReceiver(.status("200 OK")), LogoutReceiver(.silence))
        try await honest.run(tls: try authority.serverContext(for: "rp.example.net")) { honestPort in
            try await silent.run { silentPort in
                let rules = OutboundRules(
                    networks: try OutboundNetworks(["127.0.0.0/8"]),
                    authorities: try OutboundAuthorities(pem: try authority.pem))
                let test = try await TestServer(
                    logoutSender: LogoutNoticePost(
                        OutboundClient(rules, insecureLoopbackPort: nil, lookUp: names.addresses(of:))))
                let developer = try await test.addPerson("dora")
                var addresses: [(name: String, owner: PersonIdentifier?, address: String)] = []
                for letter in "abcdefghijklmnopqrstuvwxy" {
                    addresses.append(
                        ("Silent\(letter)", developer.id, "https://silent-\(letter).example.net:\(silentPort)/"))
                    addresses.append(("Nameless\(letter)", developer.id, "https://nameless-\(letter).example.net/"))
                }
                addresses.append(("Honest", nil, "https://rp.example.net:\(honestPort)/logout"))
                var browser = test.browser()
                for (name, owner, address) in addresses {
                    var client = try await test.register(name, redirectURIs: ["http://127.0.0.1/cb"], owner: owner)
                    client.backchannelLogoutURI = try AbsoluteURI(parsing: address)
                    #expect(try await test.store.updateClient(client, logo: .keep) == .updated)
                    let verifier = CodeVerifier()
                    let request = FormParameters([
                        "response_type": "code", "client_id": client.id.rawValue,
                        "redirect_uri": "http://127.0.0.1:51004/cb", "scope": "openid",
                        "code_challenge": CodeChallenge(of: verifier).rawValue, "code_challenge_method": "S256",
                    ])
                    _ = try await browser.authorize(
                        test.issuer.endpoint("/oauth2/authorize") + "?" + request.encoded, username: "alice",
                        password: TestServer.password)
                }
                let account = try await browser.open("/account").accountPage
                _ = try await browser.submit(
                    FormParameters(["ticket": account.console.signOutTicket]), to: account.console.paths.signOut)
                #expect(try await test.store.logoutBacklog().count == addresses.count)

                let notifier = try #require(test.server.logoutNotifier)
                let start = ContinuousClock.now
                // The pending lookups delay the end of the notifier, but not the notification.
                let elapsed = await withTaskGroup(of: Void.self) { group in
                    group.addTask { await notifier.run() }
                    while honest.requests.isEmpty, start.duration(to: .now) < .seconds(60) {
                        try? await Task.sleep(for: .milliseconds(5))
                    }
                    defer { group.cancelAll() }
                    return start.duration(to: .now)
                }
                #expect(honest.requests.count == 1, "\(test.log.lines)")
                #expect(elapsed < .seconds(4))
            }
        }
    }
}
