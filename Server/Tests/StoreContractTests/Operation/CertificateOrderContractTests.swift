import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

/// The contract of the store of the certificate that an authority issues.
@Suite("The contract: the certificate of an authority")
struct CertificateOrderContractTests {
    private static let authority = "https://ca.example/directory"

    private static func digest(_ byte: UInt8) throws -> ArtefactDigest {
        try #require(ArtefactDigest(stored: Array(repeating: byte, count: 32)))
    }

    private static func certificate(_ text: String) -> IssuedCertificate {
        IssuedCertificate(
            chain: text, sealedKey: Array("key of \(text)".utf8), authority: authority, storedAt: World.now)
    }

    @Test(arguments: StoreKind.allCases)
    func `an authority has one account, also if several servers create it`(_ kind: StoreKind) async throws {
        try await kind.withBoth { store, other async throws in
            let keys = try await outcomes(of: 8) { number in
                try await (number.isMultiple(of: 2) ? store : other).accountKey(
                    of: Self.authority, orStoring: [UInt8(number)])
            }
            #expect(keys.count == 1)
            let key = try #require(keys.keys.first)
            #expect(try await store.accountKey(of: "https://other.example/", orStoring: [99]) == [99])
            try await store.replaceAccountKey(of: Self.authority, [100], with: [101])
            #expect(try await other.accountKey(of: Self.authority, orStoring: [0]) == key)
            try await store.replaceAccountKey(of: Self.authority, key, with: [101])
            #expect(try await other.accountKey(of: Self.authority, orStoring: [0]) == [101])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `only the server with the lease stores a certificate, which ends the failures`(_ kind: StoreKind)
        async throws
    {
        try await kind.withBoth { store, other async throws in
            let (first, second) = (LeaseHolder(), LeaseHolder())
            #expect(try await store.issuedCertificate() == nil)
            #expect(try await !store.storeCertificate(Self.certificate("a"), orderedWith: Self.digest(7), by: first))
            #expect(try await store.takeOrderLease(first, until: World.now + 30, at: World.now))
            #expect(try await !other.takeOrderLease(second, until: World.now + 31, at: World.now + 1))
            #expect(try await !other.storeCertificate(Self.certificate("b"), orderedWith: Self.digest(7), by: second))
            #expect(try await other.issuedCertificate() == nil)

            let failed = FailedOrders(
                settings: try Self.digest(7), authority: Self.authority, count: 3, failedAt: World.now,
                retryAt: World.now + 900.5, isImposed: true)
            let former = FailedOrders(
                settings: try Self.digest(7), authority: Self.authority, count: 2, failedAt: World.now - 1,
                retryAt: World.now + 1, isImposed: false)
            // Other settings have records of their own, which stay as long as they hold.
            let waiting = FailedOrders(
                settings: try Self.digest(8), authority: "https://other.example/", count: 1, failedAt: World.now + 1,
                retryAt: World.now + 60, isImposed: true)
            let over = FailedOrders(
                settings: try Self.digest(9), authority: Self.authority, count: 1, failedAt: World.now - 60,
                retryAt: World.now, isImposed: false)
            #expect(try await store.failedOrders() == [])
            for record in [former, waiting, over, failed] { try await store.noteFailedOrders(record) }
            #expect(try await other.failedOrders() == [over, failed, waiting])

            #expect(try await store.storeCertificate(Self.certificate("a"), orderedWith: Self.digest(7), by: first))
            #expect(try await other.issuedCertificate() == Self.certificate("a"))
            #expect(try await other.failedOrders() == [waiting])

            // The lease ends, and another server renews.
            #expect(try await other.takeOrderLease(second, until: World.now + 61, at: World.now + 31))
            try await store.returnOrderLease(first)
            #expect(try await !store.storeCertificate(Self.certificate("c"), orderedWith: Self.digest(7), by: first))
            #expect(try await other.storeCertificate(Self.certificate("b"), orderedWith: Self.digest(7), by: second))
            #expect(try await store.issuedCertificate() == Self.certificate("b"))
            try await other.returnOrderLease(second)
            #expect(try await store.takeOrderLease(first, until: World.now + 62, at: World.now + 32))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a renewal is requested until there is a new certificate`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let holder = LeaseHolder()
            try await store.requestRenewal()
            #expect(try await store.issuedCertificate() == nil)
            #expect(try await store.takeOrderLease(holder, until: World.now + 30, at: World.now))
            #expect(try await store.storeCertificate(Self.certificate("a"), orderedWith: Self.digest(7), by: holder))
            try await store.noteFailedOrders(
                FailedOrders(
                    settings: try Self.digest(8), authority: Self.authority, count: 1, failedAt: World.now,
                    retryAt: World.now + 60, isImposed: false))
            try await store.requestRenewal()
            #expect(try await store.issuedCertificate()?.isRenewalRequested == true)
            #expect(try await store.failedOrders() == [])
            try await store.replaceCertificateKey([0], with: [1])
            #expect(try await store.issuedCertificate()?.sealedKey == Self.certificate("a").sealedKey)
            try await store.replaceCertificateKey(Self.certificate("a").sealedKey, with: [1])
            #expect(try await store.issuedCertificate()?.sealedKey == [1])
            #expect(try await store.issuedCertificate()?.isRenewalRequested == true)
            #expect(try await store.storeCertificate(Self.certificate("b"), orderedWith: Self.digest(7), by: holder))
            #expect(try await store.issuedCertificate() == Self.certificate("b"))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `every server reads the challenges until they expire, and only the one with the lease replaces them`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withBoth { store, other async throws in
            func challenge(_ host: String, until end: Date) -> PendingChallenge {
                PendingChallenge(
                    type: "tls-alpn-01", host: host, token: "t-\(host)", keyAuthorization: "t-\(host).k",
                    expiresAt: end)
            }
            let first = challenge("a.example", until: World.now + 60)
            let second = challenge("b.example", until: World.now + 120)
            let (holder, next) = (LeaseHolder(), LeaseHolder())
            #expect(try await !store.replaceChallenges([first], by: holder))
            #expect(try await store.takeOrderLease(holder, until: World.now + 30, at: World.now))
            #expect(try await store.replaceChallenges([second, first], by: holder))
            #expect(try await other.pendingChallenges(at: World.now) == [first, second])
            #expect(try await other.pendingChallenges(at: World.now + 60) == [second])
            #expect(try await other.replaceChallenges([first], by: holder))
            #expect(try await store.pendingChallenges(at: World.now) == [first])
            // Another server takes the lease, and the first one cannot delete its challenges.
            #expect(try await other.takeOrderLease(next, until: World.now + 61, at: World.now + 31))
            #expect(try await other.replaceChallenges([first, second], by: next))
            #expect(try await !store.replaceChallenges([], by: holder))
            #expect(try await other.pendingChallenges(at: World.now) == [first, second])
            #expect(try await other.replaceChallenges([], by: next))
            #expect(try await store.pendingChallenges(at: World.now) == [])
        }
    }
}
