@_spi(Counterfoil) import CounterfoilProtocol
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
                head.map { head in
                    head.seal > known.seal
                        || (head.seal == known.seal && head.chain == known.chain && !head.isChecked(before: known))
                } ?? false
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
            ? keys.head(
                seal: last.seal, chain: last.chain, sealedAt: time,
                checkedAt: [checkedAt, former?.checkedAt].compactMap(\.self).max())
            : nil
        let start = self.start.flatMap { start in
            (keys.key(of: start) ?? 0) == 0
                ? nil : keys.start(seal: start.seal, chain: start.chain, through: start.through)
        }
        return (seals, head, start)
    }

    /// Returns the beginning of the chain after a deletion, which the caller then carries out.
    ///
    /// - Parameters:
    ///   - through: The position up to which events were deleted.
    ///   - last: The last seal of those at the beginning that belong to deleted events only; nil if there is none.
    ///   - keys: The keys of the seals.
    ///   - page: Reads the first seals after a number, with their events.
    package func removing(
        through: AuditPosition, last: AuditSeal?, with keys: AuditSealKeys,
        page: (Int) throws -> [SealedAuditRecord]
    ) rethrows -> AuditStart {
        let former = start.flatMap { keys.key(of: $0) == nil ? nil : $0 }
        let through = max(through, former?.through ?? through)
        let beginning = (seal: former?.seal ?? 0, chain: former?.chain ?? AuditSealKeys.origin)
        // A seal that is not authentic stays, so that its finding does.
        guard let last, last.number > beginning.seal,
            try keys.key(of: last) != nil
                || isWhole(after: beginning, through: last.number, removed: former?.through, with: keys, page: page)
        else { return keys.start(seal: beginning.seal, chain: beginning.chain, through: through) }
        return keys.start(seal: last.number, chain: last.chain, through: through)
    }

    /// Returns true if seals, whose key may not be in the list any more, continue the beginning of the chain and have
    /// their events.
    ///
    /// The chain authenticates the position of an event that is still there, so no other seal is taken for an old one.
    private func isWhole(
        after beginning: (seal: Int, chain: [UInt8]), through last: Int, removed: AuditPosition?,
        with keys: AuditSealKeys, page: (Int) throws -> [SealedAuditRecord]
    ) rethrows -> Bool {
        var (number, chain) = beginning
        var newest: AuditPosition?
        while number < last {
            let page = try page(number)
            guard !page.isEmpty else { return false }
            for sealed in page where number < last {
                let seal = sealed.seal
                guard seal.number == number + 1,
                    AuditDigest.chain(after: chain, number: seal.number, digest: seal.digest) == seal.chain
                else { return false }
                let key = keys.key(of: seal)
                if let record = sealed.record {
                    guard keys.matches(record, seal, key: key ?? .max) else { return false }
                    newest = max(newest ?? record.position, record.position)
                } else {
                    guard let removed, seal.position <= removed, key != nil || removed.isNear(newest) else {
                        return false
                    }
                }
                (number, chain) = (seal.number, seal.chain)
            }
        }
        return true
    }
}

extension AuditHead {
    /// Returns true if every event was sealed at an earlier time than in another record.
    fileprivate func isChecked(before other: AuditHead) -> Bool {
        guard let checked = other.checkedAt else { return false }
        // A store has the time in microseconds.
        return checkedAt.map { AuditPosition(at: $0, number: 0) < AuditPosition(at: checked, number: 0) } ?? true
    }
}

extension AuditPosition {
    /// Returns true if an event that was deleted up to here can have been sealed after all of some kept events.
    ///
    /// Only an event that was appended late is sealed after a newer one, and soon. So a seal without an event that is
    /// far behind kept events has a made-up position, which nothing else shows if its key is not in the list.
    ///
    /// - Parameter newest: The position of the newest kept event among the seals before; nil if there is none. The
    ///   seal would then have been deleted together with its event.
    package func isNear(_ newest: AuditPosition?) -> Bool {
        newest.map { $0.time.timeIntervalSince(time) < 3600 } ?? false
    }
}

extension AuditChainEnd {
    /// The end of a chain that ends with a seal.
    fileprivate init(_ seal: AuditSeal) { (self.seal, chain, isBroken) = (seal.number, seal.chain, false) }
}
