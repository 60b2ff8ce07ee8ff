import CounterfoilServer
import CounterfoilStore
import Foundation

/// The reader of a log to which events are appended, by any number of servers, while it reads.
///
/// An event can be appended at an earlier position than one that was read, for ``AuditPosition/settlingTime`` at most.
/// The reader therefore reads the last seconds again with each look, and that whole time once a minute, and returns
/// each event once.
struct AuditFollower {
    /// The time that each look reads again: more than the deadline of a request.
    private static let overlap: TimeInterval = 15
    /// The time between two looks that read the whole settling time again.
    private static let fullInterval: TimeInterval = 60
    /// The number of events that one query reads.
    private static let page = 1000

    private let store: any AuditStore
    /// The position after which the next complete look begins; all events up to it were read.
    private var settled: AuditPosition
    private var lastFullLook: Date?
    /// The events after ``settled`` that were returned.
    private var returned: Set<AuditPosition> = []

    /// Creates a reader that returns the events which are appended from now on.
    init(newEventsOf store: any AuditStore, at now: Date) async throws(StoreFault) {
        self.store = store
        settled = .lastSettled(at: now)
        while true {
            let entries = try await store.auditLog(after: returned.max() ?? settled, limit: Self.page)
            returned.formUnion(entries.map(\.position))
            if entries.count < Self.page { break }
        }
        lastFullLook = now
    }

    /// Creates a reader that continues after an event that an earlier reader has returned last.
    ///
    /// It begins ``AuditPosition/settlingTime`` earlier, because events may have been appended there afterwards.
    init(of store: any AuditStore, after position: AuditPosition) {
        self.store = store
        settled = .lastSettled(at: position.time)
    }

    /// Calls a function with the events that were not returned before, oldest first, in pages.
    mutating func look(at now: Date, _ body: ([AuditEntry]) async throws -> Void) async throws {
        let isFull = lastFullLook.map { abs(now.timeIntervalSince($0)) >= Self.fullInterval } ?? true
        let recent = AuditPosition(at: now.addingTimeInterval(-Self.overlap), number: 0)
        var position = isFull ? settled : max(settled, recent)
        while true {
            let entries = try await store.auditLog(after: position, limit: Self.page)
            let new = entries.filter { !returned.contains($0.position) }
            if !new.isEmpty {
                try await body(new)
                returned.formUnion(new.map(\.position))
            }
            guard let last = entries.last, entries.count == Self.page else { break }
            position = last.position
        }
        guard isFull else { return }
        lastFullLook = now
        // Up to there, no event is appended any more. If the clock was set back, nothing is read twice.
        let end = max(AuditPosition.lastSettled(at: now), settled)
        settled = end
        returned = returned.filter { $0 > end }
    }
}
