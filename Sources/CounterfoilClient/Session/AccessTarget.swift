public import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// The part of a sign-in for which an access token is requested: some of its APIs, some of its scope, or both.
///
///     let photos = try AccessTarget(resource: "https://photos.example.com", scope: "photos.read")
///     let response = try await session.get("https://photos.example.com/photos", for: photos)
///
/// An API that receives the access token of a whole sign-in can use it at the other APIs of that sign-in. A token for
/// one API is worthless at the others (RFC 8707 §2.2). The server decides whether it narrows a token, and an access
/// token shows its limits only if it is a JWT or if the response names its scope. A token that is certainly for more
/// than its target is not used (``Excess``). See ``TokenSession/credentials(for:)``.
public struct AccessTarget: Sendable, Hashable {
    /// `resource`: the APIs for which the token is; empty for all APIs of the sign-in (RFC 8707 §2.2).
    public let resources: Set<Resource>
    /// `scope`: the scope of the token; nil for the whole scope that the user granted for the APIs (RFC 6749 §6).
    public let scope: Scope?

    /// Creates a target; without arguments, it is the whole sign-in.
    public init(resources: Set<Resource> = [], scope: Scope? = nil) {
        self.resources = resources
        self.scope = scope
    }

    /// Creates a target from strings; throws ``SignInError/unusable(_:)`` if one of them is invalid.
    ///
    /// `resource` is the resource indicator of one API, as at the sign-in. An empty scope is the whole scope that the
    /// user granted for the API.
    public init(resource: String, scope: String = "") throws(SignInError) {
        do { resources = [try Resource(resource)] } catch { throw .unusable("\(error)") }
        do { self.scope = scope.isEmpty ? nil : try Scope(parsing: scope) } catch { throw .unusable("\(error)") }
    }

    /// The reason why a session has no access token for a target.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The sign-in did not name the API; `granted` are the ones that it named.
        case resource(Resource, granted: [Resource])
        /// The scope is not a part of the scope that the user granted (RFC 6749 §6).
        case scope(Scope, granted: Scope)
        /// The sign-in has no refresh token, without which there is no other access token.
        case noRefreshToken
        /// The server refused the target: `invalid_target` (RFC 8707 §2) or `invalid_scope` (RFC 6749 §5.2).
        case server(OAuthError)

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .resource(let resource, let granted):
                "the sign-in is not for the resource \(resource), but for "
                    + (granted.isEmpty ? "no named resource" : granted.map(\.rawValue).joined(separator: ", "))
                    + "; sign in again and name it as a resource"
            case .scope(let scope, let granted):
                "the scope \(scope) is not a part of the granted scope \(granted); sign in again and request it"
            case .noRefreshToken:
                "the sign-in has no refresh token, which an access token for one resource or scope requires; sign in"
                    + " again and request one, usually with the scope offline_access"
            case .server(let error):
                "\(SignInError.refused(error)), so there is no access token for this resource or scope."
                    + " You are still signed in"
            }
        }
    }

    /// The part of a new access token that is certainly more than its target.
    public enum Excess: Hashable, Sendable, CustomStringConvertible {
        /// The scope of the response contains more than was requested (RFC 6749 §5.1).
        case scope(Scope)
        /// The token is a JWT whose `aud` names another API of the sign-in (RFC 9068 §2.2).
        case audience(Resource)

        /// A description that is safe to show to users.
        public var description: String {
            switch self {
            case .scope(let scope):
                "the server did not narrow the access token as requested: its scope is \(scope)"
            case .audience(let resource):
                "the server did not narrow the access token as requested: it is also for \(resource)"
            }
        }
    }
}

extension AccessTarget: Codable {
    private enum CodingKeys: CodingKey {
        case resources
        case scope
    }

    /// Decodes a target from an object with strings.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        resources = Set(try (values.decodeIfPresent([String].self, forKey: .resources) ?? []).map(Resource.init))
        scope = try values.decodeIfPresent(Scope.self, forKey: .scope)
    }

    /// Encodes the target as an object with strings.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        if !resources.isEmpty { try values.encode(resources.map(\.rawValue).sorted(), forKey: .resources) }
        try values.encodeIfPresent(scope, forKey: .scope)
    }
}

