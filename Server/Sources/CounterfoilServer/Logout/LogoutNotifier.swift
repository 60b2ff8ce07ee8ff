@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import Logging

/// The service that notifies clients of ended sessions (OpenID Connect Back-Channel Logout §2.5).
///
/// It sends a logout token until the client accepts it. It gives up after `LogoutDelivery.attemptLimit` attempts,
/// or if the host does not answer and the notification is older than a day.
///
/// If several processes share one store, each notification is sent by only one of them at a time.
///
/// At any time, at most one notification to a client and at most `LogoutDelivery.ownerLimit` notifications to the
/// clients of one owner are in flight. A slow host therefore does not delay notifications to other hosts.
/// All unregistered clients count as those of one owner.
public struct LogoutNotifier: Sendable {
    /// The maximum number of notifications in flight.
    private static let width = 32
    /// The number of seconds for which only the process that has taken a notification from the store may deliver it.
    ///
    /// A delivery attempt takes less time. If the process stops during the attempt, the notification can be taken
    /// again after this time.
    private static let lease: TimeInterval = 60
    /// The interval between two checks for due notifications.
    private static let rest = Duration.seconds(2)
    /// The lifetime of a logout token, in seconds (OpenID Connect Back-Channel Logout §2.4).
    private static let tokenLifetime: TimeInterval = 120

    let settings: ServerSettings
    let store: any LogoutDeliveryStore
    let directory: ClientDirectory
    let keys: KeyRing
    let subjects: SubjectIdentifiers
    let sender: any LogoutNoticeSender
    let random: RandomBytes
    let metrics: ServerMetrics
    let logger: Logger
    let clock: @Sendable () -> Date
    let wallClock: @Sendable () -> Date

    /// Delivers notifications until its task is cancelled.
    public func run() async {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let inFlight = InFlight()
        await withDiscardingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    wake.yield()
                    try? await Task.sleep(for: Self.rest)
                }
                wake.finish()
            }
            for await _ in wakes {
                for delivery in await take(atMost: Self.width - inFlight.count.withLock { $0 }) {
                    inFlight.count.withLock { $0 += 1 }
                    group.addTask {
                        await deliver(delivery)
                        inFlight.count.withLock { $0 -= 1 }
                        wake.yield()
                    }
                }
            }
        }
    }

    /// Delivers the due notifications, at most one for each client; returns the number of attempts.
    @discardableResult
    package func deliverDue() async throws -> Int {
        let due = await take(atMost: Self.width)
        await withDiscardingTaskGroup { group in
            for delivery in due { group.addTask { await deliver(delivery) } }
        }
        return due.count
    }

    private func take(atMost limit: Int) async -> [LogoutDelivery] {
        guard limit > 0 else { return [] }
        let now = clock()
        do {
            return try await store.takeLogoutDeliveries(
                dueAt: now, until: now.addingTimeInterval(Self.lease), limit: limit)
        } catch {
            logger.error("failed to read pending back-channel logouts", metadata: ["error": "\(error)"])
            return []
        }
    }

    private func deliver(_ delivery: LogoutDelivery) async {
        do {
            guard let recipient = try await directory.logoutRecipient(delivery.clientID) else {
                try await store.settleLogoutDelivery(delivery, .done)
                return
            }
            guard let user = subjects.user(of: delivery.subject) else {
                // The server key was replaced after the user was deleted, so no attempt can succeed.
                metrics.add(try await store.settleLogoutDelivery(delivery, .refused(retryAt: nil)), to: .logoutGivenUp)
                logger.error(
                    "failed to decrypt the user of a back-channel logout, giving up",
                    metadata: ["client_id": "\(delivery.clientID)"])
                return
            }
            try await keys.follow(logger: logger)
            try await keys.prepare(recipient.client.policy.idTokenAlgorithm)
            let outcome = await sender.send(try notice(of: delivery, about: user, to: recipient))
            // A process that stops cancels its requests. A cancelled request does not count as a failure of the host.
            let isCut = Task.isCancelled && !outcome.isDelivered
            let settlement = LogoutRetries.settlement(
                of: delivery, after: isCut ? .notTried : outcome, now: clock())
            let givenUp = try await store.settleLogoutDelivery(delivery, settlement)
            note(outcome, settlement, of: delivery, givenUp: givenUp)
        } catch {
            logger.error(
                "failed to process a back-channel logout delivery",
                metadata: ["client_id": "\(delivery.clientID)", "error": "\(error)"])
        }
    }

    private func note(
        _ outcome: LogoutNoticeOutcome, _ settlement: LogoutDeliverySettlement, of delivery: LogoutDelivery,
        givenUp: Int
    ) {
        metrics.add(givenUp, to: .logoutGivenUp)
        let retryAt: Date?
        switch settlement {
        case .done: return metrics.count(.logoutDelivered)
        case .untried: return
        case .refused(let time), .hostFailed(let time, _, _): retryAt = time
        }
        metrics.count(.logoutFailed)
        logger.notice(
            "back-channel logout failed, \(retryAt == nil ? "giving up" : "will retry")",
            metadata: [
                "client_id": "\(delivery.clientID)", "attempt": "\(delivery.attempts + 1)", "outcome": "\(outcome)",
                "discarded": "\(givenUp)",
            ])
    }

    private final class InFlight: Sendable {
        let count = Mutex(0)
    }

    private func notice(
        of delivery: LogoutDelivery, about user: UserIdentifier, to recipient: LogoutRecipient
    ) throws -> LogoutNotice {
        let client = recipient.client
        let algorithm = client.policy.idTokenAlgorithm
        guard let key = keys.key(for: algorithm) else { throw TokenIssuer.KeyMissing(algorithm: algorithm) }
        let now = wallClock()
        let token = try key.sign(
            LogoutTokenClaims(
                issuer: settings.issuer,
                subject: subjects.subject(for: user, client: client),
                clientID: client.id,
                issuedAt: now,
                expires: now.addingTimeInterval(Self.tokenLifetime),
                tokenID: Base64URL.encode(random.bytes(16)),
                sessionID: try subjects.sessionID(for: delivery.sessionID, client: client)))
        return LogoutNotice(
            to: recipient.address, token: token, party: LogoutParty(of: client).description,
            mayReachPrivateNetworks: recipient.mayReachPrivateNetworks)
    }
}
