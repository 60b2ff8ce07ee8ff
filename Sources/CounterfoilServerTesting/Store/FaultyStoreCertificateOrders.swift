// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilServer
public import Foundation

extension FaultyStore: CertificateOrderStore {
    public func accountKey(of authority: String, orStoring sealed: [UInt8]) async throws(StoreFault) -> [UInt8] {
        try await enter(.accountKey)
        return try await store.accountKey(of: authority, orStoring: sealed)
    }

    public func replaceAccountKey(
        of authority: String, _ former: [UInt8], with sealed: [UInt8]
    ) async throws(StoreFault) {
        try await enter(.accountKey)
        try await store.replaceAccountKey(of: authority, former, with: sealed)
    }

    public func issuedCertificate() async throws(StoreFault) -> IssuedCertificate? {
        try await enter(.issuedCertificate)
        return try await store.issuedCertificate()
    }

    public func storeCertificate(
        _ certificate: IssuedCertificate, orderedWith settings: ArtefactDigest, by holder: LeaseHolder
    ) async throws(StoreFault) -> Bool {
        try await enter(.storeCertificate)
        return try await store.storeCertificate(certificate, orderedWith: settings, by: holder)
    }

    public func replaceCertificateKey(_ former: [UInt8], with sealed: [UInt8]) async throws(StoreFault) {
        try await enter(.storeCertificate)
        try await store.replaceCertificateKey(former, with: sealed)
    }

    public func requestRenewal() async throws(StoreFault) {
        try await enter(.requestRenewal)
        try await store.requestRenewal()
    }

    public func pendingChallenges(at now: Date) async throws(StoreFault) -> [PendingChallenge] {
        try await enter(.pendingChallenges)
        return try await store.pendingChallenges(at: now)
    }

    public func replaceChallenges(
        _ challenges: [PendingChallenge], by holder: LeaseHolder
    ) async throws(StoreFault) -> Bool {
        try await enter(.replaceChallenges)
        return try await store.replaceChallenges(challenges, by: holder)
    }

    public func failedOrders() async throws(StoreFault) -> [FailedOrders] {
        try await enter(.failedOrders)
        return try await store.failedOrders()
    }

    public func noteFailedOrders(_ failed: FailedOrders) async throws(StoreFault) {
        try await enter(.failedOrders)
        try await store.noteFailedOrders(failed)
    }

    public func takeOrderLease(
        _ holder: LeaseHolder, until end: Date, at now: Date
    ) async throws(StoreFault) -> Bool {
        try await enter(.orderLease)
        return try await store.takeOrderLease(holder, until: end, at: now)
    }

    public func returnOrderLease(_ holder: LeaseHolder) async throws(StoreFault) {
        try await enter(.orderLease)
        try await store.returnOrderLease(holder)
    }
}
