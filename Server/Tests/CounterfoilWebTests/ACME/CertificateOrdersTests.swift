import ACMEClient
import ACMETesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPListener
import NIOConcurrencyHelpers
import ServiceLifecycle
import TestSupport
import Testing

@testable import CounterfoilWeb

@Suite("ACME: orders of a certificate")
struct CertificateOrdersTests {
    private let servers: OrderingServers
    private let authority: ScriptedAuthority
    private let store: TestStore
    private let log: RecordedLog
    private let pauses: OrderingServers.Pauses

    init() throws {
        servers = try OrderingServers()
        (authority, store, log, pauses) = (servers.authority, servers.store, servers.log, servers.pauses)
    }

    private func node(
        hosts: [String] = ["id.example.com", "cb.example.net"], challenge: ACMESettings.Challenge = .tls,
        externalAccount: ExternalAccount? = nil
    ) throws -> CertificateOrders {
        try servers.node(hosts: hosts, challenge: challenge, externalAccount: externalAccount)
    }

    private var orders: Int { authority.state.withLockedValue { $0.replaced.count } }
    /// The number of requests for orders; a server can ask for renewal information at any time.
    private var requests: Int {
        authority.state.withLockedValue { state in
            state.paths.count { $0 != "/directory" && !$0.hasPrefix("/renewal/") }
        }
    }
    private var errors: [String] { servers.errors }
    private var accounts: Int { authority.state.withLockedValue { $0.accounts.count } }

    /// Changes the time at which the certificate was stored.
    private func age(_ stored: IssuedCertificate, by seconds: TimeInterval) async throws {
        let (holder, now) = (LeaseHolder(), store.now())
        #expect(try await store.takeOrderLease(holder, until: now + 30, at: now))
        let older = IssuedCertificate(
            chain: stored.chain, sealedKey: stored.sealedKey, authority: stored.authority,
            storedAt: stored.storedAt - seconds)
        let other = ArtefactDigest(ofOrderSettings: "none")
        #expect(try await store.storeCertificate(older, orderedWith: other, by: holder))
        try await store.returnOrderLease(holder)
    }

    private static func challenge(_ token: String) -> PublishedChallenge {
        PublishedChallenge(
            type: "http-01", host: "id.example.com", token: token, keyAuthorization: "\(token).key")
    }

    private func says(_ text: String) -> Bool { servers.says(text) }

    // Private keys are encrypted in the store.
    @Test(arguments: ACMESettings.Challenge.allCases)
    func `one server orders a certificate, and the others use it`(challenge: ACMESettings.Challenge) async throws {
        let (first, second) = (try node(challenge: challenge), try node(challenge: challenge))
        authority.state.withLockedValue { state in
            state.refusedNonces = 5
            // The authority reaches another server than the one that has ordered.
            state.probe = {
                switch challenge {
                case .tls: await second.certificate.challenges.context(for: "id.example.com").map { "\($0)" }
                case .http:
                    await second.certificate.challenges.answer(toToken: "evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA")
                }
            }
        }
        #expect(first.certificate.current.context == nil)
        try await first.runRound()
        #expect(errors == [])
        #expect(first.certificate.current.context != nil)
        #expect(authority.state.withLockedValue { $0.hosts } == ["id.example.com", "cb.example.net"])
        try await second.runRound()
        #expect(second.certificate.current.snapshot.expires == first.certificate.current.snapshot.expires)
        #expect(second.certificate.current.snapshot.expires != nil)
        try await first.runRound()
        #expect(orders == 1)
        #expect(try await store.pendingChallenges(at: store.now()) == [])
        // The stored key is useless without the server key.
        let stored = try #require(try await store.issuedCertificate())
        #expect(!String(decoding: stored.sealedKey, as: UTF8.self).contains("PRIVATE KEY"))
        #expect(!log.lines.contains { $0.contains("PRIVATE KEY") })
    }

    @Test func `a server that stops stores the certificate of a finalized order first`() async throws {
        let node = try node()
        let services = ServiceGroup(services: [node], logger: log.logger)
        authority.state.withLockedValue { state in
            state.beforeCertificate = { [log] in
                await services.triggerGracefulShutdown()
                _ = try await Waiting.until("the stop") {
                    log.lines.contains { $0.contains("stops after the certificate") } ? true : nil
                }
            }
        }
        try await services.run()
        #expect(try await store.issuedCertificate() != nil)
        #expect(node.certificate.current.context != nil)
    }

    /// A way in which an authority can fail to issue a certificate.
    enum Fault: String, CaseIterable, Sendable {
        case unreachable, failing, refusing, limiting, invalid, otherKey, otherHosts, otherNames, expired, noJSON

