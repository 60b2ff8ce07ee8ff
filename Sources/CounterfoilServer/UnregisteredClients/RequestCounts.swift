import Foundation

/// The maximum numbers of requests to other hosts within a minute.
struct RequestLimits: Sendable {
    var perFile: Int
    var perHost: Int
    var total: Int
}

/// The numbers of requests to other hosts within the current minute: for each file, for each host, and in all.
///
/// The total bounds the memory of the counts.
struct RequestCounts<File: Hashable & Sendable>: Sendable {

    private var minute = Date.distantPast
    private var total = 0
    private var files: [File: Int] = [:]
    private var hosts: [String: Int] = [:]

    /// Counts a request and returns true, unless a limit is reached.
    mutating func admit(_ file: File, at host: String, within limits: RequestLimits, now: Date) -> Bool {
        if now.timeIntervalSince(minute) >= 60 || now < minute {
            self = RequestCounts()
            minute = now
        }
        guard total < limits.total, files[file, default: 0] < limits.perFile, hosts[host, default: 0] < limits.perHost
        else { return false }
        total += 1
        files[file, default: 0] += 1
        hosts[host, default: 0] += 1
        return true
    }
}
