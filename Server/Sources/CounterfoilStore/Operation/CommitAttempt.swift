@_spi(Counterfoil) public import CounterfoilProtocol

/// The mark of an attempt to commit something that can happen only once, 128 random bits.
///
/// The commit stores the mark. If the connection is lost during the commit, the store asks on another connection
/// whether the mark is there. The same commit with the same mark can also be sent again: if it was already carried out,
/// it changes nothing and has the same outcome. A request therefore never takes its own commit for that of another.
public struct CommitAttempt: Sendable, Hashable {
    /// The 16 bytes of the mark.
    public let bytes: [UInt8]

    /// Restores a mark from a store; nil unless it has 16 bytes.
    public init?(stored bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Creates a random mark.
    public init(random: RandomBytes = RandomBytes()) { bytes = random.bytes(Self.size) }

    private static let size = 16
}

/// A commit that is sent again while its result is unknown.
package enum RepeatedCommit {
    /// The maximum number of times that a commit is sent.
    ///
    /// The store waits for the database until the deadline of the request. A repetition is only for a fault of one
    /// connection.
    package static let limit = 3

    /// Sends a commit, and sends it again if its result is unknown, until the deadline of the request.
    ///
    /// The closure must send the same commit each time, with the same ``CommitAttempt`` or the same identifiers.
    ///
    /// - Throws: ``StoreFault/unconfirmed(_:)`` if the result stays unknown. Any other fault means that the commit has
    ///   changed nothing.
    package static func send<Outcome>(
        for request: RequestContext?, _ commit: () async throws(StoreFault) -> Outcome
    ) async throws(StoreFault) -> Outcome {
        var unconfirmed: StoreFault?
        for _ in 0..<limit {
            do {
                return try await commit()
            } catch .unconfirmed(let reason) {
                unconfirmed = .unconfirmed(reason)
            } catch {
                // A later fault of another kind says nothing about the commits before.
                throw unconfirmed ?? error
            }
            guard request?.isLate != true else { break }
        }
        throw unconfirmed ?? .unavailable("the commit was not sent")
    }
}
