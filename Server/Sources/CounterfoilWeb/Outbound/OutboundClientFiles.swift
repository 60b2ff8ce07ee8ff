import CounterfoilProtocol
public import CounterfoilServer
public import CounterfoilStore

/// Fetches the documents, keys and logos that clients publish.
///
/// A stranger can name the hosts, so requests go through ``OutboundClient``, which protects against server-side request
/// forgery (SSRF). The private networks of its rules are open only to the hosts that the owner has named.
public struct OutboundClientFiles: ClientFileFetcher {
    /// The client for the hosts that the owner has named.
    private let named: OutboundClient
    /// The client for all other hosts, which reaches no private network.
    private let others: OutboundClient

    /// Creates a fetcher that follows the rules of the operator.
    public init(_ rules: OutboundRules = .standard) {
        self.init(
            named: OutboundClient(rules),
            others: OutboundClient(OutboundRules(networks: .none, authorities: rules.authorities)))
    }

    /// Creates a fetcher with separate clients for the hosts that the owner has named, and for all others.
    package init(named: OutboundClient, others: OutboundClient) {
        self.named = named
        self.others = others
    }

    /// Fetches a file without redirects; the host counts as the party whose lookups are limited together.
    public func fetch(_ file: ClientFileRequest, for request: RequestContext?) async -> ClientFileFetch {
        do {
            let response = try await (file.isOfNamedHost ? named : others).get(
                file.url, accepting: file.accepting, upTo: file.byteLimit, unless: file.entityTag,
                for: file.url.host?.lowercased() ?? "", in: request?.span)
            return .answered(
                .init(
                    status: response.status, contentType: response.contentType, entityTag: response.entityTag,
                    cacheControl: response.cacheControl, body: response.body))
        } catch {
            return .failed(error)
        }
    }
}
