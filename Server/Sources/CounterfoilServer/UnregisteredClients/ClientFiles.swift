@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens
import Foundation

/// A cache of the files that clients publish, bounded in memory and in the number of requests to other hosts.
///
/// A file is used for as long as its `Cache-Control` says, but for at least ``shortestAge`` and at most
/// ``longestAge``. After that it is revalidated with its entity tag (RFC 9110 §13.1.2). A failure, and a file that
/// cannot be read, is never kept. Of several requests for one file at the same time, only one is sent.
actor ClientFiles {
    /// The limits of the memory and of the requests to other hosts.
    struct Limits: Sendable {
        /// The maximum number of requests at the same time.
        var running = 32
        /// The maximum number of requests to one host at the same time.
        var runningPerHost = 4
        /// The maximum numbers of requests within a minute.
        var perMinute = RequestLimits(perFile: 6, perHost: 30, total: 600, perSource: 10)
        /// The maximum number of cached files.
        var files = 1000
        /// The maximum size of all cached files in bytes.
        var bytes = 16 * 1024 * 1024
    }

    /// The kind of a file that a client publishes.
    ///
    /// Files of several kinds can have one URL; they differ in limits and readers.
    enum Kind: Hashable, Sendable {
        case document
        case keys
        case logo
        case sectorIdentifier
    }

    /// A file that was received from its host.
    struct File: Sendable {
        /// The content of a file, read when it was received.
        enum Content: Sendable {
            /// The bytes of the body, which the caller reads.
            case bytes
            /// The metadata of a client.
            case document(DescribedClient)
            /// The public keys of a client.
            case keys(JSONWebKeySet)
        }

        let body: [UInt8]
        let contentType: String?
        let content: Content
        fileprivate let entityTag: String?
        /// The time in seconds for which the file is used without a request.
        fileprivate var age: TimeInterval
        /// The time at which the host last sent or confirmed the file.
        fileprivate(set) var confirmedAt: Date
        fileprivate var usedAt: Date
        /// Whether a user allows something to a client with the file.
        fileprivate var isInUse: Bool
        /// Whether the last request to the host failed; the file is then no substitute for another request.
        fileprivate var hasFailed = false

        /// Returns true if the cache drops this file before another one.
        fileprivate func isKeptLess(than other: File) -> Bool {
            isInUse == other.isInUse ? usedAt < other.usedAt : !isInUse
        }

        fileprivate func isFresh(at now: Date) -> Bool { now < confirmedAt.addingTimeInterval(age) }
        fileprivate var size: Int { body.count + (entityTag?.utf8.count ?? 0) + (contentType?.utf8.count ?? 0) }
    }

    /// The shortest time in seconds for which a file is used without a request, whatever its host says.
    static let shortestAge: TimeInterval = 5 * 60
    /// The longest time in seconds for which a file is used without a request, whatever its host says.
    static let longestAge: TimeInterval = 24 * 3600
    /// The time in seconds after a request for which a file is not outdated, even if it appears to be.
    static let renewalInterval: TimeInterval = 30

    typealias Response = ClientFileFetch.Response
    /// Reads a response with the status 200; throws if the file cannot be used, so that it is not kept.
    typealias Reader = @Sendable (Response) throws(ClientDocumentRefusal) -> File.Content

    private struct Key: Hashable {
        let kind: Kind
        let url: String
    }

    private struct Running {
        let host: String
        let task: Task<Result<File, ClientDocumentRefusal>, Never>
    }

    private let fetcher: any ClientFileFetcher
    private let limits: Limits
    /// The files, which are found without waiting for the actor.
    private let cache: Mutex<Cache>
    private var running: [Key: Running] = [:]
    private var requests = RequestCounts<Key>()

    init(fetcher: any ClientFileFetcher, limits: Limits = Limits()) {
        self.fetcher = fetcher
        self.limits = limits
        cache = Mutex(Cache(limits: limits))
    }

    /// Returns a file, from the cache or from its host.
    ///
    /// - Parameters:
    ///   - context: The request that needs the file; nil if none waits for it.
    ///   - source: The IP address that causes a request to the host; nil if it is not counted.
    ///   - isInUse: Whether a user allows something to a client with the file. The cache drops other files first, so
    ///     that strangers cannot make it drop this one.
    ///   - longest: The maximum time in seconds for which the file is used without a request.
    ///   - isNeededNow: Whether a fresh copy in the cache is not sufficient, because it appears to be outdated.
    ///   - read: The reader of a response from the host.
    nonisolated func file(
        _ kind: Kind, _ request: ClientFileRequest, for context: RequestContext? = nil,
        from source: CountedSource? = nil, isInUse: Bool = false, longest: TimeInterval = longestAge,
        isNeededNow: Bool = false, now: Date,
        reading read: @escaping Reader = { _ in .bytes }
    ) async throws(ClientDocumentRefusal) -> File {
        let key = Key(kind: kind, url: request.url.rawValue)
        if let file = fresh(key, isInUse: isInUse, isNeededNow: isNeededNow, now: now) { return file }
        return try await fetched(
            request, as: key, for: context, from: source, isInUse: isInUse, longest: longest, isNeededNow: isNeededNow,
            now: now, read)
    }

    private func fetched(
        _ request: ClientFileRequest, as key: Key, for context: RequestContext?, from source: CountedSource?,
        isInUse: Bool, longest: TimeInterval, isNeededNow: Bool, now: Date, _ read: @escaping Reader
    ) async throws(ClientDocumentRefusal) -> File {
        let host = request.url.host?.lowercased() ?? ""
        context?.noteWait()
        // Another request may have fetched the file while this one waited for the actor.
        if let file = fresh(key, isNeededNow: isNeededNow, now: now) { return file }
        if running[key] == nil, let other = runningBesides(host) {
            // As many requests to this host run as are allowed. One of them ends soon, because their time is limited.
            _ = await other.value
            if let file = fresh(key, isNeededNow: isNeededNow, now: now) { return file }
        }
        var result: Result<File, ClientDocumentRefusal> = .failure(.busy)
        if let running = running[key] {
            result = await running.task.value
        } else if running.count < limits.running, runningBesides(host) == nil {
            switch requests.admit(key, at: host, from: source, within: limits.perMinute, now: now) {
            case .admitted:
                result = await fetch(
                    request, as: key, at: host, for: context, isInUse: isInUse, longest: longest, now: now, read
                ).value
            case .tooManyFromSource(let retryAfter): result = .failure(.tooMany(retryAfter: retryAfter))
            case .tooMany: break
            }
        }
        // A copy is better than no answer if only the limits prevent a request. It is none if the host has failed: the
        // requests that it refused have used up the limit, too.
        switch result {
        case .failure(.busy), .failure(.tooMany):
            if let file = copy(key, longest: longest, now: now) { return file }
        case .success, .failure: break
        }
        return try result.get()
    }

    private func fetch(
        _ request: ClientFileRequest, as key: Key, at host: String, for context: RequestContext?, isInUse: Bool,
        longest: TimeInterval, now: Date, _ read: @escaping Reader
    ) -> Task<Result<File, ClientDocumentRefusal>, Never> {
        let known = cache.withLock { $0.files[key] }
        // The caller always waits for the end of the task: the request of a user who leaves must not end that of the
        // others.
        let task = Task {
            let fetched = await fetcher.fetch(request.revalidating(known?.entityTag), for: context)
            let result = Self.judge(
                fetched, to: request, beside: known, isInUse: isInUse, longest: longest, now: now, reading: read)
            // Those who wait for the task must find its place free.
            running[key] = nil
            switch result {
            case .success(let file): cache.withLock { $0.keep(file, as: key) }
            case .failure(.invalid), .failure(.contentType), .failure(.status(404)), .failure(.status(410)):
                cache.withLock { $0.remove(key) }
            case .failure(.busy): break
            case .failure: cache.withLock { $0.noteFailure(of: key) }
            }
            return result
        }
        running[key] = Running(host: host, task: task)
        return task
    }

    /// Removes a file from the cache, because its content is not valid.
    nonisolated func forget(_ kind: Kind, _ url: AbsoluteURI) {
        cache.withLock { $0.remove(Key(kind: kind, url: url.rawValue)) }
    }

    /// Returns a file that may be used, even if it is not fresh; nil if its host failed to confirm it.
    private nonisolated func copy(_ key: Key, longest: TimeInterval, now: Date) -> File? {
        cache.withLock { cache in
            cache.files[key].flatMap {
                !$0.hasFailed && now < $0.confirmedAt.addingTimeInterval(longest) ? $0 : nil
            }
        }
    }

    /// Returns a file from the cache, found by its URL as text; nil if a request to its host is necessary.
    nonisolated func fresh(_ kind: Kind, at url: String, isInUse: Bool, now: Date) -> File? {
        fresh(Key(kind: kind, url: url), isInUse: isInUse, isNeededNow: false, now: now)
    }

    private nonisolated func fresh(_ key: Key, isInUse: Bool = false, isNeededNow: Bool, now: Date) -> File? {
        cache.withLock { cache in
            if isInUse { cache.noteUse(of: key) }
            return cache.fresh(key, isNeededNow: isNeededNow, now: now)
        }
    }

    /// Returns one of the requests to a host if no more requests to it can run; nil if another one can.
    private func runningBesides(_ host: String) -> Task<Result<File, ClientDocumentRefusal>, Never>? {
        let others = running.values.filter { $0.host == host }
        return others.count < limits.runningPerHost ? nil : others.first?.task
    }

    private struct Cache {
        let limits: Limits
        var files: [Key: File] = [:]
        var bytes = 0

        init(limits: Limits) { self.limits = limits }

        mutating func noteUse(of key: Key) { files[key]?.isInUse = true }

        mutating func noteFailure(of key: Key) { files[key]?.hasFailed = true }

        mutating func fresh(_ key: Key, isNeededNow: Bool, now: Date) -> File? {
            guard let file = files[key], file.isFresh(at: now) else { return nil }
            guard !isNeededNow || now < file.confirmedAt.addingTimeInterval(renewalInterval) else { return nil }
            files[key]?.usedAt = now
            return file
        }

        mutating func keep(_ file: File, as key: Key) {
            remove(key)
            files[key] = file
            bytes += file.size
            while files.count > limits.files || bytes > limits.bytes,
                let oldest = files.min(by: { $0.value.isKeptLess(than: $1.value) })
            {
                remove(oldest.key)
            }
        }

        mutating func remove(_ key: Key) { bytes -= files.removeValue(forKey: key)?.size ?? 0 }
    }
}