extension Credentials {
    /// Returns the target as the key under which its token is cached; nil if it is the whole sign-in.
    ///
    /// Throws the refusal of a target that the sign-in does not contain. If the sign-in named one API only, its access
    /// token is for that API already.
    func narrower(_ target: AccessTarget) throws(AccessTarget.Refusal) -> AccessTarget? {
        // RFC 8707 §2.2: the resources of a refresh must be among those of the grant.
        if let foreign = target.resources.subtracting(resources).min(by: { $0.rawValue < $1.rawValue }) {
            throw .resource(foreign, granted: resources)
        }
        // RFC 6749 §6. The scope of credentials from elsewhere may be unknown.
        if let part = target.scope, !scope.isEmpty, !part.isSubset(of: scope) {
            throw .scope(part, granted: scope)
        }
        let key = AccessTarget(
            resources: target.resources == Set(resources) ? [] : target.resources,
            scope: target.scope == scope ? nil : target.scope)
        return key == AccessTarget() ? nil : key
    }

    /// Returns the resource indicators of a target, in the order and the spelling of the sign-in.
    func resources(of target: AccessTarget?) -> [Resource] {
        guard let target, !target.resources.isEmpty else { return resources }
        return resources.filter(target.resources.contains)
    }

    /// Returns the origins of the APIs of the sign-in for which a token of the target is not.
    func foreignOrigins(of target: AccessTarget?) -> Set<APIOrigin> {
        resources.origins.subtracting(resources(of: target).origins)
    }

    /// Returns the part of the sign-in that concerns a server: the resources with its origin, and a part of the scope.
    ///
    /// Nil if no resource has that origin, and no scope is given.
    package func target(at server: EndpointURL, scope: Scope? = nil) -> AccessTarget? {
        let here = Set(resources.filter { [$0].origins.contains(APIOrigin(of: server)) })
        return here.isEmpty && scope == nil ? nil : AccessTarget(resources: here, scope: scope)
    }

    /// Returns the stored access token for a target; nil if none is stored.
    package func storedToken(for target: AccessTarget?) -> AccessToken? {
        guard let target else { return accessToken }
        return (try? cached(for: narrower(target)))?.accessToken
    }

    /// Throws unless an access token for a target may be sent to a URL.
    package func check(_ endpoint: EndpointURL, for target: AccessTarget?) throws(ResourceClient.Refusal) {
        try check(endpoint, origins: allowedOrigins.subtracting(foreignOrigins(of: target)))
    }

    /// Throws if a new access token is certainly for more than its target.
    ///
    /// RFC 6749 §5.1: the response names the scope if it differs from the requested one. The audience shows only in a
    /// JWT (RFC 9068 §2.2). It may name an API by another identifier than its resource indicator, so only the
    /// indicators of the other APIs of the sign-in count.
    func check(_ issued: Credentials, isOnlyFor target: AccessTarget) throws(SignInError) {
        if let part = target.scope, !issued.scope.isSubset(of: part) {
            throw .unsafe(.accessToken(.scope(issued.scope)))
        }
        guard !target.resources.isEmpty else { return }
        let audience = Set(issued.accessToken.unverifiedAudience.compactMap { try? Resource($0) })
        if let other = resources.first(where: { audience.contains($0) && !target.resources.contains($0) }) {
            throw .unsafe(.accessToken(.audience(other)))
        }
    }
}

extension SignInError {
    /// The refusal of a resource or a scope, which does not concern the refresh token or the client; nil for others.
    ///
    /// RFC 8707 §2 and RFC 6749 §5.2.
    var refusedTarget: OAuthError? {
        guard case .refused(let refusal) = self, refusal.code == .invalidTarget || refusal.code == .invalidScope else {
            return nil
        }
        return refusal
    }

    /// Whether the server issues no token for the part of a sign-in for which it was requested.
    var concernsTarget: Bool { if case .unsafe(.accessToken) = self { true } else { refusedTarget != nil } }
}

extension AccessToken {
    /// `aud` of a JWT, without verification; empty if the token is none, or names no audience.
    fileprivate var unverifiedAudience: [String] {
        let audience = JSONReader.unverifiedClaims(of: exposed)?["aud"]
        return audience?.texts ?? [audience?.text].compactMap(\.self)
    }
}

extension Credentials {
    /// Returns the target as the key of its cached token; nil if it is the whole sign-in.
    func part(_ target: AccessTarget?) throws(SessionError) -> AccessTarget? {
        guard let target else { return nil }
        do { return try narrower(target) } catch { throw .targetRefused(error) }
    }
}
