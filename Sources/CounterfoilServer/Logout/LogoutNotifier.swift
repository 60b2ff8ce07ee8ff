import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import Logging

/// Tells applications that sessions have ended, again and again until each has heard it or does not answer at all.
///
/// OpenID Connect Back-Channel Logout §2.5. However many processes do so on one store, each notice is taken by one of them.
public struct LogoutNotifier: Sendable {
    /// How many notices are on their way at once.
    private static let batch = 16
    /// How long nobody else takes what one process has taken: longer than sending can last.
    private static let lease: TimeInterval = 60
    /// How long it waits when there is nothing to do.
    private static let rest = Duration.seconds(2)
    /// How long a logout token is worth something, in seconds (OpenID Connect Back-Channel Logout §2.4).
    private static let tokenLifetime: TimeInterval = 120
    /// How long it waits after the first try in vain, the second and so on, in seconds.
    private static let delays: [TimeInterval] = [10, 60, 300, 1800, 7200]

    let settings: ServerSettings
    let store: any ClientStore & LogoutDeliveryStore
    let keys: any SigningKeys
    let subjects: SubjectNames
    let sender: any LogoutNoticeSender
    let random: RandomBytes
    let logger: Logger
    let clock: @Sendable () -> Date
    let wallClock: @Sendable () -> Date

    /// Delivers until its task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            do {
                while try await deliverDue() == Self.batch {}
            } catch {
                logger.error("sign-outs could not be told to applications: \(error)")
            }
            do { try await Task.sleep(for: Self.rest) } catch { return }
        }
    }

    /// Sends what is due now, at most so many at once; how many were tried.
    @discardableResult
    package func deliverDue() async throws -> Int {
        let now = clock()
        let due = try await store.takeLogoutDeliveries(
            dueAt: now, until: now.addingTimeInterval(Self.lease), limit: Self.batch)
        try await withThrowingTaskGroup { group in
            for delivery in due { group.addTask { try await deliver(delivery) } }
            try await group.waitForAll()
        }
        return due.count
    }

    private func deliver(_ delivery: LogoutDelivery) async throws {
        guard let client = try await store.client(delivery.clientID), let notice = try notice(of: delivery, to: client)
        else {
            // The application is gone or does not want to be told any more.
            return try await store.removeLogoutDelivery(delivery.number)
        }
        let outcome = await sender.send(notice)
        guard !outcome.isDelivered else { return try await store.removeLogoutDelivery(delivery.number) }
        // What others keep this process busy with is no fault of this application: it is due again when the lease ends.
        guard outcome != .notTried else { return }
        let attempts = delivery.attempts + 1
        let isLast = attempts >= LogoutDelivery.attemptLimit
        logger.notice(
            "an application could not be told of a sign-out\(isLast ? ", which is given up" : "")",
            metadata: ["client_id": "\(client.id)", "attempt": "\(attempts)", "outcome": "\(outcome)"])
        guard !isLast else { return try await store.removeLogoutDelivery(delivery.number) }
        let delay = Self.delays[min(delivery.attempts, Self.delays.count - 1)]
        try await store.postponeLogoutDelivery(delivery.number, until: clock().addingTimeInterval(delay))
    }

    private func notice(of delivery: LogoutDelivery, to client: RegisteredClient) throws -> LogoutNotice? {
        guard let address = client.backchannelLogoutURI else { return nil }
        let algorithm = client.policy.idTokenAlgorithm
        guard let key = keys.key(for: algorithm) else { throw TokenIssuer.KeyMissing(algorithm: algorithm) }
        let now = wallClock()
        let token = try key.sign(
            LogoutTokenClaims(
                issuer: settings.issuer,
                subject: subjects.name(of: delivery.personID, to: client),
                clientID: client.id,
                issuedAt: now,
                expires: now.addingTimeInterval(Self.tokenLifetime),
                tokenID: Base64URL.encode(random.bytes(16)),
                sessionID: try subjects.name(of: delivery.sessionID, to: client)))
        return LogoutNotice(to: address, token: token)
    }
}
