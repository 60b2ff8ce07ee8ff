public import CounterfoilProtocol
public import CounterfoilServer
public import CounterfoilStore

/// Fetches association files (`apple-app-site-association` and `assetlinks.json`), on port 443 only.
///
/// Developers choose the hosts, so requests go through ``OutboundClient``, which protects against server-side request
/// forgery (SSRF).
public struct AssociationFileFetcher: AssociationFetcher {
    private let client: OutboundClient

    /// Creates a fetcher that sends its requests with an outbound client.
    public init(_ client: OutboundClient) { self.client = client }

    /// Fetches the file at an https URL, at most `AssociationCheck.byteLimit` bytes and without redirects.
    public func fetch(_ url: AbsoluteURI, for request: RequestContext?) async -> AssociationFetch {
        guard url.port == nil || url.port == 443 else { return .failed(.unsuitableURL) }
        do {
            let response = try await client.get(
                url, accepting: "application/json", upTo: AssociationCheck.byteLimit, for: url.host ?? "",
                in: request?.span)
            return .answered(status: response.status, contentType: response.contentType, body: response.body)
        } catch {
            return .failed(error)
        }
    }
}
