package import ACMEClient
import CounterfoilProtocol
import CounterfoilServer
package import CounterfoilStore
package import Foundation
package import NIOSSL

/// The end of an order because another server has the lease, for instance after this process was stopped a while.
struct LeaseLost: Error {}

/// The challenges that an authority is about to validate, at this server or at another one with the same store.
///
/// An authority that connects may reach another server than the one that has ordered. That one then reads the challenge
/// from the store.
package actor PendingChallenges: ChallengePublisher {
    /// The time in seconds for which a server uses what it has read.
    private static let readInterval = Duration.seconds(1)
    /// Another server may have read the challenges just before.
    package nonisolated let delay: TimeInterval = 1.5

    /// The mark of this server, which orders while it has the lease.
    nonisolated let holder = LeaseHolder()
    /// The store; nil while the server has not opened it yet.
    private var store: (any CertificateOrderStore & StoreClock)?
    private var own: [PendingChallenge] = []
    private var found: [PendingChallenge] = []
    private var foundAt: ContinuousClock.Instant?
    private var reading: Task<[PendingChallenge]?, Never>?
    /// The TLS contexts of challenges, by key authorization.
    private var contexts: [String: NIOSSLContext] = [:]

    package init(_ store: (any CertificateOrderStore & StoreClock)? = nil) { self.store = store }

    /// Reads the challenges of a store from now on.
    package func follow(_ store: any CertificateOrderStore & StoreClock) { self.store = store }

    /// Lets every server answer challenges, in place of all former ones.
    ///
    /// - Throws: ``OrderFailure/store(_:)``, or ``LeaseLost`` if this server does not have the lease of the order.
    package func publish(_ published: [PublishedChallenge], lasting: TimeInterval) async throws {
        guard let store else { throw OrderFailure.store(.unavailable("it is not open yet")) }
        let end = store.now() + lasting
        let challenges = published.map { challenge in
            PendingChallenge(
                type: challenge.type, host: challenge.host, token: challenge.token,
                keyAuthorization: challenge.keyAuthorization, expiresAt: end)
        }
        own = challenges
        contexts = [:]
        let isOurs: Bool
        do throws(StoreFault) { isOurs = try await store.replaceChallenges(challenges, by: holder) } catch {
            throw OrderFailure.store(error)
        }
        guard isOurs else { throw LeaseLost() }
    }

    /// Ends the answers to the challenges of this server; those of a server that has taken the lease since stay.
    package func withdraw() async {
        own = []
        found = []
        contexts = [:]
        _ = try? await store?.replaceChallenges([], by: holder)
    }

    /// Returns the key authorization of a challenge by http (RFC 8555 §8.3); nil if there is none with this token.
    package func answer(toToken token: String) async -> String? {
        await first { $0.type == ACMESettings.Challenge.http.rawValue && $0.token == token }?.keyAuthorization
    }

    /// Returns the TLS context that answers the challenge of a host (RFC 8737 §3); nil if there is none.
    package func context(for host: String) async -> NIOSSLContext? {
        let challenge = await first { $0.type == ACMESettings.Challenge.tls.rawValue && $0.host == host }
        guard let challenge else { return nil }
        if let context = contexts[challenge.keyAuthorization] { return context }
        let context = try? ChallengeCertificate.context(
            for: host, keyAuthorization: challenge.keyAuthorization, at: Date())
        if contexts.count >= 16 { contexts = [:] }
        contexts[challenge.keyAuthorization] = context
        return context
    }

    private func first(where matches: (PendingChallenge) -> Bool) async -> PendingChallenge? {
        if let challenge = own.first(where: matches) { return challenge }
        return await read().first(where: matches)
    }

    /// Reads the challenges, at most once a second, however many clients connect.
    ///
    /// Connections that arrive meanwhile wait for the same result. After a fault of the store, there are none.
    private func read() async -> [PendingChallenge] {
        guard let store else { return [] }
        let now = store.now()
        if let foundAt, foundAt.duration(to: .now) < Self.readInterval { return found.filter { $0.expiresAt > now } }
        if let reading { return await reading.value ?? [] }
        let start = ContinuousClock.now
        let task = Task { try? await store.pendingChallenges(at: now) }
        reading = task
        let result = await task.value ?? []
        reading = nil
        found = result
        foundAt = start
        return result
    }
}
