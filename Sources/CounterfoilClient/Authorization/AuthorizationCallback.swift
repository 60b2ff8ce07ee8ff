public import CounterfoilProtocol

/// The parameters that arrived at a redirect URI; they are not validated yet.
public struct AuthorizationCallback: Sendable {
    /// The redirect URI at which the callback arrived.
    public let redirectURI: RedirectURI
    /// The decoded parameters of the query.
    public let parameters: FormParameters

    /// Creates a callback that arrived at a redirect URI.
    public init(at redirectURI: RedirectURI, parameters: FormParameters) {
        self.redirectURI = redirectURI
        self.parameters = parameters
    }

    /// The reason why a callback is not a valid response to a sign-in.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The callback arrived at another redirect URI than that of the request.
        case wrongRedirectURI
        /// `state` is missing, repeated or different (RFC 6749 §10.12).
        case wrongState
        /// `iss` names another issuer (RFC 9207 §2.4).
        case wrongIssuer
        /// `iss` is missing, although the server announces that it always sends it (RFC 9207 §2.4).
        case missingIssuer
        /// The callback names a server for the code exchange that the vendor profile does not list.
        case foreignServer
        /// The parameters are not an authorization response.
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
