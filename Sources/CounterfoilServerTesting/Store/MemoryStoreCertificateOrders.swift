// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

/// The records of a certificate and its orders.
struct CertificateOrderRecords {
    var accountKeys: [String: [UInt8]] = [:]
    var certificate: IssuedCertificate?
    var challenges: [(record: PendingChallenge, holder: LeaseHolder)] = []
    var failed: [ArtefactDigest: FailedOrders] = [:]
    var lease: (holder: LeaseHolder, end: Date)?
}

extension MemoryStore: CertificateOrderStore {
    public func accountKey(of authority: String, orStoring sealed: [UInt8]) async throws(StoreFault) -> [UInt8] {
        state.withLock { state in
            let stored = state.certificateOrders.accountKeys[authority] ?? sealed
            state.certificateOrders.accountKeys[authority] = stored
            return stored
        }
    }

    public func replaceAccountKey(
        of authority: String, _ former: [UInt8], with sealed: [UInt8]
    ) async throws(StoreFault) {
        state.withLock { state in
            guard state.certificateOrders.accountKeys[authority] == former else { return }
            state.certificateOrders.accountKeys[authority] = sealed
        }
    }

    public func issuedCertificate() async throws(StoreFault) -> IssuedCertificate? {
        state.withLock { $0.certificateOrders.certificate }
    }

    public func storeCertificate(
        _ certificate: IssuedCertificate, orderedWith settings: ArtefactDigest, by holder: LeaseHolder
    ) async throws(StoreFault) -> Bool {
        state.withLock { state in
            guard state.certificateOrders.lease?.holder == holder else { return false }
            state.certificateOrders.certificate = certificate
            state.certificateOrders.failed = state.certificateOrders.failed.filter {
                $0.key != settings && $0.value.retryAt > certificate.storedAt
            }
            return true
        }
    }

    public func replaceCertificateKey(_ former: [UInt8], with sealed: [UInt8]) async throws(StoreFault) {
        state.withLock { state in
            guard let stored = state.certificateOrders.certificate, stored.sealedKey == former else { return }
            state.certificateOrders.certificate = IssuedCertificate(
                chain: stored.chain, sealedKey: sealed, authority: stored.authority, storedAt: stored.storedAt,
                isRenewalRequested: stored.isRenewalRequested)
        }
    }

    public func requestRenewal() async throws(StoreFault) {
        state.withLock { state in
            state.certificateOrders.failed = [:]
            guard let stored = state.certificateOrders.certificate else { return }
            state.certificateOrders.certificate = IssuedCertificate(
                chain: stored.chain, sealedKey: stored.sealedKey, authority: stored.authority,
                storedAt: stored.storedAt, isRenewalRequested: true)
        }
    }

    public func pendingChallenges(at now: Date) async throws(StoreFault) -> [PendingChallenge] {
        state.withLock { state in
            state.certificateOrders.challenges.map(\.record).filter { $0.expiresAt > now }
                .sorted { ($0.type, $0.host, $0.token) < ($1.type, $1.host, $1.token) }
        }
    }

    public func replaceChallenges(
        _ challenges: [PendingChallenge], by holder: LeaseHolder
    ) async throws(StoreFault) -> Bool {
        state.withLock { state in
            guard state.certificateOrders.lease?.holder == holder else {
                state.certificateOrders.challenges.removeAll { $0.holder == holder }
                return false
            }
            state.certificateOrders.challenges = challenges.map { ($0, holder) }
            return true
        }
    }

    public func failedOrders() async throws(StoreFault) -> [FailedOrders] {
        state.withLock { state in
            state.certificateOrders.failed.values.sorted {
                $0.failedAt == $1.failedAt
                    ? $0.settings.bytes.lexicographicallyPrecedes($1.settings.bytes) : $0.failedAt < $1.failedAt
            }
        }
    }

    public func noteFailedOrders(_ failed: FailedOrders) async throws(StoreFault) {
        state.withLock { $0.certificateOrders.failed[failed.settings] = failed }
    }

    public func takeOrderLease(
        _ holder: LeaseHolder, until end: Date, at now: Date
    ) async throws(StoreFault) -> Bool {
        state.withLock { state in
            let latest = end + end.timeIntervalSince(now)
            if let lease = state.certificateOrders.lease, lease.holder != holder, lease.end > now, lease.end <= latest {
                return false
            }
            state.certificateOrders.lease = (holder, end)
            return true
        }
    }

    public func returnOrderLease(_ holder: LeaseHolder) async throws(StoreFault) {
        state.withLock { state in
            if state.certificateOrders.lease?.holder == holder { state.certificateOrders.lease = nil }
        }
    }
}
