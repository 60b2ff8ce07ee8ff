import CounterfoilProtocol
import HTTPTypes

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The offset between a server's clock and this device's, from the `Date` field (RFC 9110 §6.6.1).
///
/// The times in a token follow the server's clock. Without the offset, a device with a wrong clock would reject
/// valid tokens, and the server would reject the DPoP proofs of this device.
///
/// Offsets come from responses over TLS. An offset of less than five seconds is ignored, because it can be network
/// delay. An offset of more than one hour is ignored too, because with it a token that expired long ago could
/// appear valid.
enum ServerClock {
    private static let range: ClosedRange<TimeInterval> = 5...3600

    /// Returns the seconds by which the server's clock is ahead, negative if it is behind.
    ///
    /// Returns nil if the response has no valid `Date` field, or if the offset must be ignored.
    static func offset(in response: TransportResponse, at now: Date = Date()) -> TimeInterval? {
        guard let date = response.head.headerFields[.date].flatMap(HTTPDate.parse) else { return nil }
        let offset = date.timeIntervalSince(now)
        return range.contains(abs(offset)) ? offset : nil
    }
}

// MARK: - Times that this device signs

extension ServerClock {
    /// The difference from which the offset of a clock has changed, in seconds.
    static let tolerance: TimeInterval = 5

    /// Returns the offset for times that this device signs: those in DPoP proofs and client assertions.
    ///
    /// Only the server of the response reads these times. Therefore an offset of any size counts: no expired token can
    /// appear valid by it. The offset is 0 if it can be network delay, also after the user has corrected the clock.
    /// Returns nil if the response has no valid `Date` field, or comes from a cache (RFC 9111 §5.1).
    static func signingOffset(in response: some HeadedResponse, at now: Date = Date()) -> TimeInterval? {
        guard response.head.headerFields[.age] == nil,
            let date = response.head.headerFields[.date].flatMap(HTTPDate.parse)
        else { return nil }
        let offset = date.timeIntervalSince(now)
        return abs(offset) < tolerance ? 0 : offset
    }

    /// The latest offsets of issuers whose clock differs from this device's.
    private static let offsets = Mutex<[Issuer: TimeInterval]>([:])

    /// Returns the time by an issuer's clock, as far as it is known.
    static func now(of issuer: Issuer) -> Date {
        Date().addingTimeInterval(offsets.withLock { $0[issuer] } ?? 0)
    }

    /// Records the clock of an issuer; returns true if it differs from what was known.
    @discardableResult
    static func record(_ response: TransportResponse, of issuer: Issuer) -> Bool {
        guard let offset = signingOffset(in: response) else { return false }
        return offsets.withLock { offsets in
            let known = offsets[issuer] ?? 0
            // A program that talks to very many servers forgets the clocks of the former ones.
            if offsets.count >= 256 { offsets.removeAll() }
            offsets[issuer] = offset == 0 ? nil : offset
            return abs(offset - known) > tolerance
        }
    }
}
