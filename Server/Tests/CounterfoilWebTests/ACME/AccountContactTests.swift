import ACMEClient
import ACMETesting
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import CounterfoilWeb

@Suite("ACME: contact of the account")
struct AccountContactTests {
    private let servers: OrderingServers

    init() throws { servers = try OrderingServers() }

    private var contacts: [String: [String]] { servers.authority.state.withLockedValue { $0.contacts } }
    private var updates: Int { servers.authority.state.withLockedValue { $0.updates } }

    /// Orders a certificate, even if there is one.
    private func order(for contact: String) async throws {
        try await servers.store.requestRenewal()
        let former = try await servers.store.issuedCertificate()?.chain
        try await servers.node(contact: contact).runRound()
        #expect(try await servers.store.issuedCertificate()?.chain != former)
        #expect(try await servers.store.failedOrders() == [])
        #expect(servers.errors == [])
    }

    // RFC 8555 §7.3.2
    @Test func `a changed contact is sent with the next order, and no unchanged one`() async throws {
        try await order(for: "owner@example.com")
        try await order(for: "owner@example.com")
        #expect(updates == 0)
        for _ in 1...2 {
            try await order(for: "operations@example.com")
            #expect(contacts == ["/account/1": ["mailto:operations@example.com"]])
            #expect(updates == 1)
        }
        #expect(servers.says("updated the contact of the account at the authority"))
    }

    // RFC 8555 §7.1.2: the member contact is optional.
    @Test func `an authority that does not show contacts gets the contact with each order`() async throws {
        servers.authority.state.withLockedValue { $0.hidesContacts = true }
        try await order(for: "owner@example.com")
        #expect(updates == 0)
        try await order(for: "operations@example.com")
        #expect(contacts == ["/account/1": ["mailto:operations@example.com"]])
        #expect(updates == 1)
    }

    @Test func `an authority that refuses a contact issues the certificate nevertheless`() async throws {
        try await order(for: "owner@example.com")
        servers.authority.state.withLockedValue { state in
            state.responses["/account/1"] = [ScriptedAuthority.problem("invalidContact", status: 400)]
        }
        try await order(for: "operations@example.com")
        #expect(updates == 0)
        #expect(servers.says("failed to update the contact of the account at the authority"))
        #expect(servers.says("invalidContact"))
        try await order(for: "operations@example.com")
        #expect(updates == 1)
    }
}
