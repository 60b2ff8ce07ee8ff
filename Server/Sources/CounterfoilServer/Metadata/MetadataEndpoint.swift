@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// The endpoint for the server metadata, with the same response at both well-known URLs (RFC 8414 §3, OpenID
/// Connect Discovery §4).
///
/// This type also serves the key set (JWKS).
struct MetadataEndpoint: Sendable {
    private let document: MetadataDocument
    private let registry: CachedRegistry
    private let keys: KeyRing
    private let cache: MetadataCache

    init(
        settings: ServerSettings, registry: CachedRegistry, keys: KeyRing, fetchesDocuments: Bool, cache: MetadataCache
    ) {
        document = MetadataDocument(settings: settings, fetchesDocuments: fetchesDocuments)
        self.registry = registry
        self.keys = keys
        self.cache = cache
    }

    var handlers: [EndpointHandler] {
        [
            EndpointHandler(.metadata) { _, _ in try await respond() },
            EndpointHandler(.keySet) { [keys] _, _ in
                Reply(.ok, .json(keys.publicKeys.encoded()), fields: [.cacheControl: "public, max-age=300"])
            },
        ]
    }

    private func respond() async throws -> Reply {
        Reply(.ok, .json(try await body()), fields: [.cacheControl: "public, max-age=300"])
    }

    private func body() async throws -> [UInt8] {
        let known = cache.last.withLock { $0 }
        let facts = await facts() ?? known?.facts ?? MetadataDocument.Facts()
        if let known, known.facts == facts { return known.body }
        let answer = MetadataCache.Answer(facts: facts, body: try document.metadata(facts).encoded())
        cache.last.withLock { $0 = answer }
        return answer.body
    }

    /// Reads the facts in the registry; returns nil if the store failed.
    ///
    /// After a failure, `body` uses the facts that were read last, so that clients still get the rest of the metadata.
    private func facts() async -> MetadataDocument.Facts? {
        guard let registry = try? await registry.atArrival() else { return nil }
        return try? await document.facts(of: registry)
    }
}

/// The metadata document of the last request, which is used again while the settings and the facts are the same.
final class MetadataCache: Sendable {
    struct Answer {
        let facts: MetadataDocument.Facts
        let body: [UInt8]
    }

    let last = Mutex<Answer?>(nil)
}
