/// The claims that an application asks for one by one.
///
/// Wire name `claims`, OpenID Connect Core §5.5. Only names are kept: whether a claim is essential changes nothing here, and a
/// claim that nobody has is left out.
public struct RequestedClaims: Sendable, Hashable {
    /// The most claims of each place.
    public static let limit = 64

    /// Those to be in the ID token.
    public var idToken: Set<String>
    /// Those to be in the answer of the UserInfo endpoint.
    public var userInfo: Set<String>

    /// Claims by name; none unless given.
    public init(idToken: Set<String> = [], userInfo: Set<String> = []) {
        self.idToken = idToken
        self.userInfo = userInfo
    }

    /// Whether none is asked for.
    public var isEmpty: Bool { idToken.isEmpty && userInfo.isEmpty }
}
