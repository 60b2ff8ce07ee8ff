import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilWeb
import Dispatch
import Foundation
import NIOCore
import TestSupport
import Testing

/// Back-channel logout with hosts that never respond (OpenID Connect Back-Channel Logout §2.5).
@Suite(.timeLimit(.minutes(5)))
struct SilentHostTests {
    /// A resolver that never answers for names that start with `nameless`, until it is released.
    private final class NameService: Sendable {
        private let gate = DispatchSemaphore(value: 0)

        func addresses(of host: String) -> [[UInt8]] {
            guard host.hasPrefix("nameless") else { return [[127, 0, 0, 1]] }
            gate.wait()
            gate.signal()
            return []
        }

        func release() { gate.signal() }
    }

    @Test func `a client is notified at once beside fifty whose hosts never respond`() async throws {
        let names = NameService()
        defer { names.release() }
        let authority = try TestAuthority()
        let (honest, silent) = (LogoutReceiver(.status("200 OK")), LogoutReceiver(.silence))
        try await honest.run(tls: try authority.serverContext(for: "rp.example.net")) { honestPort in
            try await silent.run(tls: try authority.serverContext(for: "*.example.net")) { silentPort in
                let rules = OutboundRules(
                    networks: try OutboundNetworks(["127.0.0.0/8"]),
                    authorities: try OutboundAuthorities(pem: try authority.pem))
                // The time limit is longer than the wait below, so that no delivery can follow a time-out of another.
                let client = OutboundClient(
                    rules, insecureLoopbackPort: nil, timeLimit: .minutes(4), lookUp: names.addresses(of:))
                let test = try await TestServer(logoutSender: LogoutNoticePost(client))
                let developer = try await test.addUser("dora")
                var addresses: [(name: String, owner: UserIdentifier?, address: String)] = []
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
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await notifier.run() }
                    defer {
                        names.release()
                        group.cancelAll()
                    }
                    _ = try await Waiting.until("the notification of the only host that responds") {
                        honest.requests.isEmpty ? nil : true
                    }
                    #expect(test.server.metrics.snapshot.events[.logoutFailed] == nil, "\(test.log.lines)")
                }
                #expect(honest.requests.count == 1, "\(test.log.lines)")
            }
        }
    }
}