        var event: String {
            switch self {
            case .unreachable: "cannot reach the authority"
            case .failing: "the authority failed (order: serverInternal: no)"
            case .refusing: "the authority refused the request (order: rejectedIdentifier: no)"
            case .limiting: "a limit of the authority was reached (order: rateLimited: no)"
            case .invalid: "could not validate id.example.com by tls-alpn-01 (connection: refused)"
            case .otherKey: "the key belongs to another certificate"
            case .otherHosts: "which was not ordered"
            case .otherNames:
                "a certificate that does not fit: the certificate is not for id.example.com, but for evil.example"
            case .expired: "has expired"
            case .noJSON: "the response of the authority is invalid (directory"
            }
        }
    }

    // Only a certificate that fits is used.
    @Test(arguments: Fault.allCases)
    func `an authority that fails changes nothing, and is not asked again at once`(_ fault: Fault) async throws {
        let node = try node()
        try await node.runRound()
        let former = try #require(node.certificate.current.snapshot.expires)
        try await store.requestRenewal()
        authority.state.withLockedValue { state in
            switch fault {
            case .unreachable: state.isReachable = false
            case .failing:
                state.responses["/order"] = Array(
                    repeating: ScriptedAuthority.problem("serverInternal", status: 500), count: 2)
            case .refusing:
                state.responses["/order"] = Array(repeating: ScriptedAuthority.problem("rejectedIdentifier"), count: 2)
            case .limiting:
                state.responses["/order"] = [
                    ScriptedAuthority.problem("rateLimited", status: 429, retryAfter: "7200")
                ]
            case .invalid: state.isValid = false
            case .otherKey: state.otherKey = true
            case .otherHosts:
                state.responses["/authorization/id.example.com"] = [
                    AuthorityResponse(
                        status: 200,
                        body: Array(
                            #"{"status":"pending","identifier":{"type":"dns","value":"evil.example"},"challenges":[]}"#
                                .utf8))
                ]
            case .otherNames: state.otherNames = ["evil.example"]
            case .expired: state.validity = (-7200, -3600)
            case .noJSON:
                // The first one answers the question for renewal information.
                state.responses["/directory"] = Array(
                    repeating: AuthorityResponse(status: 200, body: Array("<html>".utf8)), count: 2)
            }
        }
        let before = store.now()
        try await node.runRound()
        #expect(says(fault.event), "\(log.lines.last ?? "")")
        #expect(node.certificate.current.snapshot.expires == former)
        #expect(node.certificate.failures.snapshot.total == 1)
        #expect(node.certificate.failures.snapshot.inRow == 1)
        #expect(try await store.pendingChallenges(at: store.now()) == [])
        let failed = try #require(try await store.failedOrders().first)
        #expect(failed.count == 1)
        // A certificate that was issued counts against the limits of the authority.
        #expect(failed.isImposed == [.limiting, .otherKey, .otherNames, .expired].contains(fault))
        #expect(failed.retryAt > before + (fault == .limiting ? 7199 : 59))
        // Neither this server nor another one tries again before that.
        let requests = self.requests
        try await node.runRound()
        let other = try self.node()
        try await other.runRound()
        #expect(self.requests == requests)
        #expect(other.certificate.current.snapshot.expires == former)
        #expect(errors == [])
    }

    @Test func `an order that ended early is begun again with the same account`() async throws {
        let killed = try node()
        authority.state.withLockedValue { $0.isValid = false }
        try await killed.runRound()
        #expect(accounts == 1)
        authority.state.withLockedValue { $0.isValid = true }
        try await store.requestRenewal()
        let next = try node()
        try await next.runRound()
        #expect(next.certificate.current.context != nil)
        #expect(accounts == 1)
        #expect(try await store.failedOrders() == [])
        #expect(errors == [])
    }

    @Test func `an authority that delays is asked no more often than it wants`() async throws {
        authority.state.withLockedValue { state in
            state.responses["/orders/1"] = [
                AuthorityResponse(
                    status: 200, retryAfter: "1800",
                    body: Array(
                        """
                        {"status":"processing","authorizations":[],"finalize":"\(ScriptedAuthority.origin)/finalize"}
                        """.utf8))
            ]
        }
        let node = try node()
        try await node.runRound()
        #expect(says("the authority delays the order"))
        let seconds = pauses.seconds.withLock { $0 }
        #expect(seconds.contains(1800))
        #expect(node.certificate.current.context != nil)
    }

    @Test func `the renewal follows the authority, and names the former certificate`() async throws {
        let node = try node()
        try await node.runRound()
        let former = try #require(try await store.issuedCertificate())
        authority.state.withLockedValue { $0.window = (-7200, -3600) }
        let other = try self.node()
        // A window that has passed does not cause one order after the other.
        try await other.runRound()
        #expect(orders == 1)
        #expect(says("the certificate was due for renewal before it was stored"))
        try await age(former, by: 3601)
        try await other.runRound()
        let identity = try #require(CertificateIdentity(chain: former.chain))
        #expect(authority.state.withLockedValue { $0.replaced } == [nil, identity.identifier])
        #expect(try await store.issuedCertificate()?.chain != former.chain)
        // The first server finds it, and orders nothing.
        authority.state.withLockedValue { $0.window = nil }
        try await node.runRound()
        #expect(node.certificate.current.snapshot.expires == other.certificate.current.snapshot.expires)
        #expect(orders == 2)
    }

