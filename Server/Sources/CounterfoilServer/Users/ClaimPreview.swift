package import CounterfoilProtocol
package import CounterfoilStore
@_spi(Counterfoil) package import CounterfoilTokens
import Foundation

/// The claims about a user that a client would get now, without a signature.
///
/// Claims that an authorization request names individually are not in it, because they depend on the request.
package struct ClaimPreview: Sendable, Hashable {
    /// The scope: what the user has allowed the client or, without a consent, every scope of the client.
    package let scope: Scope
    /// Whether the user has allowed the client something.
    package let isAllowed: Bool
    /// The claims in an ID token; nil without the scope `openid`.
    package let idToken: [String: JSONValue]?
    /// The claims in an access token with the whole scope.
    package let accessToken: [String: JSONValue]
    /// The response of UserInfo; nil without the scope `openid`.
    package let userInfo: [String: JSONValue]?
}

/// The previews of the claims that clients get, by the rules of the tokens themselves (``ClaimRelease``).
package struct ClaimPreviews: Sendable {
    let settings: ServerSettings
    let registry: CachedRegistry
    let store: any ConsentStore & UserAttributeStore
    let subjects: SubjectIdentifiers

    /// Returns the claims that a client would get about a user.
    package func preview(of user: User, at client: RegisteredClient) async throws -> ClaimPreview {
        let registry = try await registry.atArrival()
        let consent = try await store.consent(of: user.id, to: client.id)
        let scope = try await registry.permitted(
            consent?.scope.intersection(client.scope) ?? client.scope, to: client, settings)
        let release = ClaimRelease(
            scopes: try await registry.scopeClaims(), requested: RequestedClaims(), scope: scope, accessScope: scope,
            claimScope: Scope(), putsUserClaimsInIDToken: client.policy.putsUserClaimsInIDToken)
        let tokens = try await store.tokenClaims(about: user, by: release)
        let userInfo = try await store.claims(in: .userInfo, about: user, by: release)
        let subject = subjects.subject(for: user.id, client: client)
        func members(_ claims: UserClaims) throws -> [String: JSONValue] {
            try JSONReader.object(try claims.encoded(subject: subject))
        }
        let isSignIn = scope.contains(.openID)
        return ClaimPreview(
            scope: scope, isAllowed: consent != nil, idToken: isSignIn ? try members(tokens.idToken) : nil,
            accessToken: try members(tokens.accessToken), userInfo: isSignIn ? try members(userInfo) : nil)
    }
}

extension ClaimPreview {
    /// Returns claims as JSON with one claim on each line.
    package static func text(_ claims: [String: JSONValue]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(claims), as: UTF8.self)
    }
}

extension ServerComponents {
    /// The previews of claims for administrators.
    package var claimPreviews: ClaimPreviews {
        ClaimPreviews(settings: settings, registry: registry, store: store, subjects: subjects)
    }
}