extension ClientFiles {
    /// Decides what a fetched response means beside the copy in the cache.
    private static func judge(
        _ fetch: ClientFileFetch, to request: ClientFileRequest, beside known: File?, isInUse: Bool,
        longest: TimeInterval, now: Date, reading read: Reader
    ) -> Result<File, ClientDocumentRefusal> {
        let response: Response
        switch fetch {
        case .failed(.busy): return .failure(.busy)
        case .failed(let failure): return .failure(.notFetched(failure))
        case .answered(let answer): response = answer
        }
        // RFC 9111 §4.3.4: the fields of the response replace those of the copy.
        let age = response.cacheControl.map { min(max(Self.age(of: $0), shortestAge), longest) }
        if response.status == 304, var known {
            known.age = age ?? known.age
            known.confirmedAt = now
            known.usedAt = now
            known.isInUse = known.isInUse || isInUse
            known.hasFailed = false
            return .success(known)
        }
        guard response.status == 200 else { return .failure(.status(response.status)) }
        guard response.body.count <= request.byteLimit else { return .failure(.notFetched(.tooLarge)) }
        let kept = Response(
            status: response.status, contentType: response.contentType.flatMap { short($0) },
            entityTag: response.entityTag.flatMap { validTag($0) }, body: response.body)
        do {
            return .success(
                File(
                    body: kept.body, contentType: kept.contentType, content: try read(kept), entityTag: kept.entityTag,
                    age: age ?? min(shortestAge, longest), confirmedAt: now, usedAt: now,
                    isInUse: isInUse || known?.isInUse == true))
        } catch { return .failure(error) }
    }

