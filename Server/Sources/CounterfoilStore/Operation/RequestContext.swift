@_spi(Counterfoil) import CounterfoilProtocol

/// The facts about one request that everything which works for the request needs.
///
/// It is passed down from the arrival of the request. A store, a cache or a logger is bound to it with a function
/// `serving(_:)`. A service or a command, which works for no request, has none.
public struct RequestContext: Sendable {
    /// The time from the arrival of a request to its deadline.
    ///
    /// With the `Retry-After` of the error after it, it is shorter than the shortest default of the grace period in
    /// which a client can retry a refresh (10 seconds, for single-page clients).
    public static let timeLimit = Duration.seconds(5)

    /// The identifier of the request, which error pages and logs show.
    public let id: String
    /// The IP address of the client, for rate limits; behind a trusted proxy, the address that the proxy forwards.
    public let source: String
    /// The time until which the server tries to answer the request; nil before the server has begun to answer.
    ///
    /// A store that lost the connection during a commit asks for the mark of the commit until this time, and throws
    /// ``StoreFault/unconfirmed(_:)`` then.
    public package(set) var deadline: ContinuousClock.Instant?
    /// The span of the request; nil if the request is not sampled.
    package var span: (any TraceSpan)?
    private let arrival = Arrival()

    /// Creates the context of a request.
    public init(id: String, source: String, deadline: ContinuousClock.Instant? = nil) {
        self.id = id
        self.source = source
        self.deadline = deadline
    }

    /// Whether the deadline has passed.
    public var isLate: Bool { deadline.map { $0 <= .now } ?? false }

    /// The revision of the registry that was read when the request arrived; nil before that, and after the request has
    /// waited for another host.
    package var arrivalRevision: RegistryRevision? { arrival.revision.withLock { $0 } }

    /// Notes the revision of the registry that was read when the request arrived.
    package func noteArrival(at revision: RegistryRevision) { arrival.revision.withLock { $0 = revision } }

    /// Notes that the request waits for another host, so that the registry may change before it continues.
    package func noteWait() { arrival.revision.withLock { $0 = nil } }

    /// What all copies of a context share.
    private final class Arrival: Sendable {
        let revision = Mutex<RegistryRevision?>(nil)
    }
}

/// A store that can be bound to a request.
public protocol RequestStore: Sendable {
    /// Returns this store for the operations of one request, which end at its deadline.
    func serving(_ request: RequestContext) -> Self
}
