// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore: AuditSealStore {
    /// The seals of the audit log.
    struct AuditSeals {
        /// The seals in the order of their numbers.
        var seals: [AuditSeal] = []
        var ends = AuditChainEnds(start: nil, head: nil)
    }

    public func auditChainEnds() async throws(StoreFault) -> AuditChainEnds { state.withLock { $0.auditSeals.ends } }

    public func unsealedAudit(
        after position: AuditPosition?, limit: Int
    ) async throws(StoreFault) -> [AuditRecord] {
        state.withLock { $0.unsealedAudit(after: position, through: nil, limit: limit) }
    }

    public func sealedAudit(after seal: Int, limit: Int) async throws(StoreFault) -> [SealedAuditRecord] {
        state.withLock { $0.sealedAudit(after: seal, limit: limit) }
    }

    public func sealAudit(
        _ range: AuditSealRange?, continuing known: AuditHead?, checkedAt: Date?, with serverKey: ServerKey,
        at time: Date
    ) async throws(StoreFault) -> AuditSealOutcome {
        let keys = AuditSealKeys(serverKey)
        let outcome: AuditSealOutcome? = state.withLock { state in
            let ends = state.auditSeals.ends
            guard
                let end = AuditChainEnd(ends, last: state.auditSeals.seals.last?.number, known: known, keys: keys)
            else { return nil }
            let records =
                range.map { state.unsealedAudit(after: $0.after, through: $0.through, limit: $0.limit) } ?? []
            let new = ends.sealing(records, after: end, checkedAt: checkedAt, with: keys, at: time)
            state.auditSeals.seals += new.seals
            state.auditSeals.ends = AuditChainEnds(start: new.start ?? ends.start, head: new.head ?? ends.head)
            return AuditSealOutcome(head: new.head ?? ends.head, count: new.seals.count, isBroken: end.isBroken)
        }
        guard let outcome else { throw .damaged("a seal of the audit log has an invalid number") }
        return outcome
    }
}

extension MemoryStore.State {
    fileprivate func sealedAudit(after seal: Int, limit: Int) -> [SealedAuditRecord] {
        let records = Dictionary(uniqueKeysWithValues: audit.map { ($0.number, AuditRecord($0)) })
        return auditSeals.seals.filter { $0.number > seal }.prefix(limit).map {
            SealedAuditRecord(seal: $0, record: records[$0.position.number])
        }
    }

    fileprivate func unsealedAudit(
        after position: AuditPosition?, through last: AuditPosition?, limit: Int
    ) -> [AuditRecord] {
        let sealed = Set(auditSeals.seals.map(\.position.number))
        let records = audit.filter { entry in
            !sealed.contains(entry.number) && (position.map { entry.position > $0 } ?? true)
                && (last.map { entry.position <= $0 } ?? true)
        }
        return records.sorted { $0.position < $1.position }.prefix(limit).map { AuditRecord($0) }
    }

    /// Deletes the salts of what the deletion of a user has removed from an event.
    mutating func forgetSalts(of entry: AuditEntry) {
        guard let index = auditSeals.seals.firstIndex(where: { $0.position.number == entry.number }) else { return }
        auditSeals.seals[index].person.salt = nil
        if entry.event.detail == nil { auditSeals.seals[index].detail.salt = nil }
    }

    /// Notes that events are deleted after this, and deletes the seals at the beginning that belong to such only.
    mutating func removeSeals(through position: AuditPosition, with keys: AuditSealKeys) {
        let ends = auditSeals.ends
        guard ends.head != nil || ends.start != nil else { return }
        let last = auditSeals.seals.prefix { $0.position <= position }.last
        let start = ends.removing(through: position, last: last, with: keys) { seal in
            sealedAudit(after: seal, limit: AuditVerification.page)
        }
        auditSeals.seals.removeAll { $0.number <= start.seal }
        auditSeals.ends = AuditChainEnds(start: start, head: ends.head)
    }
}
