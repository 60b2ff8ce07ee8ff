import CounterfoilClient
import CounterfoilProtocol
import CounterfoilTokens
import HTTPTypes

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The check of an API's response to a request without a token (RFC 6750 §3, RFC 9728 §5).
extension Examination {
    /// Checks the API; returns the first authorization server that the metadata of the API name, if any.
    mutating func resource(_ address: String) async -> Issuer? {
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(address) } catch {
            fault("api-unusable", "the API cannot be used: \(error)", mend: "pass its https URL", status: .usage)
            return nil
        }
        guard let response = await ask(endpoint, as: "API") else { return nil }
        switch response.statusCode {
        case 300..<400:
            fault(
                "api-redirects", "the API responds with a redirect, along which no token is sent",
                mend: "pass the URL to which it redirects")
            return nil
        case 401: challenge(of: response)
        case 200..<300: advise("api-open", "the API responds without a token")
        case 429, 500..<600:
            fault(
                "busy", "the API failed or is overloaded (status \(response.statusCode))", mend: "try again later",
                status: .unavailable)
            return nil
        default:
            advise(
                "api-status", "the API responds to a request without a token with the status \(response.statusCode)",
                mend: "respond with 401 and a WWW-Authenticate field (RFC 6750 §3)")
        }
        return await metadata(of: address)
    }

    private mutating func challenge(of response: TransportResponse) {
        let fields = response.head.headerFields[values: .wwwAuthenticate]
        let challenges = fields.flatMap(AuthenticationChallenge.list)
        if challenges.contains(where: { ["bearer", "dpop"].contains($0.scheme) }) {
            sound("challenge", "the API demands a token correctly")
        } else {
            fault(
                "challenge-unreadable",
                fields.isEmpty
                    ? "the API rejects the request without a WWW-Authenticate field"
                    : "the WWW-Authenticate field of the API cannot be parsed",
                mend: "send Bearer with quoted parameters (RFC 6750 §3, RFC 9110 §11.6.1)")
        }
        if case .object? = Self.members(response)?["error"] {
            advise("api-error-object", "the API reports errors in objects of its own and not as OAuth errors")
        }
    }

    private mutating func metadata(of address: String) async -> Issuer? {
        do throws(SignInError) {
            let found = try await ResourceDiscovery(transport: transport).metadata(of: address)
            let server = found.authorizationServers.first
            sound("resource", "the API names the server for its tokens: \(server.map { "\($0)" } ?? "none")")
            if let named = server, let given = subject.issuer, !found.authorizationServers.contains(given) {
                fault(
                    "resource-other-server", "the API accepts tokens of \(named), and not of \(given)",
                    mend: "sign in at the server that the API names")
            }
            return server
        } catch {
            switch error {
            case .unsafe(.resource(let refusal)): resource(refusal)
            case .unusable:
                advise(
                    "resource-metadata-missing", "the API does not name its authorization server",
                    mend: "publish its metadata (RFC 9728 §3)")
            default:
                fault(
                    "resource-metadata-unreadable", "\(error)", mend: "check the log of the API",
                    status: Failure(error).status)
            }
            return nil
        }
    }

    private mutating func resource(_ refusal: ResourceDiscovery.Refusal) {
        switch refusal {
        case .otherResource:
            fault(
                "resource-mismatch", "\(refusal)",
                mend: "set resource to exactly the URL that is called (RFC 9728 §3.3)")
        case .badURL, .foreignLoopback:
            fault(
                "resource-metadata-address", "\(refusal)",
                mend: "publish an https URL that can be reached from other hosts")
        case .unreadable, .noServer:
            fault(
                "resource-metadata-unreadable", "\(refusal)", mend: "serve JSON as in RFC 9728 §2")
        }
    }
}
