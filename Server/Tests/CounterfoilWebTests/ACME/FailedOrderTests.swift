import ACMEClient
import ACMETesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPListener
import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import CounterfoilWeb

@Suite("ACME: failed orders in the metrics and the log")
struct FailedOrderTests {
    private let servers: OrderingServers

    init() throws { servers = try OrderingServers() }

    private func metrics(of node: CertificateOrders) -> String {
        var text = MetricsText()
        text.write(node.certificate.current.snapshot)
        text.write(node.certificate.failures.snapshot)
        return text.text
    }

    private func failures(of node: CertificateOrders) -> String? {
        metrics(of: node).firstMatch(of: /\ncounterfoil_acme_consecutive_failures (.+)\n/).map { String($0.output.1) }
    }

    private func isPresent(at node: CertificateOrders) -> String? {
        "\n\(metrics(of: node))".firstMatch(of: /\ncounterfoil_tls_certificate_present (.+)\n/)
            .map { String($0.output.1) }
    }

    /// Changes the times of the only failure as if it had been two minutes ago.
    private func age(retryingIn seconds: TimeInterval) async throws {
        let failed = try #require(try await servers.store.failedOrders().first)
        let now = servers.store.now()
        try await servers.store.noteFailedOrders(
            FailedOrders(
                settings: failed.settings, authority: failed.authority, count: failed.count, failedAt: now - 120,
                retryAt: now + seconds, isImposed: false))
    }

    @Test func `the failed orders in a row count at each server and over a restart, until an order succeeds`()
        async throws
    {
        let node = try servers.node()
        #expect(failures(of: node) == "0")
        servers.authority.state.withLockedValue { $0.isReachable = false }
        try await node.runRound()
        #expect(failures(of: node) == "1")
        try await age(retryingIn: -1)
        try await node.runRound()
        #expect(failures(of: node) == "2")
        #expect(isPresent(at: node) == "0")
        let restarted = try servers.node()
        try await restarted.runRound()
        #expect(failures(of: restarted) == "2")
        #expect(restarted.certificate.failures.snapshot.total == 0)
        servers.authority.state.withLockedValue { $0.isReachable = true }
        try await age(retryingIn: -1)
        try await restarted.runRound()
        #expect(failures(of: restarted) == "0")
        #expect(isPresent(at: restarted) == "1")
        #expect(failures(of: node) == "2")
        try await node.runRound()
        #expect(failures(of: node) == "0")
        #expect(isPresent(at: node) == "1")
    }

    @Test func `failures before a certificate that a server with other settings has ordered do not count`()
        async throws
    {
        let node = try servers.node(challenge: .tls)
        servers.authority.state.withLockedValue { $0.isReachable = false }
        try await node.runRound()
        try await age(retryingIn: 600)
        servers.authority.state.withLockedValue { $0.isReachable = true }
        let other = try servers.node(challenge: .http)
        try await other.runRound()
        #expect(failures(of: other) == "0")
        #expect(try await servers.store.failedOrders().count == 1)
        try await node.runRound()
        #expect(isPresent(at: node) == "1")
        #expect(failures(of: node) == "0")
    }

    @Test func `a failure that the store cannot keep counts, and delays the next order`() async throws {
        let node = try servers.node()
        servers.store.fail(.failedOrders)
        servers.authority.state.withLockedValue { $0.isReachable = false }
        try await node.runRound()
        #expect(failures(of: node) == "1")
        servers.authority.state.withLockedValue { $0.isReachable = true }
        try await node.runRound()
        #expect(failures(of: node) == "1")
        #expect(node.certificate.current.context == nil)
        servers.store.recover()
        try await node.runRound()
        #expect(failures(of: node) == "1")
        #expect(node.certificate.current.context == nil)
    }

    @Test func `a store that refuses the lease of an order is reported once until it works again`() async throws {
        let node = try servers.node()
        func reports() -> Int {
            servers.log.lines.count { $0.contains("failed to begin an order of a certificate in the store") }
        }
        servers.store.fail(.takeOrderLease)
        try await node.runRound()
        try await node.runRound()
        #expect(reports() == 1)
        #expect(node.certificate.current.context == nil)
        servers.store.recover()
        try await node.runRound()
        #expect(node.certificate.current.context != nil)
        try await servers.store.requestRenewal()
        servers.store.fail(.takeOrderLease)
        try await node.runRound()
        #expect(reports() == 2)
    }
}
