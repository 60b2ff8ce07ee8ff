import CounterfoilProtocol
import CounterfoilTokens
import Foundation

/// A cache of the files that clients publish, bounded in memory and in the number of requests to other hosts.
///
/// A file is used for as long as its `Cache-Control` says, but for at least ``shortestAge`` and at most
/// ``longestAge``. After that it is revalidated with its entity tag. A failure is never kept. Of several requests for
/// one file at the same time, only one is sent.
actor ClientFiles {
    /// The limits of the requests to other hosts.
    struct Limits: Sendable {
        /// The maximum number of requests at the same time.
        var running = 16
        /// The maximum number of requests to one host at the same time.
        var runningPerHost = 2
        /// The maximum number of requests to one host within a minute.
        var perHost = 30
        /// The maximum number of requests within a minute.
        var total = 600
        /// The maximum number of cached files.
        var files = 1000
    }

    /// A file and the time until which it is used without a request.
    struct File: Sendable {
        let body: [UInt8]
        let contentType: String?
        fileprivate let entityTag: String?
        fileprivate var freshUntil: Date
        fileprivate var usedAt: Date
    }

    static let shortestAge: TimeInterval = 5 * 60
    static let longestAge: TimeInterval = 24 * 3600

    private let fetcher: any ClientFileFetcher
    private let limits: Limits
    private var files: [String: File] = [:]
    private var running: [String: Task<Result<File, ClientDocumentRefusal>, Never>] = [:]
    private var runningPerHost: [String: Int] = [:]
    private var requests = SlidingCounts()

    init(fetcher: any ClientFileFetcher, limits: Limits = Limits()) {
        self.fetcher = fetcher
        self.limits = limits
    }

    /// Returns a file, from the cache or from its host.
    ///
    /// - Parameters:
    ///   - longest: The maximum time in seconds for which the file is used without a request.
    ///   - isNeededNow: Whether a fresh copy in the cache is not sufficient, because it has just proved outdated.
    func file(
        _ request: ClientFileRequest, longest: TimeInterval = longestAge, isNeededNow: Bool = false, now: Date
    ) async throws(ClientDocumentRefusal) -> File {
        let key = request.url.rawValue
        if let known = files[key], known.freshUntil > now, !isNeededNow {
            files[key]?.usedAt = now
            return known
        }
        if let task = running[key] { return try await task.value.get() }
        let host = request.url.host?.lowercased() ?? ""
        guard running.count < limits.running, runningPerHost[host, default: 0] < limits.runningPerHost,
            requests.admit(host, limit: limits.perHost, total: limits.total, now: now)
        else { throw .busy }
        let known = files[key]
        let task = Task { [fetcher] in
            let request = ClientFileRequest(
                url: request.url, accepting: request.accepting, byteLimit: request.byteLimit,
                entityTag: known?.entityTag)
            return Self.judge(await fetcher.fetch(request), beside: known, longest: longest, now: now)
        }
        running[key] = task
        runningPerHost[host, default: 0] += 1
        let result = await task.value
        running[key] = nil
        let left = runningPerHost[host, default: 0] - 1
        runningPerHost[host] = left > 0 ? left : nil
        if case .success(let file) = result { keep(file, for: key) }
        return try result.get()
    }

    /// Removes a file from the cache, because its content is not valid.
    func forget(_ url: AbsoluteURI) { files[url.rawValue] = nil }

    private func keep(_ file: File, for key: String) {
        files[key] = file
        guard files.count > limits.files, let oldest = files.min(by: { $0.value.usedAt < $1.value.usedAt }) else {
            return
        }
        files[oldest.key] = nil
    }

    private static func judge(
        _ fetch: ClientFileFetch, beside known: File?, longest: TimeInterval, now: Date
    ) -> Result<File, ClientDocumentRefusal> {
        switch fetch {
        case .failed(.busy): return .failure(.busy)
        case .failed(let failure): return .failure(.notFetched(failure))
        case .answered(let response):
            let age = min(max(age(of: response.cacheControl), shortestAge), longest)
            let freshUntil = now.addingTimeInterval(age)
            if response.status == 304, var known {
                known.freshUntil = freshUntil
                known.usedAt = now
                return .success(known)
            }
            guard response.status == 200 else { return .failure(.status(response.status)) }
            return .success(
                File(
                    body: response.body, contentType: response.contentType, entityTag: response.entityTag,
                    freshUntil: freshUntil, usedAt: now))
        }
    }

    /// Returns `max-age` of `Cache-Control` in seconds (RFC 9111 §5.2.2.1); 0 if there is none, or if the response must
    /// not be stored or used without revalidation.
    private static func age(of cacheControl: String?) -> TimeInterval {
        let directives = (cacheControl ?? "").lowercased().split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard !directives.contains("no-store"), !directives.contains("no-cache") else { return 0 }
        return directives.lazy.compactMap { directive in
            guard directive.hasPrefix("max-age=") else { return nil }
            return Int(directive.dropFirst("max-age=".count).trimmingCharacters(in: ["\""])).map(TimeInterval.init)
        }.first ?? 0
    }
}

/// The numbers of requests within the last minute, in all and for each host.
private struct SlidingCounts {
    private var minute = Date.distantPast
    private var total = 0
    private var hosts: [String: Int] = [:]

    /// Counts a request and returns true, unless a limit is reached.
    mutating func admit(_ host: String, limit: Int, total most: Int, now: Date) -> Bool {
        if now.timeIntervalSince(minute) >= 60 || now < minute {
            minute = now
            total = 0
            hosts = [:]
        }
        guard total < most, hosts[host, default: 0] < limit else { return false }
        total += 1
        hosts[host, default: 0] += 1
        return true
    }
}
