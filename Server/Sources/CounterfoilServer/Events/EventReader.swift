package import CounterfoilStore
package import Foundation

/// The reader of the events of the audit log for programs, in the order of their seals.
///
/// The order of the audit log by time gets new events before those that were read. The seals do not: a server makes
/// them after the commits, each with the next number. So the number of a seal is a position from which a reader
/// continues without a gap. An event that begins after the commit of another one is sealed after it.
package struct EventReader: Sendable {
    /// The maximum number of seals that one query reads.
    package static let page = 500
    /// The time between two looks of a reader that waits.
    private static let pause = Duration.seconds(1)

    /// The events of one look, and the position after it.
    package struct Page: Sendable {
        package var events: [EventDocument]
        /// The cursor of the next look, also beyond events of other types.
        package var cursor: Int
        /// The last position of the log that was deleted before it was read; nil if nothing is missing.
        package var missedThrough: Int?
        /// Whether more may follow at once.
        package var hasMore: Bool

        /// The events as JSON, one on each line (NDJSON).
        package var lines: [UInt8] {
            get throws { try events.flatMap { try $0.json() + [UInt8(ascii: "\n")] } }
        }
    }

    private let store: any AuditSealStore & WebhookStore
    private let serverKey: ServerKey

    package init(_ store: any AuditSealStore & WebhookStore, serverKey: ServerKey) {
        self.store = store
        self.serverKey = serverKey
    }

    /// The position after the newest event.
    package func end() async throws(StoreFault) -> Int {
        let ends = try await store.auditChainEnds()
        return ends.head?.seal ?? ends.start?.seal ?? 0
    }

    /// The position before the first event at a time or later, or after the newest event.
    package func cursor(since time: Date) async throws(StoreFault) -> Int {
        if let seal = try await store.seal(before: time) { return seal }
        return try await end()
    }

    /// Reads events after a position.
    ///
    /// - Parameters:
    ///   - cursor: The position; 0 begins with the oldest event.
    ///   - types: The names of the types to read; empty for all.
    ///   - omitted: The types that are left out.
    ///   - limit: The maximum number of events.
    package func read(
        after cursor: Int, types: Set<String> = [], omitting omitted: Set<EventType> = [],
        limit: Int = EventReader.page
    ) async throws(StoreFault) -> Page {
        // The beginning is read first: what is deleted afterwards is missing among the seals.
        let start = try await store.auditChainEnds().start?.seal ?? 0
        let missed = start > cursor ? start : nil
        var page = Page(events: [], cursor: max(cursor, start), missedThrough: missed, hasMore: false)
        let sealed = try await store.sealedAudit(after: page.cursor, limit: Self.page)
        let users = try await subjects(of: sealed)
        for pair in sealed {
            if let record = pair.record {
                let document = EventDocument(
                    pair.seal, record, user: record.userID.map { users[$0] ?? $0 })
                if types.isEmpty || types.contains(document.type.rawValue), !omitted.contains(document.type) {
                    guard page.events.count < limit else {
                        page.hasMore = true
                        return page
                    }
                    page.events.append(document)
                }
            } else {
                page.missedThrough = pair.seal.number
            }
            page.cursor = pair.seal.number
        }
        page.hasMore = sealed.count == Self.page
        return page
    }

    /// Reads events after a position, and waits until there is one, at most for a time.
    ///
    /// A look at events of other types only ends with more to come, once the time has passed.
    package func read(
        after cursor: Int, types: Set<String> = [], limit: Int, waiting time: Duration
    ) async throws -> Page {
        let end = ContinuousClock.now + time
        var missed: Int?
        var position = cursor
        while true {
            var page = try await read(after: position, types: types, limit: limit)
            missed = page.missedThrough ?? missed
            position = page.cursor
            page.missedThrough = missed
            guard page.events.isEmpty, ContinuousClock.now < end else { return page }
            if !page.hasMore { try await Task.sleep(until: min(.now + Self.pause, end), clock: .continuous) }
        }
    }

    /// Reads one event by the number of its seal; nil if it was deleted.
    package func event(_ seal: Int) async throws(StoreFault) -> EventDocument? {
        let sealed = try await store.sealedAudit(after: seal - 1, limit: 1)
        guard let pair = sealed.first, pair.seal.number == seal, let record = pair.record else { return nil }
        let users = try await subjects(of: sealed)
        return EventDocument(pair.seal, record, user: record.userID.map { users[$0] ?? $0 })
    }

    /// Returns the identifiers of deleted users by their pseudonyms, as far as the store still has them.
    private func subjects(of sealed: [SealedAuditRecord]) async throws(StoreFault) -> [String: String] {
        let pseudonyms = sealed.compactMap { $0.record?.userID }.compactMap { UserIdentifier($0) }
            .filter(\.isPseudonym)
        let found = try await store.removedSubjects(of: Set(pseudonyms))
        return Dictionary(
            found.compactMap { pseudonym, sealed in
                serverKey.open(subject: sealed).map { (pseudonym.rawValue, $0.rawValue) }
            }
        ) { first, _ in first }
    }
}

extension ServerComponents {
    /// The reader of the events of the audit log.
    package var events: EventReader { EventReader(store, serverKey: serverKey) }
}
