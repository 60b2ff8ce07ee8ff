import Foundation

/// The maximum numbers of requests to other hosts within a minute.
struct RequestLimits: Sendable {
    var perFile: Int
    var perHost: Int
    var total: Int
    /// The maximum number of requests that one IP address causes.
    var perSource = Int(Int32.max)
}

/// The numbers of requests to other hosts within the current minute: for each file, for each host, for each IP address
/// that causes them, and in all.
///
/// The total bounds the memory of the counts.
struct RequestCounts<File: Hashable & Sendable>: Sendable {
    /// The outcome of the check of the limits.
    enum Admission: Sendable {
        case admitted
        /// The file or its host has had all requests of the minute, or all files together.
        case tooMany
        /// The IP address has caused all its requests of the minute, which ends after this number of seconds.
        case tooManyFromSource(retryAfter: Int)
    }

    private var minute = Date.distantPast
    private var total = 0
    private var files: [File: Int] = [:]
    private var hosts: [String: Int] = [:]
    private var sources: [String: Int] = [:]

    /// Counts a request, unless a limit is reached.
    ///
    /// - Parameter source: The source that causes the request; nil if the requests of all users have the same one.
    mutating func admit(
        _ file: File, at host: String, from source: CountedSource?, within limits: RequestLimits, now: Date
    ) -> Admission {
        if now.timeIntervalSince(minute) >= 60 || now < minute {
            self = RequestCounts()
            minute = now
        }
        let networks = source?.networks ?? []
        if networks.contains(where: { sources[$0.name, default: 0] >= $0.limit(limits.perSource) }) {
            return .tooManyFromSource(retryAfter: max(1, Int((60 - now.timeIntervalSince(minute)).rounded(.up))))
        }
        guard total < limits.total, files[file, default: 0] < limits.perFile, hosts[host, default: 0] < limits.perHost
        else { return .tooMany }
        total += 1
        files[file, default: 0] += 1
        hosts[host, default: 0] += 1
        for network in networks { sources[network.name, default: 0] += 1 }
        return .admitted
    }
}
