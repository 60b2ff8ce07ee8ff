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
            case .wrongRedirectURI: "the answer arrived at another address than the one that was named"
            case .wrongState: "the answer does not belong to this sign-in (its state is another one)"
            case .wrongIssuer: "the answer comes from another server than the one that was asked"
            case .missingIssuer: "the answer does not name its server, though this server says that it always does"
            case .foreignServer: "the answer names a server for the code that is not one of this vendor's"
            case .malformed(let refusal): "\(refusal)"
            }
        }
    }
}