    /// Returns `max-age` of `Cache-Control` in seconds (RFC 9111 §5.2.2.1); 0 if there is none, or if the response must
    /// not be stored or used without revalidation.
    private static func age(of cacheControl: String) -> TimeInterval {
        let directives = cacheControl.lowercased().split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard !directives.contains("no-store"), !directives.contains("no-cache") else { return 0 }
        return directives.lazy.compactMap { directive in
            guard directive.hasPrefix("max-age=") else { return nil }
            return Int(directive.dropFirst("max-age=".count).trimmingCharacters(in: ["\""])).map(TimeInterval.init)
        }.first ?? 0
    }

    /// The maximum length of a header field of a cached file, in bytes.
    private static let fieldLimit = 256

    private static func short(_ field: String) -> String? { field.utf8.count <= fieldLimit ? field : nil }

    /// Returns an entity tag that can be sent in a request; nil if it is too long or malformed (RFC 9110 §8.8.3).
    private static func validTag(_ tag: String) -> String? {
        let opaque = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
        guard opaque.utf8.count >= 2, opaque.utf8.first == UInt8(ascii: "\""),
            opaque.utf8.last == UInt8(ascii: "\""),
            opaque.utf8.dropFirst().dropLast().allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") })
        else { return nil }
        return short(tag)
    }
}
