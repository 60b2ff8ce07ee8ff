import CounterfoilProtocol
public import CounterfoilServer

/// Fetches the documents, keys and logos that clients publish.
///
/// A stranger can name the hosts, so requests go through ``OutboundClient``, which protects against server-side request
/// forgery (SSRF).
public struct OutboundClientFiles: ClientFileFetcher {
    private let client: OutboundClient

    /// Creates a fetcher that sends its requests with an outbound client.
    public init(_ client: OutboundClient) { self.client = client }

    /// Fetches a file without redirects; the host counts as the party whose lookups are limited together.
    public func fetch(_ request: ClientFileRequest) async -> ClientFileFetch {
        do {
            let response = try await client.get(
                request.url, accepting: request.accepting, upTo: request.byteLimit, unless: request.entityTag,
                for: request.url.host?.lowercased() ?? "")
            return .answered(
                .init(
                    status: response.status, contentType: response.contentType, entityTag: response.entityTag,
                    cacheControl: response.cacheControl, body: response.body))
        } catch {
            return .failed(error)
        }
    }
}
