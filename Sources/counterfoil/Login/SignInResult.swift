import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// The result of a sign-in, without the tokens: as JSON, and as sentences.
struct SignInResult: Encodable {
    private let profile: String
    private let issuer: String
    private let client_id: String
    private let scope: String
    /// The requested scope tokens that the access token does not have; nil if there are none.
    ///
    /// Those of OpenID Connect are not among them if the access token is only for an API.
    private let missing_scope: String?
    private let subject: String?
    private let expires_at: Date?
    /// Whether the access token can be renewed without the user.
    private let refreshable: Bool

    /// The messages for the user before the result.
    let messages: [String]
    /// The result as a sentence.
    let line: String

    private enum CodingKeys: CodingKey {
        case profile, issuer, client_id, scope, missing_scope, subject, expires_at, refreshable
    }

    /// The scopes of OpenID Connect Core §5.4, which no API has.
    private static let openIDScopes = Scope(
        ["openid", "profile", "email", "address", "phone"].compactMap { Scope.Token($0) })

    /// - Parameter former: The credentials that the profile contained before.
    init(_ credentials: Credentials, requested: Scope, profile: ProfileName, replacing former: Credentials?) {
        self.profile = profile.rawValue
        issuer = credentials.issuer.rawValue
        client_id = credentials.clientID.rawValue
        scope = credentials.scope.description
        subject = credentials.user?.subject
        expires_at = credentials.expires
        refreshable = credentials.refreshToken != nil || credentials.isOfService
        // An ID token without openid in the scope of the response: the response states what the access token permits at
        // its API, and not what the user granted.
        let isForAPIAlone = credentials.user != nil && !credentials.scope.contains(.openID)
        // A refresh token tells more about offline_access than the scope in the response.
        let missing = requested.tokens.filter {
            $0 != .offlineAccess && !credentials.scope.contains($0)
                && !(isForAPIAlone && Self.openIDScopes.contains($0))
        }
        missing_scope = missing.isEmpty ? nil : Scope(missing).description

        let end = credentials.expires?.formatted(.iso8601)
        var messages: [String] = []
        if let former, former.issuer != credentials.issuer || former.user?.subject != credentials.user?.subject {
            let who = former.user.map { "\($0.shown) at " } ?? ""
            messages.append("This replaces the sign-in of \(who)\(former.issuer) under the profile \(profile).")
        }
        if let missing_scope {
            messages.append(Self.message(onMissing: missing_scope, in: credentials))
        }
        if !refreshable {
            let ends = end.map { "ends at \($0)" } ?? "ends with the access token"
            messages.append(
                requested.contains(.offlineAccess)
                    ? "The server issued no refresh token although offline_access was requested, so the sign-in \(ends)."
                    : "The server issued no refresh token, so the sign-in \(ends). Some servers issue one for --scope "
                        + "offline_access.")
        }
        self.messages = messages

        let who =
            credentials.isOfService
            ? " as the service \(client_id)" : credentials.user.map { " as \($0.shown)" } ?? ""
        line = "Signed in at \(issuer)\(who)." + (end.map { " The access token expires at \($0)." } ?? "")
    }
}

extension SignInResult {
    /// Returns the message on requested scope tokens that the access token does not have.
    private static func message(onMissing scope: String, in credentials: Credentials) -> String {
        guard credentials.resources.isEmpty else {
            let apis = credentials.resources.map(\.rawValue).joined(separator: ", ")
            return "The access token for \(apis) does not have the scope \(scope). Sign in again and allow it, or name "
                + "the API of the scope with --resource."
        }
        let audience = UnverifiedClaims(credentials.accessToken.exposed)?.audience ?? []
        let issuer = credentials.issuer.rawValue
        guard !audience.allSatisfy({ $0 == issuer }) else {
            return "The server did not grant the scope \(scope). Sign in again and allow it, or ask the operator of "
                + "the server."
        }
        // The server chose an API by the scope. It leaves out a scope that is not registered for this API, and the user
        // can have left out an optional one.
        return "The access token for \(audience.joined(separator: ", ")) does not have the scope \(scope). Sign in "
            + "again and allow it. If the server does not ask for it, the scope is not registered for this API; name its API "
            + "with --resource, or ask the operator of the server."
    }
}

extension Credentials.User {
    /// The name, else the email address, else the subject.
    fileprivate var shown: String { name ?? email ?? subject }
}
