import CounterfoilProtocol
public import CounterfoilStore
public import Foundation

extension SQLStore {
    /// Reads the ends of the chain of sealed events.
    public func auditChainEnds() async throws(StoreFault) -> AuditChainEnds {
        try await read { database in try database.auditChainEnds() }
    }

    /// Reads at most `limit` events without a seal after a position, oldest first; nil begins with the oldest event.
    public func unsealedAudit(
        after position: AuditPosition?, limit: Int
    ) async throws(StoreFault) -> [AuditRecord] {
        try await read { database in
            try database.unsealedAudit(AuditSealRange(after: position, through: .last, limit: limit))
        }
    }

    /// Reads at most `limit` seals after a number with their events; the smallest number begins with any row.
    public func sealedAudit(after seal: Int, limit: Int) async throws(StoreFault) -> [SealedAuditRecord] {
        try await read { database in try database.sealedAudit(after: seal, limit: limit) }
    }

    /// Seals the events of a range that have no seal, in one transaction.
    ///
    /// Two servers that do it at the same time both change the end of the chain, so one of the two transactions runs
    /// again, and finds no event without a seal.
    public func sealAudit(
        _ range: AuditSealRange?, continuing known: AuditHead?, checkedAt: Date?, with serverKey: ServerKey,
        at time: Date
    ) async throws(StoreFault) -> AuditSealOutcome {
        let keys = AuditSealKeys(serverKey)
        return try await commit { database in
            let ends = try database.auditChainEnds()
            let numbers = try database.first(AuditSeal.ends) { columns in
                (first: try columns.optionalInteger().map(Int.init), last: try columns.optionalInteger().map(Int.init))
            }
            // A server leaves no row before the first seal.
            let isHiding = numbers?.first.map { $0 <= ends.start?.seal ?? 0 } ?? false
            guard let end = AuditChainEnd(ends, last: numbers?.last, known: known, keys: keys)
            else { throw StoreFault.damaged("a seal of the audit log has an invalid number") }
            let records = try range.map { try database.unsealedAudit($0) } ?? []
            let new = ends.sealing(records, after: end, checkedAt: checkedAt, with: keys, at: time)
            for seal in new.seals { try database.insert(seal) }
            if let head = new.head { try database.store(head) }
            if let start = new.start { try database.store(start) }
            return AuditSealOutcome(
                head: new.head ?? ends.head, count: new.seals.count, isBroken: end.isBroken || isHiding)
        }
    }
}

extension SQLConnection {
    /// Notes that events are deleted, and deletes the seals at the beginning that belong to deleted events only.
    ///
    /// - Parameter through: The position up to which events are deleted, after this.
    func removeSeals(through: AuditPosition, with keys: AuditSealKeys) throws {
        let ends = try auditChainEnds()
        // Without a seal, there is nothing that the deletion could break.
        guard ends.head != nil || ends.start != nil else { return }
        let kept = try first(AuditSeal.firstKept, through.microseconds, through.number) { columns in
            try columns.integer()
        }
        let last = try first(AuditSeal.lastBefore, kept ?? .max, read: AuditSeal.init(_:))
        let start = try ends.removing(through: through, last: last, with: keys) { seal in
            try sealedAudit(after: seal, limit: AuditVerification.page)
        }
        try send("DELETE FROM audit_seals WHERE number <= ?", start.seal)
        try store(start)
    }

    fileprivate func auditChainEnds() throws -> AuditChainEnds {
        let head = try first("SELECT seal, chain, sealed_at, checked_at, code FROM audit_head") { columns in
            AuditHead(
                seal: Int(try columns.integer()), chain: try columns.bytes(), sealedAt: try columns.date(),
                checkedAt: try columns.optionalDate(), code: try columns.bytes())
        }
        let start = try first("SELECT seal, chain, through_at, through_number, code FROM audit_start") { columns in
            AuditStart(
                seal: Int(try columns.integer()), chain: try columns.bytes(), through: try columns.position(),
                code: try columns.bytes())
        }
        return AuditChainEnds(start: start, head: head)
    }

    fileprivate func sealedAudit(after seal: Int, limit: Int) throws -> [SealedAuditRecord] {
        guard seal < .max else { return [] }
        return try all(AuditSeal.log, seal == .min ? seal : seal + 1, limit) { columns in
            let seal = try AuditSeal(&columns)
            let isMissing = try columns.flag()
            return SealedAuditRecord(seal: seal, record: isMissing ? nil : try AuditRecord(&columns))
        }
    }

