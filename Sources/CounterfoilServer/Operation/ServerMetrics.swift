import Synchronization

/// What this process has done since it started, counted; nothing in it names a person, an application, or a secret.
public final class ServerMetrics: Sendable {
    /// Something that is counted by itself.
    public enum Event: String, Sendable, Hashable, CaseIterable {
        /// An event could not be kept in the audit log.
        case auditWriteFailure
        /// An event was left out of the audit log, because too many of its kind came at once.
        case auditLeftOut
        /// The store did not answer.
        case storeError
        /// A row that was over was removed.
        case rowRemoved
        /// What is over could not be removed.
        case housekeepingFailure
        /// A client took a back-channel logout notification.
        case logoutDelivered
        /// An attempt to deliver a back-channel logout notification failed.
        case logoutFailed
        /// A back-channel logout notification was given up.
        case logoutGivenUp
    }

    /// An event of the audit log and how it ended.
    public struct AuditedEvent: Sendable, Hashable {
        /// What happened.
        public let kind: AuditEvent.Kind
        /// How it ended.
        public let outcome: AuditEvent.Outcome

        /// Names an event.
        public init(kind: AuditEvent.Kind, outcome: AuditEvent.Outcome) {
            self.kind = kind
            self.outcome = outcome
        }
    }

    /// How long requests took.
    public struct Histogram: Sendable, Hashable {
        /// The upper bounds of the buckets, in seconds; one without a bound comes after them.
        public static let bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

        /// How many requests fell into each bucket and into none before it.
        public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
        /// How long all of them took together, in seconds.
        public private(set) var sum = 0.0

        mutating func note(_ seconds: Double) {
            let bucket = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
            counts[bucket] += 1
            sum += seconds
        }
    }

    /// What has happened at one endpoint.
    public struct Requests: Sendable, Hashable {
        /// How many were answered with a status of each class, 1 to 5.
        public internal(set) var byStatusClass = [Int: Int]()
        /// How many were answered that there were too many.
        public internal(set) var throttled = 0
        /// How long they took.
        public internal(set) var durations = Histogram()
    }

    /// The counts of a moment.
    public struct Snapshot: Sendable, Hashable {
        /// By endpoint; nil stands for requests that came to none.
        public internal(set) var requests: [Endpoint?: Requests] = [:]
        /// How many answers of the token endpoint had a token, by `grant_type`.
        public internal(set) var tokens: [String: Int] = [:]
        /// How many events were noted in the audit log.
        public internal(set) var audited: [AuditedEvent: Int] = [:]
        /// Everything else.
        public internal(set) var events: [Event: Int] = [:]
    }

    private let state = Mutex(Snapshot())

    init() {}

    /// The counts of this moment.
    public var snapshot: Snapshot { state.withLock { $0 } }

    func count(_ event: Event) { add(1, to: event) }

    func add(_ number: Int, to event: Event) {
        state.withLock { $0.events[event, default: 0] += number }
    }

    func countTokens(of grantType: String) {
        state.withLock { $0.tokens[grantType, default: 0] += 1 }
    }

    func countAudited(_ kind: AuditEvent.Kind, _ outcome: AuditEvent.Outcome) {
        state.withLock { $0.audited[AuditedEvent(kind: kind, outcome: outcome), default: 0] += 1 }
    }

    func countRequest(at endpoint: Endpoint?, status: Int, seconds: Double) {
        state.withLock { state in
            state.requests[endpoint, default: Requests()].byStatusClass[status / 100, default: 0] += 1
            if status == 429 { state.requests[endpoint, default: Requests()].throttled += 1 }
            state.requests[endpoint, default: Requests()].durations.note(seconds)
        }
    }
}

/// What was built.
public enum Build {
    /// The version of this product.
    public static let version = "0.1.0"
}
