public import CounterfoilProtocol

/// The parameters that arrived at a redirect URI and that are not validated yet.
public struct AuthorizationCallback: Sendable {
    /// The redirect URI at which the callback arrived; a loopback redirect URI contains the port in use.
    public let redirectURI: RedirectURI
    /// The decoded parameters of the query, such as `code`, `state` and `error`.
    public let parameters: FormParameters

    /// Creates a callback for a custom receiver, from a redirect URI and the decoded query parameters.
    public init(at redirectURI: RedirectURI, parameters: FormParameters) {
        self.redirectURI = redirectURI
        self.parameters = parameters
    }

    /// The reason why a callback is not a valid response to a sign-in.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The callback arrived at a URL other than the redirect URI of the request.
        case wrongRedirectURI
        /// `state` is missing, repeated or different from that of the request (RFC 6749 §10.12).
        case wrongState
        /// `iss` names another issuer (RFC 9207 §2.4).
        case wrongIssuer
        /// `iss` is missing, although the server's metadata promise it in every response (RFC 9207 §2.4).
        case missingIssuer
        /// A vendor-specific parameter tells the client to redeem the code at a server that the vendor profile does not
        /// list.
        case foreignServer
        /// The parameters are not a valid authorization response (RFC 6749 §4.1.2).
        case malformed(AuthorizationResponse.Refusal)

        /// A description that is safe to show to users.
        public var description: String {
            switch self {
            case .wrongRedirectURI: "the response arrived at a URL other than the redirect URI"
            case .wrongState: "the response does not belong to this sign-in (wrong state)"
            case .wrongIssuer: "the response comes from a server other than the requested one (wrong iss)"
            case .missingIssuer: "the response lacks iss, although the metadata of the server promises it"
            case .foreignServer: "the response names a server for the code that does not belong to this vendor"
            case .malformed(let refusal): "\(refusal)"
            }
        }
    }
}
