import CounterfoilProtocol
package import Foundation

/// The end of the chain, after which the next event is sealed.
package struct AuditChainEnd: Sendable, Hashable {
    /// The number of the last seal.
    package let seal: Int
    /// The chain value of the last seal.
    package let chain: [UInt8]
    /// Whether the end is not as a server has left it; the number of the next seal then leaves a gap.
    package let isBroken: Bool

    /// The largest number of a seal after which the chain continues.
    private static let limit = 1 << 60

    /// Finds the end of the chain.
    ///
    /// - Parameters:
    ///   - ends: The ends of the chain that the store has.
    ///   - last: The number of the last seal that the store has, apart from its records of the ends; nil if there is
    ///     none.
    ///   - known: The end of the chain that the caller has seen before.
    ///   - keys: The keys of the seals.
    /// - Returns: nil if numbers in the store are too large to continue.
    package init?(_ ends: AuditChainEnds, last: Int?, known: AuditHead?, keys: AuditSealKeys) {
        let head = ends.head.flatMap { keys.key(of: $0) == nil ? nil : $0 }
        let start = ends.start.flatMap { keys.key(of: $0) == nil ? nil : $0 }
        let beginning = start?.seal ?? 0
        let isContinued =
            known.map { known in
                head.map { $0.seal > known.seal || ($0.seal == known.seal && $0.chain == known.chain) } ?? false
            } ?? true
        if let head, head.seal == last ?? beginning, isContinued, head.seal < Self.limit {
            (seal, chain, isBroken) = (head.seal, head.chain, false)
        } else if ends.head == nil, ends.start == nil, last == nil, known == nil {
            (seal, chain, isBroken) = (0, AuditSealKeys.origin, false)
        } else {
            let largest = max(last ?? 0, head?.seal ?? 0, beginning, known?.seal ?? 0)
            guard largest < Self.limit else { return nil }
            (seal, chain, isBroken) = (largest + 1, AuditSealKeys.origin, true)
        }
    }
}

extension AuditChainEnds {
    /// Seals events, and returns their seals and the ends of the chain afterwards; nil for an end that is unchanged.
    ///
    /// - Parameters:
    ///   - records: The events without a seal.
    ///   - end: The end of the chain.
    ///   - checkedAt: A time at which every other event was sealed; nil if that is not known.
    ///   - keys: The keys of the seals.
    ///   - time: The current time.
    package func sealing(
        _ records: [AuditRecord], after end: AuditChainEnd, checkedAt: Date?, with keys: AuditSealKeys, at time: Date
    ) -> (seals: [AuditSeal], head: AuditHead?, start: AuditStart?) {
        let random = RandomBytes()
        var seals: [AuditSeal] = []
        var last = end
        for record in records {
            let seal = keys.seal(record, after: last, random: random)
            seals.append(seal)
            last = AuditChainEnd(seal)
        }
        // The records of the ends change with the server key, so that the former one is not needed for them.
        let former = head.flatMap { keys.key(of: $0) == nil ? nil : $0 }
        let isHeadNeeded =
            !seals.isEmpty || (!end.isBroken && (checkedAt != nil || former.map { keys.key(of: $0) != 0 } == true))
        let head =
            isHeadNeeded
            ? keys.head(seal: last.seal, chain: last.chain, sealedAt: time, checkedAt: checkedAt ?? former?.checkedAt)
            : nil
        let start = self.start.flatMap { start in
            (keys.key(of: start) ?? 0) == 0
                ? nil : keys.start(seal: start.seal, chain: start.chain, through: start.through)
        }
        return (seals, head, start)
    }

    /// Returns the beginning of the chain after a deletion.
    ///
    /// - Parameters:
    ///   - through: The position up to which events were deleted.
    ///   - last: The last seal of those at the beginning that belong to deleted events only; nil if there is none.
    ///   - keys: The keys of the seals.
    package func removing(through: AuditPosition, last: AuditSeal?, with keys: AuditSealKeys) -> AuditStart {
        let former = start.flatMap { keys.key(of: $0) == nil ? nil : $0 }
        let through = max(through, former?.through ?? through)
        // A seal that is not authentic stays, so that its finding does.
        guard let last, keys.key(of: last) != nil else {
            return keys.start(seal: former?.seal ?? 0, chain: former?.chain ?? AuditSealKeys.origin, through: through)
        }
        return keys.start(seal: last.number, chain: last.chain, through: through)
    }
}

extension AuditChainEnd {
    /// The end of a chain that ends with a seal.
    fileprivate init(_ seal: AuditSeal) { (self.seal, chain, isBroken) = (seal.number, seal.chain, false) }
}
