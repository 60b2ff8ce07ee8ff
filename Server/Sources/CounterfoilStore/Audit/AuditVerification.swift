package import Foundation

/// A comparison of the audit log with its seals, while servers append events, seal them, and delete old ones.
///
/// It reads the seals in pages, so its memory does not grow with the log.
package struct AuditVerification {
    /// The number of seals or events that are read at once.
    package static let page = 500

    private let store: any AuditSealStore
    private let keys: AuditSealKeys
    private let expectedHead: AuditHeadMark?
    /// Seals up to this number are read, but not reported.
    private let examined: Int

    private var verdict = AuditVerdict()
    /// The number of the seal that was read last, or deleted.
    private var last = 0
    /// The chain value of that seal; nil if it is unknown, so that the next seal is not compared with it.
    private var chain: [UInt8]? = AuditSealKeys.origin
    /// The position up to which events may be missing.
    private var through: AuditPosition?
    /// The last seals that no key authenticates, but that continue the chain.
    private var unconfirmed: ClosedRange<Int>?
    /// Whether that chain value is of a seal that was reported, so that a break after it is no further finding.
    private var isChainReported = false
    /// The position of the newest event that was read with its seal.
    private var newest: AuditPosition?
    private var isExpectedHeadFound = false

    /// Creates a verification.
    ///
    /// - Parameters:
    ///   - store: The store with the log.
    ///   - serverKey: The key with which the server seals events, and former keys.
    ///   - expectedHead: The end of the chain that the operator noted at an earlier time; nil for none.
    ///   - examined: The number of the last seal whose findings were examined before; 0 for none.
    package init(
        of store: any AuditSealStore, with serverKey: ServerKey, expectedHead: AuditHeadMark? = nil,
        after examined: Int = 0
    ) {
        self.store = store
        keys = AuditSealKeys(serverKey)
        self.expectedHead = expectedHead
        self.examined = examined
    }

    /// Verifies the log.
    ///
    /// - Parameter now: The current time by the clock of the store.
    package static func run(_ verification: AuditVerification, at now: Date) async throws(StoreFault) -> AuditVerdict {
        var verification = verification
        try await verification.verify(at: now)
        return verification.verdict
    }

    private mutating func verify(at now: Date) async throws(StoreFault) {
        let start = try await store.auditChainEnds().start
        if let start, !follow(start) {
            report(
                AuditFinding(
                    .start,
                    "The record of the last deletion is not authentic, so it is unknown which events may be missing."))
            chain = nil
        }
        try await verifyHidden()
        // Only until the first seal was read, its number is unknown.
        var isAnchored = chain != nil
        var head: AuditHead?
        while true {
            // The head is read first, so that each of its seals can be read.
            head = try await store.auditChainEnds().head
            let page = try await store.sealedAudit(after: last, limit: Self.page)
            guard let first = page.first else {
                if isAnchored, try await continueAfterDeletion() { continue }
                break
            }
            if isAnchored, first.seal.number > last + 1, try await continueAfterDeletion() { continue }
            for sealed in page {
                if isAnchored, sealed.seal.number > last + 1 { reportGap(before: sealed.seal.number) }
                isAnchored = true
                try await verify(sealed)
            }
        }
        endUnconfirmed()
        verify(end: head)
        verifyExpectedHead()
        try await verifyUnsealed(at: now)
    }

    private mutating func report(_ finding: AuditFinding) {
        switch finding.kind {
        // A later loss of the end is another one, although its seals have the numbers of examined ones.
        case .end, .expectedHead: break
        default: if let seal = finding.seal, seal <= examined { return }
        }
        verdict.add(finding)
    }

    // MARK: The ends of the chain

    /// Continues after the last deleted seal; returns false if the record of the deletion is not authentic.
    private mutating func follow(_ start: AuditStart) -> Bool {
        guard keys.key(of: start) != nil else { return false }
        through = start.through
        verdict.removedThrough = start.through
        guard start.seal > last else { return true }
        (last, chain, isChainReported, unconfirmed) = (start.seal, start.chain, false, nil)
        compareExpectedHead(seal: start.seal, chain: start.chain)
        return true
    }

    /// Reads the beginning of the chain again, and returns true if seals were deleted since the last time.
    private mutating func continueAfterDeletion() async throws(StoreFault) -> Bool {
        let former = last
        guard let start = try await store.auditChainEnds().start, follow(start) else { return false }
        return last > former
    }

    private mutating func verify(end head: AuditHead?) {
        guard let head else {
            guard last > 0 else { return }
            return report(AuditFinding(.head, "The record of the last seal is missing."))
        }
        guard keys.key(of: head) != nil else {
            return report(AuditFinding(.head, "The record of the last seal is not authentic."))
        }
        verdict.head = head
        if head.seal > last {
            report(
                AuditFinding(
                    .end, seal: last + 1,
                    "The last \(head.seal - last) sealed event\(head.seal - last == 1 ? " is" : "s are") missing."))
        } else if head.seal < last {
            report(AuditFinding(.inserted, seal: last, "There are seals after the last one, which is \(head.seal)."))
        } else if let chain, !isChainReported, head.chain != chain {
            report(AuditFinding(.head, "The record of the last seal does not match that seal."))
        }
    }

    private mutating func compareExpectedHead(seal: Int, chain: [UInt8]) {
        guard let expectedHead, expectedHead.seal == seal else { return }
        isExpectedHeadFound = true
        guard expectedHead.chain != chain else { return }
        report(
            AuditFinding(
                .expectedHead, seal: seal, "The log up to seal \(seal) is another one than when its head was noted."))
    }

    private mutating func verifyExpectedHead() {
        guard let expectedHead, !isExpectedHeadFound else { return }
        let text =
            expectedHead.seal > last
            ? "The log ends with seal \(last), before the noted head \(expectedHead.seal)."
            : "Seal \(expectedHead.seal) of the noted head is not in the log any more, so it cannot be compared."
        report(AuditFinding(.expectedHead, seal: expectedHead.seal, text))
    }

    // MARK: Seals

    /// Reports rows before the first seal, of which a server leaves none.
    ///
    /// Such a row would make its event a sealed one that no seal is compared with.
    private mutating func verifyHidden() async throws(StoreFault) {
        let first = last
        var number = Int.min
        while true {
            let page = try await store.sealedAudit(after: number, limit: Self.page)
            for sealed in page {
                guard sealed.seal.number <= first else { return }
                report(
                    AuditFinding(
                        .inserted, position: sealed.record?.position ?? sealed.seal.position,
                        "A row hides an event from the seals."))
            }
            guard let final = page.last, page.count == Self.page else { return }
            number = final.seal.number
        }
    }

    private mutating func reportGap(before number: Int) {
        endUnconfirmed()
        let missing = last + 1...number - 1
        report(
            AuditFinding(
                .sealsRemoved, seal: missing.upperBound,
                missing.count == 1
                    ? "Seal \(missing.lowerBound) is missing, with or without its event."
                    : "The seals \(missing.lowerBound) to \(missing.upperBound) are missing, with or without their events."
            ))
        chain = nil
    }

    private mutating func verify(_ sealed: SealedAuditRecord) async throws(StoreFault) {
        let seal = sealed.seal
        verdict.sealCount += 1
        let key = keys.key(of: seal)
        let continues = chain.map {
            AuditDigest.chain(after: $0, number: seal.number, digest: seal.digest) == seal.chain
        }
        let isWhole = try await isWhole(sealed, key: key, continues: continues == true)
        let isAfterReported = isChainReported
        isChainReported = false
        defer {
            last = seal.number
            compareExpectedHead(seal: seal.number, chain: seal.chain)
        }
        guard key != nil else {
            // The seal may be of a key that is not in the list. A later seal then confirms it.
            if continues == true, isWhole {
                unconfirmed = (unconfirmed?.lowerBound ?? seal.number)...seal.number
                chain = seal.chain
                return
            }
            endUnconfirmed()
            if isWhole {
                report(AuditFinding(.seal, seal: seal.number, position: seal.position, "The seal is not authentic."))
            }
            // Later seals of a former key can then still be confirmed.
            chain = seal.chain
            isChainReported = continues != true
            return
        }
        if continues == false {
            if unconfirmed == nil, isWhole, !isAfterReported {
                report(
                    AuditFinding(
                        .seal, seal: seal.number, position: seal.position,
                        "The seal does not continue the seal before it."))
            }
            endUnconfirmed()
        } else if let confirmed = unconfirmed {
            verdict.formerKeyCount += confirmed.count
            unconfirmed = nil
        }
        chain = seal.chain
    }

    /// Reports the seals that no key authenticates, and that no later seal confirms.
    private mutating func endUnconfirmed() {
        guard let range = unconfirmed else { return }
        unconfirmed = nil
        report(
            AuditFinding(
                .changed, seal: range.upperBound,
                range.count == 1
                    ? "The event of seal \(range.lowerBound) differs from what was sealed, and so does its seal."
                    : "Events of the seals \(range.lowerBound) to \(range.upperBound) differ from what was sealed, and so do "
                        + "their seals."))
    }

    /// Returns true if the event of a seal is the sealed one, or was deleted as it should be; otherwise reports it.
    private mutating func isWhole(
        _ sealed: SealedAuditRecord, key: Int?, continues: Bool
    ) async throws(StoreFault) -> Bool {
        let seal = sealed.seal
        guard let record = sealed.record else {
            if try await isDeleted(seal, key: key, continues: continues) { return true }
            report(
                AuditFinding(
                    .removed, seal: seal.number, position: seal.position, "The event was removed from the log."))
            return false
        }
        guard keys.matches(record, seal, key: key ?? .max) else {
            report(
                AuditFinding(
                    .changed, seal: seal.number, position: seal.position, "The event differs from what was sealed."))
            return false
        }
        newest = max(newest ?? record.position, record.position)
        if seal.user.salt == nil { verdict.pseudonymCount += 1 }
        return true
    }

    /// Returns true if an event is at a position up to which events were deleted.
    private mutating func isDeleted(
        _ seal: AuditSeal, key: Int?, continues: Bool
    ) async throws(StoreFault) -> Bool {
        // Only the code of the seal authenticates the position of an event that is missing. With a key that is not in
        // the list, the events around it must show that it was deleted.
        if let through, seal.position <= through, key != nil || (continues && through.isNear(newest)) { return true }
        // A server may have deleted it since the record was read.
        guard let start = try await store.auditChainEnds().start, keys.key(of: start) != nil else { return false }
        through = start.through
        verdict.removedThrough = start.through
        return seal.position <= start.through && (key != nil || (continues && start.through.isNear(newest)))
    }

    // MARK: Events without a seal

    private mutating func verifyUnsealed(at now: Date) async throws(StoreFault) {
        // An event is appended at most some time after its own. So one before that time was inserted.
        let settled = verdict.head?.checkedAt.map { AuditPosition.lastSettled(at: min($0, now)) }
        var position: AuditPosition?
        while true {
            let page = try await store.unsealedAudit(after: position, limit: Self.page)
            for record in page {
                if let settled, record.position <= settled {
                    report(
                        AuditFinding(
                            .inserted, position: record.position,
                            "The event was inserted after the events of its time were sealed."))
                } else {
                    verdict.unsealedCount += 1
                }
            }
            guard let final = page.last, page.count == Self.page else { return }
            position = final.position
        }
    }
}
