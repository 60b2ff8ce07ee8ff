import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens

/// The claims about a user that a client gets, in every place.
///
/// ID tokens, access tokens, introspection, UserInfo and the preview of an administrator have their claims from here.
struct ClaimRelease: Sendable {
    /// The maximum size of the owner's claims in one token, in bytes of JSON.
    ///
    /// Base64url makes 4/3 of it, and the rest of an access token has about 1 KiB, so that the token is within the
    /// 8 KiB that common servers accept for a header field.
    static let tokenLimit = 4096

    let scopes: ScopeClaims
    /// The claims that the authorization request names individually (OpenID Connect Core §5.5).
    let requested: RequestedClaims
    /// The scope that the client has, which decides about the ID token.
    let scope: Scope
    /// The scope of the access token, which decides about the access token and UserInfo.
    let accessScope: Scope
    /// The scopes that cover only claims of ``requested``.
    let claimScope: Scope
    /// Whether the ID token has the claims of the scopes `profile` and `email`, as a policy of the client says.
    var putsUserClaimsInIDToken = false

    /// Returns the names of the claims in a place, whether the user has them or not.
    func names(in place: ReleasedClaims.Place) -> Set<String> {
        switch place {
        case .idToken:
            // OpenID Connect Core §5.5: the claims by name that the scope of this token request or `claimScope` covers.
            // If the policy of the client says so, those of the scopes `profile` and `email` are added (§5.4).
            var names = ownNames(in: .idToken)
            if !requested.idToken.isEmpty {
                names.formUnion(requested.idToken.intersection(covered(by: scope.union(claimScope), in: .idToken)))
            }
            if putsUserClaimsInIDToken {
                names.formUnion(UserClaims.names(for: scope.intersection(Scope([.profile, .email]))))
            }
            return names
        case .accessToken: return ownNames(in: .accessToken)
        case .userInfo:
            // OpenID Connect Core §5.4 and §5.5: of the claims that `claimScope` covers, the client gets only those
            // that it requested individually.
            return covered(by: accessScope, in: .userInfo)
                .union(requested.userInfo.intersection(covered(by: claimScope, in: .userInfo)))
        }
    }

    /// Returns true if some of the claims in a place are groups or attributes, which are stored apart from the user.
    func needsAttributes(in place: ReleasedClaims.Place) -> Bool {
        !names(in: place).isSubset(of: UserClaims.all)
    }

    /// Returns the claims in a place.
    ///
    /// - Parameters:
    ///   - place: The place.
    ///   - user: The user.
    ///   - attributes: The groups and attributes of the user.
    ///   - limit: The maximum size of the owner's claims in bytes. A claim beyond it is left out as a whole, the groups
    ///     first, and named in the claim `omitted_claims`.
    func claims(
        in place: ReleasedClaims.Place, about user: User, with attributes: UserAttributes, atMost limit: Int = .max
    ) -> UserClaims {
        let names = names(in: place)
        guard !names.isEmpty else { return UserClaims() }
        var claims = UserClaims(of: user).named(names)
        var (size, omitted) = (0, [String]())
        for (name, value) in attributes.claims where names.contains(name.rawValue) {
            size += name.rawValue.utf8.count + value.json.utf8.count + 4
            if size <= limit {
                claims.values[name.rawValue] = value.claim
            } else {
                omitted.append(name.rawValue)
            }
        }
        if !omitted.isEmpty { claims.values[ClaimName.omitted] = .texts(omitted) }
        return claims
    }

    private func ownNames(in place: ReleasedClaims.Place) -> Set<String> {
        scopes.names(for: place == .idToken ? scope : accessScope, in: place)
    }

    private func covered(by scope: Scope, in place: ReleasedClaims.Place) -> Set<String> {
        UserClaims.names(for: scope).union(scopes.names(for: scope, in: place))
    }
}

extension UserAttributes {
    /// The attributes by name, and then the groups, if there are any.
    fileprivate var claims: [(name: ClaimName, value: AttributeValue)] {
        values.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
            + (groups.isEmpty ? [] : [(name: .groups, value: .texts(groups.sorted().map(\.rawValue)))])
    }
}

/// The claims about a user in the tokens of one response.
struct TokenClaims: Sendable {
    let idToken: UserClaims
    let accessToken: UserClaims
}

extension UserAttributeStore {
    /// Reads the claims about a user for the tokens of one response; reads the groups and attributes only if the client
    /// gets some of them.
    func tokenClaims(about user: User, by release: ClaimRelease) async throws(StoreFault) -> TokenClaims {
        let hasIDToken = release.scope.contains(.openID)
        let needsAttributes =
            release.needsAttributes(in: .accessToken) || hasIDToken && release.needsAttributes(in: .idToken)
        let attributes = needsAttributes ? try await attributes(of: user.id) : UserAttributes()
        func claims(_ place: ReleasedClaims.Place) -> UserClaims {
            release.claims(in: place, about: user, with: attributes, atMost: ClaimRelease.tokenLimit)
        }
        return TokenClaims(idToken: hasIDToken ? claims(.idToken) : UserClaims(), accessToken: claims(.accessToken))
    }

    /// Reads the claims about a user in a place that has no limit of size.
    func claims(
        in place: ReleasedClaims.Place, about user: User, by release: ClaimRelease
    ) async throws(StoreFault) -> UserClaims {
        let attributes = release.needsAttributes(in: place) ? try await attributes(of: user.id) : UserAttributes()
        return release.claims(in: place, about: user, with: attributes)
    }
}
