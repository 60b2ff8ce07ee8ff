import CounterfoilStore
import Foundation

/// The maximum numbers of requests to other hosts within a minute.
struct RequestLimits: Sendable {
    var perFile: Int
    var perHost: Int
    var total: Int
    /// The maximum number of requests that one IP address causes; nil if the address does not matter.
    var perSource: Int?
}

/// The numbers of requests to other hosts within a minute: for each file, for each host, for each IP address that
/// causes them, and in all.
struct RequestCounts<File: Hashable & Sendable>: Sendable {
    /// The outcome of the check of the limits.
    enum Admission: Sendable {
        case admitted
        /// The file or its host has had all requests of the minute, or all files together.
        case tooMany
        /// The IP address has caused all its requests of the minute, and can cause the next after this number of
        /// seconds.
        case tooManyFromSource(retryAfter: Int)
    }

    private enum Key: Hashable {
        case all
        case network(String)
        case file(File)
        case host(String)
    }

    private typealias Limiter = RateLimiter<Key>

    private var requests = Limiter(window: 60)

    /// Counts a request, unless a limit is reached.
    ///
    /// - Parameter source: The source that causes the request; nil if the requests of all users have the same one.
    mutating func admit(
        _ file: File, at host: String, from source: CountedSource?, within limits: RequestLimits, now: Date
    ) -> Admission {
        if requests.wait([.init(.all, limits.total)], at: now) != nil { return .tooMany }
        let shared = SharedLimit(perSource: limits.perSource, total: limits.total)
        let ofSource = requests.wait(within: shared, from: source, all: .all, of: { .network($0.name) }, at: now)
        if let ofSource { return .tooManyFromSource(retryAfter: ofSource) }
        let ofFile: [Limiter.Limit] = [.init(.file(file), limits.perFile), .init(.host(host), limits.perHost)]
        guard requests.admit(ofFile, at: now) == nil else { return .tooMany }
        requests.note(within: shared, from: source, all: .all, of: { .network($0.name) }, at: now)
        return .admitted
    }
}