    @Test func `another server that orders is left alone, and a fault of the store changes nothing`() async throws {
        let (node, other) = (try node(), LeaseHolder())
        let now = store.now()
        #expect(try await store.takeOrderLease(other, until: now + 60, at: now))
        try await node.runRound()
        #expect(orders == 0)
        try await store.returnOrderLease(other)
        try await node.runRound()
        let expires = try #require(node.certificate.current.snapshot.expires)
        store.fail(.issuedCertificate)
        try await node.runRound()
        #expect(node.certificate.current.snapshot.expires == expires)
        #expect(says("failed to read the certificate from the store"))
    }

    @Test(arguments: [(2, true), (100, false)])
    func `a challenge that fails and stays pending is tried again, and then reported`(
        failures: Int, isIssued: Bool
    ) async throws {
        authority.state.withLockedValue { $0.failuresWhilePending = failures }
        let node = try node(hosts: ["id.example.com"])
        try await node.runRound()
        #expect(says("the authority could not validate a host yet"))
        #expect((node.certificate.current.context != nil) == isIssued)
        #expect(says("could not validate id.example.com by tls-alpn-01 (connection: refused)") == !isIssued)
        let attempts = authority.state.withLockedValue { state in state.paths.count { $0 == "/challenge" } }
        #expect(attempts == (isIssued ? 3 : 4))
        #expect(pauses.passed.withLock(\.self) < 60)
        #expect(try await store.failedOrders().count == (isIssued ? 0 : 1))
        #expect(errors == [])
    }

    @Test func `a validation that does not end is given up after minutes`() async throws {
        authority.state.withLockedValue { $0.ignoresValidations = true }
        let node = try node()
        try await node.runRound()
        #expect(says("the authority did not complete the order in time (authorization)"))
        #expect(pauses.passed.withLock(\.self) < 700)
    }

    @Test func `an order that the authority has begun to issue survives its failures`() async throws {
        authority.state.withLockedValue { state in
            state.lost = ["/finalize": 1, "/certificate": 2]
            state.responses["/certificate"] = [ScriptedAuthority.problem("serverInternal", status: 500)]
        }
        let node = try node()
        try await node.runRound()
        #expect(node.certificate.current.context != nil)
        #expect(orders == 1)
        #expect(errors == [])
        // If the failures do not end, the next order is not made for hours, whatever restarts.
        try await store.requestRenewal()
        authority.state.withLockedValue { $0.lost = ["/certificate": .max] }
        try await node.runRound()
        #expect(says("the authority may have issued a certificate"))
        let failed = try #require(try await store.failedOrders().first)
        #expect(failed.isImposed)
        #expect(failed.retryAt.timeIntervalSince(failed.failedAt) >= 3600)
        #expect(node.certificate.current.context != nil)
    }

    @Test func `a certificate that cannot be stored is used, and stored later`() async throws {
        let node = try node()
        store.fail(.storeCertificate)
        try await node.runRound()
        let expires = try #require(node.certificate.current.snapshot.expires)
        #expect(try await store.issuedCertificate() == nil)
        #expect(says("failed to store the certificate"))
        try await node.runRound()
        #expect(orders == 1)
        store.recover()
        try await node.runRound()
        #expect(orders == 1)
        #expect(try await store.issuedCertificate() != nil)
        let other = try self.node()
        try await other.runRound()
        #expect(other.certificate.current.snapshot.expires == expires)
    }

    @Test func `a server that has lost the lease leaves the challenges of the other one`() async throws {
        let (first, second) = (PendingChallenges(store), PendingChallenges(store))
        func publish(_ challenges: PendingChallenges, at now: Date) async throws {
            _ = try await store.takeOrderLease(challenges.holder, until: now + 30, at: now)
            try await challenges.publish([Self.challenge("token")], lasting: 60)
        }
        try await publish(first, at: store.now())
        // The lease of the first one has ended.
        try await publish(second, at: store.now() + 31)
        await first.withdraw()
        await #expect(throws: LeaseLost.self) {
            try await first.publish([Self.challenge("other")], lasting: 60)
        }
        #expect(try await store.pendingChallenges(at: store.now()).map(\.token) == ["token"])
        await second.withdraw()
        #expect(try await store.pendingChallenges(at: store.now()) == [])
    }

    @Test func `an external account is bound, and demanded if the authority requires it`() async throws {
        authority.state.withLockedValue { $0.requiresExternalAccount = true }
        try await node().runRound()
        #expect(says("set acme-eab-kid"))
        try await store.requestRenewal()
        let account = try #require(ExternalAccount(keyIdentifier: "kid-1", key: "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajV\n"))
        let bound = try node(externalAccount: account)
        try await bound.runRound()
        #expect(bound.certificate.current.context != nil)
        #expect(errors == [])
    }
}
