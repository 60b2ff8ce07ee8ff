public import CounterfoilProtocol
public import CounterfoilServer

/// Fetches the association files of Apple and Android apps from hosts that developers have named, on port 443 only.
public struct AssociationFileFetcher: AssociationFetcher {
    private let client: OutboundClient

    /// Creates a fetcher that sends its requests with an outbound client.
    public init(_ client: OutboundClient) { self.client = client }

    /// Fetches the file at an https URL.
    public func fetch(_ url: AbsoluteURI) async -> AssociationFetch {
        guard url.port == nil || url.port == 443 else { return .failed(.unsuitableURL) }
        do {
            let response = try await client.get(
                url, accepting: "application/json", upTo: AssociationCheck.byteLimit, for: url.host ?? "")
            return .answered(status: response.status, contentType: response.contentType, body: response.body)
        } catch {
            return .failed(error)
        }
    }
}
