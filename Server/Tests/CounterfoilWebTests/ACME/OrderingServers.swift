import ACMEClient
import ACMETesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import CounterfoilWeb

/// Servers with one store, which order their certificate from an authority in this process.
struct OrderingServers {
    let authority: ScriptedAuthority
    let store = TestStore()
    let log = RecordedLog()
    let pauses = Pauses()
    private let serverKey: ServerKey

    init() throws {
        authority = try ScriptedAuthority()
        serverKey = try #require(ServerKey(bytes: ServerKey.newBytes()))
    }

    /// The pauses that an order makes, none of which takes time.
    final class Pauses: Sendable {
        let seconds = Mutex<[TimeInterval]>([])
        /// The time that has passed by these pauses.
        let passed = Mutex<TimeInterval>(0)

        func pause(_ time: TimeInterval) async throws {
            // The lease is renewed beside the order.
            if time == CertificateOrders.leaseLength / 3 { return try await Task.sleep(for: .seconds(3600)) }
            seconds.withLock { $0.append(time) }
            passed.withLock { $0 += time }
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Creates one of the servers.
    func node(
        hosts: [String] = ["id.example.com", "cb.example.net"], challenge: ACMESettings.Challenge = .tls,
        contact: String = "owner@example.com", externalAccount: ExternalAccount? = nil
    ) throws -> CertificateOrders {
        var clock = OrderClock()
        clock.pause = { [pauses] in try await pauses.pause($0) }
        clock.now = { [pauses] in Date() + pauses.passed.withLock(\.self) }
        clock.draw = { 0.5 }
        let settings = ACMESettings(
            directory: try #require(authority.url), contact: contact, hosts: hosts, externalAccount: externalAccount,
            challenge: challenge)
        return CertificateOrders(
            settings, store: store, serverKey: serverKey, clock: clock, logger: log.logger,
            connect: { [authority] in authority })
    }

    /// The requests of the servers that break a rule of the authority.
    var errors: [String] { authority.state.withLockedValue { $0.errors } }

    func says(_ text: String) -> Bool { log.lines.contains { $0.contains(text) } }
}
