public import CounterfoilStore
package import Foundation
import Logging

/// The figures that the metrics read.
extension AuthorizationServer {
    /// Reads the statistics of the refresh tokens of all clients; nil if the store is unavailable.
    public func refreshStatistics() async -> RefreshStatistics? {
        do {
            return try await components.store.refreshStatistics()
        } catch {
            metrics.count(.storeError)
            components.logger.error("failed to read the refresh token statistics", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Reads the number of pending back-channel logout notifications, and the age of the oldest one in seconds.
    ///
    /// Returns nil if the store is unavailable. The age is 0 if no notification is pending.
    public func logoutBacklog() async -> (count: Int, age: Double)? {
        do {
            let backlog = try await components.store.logoutBacklog()
            return (backlog.count, backlog.oldest.map { max(0, components.clock().timeIntervalSince($0)) } ?? 0)
        } catch {
            metrics.count(.storeError)
            components.logger.error("failed to count pending back-channel logouts", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Reads the number of queued mails, and the age of the oldest one in seconds.
    ///
    /// Returns nil if no mail is set up, or if the store is unavailable. The age is 0 if no mail is queued.
    public func mailBacklog() async -> (count: Int, age: Double)? {
        guard components.sendsMail else { return nil }
        do {
            let backlog = try await components.store.mailBacklog()
            return (backlog.count, backlog.oldest.map { max(0, components.clock().timeIntervalSince($0)) } ?? 0)
        } catch {
            metrics.count(.storeError)
            components.logger.error("failed to count queued mails", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Reads the number of webhooks in each state, and the age in seconds of the oldest event that an active one lacks.
    ///
    /// Returns nil if the store is unavailable. The age is 0 if no event waits.
    package func webhookProgress() async -> (states: [Webhook.State: Int], age: Double)? {
        do {
            let progress = try await components.store.webhookProgress()
            return (progress.states, progress.oldest.map { max(0, components.clock().timeIntervalSince($0)) } ?? 0)
        } catch {
            metrics.count(.storeError)
            components.logger.error("failed to read the progress of webhooks", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Reads the time, in seconds, since which events of the audit log may have no seal.
    ///
    /// Returns nil if the store is unavailable.
    package func auditSealAge() async -> Double? {
        do {
            let since = try await components.store.unsealedSince()
            return since.map { max(0, components.clock().timeIntervalSince($0)) } ?? 0
        } catch {
            metrics.count(.storeError)
            components.logger.error("failed to read the seals of the audit log", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// The number of password hashes in progress, and of those that wait.
    package var passwordHashes: BoundedQueue.Load { components.hasher.load }

    /// The times since which the current signing keys sign, by algorithm, and the lifetime of a key in seconds.
    package var signingKeys: (since: [(algorithm: String, time: Date)], lifetime: Int) {
        (components.keys.signingSince, settings.keyLifetime * 86_400)
    }
}
