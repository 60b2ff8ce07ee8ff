import CounterfoilClient
import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// The response of an API to a request without a token (RFC 6750 §3, RFC 9728 §5).
extension Examination {
    /// Checks the API; returns the authorization server that it names, if any.
    mutating func resource(_ address: String) async -> Issuer? {
        let endpoint: EndpointURL
        do { endpoint = try EndpointURL(address) } catch {
            fault("api-unusable", "the API cannot be used: \(error)", mend: "give its https address", status: .usage)
            return nil
        }
        guard let response = await ask(endpoint, as: "API") else { return nil }
        switch response.statusCode {
        case 300..<400:
            fault(
                "api-redirects", "the API answers with a redirect, along which no token is sent",
                mend: "give the address that it leads to")
            return nil
        case 401: challenge(of: response)
        case 200..<300: advise("api-open", "the API answers without a token")
        case 429, 500..<600:
            fault(
                "busy", "the API has trouble (status \(response.statusCode))", mend: "try again later",
                status: .unavailable)
            return nil
        default:
            advise(
                "api-status", "the API answers a request without a token with the status \(response.statusCode)",
                mend: "it should be 401 with a WWW-Authenticate field (RFC 6750 §3)")
        }
        return await metadata(of: address)
    }

    private mutating func challenge(of response: TransportResponse) {
        let fields = response.head.headerFields[values: .wwwAuthenticate]
        let challenges = fields.flatMap(AuthenticationChallenge.list)
        if challenges.contains(where: { ["bearer", "dpop"].contains($0.scheme) }) {
            sound("challenge", "the API asks for a token as it should")
        } else {
            fault(
                "challenge-unreadable",
                fields.isEmpty
                    ? "the API refuses without saying how to ask (no WWW-Authenticate)"
                    : "the API's WWW-Authenticate cannot be read",
                mend: "send Bearer with parameters in quotation marks (RFC 6750 §3, RFC 9110 §11.6.1)")
        }
        if case .object? = Self.members(response)?["error"] {
            advise("api-error-object", "the API's errors are objects of its own, and no OAuth errors")
        }
    }

    private mutating func metadata(of address: String) async -> Issuer? {
        do throws(SignInError) {
            let found = try await ResourceDiscovery(transport: transport).metadata(of: address)
            let server = found.authorizationServers.first
            sound("resource", "the API names the server for its tokens: \(server.map { "\($0)" } ?? "none")")
            if let named = server, let given = subject.issuer, !found.authorizationServers.contains(given) {
                fault(
                    "resource-other-server", "the API takes tokens of \(named), and not of \(given)",
                    mend: "sign in at the server that it names")
            }
            return server
        } catch {
            switch error {
            case .unsafe(.resource(let refusal)): resource(refusal)
            case .unusable:
                advise(
                    "resource-metadata-missing", "the API does not say which server its tokens come from",
                    mend: "publish its metadata (RFC 9728 §3)")
            default:
                fault(
                    "resource-metadata-unreadable", "\(error)", mend: "see the log of the API",
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
                mend: "let resource be exactly the address that is called (RFC 9728 §3.3)")
        case .badAddress, .foreignLoopback:
            fault(
                "resource-metadata-address", "\(refusal)",
                mend: "name an https address that can be reached from outside")
        case .unreadable, .noServer:
            fault(
                "resource-metadata-unreadable", "\(refusal)", mend: "serve the JSON of RFC 9728 §2 there")
        }
    }
}
