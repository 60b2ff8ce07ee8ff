@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation
import Logging

/// The service that seals the events of the audit log, on the server that has the lease of the maintenance.
///
/// If two servers do it at the same time, each event still gets one seal.
final class AuditSealer: Sendable {
    /// The time between two looks for new events.
    static let interval = Duration.seconds(5)
    /// The maximum number of events that one commit seals.
    static let batch = 200
    /// The maximum number of commits of one look, so that the rest of the maintenance does not wait for long.
    private static let stepLimit = 100
    /// The age, in seconds, of the oldest events for which most looks search; older ones are found by a full look.
    private static let overlap: TimeInterval = 60

    private struct State {
        /// The end of the chain that this server has seen last.
        var head: AuditHead?
        /// The position after which a full look continues that was not finished.
        var continuation: AuditPosition?
        /// The time at which the unfinished full look began.
        var began: Date?
        /// The day on which the end of the chain was last written to the log of the server.
        var notedDay: Int?
        /// Whether this server has the lease of the maintenance.
        var isActive = false
    }

    private let store: any AuditSealStore
    private let serverKey: ServerKey
    private let logger: Logger
    private let batch: Int
    private let stepLimit: Int
    private let state = Mutex(State())

    init(
        store: any AuditSealStore, serverKey: ServerKey, logger: Logger, batch: Int = AuditSealer.batch,
        stepLimit: Int = AuditSealer.stepLimit
    ) {
        self.store = store
        self.serverKey = serverKey
        self.logger = logger
        self.batch = batch
        self.stepLimit = stepLimit
    }

    /// Whether this server seals events.
    var isActive: Bool {
        get { state.withLock { $0.isActive } }
        set {
            state.withLock { state in
                state.isActive = newValue
                // Another server begins a look of its own.
                if !newValue { (state.continuation, state.began) = (nil, nil) }
            }
        }
    }

    /// Whether the last full look was not finished.
    var hasMore: Bool { state.withLock { $0.continuation != nil } }

    /// Seals the new events, if this server does.
    ///
    /// - Returns: The number of sealed events.
    @discardableResult
    func sealRecent(at now: Date) async throws(StoreFault) -> Int {
        guard isActive, let checkedAt = state.withLock({ $0.head?.checkedAt }) else { return 0 }
        let recent = AuditPosition(at: now.addingTimeInterval(-Self.overlap), number: 0)
        let (count, _) = try await seal(
            after: max(recent, .lastSettled(at: min(checkedAt, now))), checkedAt: nil, at: now)
        return count
    }

    /// Seals every event that has no seal.
    ///
    /// An event that is older than it can be, after a look that found no event, stays without a seal: it was inserted.
    ///
    /// - Returns: The number of sealed events.
    @discardableResult
    func sealAll(at now: Date) async throws(StoreFault) -> Int {
        let ends = try await store.auditChainEnds()
        // The stored time can be an earlier one that was put back.
        let checkedAt = [ends.head?.checkedAt, state.withLock { $0.head?.checkedAt }].compactMap(\.self).max()
        let beginning = checkedAt.map { AuditPosition.lastSettled(at: min($0, now)) }
        let (unfinished, began) = state.withLock { ($0.continuation, $0.began) }
        let start = began ?? now
        let (count, position) = try await seal(after: unfinished ?? beginning, checkedAt: start, at: now)
        state.withLock { state in
            state.continuation = position
            state.began = position.map { _ in start }
        }
        return count
    }

    /// Seals the events after a position.
    ///
    /// - Returns: The number of sealed events, and the position after which more may follow.
    private func seal(
        after position: AuditPosition?, checkedAt: Date?, at now: Date
    ) async throws(StoreFault) -> (count: Int, continuation: AuditPosition?) {
        var (count, position) = (0, position)
        for _ in 0..<stepLimit {
            let records = try await store.unsealedAudit(after: position, limit: batch)
            let isLast = records.count < batch
            let range = records.last.map {
                AuditSealRange(after: position, through: $0.position, limit: batch)
            }
            if range != nil || checkedAt != nil {
                let outcome = try await store.sealAudit(
                    range, continuing: state.withLock { $0.head }, checkedAt: isLast ? checkedAt : nil,
                    with: serverKey, at: now)
                note(outcome, at: now)
                count += outcome.count
            }
            if isLast { return (count, nil) }
            position = records.last?.position
            do { try await Task.sleep(for: MaintenanceService.batchPause) } catch { break }
        }
        return (count, position)
    }

    private func note(_ outcome: AuditSealOutcome, at now: Date) {
        if outcome.isBroken {
            logger.error(
                "the seals of the audit log are not as a server has left them; run: counterfoil-server audit verify",
                metadata: ["head": "\(outcome.head.map { "\(AuditHeadMark($0))" } ?? "none")"])
            // Until the next event is sealed, after a gap, this server still knows the end that it has seen.
            guard outcome.count > 0 else { return }
        }
        let day = Int((now.timeIntervalSince1970 / 86_400).rounded(.down))
        let isNewDay = state.withLock { state in
            state.head = outcome.head
            guard let head = outcome.head, head.seal > 0, state.notedDay != day else { return false }
            state.notedDay = day
            return true
        }
        guard isNewDay, let head = outcome.head else { return }
        // With this line outside of the database, a cut of the end of the log is found.
        logger.notice("sealed the audit log", metadata: ["head": "\(AuditHeadMark(head))"])
    }
}
