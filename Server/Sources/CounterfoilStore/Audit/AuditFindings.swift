/// A difference between the audit log and its seals.
package struct AuditFinding: Sendable, Hashable {
    /// The kind of a difference; the raw value is its name in JSON.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An event is not the one that was sealed.
        case changed
        /// A sealed event is missing.
        case removed
        /// Seals are missing, with or without their events.
        case sealsRemoved = "seals-removed"
        /// An event without a seal is at a position at which every event was sealed, or a seal is after the end.
        case inserted
        /// A seal is not authentic, or does not continue the seal before it.
        case seal
        /// The end of the log is missing.
        case end
        /// The record of the end of the log is missing or not authentic.
        case head
        /// The record of the last deletion is not authentic.
        case start
        /// The log does not contain the head that the operator noted.
        case expectedHead = "noted-head"
    }

    package let kind: Kind
    /// The number of the seal; nil if the finding concerns none.
    package let seal: Int?
    /// The position of the event; nil if the finding concerns none, or if it is unknown.
    package let position: AuditPosition?
    /// The difference, as a sentence.
    package let text: String

    package init(_ kind: Kind, seal: Int? = nil, position: AuditPosition? = nil, _ text: String) {
        self.kind = kind
        self.seal = seal
        self.position = position
        self.text = text
    }

    /// The measure that an operator takes.
    package var remedy: String {
        switch kind {
        case .changed, .removed, .sealsRemoved:
            "Look for the event in an export or in a copy of the database, and find out who could write to the database."
        case .inserted:
            "Do not trust this event. If the clock of the store was set back at that time, it may be genuine."
        case .seal:
            "If the server key was replaced, verify with the former key in the list. Otherwise, find out who could "
                + "write to the database."
        case .end, .head, .start:
            "If the database was restored or failed over at that time, this is the loss. Otherwise, find out who could "
                + "write to the database."
        case .expectedHead:
            "If the database was restored from an older copy, note the new head. Otherwise, compare the log with an "
                + "export or a copy."
        }
    }
}

/// The end of the chain in the text form in which an operator notes it: number, colon and chain value in hexadecimal.
package struct AuditHeadMark: Sendable, Hashable, CustomStringConvertible {
    /// The number of the last seal.
    package let seal: Int
    /// The chain value of that seal.
    package let chain: [UInt8]

    package init(seal: Int, chain: [UInt8]) {
        self.seal = seal
        self.chain = chain
    }

    /// The mark of the end of a chain.
    package init(_ head: AuditHead) { self.init(seal: head.seal, chain: head.chain) }

    /// Parses the text form; nil if it is not valid.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let seal = Int(parts[0]), seal > 0, parts[1].utf8.count == 64 else { return nil }
        var chain: [UInt8] = []
        var digits = parts[1].utf8.makeIterator()
        while let high = digits.next(), let low = digits.next() {
            guard let high = Self.value(high), let low = Self.value(low) else { return nil }
            chain.append(high << 4 | low)
        }
        self.init(seal: seal, chain: chain)
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    package var description: String {
        let digits = Array("0123456789abcdef")
        return "\(seal):" + chain.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined()
    }
}

/// The result of a verification of the audit log.
package struct AuditVerdict: Sendable {
    /// The maximum number of findings that are kept.
    static let findingLimit = 1000

    /// The first findings.
    package internal(set) var findings: [AuditFinding] = []
    /// The number of all findings.
    package internal(set) var findingCount = 0
    /// The number of seals that were read.
    package internal(set) var sealCount = 0
    /// The number of events of deleted users, of which a part was removed.
    package internal(set) var pseudonymCount = 0
    /// The number of seals of a server key that is not in the list, which later seals confirm.
    package internal(set) var formerKeyCount = 0
    /// The number of events that are not sealed yet.
    package internal(set) var unsealedCount = 0
    /// The position up to which events were deleted; nil if no sealed event was deleted.
    package internal(set) var removedThrough: AuditPosition?
    /// The end of the chain; nil if nothing is sealed, or if its record is not authentic.
    package internal(set) var head: AuditHead?

    package mutating func add(_ finding: AuditFinding) {
        findingCount += 1
        if findings.count < Self.findingLimit { findings.append(finding) }
    }
}
