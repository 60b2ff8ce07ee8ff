public import CounterfoilProtocol

/// The redirect URI that gets the authorization response, and whether the request named it.
public enum ResponseRedirectURI: Sendable, Hashable {
    /// The `redirect_uri` of the authorization request, including its port.
    case requested(RedirectURI)
    /// The only registered redirect URI, because the request omitted `redirect_uri` (RFC 6749 §3.1.2.3).
    case registered(RedirectURI)

    /// The redirect URI that gets the response, whether the request named it or not.
    public var uri: RedirectURI {
        switch self {
        case .requested(let uri), .registered(let uri): uri
        }
    }

    /// The `redirect_uri` of the authorization request; nil if it was omitted.
    public var requested: RedirectURI? {
        switch self {
        case .requested(let uri): uri
        case .registered: nil
        }
    }

    /// Returns true if the `redirect_uri` of a token request is identical to that of the authorization request,
    /// including the port.
    ///
    /// RFC 6749 §4.1.3: the token request must contain `redirect_uri` if and only if the authorization request did.
    package func matches(_ presented: String?) -> Bool {
        switch (self, presented) {
        case (.requested(let uri), let presented?): presented.utf8.elementsEqual(uri.rawValue.utf8)
        case (.registered, nil): true
        case (.requested, nil), (.registered, _?): false
        }
    }
}