    fileprivate func unsealedAudit(_ range: AuditSealRange) throws -> [AuditRecord] {
        let after = range.after ?? AuditPosition(microseconds: .min, number: 0)
        return try all(
            AuditRecord.unsealed, after.microseconds, after.number, range.through.microseconds, range.through.number,
            range.limit, read: AuditRecord.init(_:))
    }

    fileprivate func insert(_ seal: AuditSeal) throws {
        try send(
            """
            INSERT INTO audit_seals (\(AuditSeal.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            seal.number, seal.position.microseconds, seal.position.number, Data(seal.digest), Data(seal.user.digest),
            seal.user.salt.map { Data($0) }, Data(seal.detail.digest), seal.detail.salt.map { Data($0) },
            seal.pseudonym.map { Data($0) }, Data(seal.chain), Data(seal.code))
    }

    fileprivate func store(_ head: AuditHead) throws {
        try send(
            """
            INSERT INTO audit_head (id, seal, chain, sealed_at, checked_at, code) VALUES (1, ?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (id) DO UPDATE SET seal = ?1, chain = ?2, sealed_at = ?3, checked_at = ?4, code = ?5
            """,
            head.seal, Data(head.chain), head.sealedAt.microseconds, head.checkedAt?.microseconds, Data(head.code))
    }

    fileprivate func store(_ start: AuditStart) throws {
        try send(
            """
            INSERT INTO audit_start (id, seal, chain, through_at, through_number, code) VALUES (1, ?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (id) DO UPDATE SET seal = ?1, chain = ?2, through_at = ?3, through_number = ?4, code = ?5
            """,
            start.seal, Data(start.chain), start.through.microseconds, start.through.number, Data(start.code))
    }
}

extension AuditPosition {
    /// The last position that there can be.
    fileprivate static let last = AuditPosition(microseconds: .max, number: .max)
}

extension AuditRecord {
    fileprivate static let columns =
        "at, number, kind, outcome, person_id, client_id, grant_id, source, request_id, detail, action"
    /// The query for ?5 events without a seal after the position with the time ?1 and the number ?2, and up to the one
    /// with ?3 and ?4.
    static let unsealed = """
        SELECT \(columns) FROM audit
        WHERE (at, number) > (?1, ?2) AND (at, number) <= (?3, ?4)
            AND NOT EXISTS (SELECT 1 FROM audit_seals WHERE audit_seals.entry = audit.number)
        ORDER BY at, number LIMIT ?5
        """

    fileprivate init(_ columns: inout Columns) throws {
        self.init(
            position: try columns.position(), kind: try columns.text(), outcome: try columns.text(),
            userID: try columns.optionalText(), clientID: try columns.optionalText(),
            grantID: try columns.optionalText(), source: try columns.optionalText(),
            requestID: try columns.optionalText(), detail: try columns.optionalText(),
            action: try columns.optionalText())
    }
}

extension AuditSeal {
    fileprivate static let columns =
        "number, at, entry, digest, person, person_salt, detail, detail_salt, pseudonym, chain, code"
    /// The query for ?2 seals from the number ?1 with their events.
    static let log = """
        SELECT \(columns.split(separator: ", ").map { "audit_seals.\($0)" }.joined(separator: ", ")),
            audit.number IS NULL,
            \(AuditRecord.columns.split(separator: ", ").map { "audit.\($0)" }.joined(separator: ", "))
        FROM audit_seals LEFT JOIN audit ON audit.number = audit_seals.entry
        WHERE audit_seals.number >= ?1 ORDER BY audit_seals.number LIMIT ?2
        """
    /// The query for the first and the last number.
    static let ends = "SELECT (SELECT min(number) FROM audit_seals), (SELECT max(number) FROM audit_seals)"
    /// The query for the first seal of an event after the position with the time ?1 and the number ?2.
    static let firstKept = "SELECT number FROM audit_seals WHERE (at, entry) > (?1, ?2) ORDER BY number LIMIT 1"
    /// The query for the last seal before the number ?1.
    static let lastBefore = "SELECT \(columns) FROM audit_seals WHERE number < ?1 ORDER BY number DESC LIMIT 1"

    fileprivate init(_ columns: inout Columns) throws {
        self.init(
            number: Int(try columns.integer()), position: try columns.position(), digest: try columns.bytes(),
            user: SaltedDigest(digest: try columns.bytes(), salt: try columns.optionalBytes()),
            detail: SaltedDigest(digest: try columns.bytes(), salt: try columns.optionalBytes()),
            pseudonym: try columns.optionalBytes(), chain: try columns.bytes(), code: try columns.bytes())
    }
}

extension Columns {
    /// Reads two columns, the time and the number of an event.
    fileprivate mutating func position() throws(StoreFault) -> AuditPosition {
        AuditPosition(microseconds: try integer(), number: Int(try integer()))
    }
}
