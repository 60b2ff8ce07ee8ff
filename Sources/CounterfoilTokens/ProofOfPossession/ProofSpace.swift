public import CounterfoilPlatform
public import CounterfoilProtocol

/// The space that used DPoP proofs, or used client assertions, take until they expire: in all, and in shares of it.
@_spi(Counterfoil) public struct ProofSpace: Sendable {
    /// A part of the space that certain proofs can take.
    public struct Share: Sendable, Hashable {
        let name: String
        /// The share is the space divided by this number.
        let divisor: Int

        /// Creates a share; the name tells which proofs count in it.
        @_spi(Counterfoil) public init(_ name: String, divisor: Int) {
            self.name = name
            self.divisor = divisor
        }

        /// The share of the proofs of one key.
        @_spi(Counterfoil) public static func key(_ thumbprint: KeyThumbprint) -> Share {
            Share("key \(thumbprint.rawValue)", divisor: 8)
        }
    }

    private let capacity: Int
    /// The numbers of proofs by the minute after which they have expired, and then by share.
    private var counts: [Int: [String: Int]] = [:]
    private var totals: [Int: Int] = [:]

    /// Creates the space for a maximum number of proofs, at least 8.
    public init(capacity: Int) { self.capacity = max(8, capacity) }

    /// Takes the space for a proof; returns false, and takes nothing, if the space or one of the shares is full.
    public mutating func take(in shares: [Share], until expires: Date, at now: Date) -> Bool {
        let current = Self.current(at: now)
        for minute in totals.keys where minute < current {
            totals[minute] = nil
            counts[minute] = nil
        }
        guard totals.values.reduce(0, +) < capacity,
            shares.allSatisfy({ count(in: $0) < max(1, capacity / $0.divisor) })
        else { return false }
        change(by: 1, in: shares, until: expires)
        return true
    }

    /// Gives the space of a proof back, because the proof was not noted.
    public mutating func giveBack(in shares: [Share], until expires: Date) {
        guard totals[Self.minute(of: expires)] != nil else { return }
        change(by: -1, in: shares, until: expires)
    }

    /// The minute after which a proof is forgotten.
    static func minute(of expires: Date) -> Int { Int((expires.timeIntervalSince1970 / 60).rounded(.up)) }

    /// The first minute whose proofs are still kept.
    static func current(at now: Date) -> Int { Int(now.timeIntervalSince1970 / 60) }

    private func count(in share: Share) -> Int { counts.values.reduce(0) { $0 + ($1[share.name] ?? 0) } }

    private mutating func change(by difference: Int, in shares: [Share], until expires: Date) {
        let minute = Self.minute(of: expires)
        totals[minute, default: 0] += difference
        for share in shares { counts[minute, default: [:]][share.name, default: 0] += difference }
    }
}
