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

/// The time until which the server tries to answer a request.
///
/// A store that lost the connection during a commit asks for the mark of the commit until this time, and throws
/// ``StoreFault/unconfirmed(_:)`` then.
public enum RequestDeadline {
    /// The time from the arrival of a request to its deadline.
    ///
    /// With the `Retry-After` of the error after it, it is shorter than the shortest default of the grace period in
    /// which a client can retry a refresh (10 seconds, for single-page clients).
    public static let limit = Duration.seconds(5)

    /// The deadline of the request that the current task handles; nil outside of a request.
    @TaskLocal public static var current: ContinuousClock.Instant?

    /// Whether the deadline of the current request has passed; false outside of a request.
    public static var hasPassed: Bool { current.map { $0 <= .now } ?? false }

    /// Throws a ``PassingFailure`` if the deadline of the current request has passed.
    ///
    /// A request after its deadline is no evidence that a token was stolen: its client may have sent it again, and may
    /// have used the result, while this process was paused.
    static func demandTimeLeft() throws(PassingFailure) {
        if hasPassed { throw PassingFailure(reason: "the request was not answered before its deadline") }
    }
}

/// A commit that is sent again while its result is unknown.
enum RepeatedCommit {
    /// The maximum number of times that a commit is sent.
    ///
    /// The store waits for the database until the deadline of the request. A repetition is only for a fault of one
    /// connection.
    static let limit = 3

    /// Sends a commit, and sends it again if its result is unknown, until the deadline of the request.
    ///
    /// The closure must send the same commit each time, with the same ``CommitAttempt`` or the same identifiers.
    ///
    /// - Throws: ``StoreFault/unconfirmed(_:)`` if the result stays unknown. Any other fault means that the commit has
    ///   changed nothing.
    static func send<Outcome>(
        _ commit: () async throws(StoreFault) -> Outcome
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
            guard !RequestDeadline.hasPassed else { break }
        }
        throw unconfirmed ?? .unavailable("the commit was not sent")
    }
}
