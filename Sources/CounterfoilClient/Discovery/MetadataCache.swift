import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

/// The metadata documents and key sets of servers, kept in memory for a limited time.
///
/// Without it, each refresh would fetch the metadata and the key set again, and would fail while a server cannot
/// serve its metadata. Entries are kept by issuer. Metadata that have expired stay usable for one more day if the
/// server is unavailable. Key sets do not, because a server removes the keys that it no longer trusts.
package final class MetadataCache: Sendable {
    /// The lifetime of a document whose response has no `Cache-Control`.
    private static let defaultLifetime = Duration.seconds(3600)
    /// The maximum lifetime, whatever `Cache-Control` states.
    private static let longestLifetime = Duration.seconds(86400)
    /// The time for which expired metadata may be used while the server is unavailable.
    private static let staleness = Duration.seconds(86400)
    /// The minimum time between two requests for a key set that lacks a key.
    private static let refetchInterval = Duration.seconds(60)
    private static let shared = MetadataCache()

    private struct Entry<Value: Sendable>: Sendable {
        let value: Value
        let expires: ContinuousClock.Instant
    }

    private struct Key: Hashable {
        let issuer: Issuer
        let forOpenID: Bool
    }

    private struct Contents {
        var metadata: [Key: Entry<AuthorizationServerMetadata>] = [:]
        var metadataURLs: [Key: String] = [:]
        var keys: [String: Entry<JSONWebKeySet>] = [:]
        var refetches: [String: ContinuousClock.Instant] = [:]
    }

    private let contents = Mutex(Contents())
    private let now: @Sendable () -> ContinuousClock.Instant

    package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// Returns the cache of this process for the standard transport; nil for any other transport.
    ///
    /// A custom transport decides by itself which server answers, so its responses must not reach other transports.
    static func ofThisProcess(for transport: any HTTPTransport) -> MetadataCache? {
        #if canImport(Darwin)
            transport is URLSessionTransport ? shared : nil
        #else
            transport is AsyncHTTPClientTransport ? shared : nil
        #endif
    }

    /// Returns the time for which a response may be kept (RFC 9111 §5.2.2); zero if the server forbids it.
    static func lifetime(of response: TransportResponse) -> Duration {
        let directives = response.head.headerFields[values: .cacheControl].flatMap { $0.split(separator: ",") }
            .map { $0.trimmingWhitespace().lowercased() }
        if directives.contains("no-store") || directives.contains("no-cache") { return .zero }
        guard let stated = directives.first(where: { $0.hasPrefix("max-age=") }) else { return defaultLifetime }
        guard let seconds = Int(stated.dropFirst("max-age=".count)) else { return .zero }
        return min(.seconds(max(seconds, 0)), longestLifetime)
    }

    /// Returns metadata that have not expired.
    func metadata(of issuer: Issuer, forOpenID: Bool) -> AuthorizationServerMetadata? {
        entry(of: issuer, forOpenID: forOpenID, late: .zero)
    }

    /// Returns metadata that expired less than a day ago, for a server that is unavailable now.
    func staleMetadata(of issuer: Issuer, forOpenID: Bool) -> AuthorizationServerMetadata? {
        entry(of: issuer, forOpenID: forOpenID, late: Self.staleness)
    }

    private func entry(of issuer: Issuer, forOpenID: Bool, late: Duration) -> AuthorizationServerMetadata? {
        let time = now()
        let entry = contents.withLock { $0.metadata[Key(issuer: issuer, forOpenID: forOpenID)] }
        return entry.flatMap { $0.expires + late > time ? $0.value : nil }
    }

    /// Keeps metadata of an issuer.
    ///
    /// Those of an issuer on this device are not kept, because its port can soon belong to another server.
    func keep(
        _ metadata: AuthorizationServerMetadata, of issuer: Issuer, forOpenID: Bool, for lifetime: Duration
    ) {
        guard !issuer.isLoopback else { return }
        let entry = lifetime > .zero ? Entry(value: metadata, expires: now() + lifetime) : nil
        contents.withLock { $0.metadata.keep(entry, for: Key(issuer: issuer, forOpenID: forOpenID)) }
    }

    /// Returns the URL at which the metadata of an issuer were found last, also after they have expired.
    func metadataURL(of issuer: Issuer, forOpenID: Bool) -> String? {
        contents.withLock { $0.metadataURLs[Key(issuer: issuer, forOpenID: forOpenID)] }
    }

    /// Keeps the URL at which the metadata of an issuer were found, without a time limit; nil deletes it.
    func keep(metadataURL url: String?, of issuer: Issuer, forOpenID: Bool) {
        guard !issuer.isLoopback else { return }
        contents.withLock { $0.metadataURLs.keep(url, for: Key(issuer: issuer, forOpenID: forOpenID)) }
    }

    /// Deletes the metadata of an issuer, because an endpoint is no longer where they say.
    func forget(_ issuer: Issuer) {
        contents.withLock { contents in
            for key in [true, false].map({ Key(issuer: issuer, forOpenID: $0) }) {
                contents.metadata[key] = nil
                contents.metadataURLs[key] = nil
            }
        }
    }

    /// Returns the key set of an issuer, if it has not expired.
    func keys(of issuer: Issuer, at endpoint: EndpointURL) -> JSONWebKeySet? {
        let time = now()
        let entry = contents.withLock { $0.keys[Self.name(issuer, endpoint)] }
        return entry.flatMap { $0.expires > time ? $0.value : nil }
    }

    /// Keeps the key set of an issuer.
    func keep(_ keys: JSONWebKeySet, of issuer: Issuer, at endpoint: EndpointURL, for lifetime: Duration) {
        guard !issuer.isLoopback else { return }
        let entry = lifetime > .zero ? Entry(value: keys, expires: now() + lifetime) : nil
        contents.withLock { $0.keys.keep(entry, for: Self.name(issuer, endpoint)) }
    }

    /// Returns true if a key set that lacks a key may be fetched again now, at most once a minute.
    ///
    /// Otherwise tokens with invented key identifiers would make the client send a request each.
    func mayRefetchKeys(of issuer: Issuer, at endpoint: EndpointURL) -> Bool {
        guard !issuer.isLoopback else { return true }
        let name = Self.name(issuer, endpoint)
        let time = now()
        return contents.withLock { contents in
            if let last = contents.refetches[name], last + Self.refetchInterval > time { return false }
            contents.refetches.keep(time, for: name)
            return true
        }
    }

    private static func name(_ issuer: Issuer, _ endpoint: EndpointURL) -> String { "\(issuer) \(endpoint)" }
}

extension Dictionary {
    /// The maximum number of issuers; if it is reached, the values are deleted before one is added.
    private static var issuerLimit: Int { 64 }

    /// Keeps the value of an issuer; nil deletes it.
    fileprivate mutating func keep(_ value: Value?, for issuer: Key) {
        if value != nil, self[issuer] == nil, count >= Self.issuerLimit { removeAll() }
        self[issuer] = value
    }
}
