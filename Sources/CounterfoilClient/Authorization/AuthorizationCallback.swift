public import CounterfoilProtocol

/// What arrived at a redirect URI; nothing about it is trusted yet.
public struct AuthorizationCallback: Sendable {
    /// The redirect URI at which it arrived.
    public let redirectURI: RedirectURI
    /// The parameters of its query, decoded.
    public let parameters: FormParameters

    /// A callback that a receiver took.
    public init(at redirectURI: RedirectURI, parameters: FormParameters) {
        self.redirectURI = redirectURI
        self.parameters = parameters
    }

    /// Why a callback is not the answer to a sign-in.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// It arrived somewhere else than where the answer was sent.
        case wrongRedirectURI
        /// `state` is missing, repeated or another one (RFC 6749 §10.12).
        case wrongState
        /// `iss` names another issuer (RFC 9207 §2.4).
        case wrongIssuer
        /// `iss` is missing, though the server says that it always sends it (RFC 9207 §2.4).
        case missingIssuer
        /// It names a server for the code that the vendor's profile does not list.
        case foreignServer
        /// The parameters are not an authorization response.
        case malformed(AuthorizationResponse.Refusal)

        /// What happened, safe to show.
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
