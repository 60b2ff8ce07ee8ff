package import CounterfoilProtocol
import HTTPTypes

/// A copy of an authorization request that the client sends itself, to see whether the server rejects it at once.
///
/// A server that does not know the client or the redirect URI must not redirect to it (RFC 6749 §4.1.2.1), so the
/// client learns of this only from an error page. The response is never used as an authorization response.
struct AuthorizationProbe: Sendable {
    let url: String
    let redirectURI: RedirectURI
    let transport: any HTTPTransport

    /// Sends the request; returns the reason if the response is an error page, and nil otherwise.
    ///
    /// The status must be 400, 401 or 404: other errors can come from a firewall or from a server that fails.
    func rejection() async -> String? {
        guard let endpoint = try? EndpointURL(url),
            let response = try? await transport.send(
                TransportRequest(endpoint, headerFields: [.accept: "text/html"], timeout: .seconds(10)))
        else { return nil }
        switch AuthorizationPage(response, redirectURI: redirectURI) {
        case .page(let status) where [400, 401, 404].contains(status):
            return "\(endpoint.origin) responds with an error page (status \(status)): the client or the redirect URI"
                + " \(redirectURI) is probably not registered"
        case .errorPage(let error):
            return
                "\(endpoint.origin) redirects to an error page (\(error)): the client or the redirect URI \(redirectURI) is"
                + " probably not registered"
        case .page, .otherPage, .callback: return nil
        }
    }
}

/// The kind of a response to an authorization request.
package enum AuthorizationPage: Sendable {
    /// A response without a redirect, with its status.
    case page(Int)
    /// A redirect to another page of the server, with the `error` in its URL.
    case errorPage(String)
    /// A redirect to another page of the server, such as the sign-in page.
    case otherPage(String)
    /// A redirect to the redirect URI of the request.
    case callback(AuthorizationCallback)

    /// Determines the kind of a response.
    package init(_ response: TransportResponse, redirectURI: RedirectURI) {
        guard (300..<400).contains(response.statusCode), let location = response.head.headerFields[.location] else {
            self = .page(response.statusCode)
            return
        }
        let halves = location.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let parameters = halves.count == 2 ? try? FormParameters(parsing: String(halves[1])) : nil
        if let parameters, halves[0] == redirectURI.rawValue.prefix(while: { $0 != "?" }) {
            self = .callback(AuthorizationCallback(at: redirectURI, parameters: parameters))
        } else if let error = parameters?.all("error").first, !error.isEmpty {
            self = .errorPage(String(error.prefix(60)).strippingControlCharacters)
        } else {
            self = .otherPage(location)
        }
    }
}
