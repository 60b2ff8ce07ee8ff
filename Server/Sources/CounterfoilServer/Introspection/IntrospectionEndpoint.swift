@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// The endpoint `/oauth2/introspect` (RFC 7662), for POST with a form.
///
/// The response is JSON or, if the caller accepts it, a signed JWT (RFC 9701).
struct IntrospectionEndpoint: Sendable {
    let settings: ServerSettings
    let callers: IntrospectionAuthenticator
    let registry: CachedRegistry
    let store: any GrantStore & UserAttributeStore
    let accessTokens: VerifiedTokenCache
    let keys: any SigningKeys
    let wallClock: @Sendable () -> Date

    var handlers: [EndpointHandler] { [EndpointHandler(.introspection, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try request.form()
        // The caller is authenticated first. Without authentication, it does not even learn that its request is
        // malformed.
        let caller = try await callers.authenticate(request, form: form, now: now)
        let answer = try await ClientRequestError.attributing(to: caller.clientID) {
            try await self.answer(about: try AnyToken(parsing: form), to: caller)
        }
        guard request.accepts(TokenType.introspectionResponse) else { return Reply(.ok, .json(try answer.encoded())) }
        return Reply(
            .ok, .signed(try signed(answer, for: caller, in: request.context.span), type: .introspectionResponse))
    }

    /// The response about a token, and the claims about its user.
    private struct Answer {
        let response: IntrospectionResponse
        var user = UserClaims()

        func encoded() throws -> [UInt8] {
            var writer = JSONWriter(reservingCapacity: 1024)
            try writer.object { writer in try write(to: &writer) }
            return writer.bytes
        }

        func write(to writer: inout JSONWriter) throws {
            response.writeMembers(to: &writer)
            try writer.claims(user)
        }
    }

    /// Returns the response about a token.
    ///
    /// RFC 7662 §4: the token must be genuine, current, not revoked and visible to the caller. If any of this
    /// is not the case, the response is only `active: false`.
    private func answer(about token: AnyToken, to caller: IntrospectionCaller) async throws -> Answer {
        guard let issued = try? accessTokens.verify(token, keys: keys.publicKeys), issued.isCurrent(at: wallClock()),
            let view = View(of: issued.claims, for: caller),
            let standing = try await TokenStanding(of: issued.claims, in: store, registry)
        else { return Answer(response: .inactive) }
        let claims = issued.claims
        let scope = view.scope.intersection(standing.scope)
        let response = IntrospectionResponse.active(
            IntrospectionResponse.ActiveToken(
                issuer: claims.issuer,
                subject: claims.subject,
                audience: view.audience,
                clientID: claims.clientID,
                username: standing.username,
                scope: scope,
                expires: claims.expires,
                issuedAt: claims.issuedAt,
                tokenID: claims.tokenID,
                authTime: claims.authTime,
                authenticationContext: claims.authenticationContext,
                authenticationMethods: claims.authenticationMethods,
                keyThumbprint: claims.keyThumbprint
            ))
        guard case .user(let facts) = standing.subject else { return Answer(response: response) }
        let registry = try await registry.atArrival()
        let scopes = try await registry.scopeClaims()
        let released = try await registry.releasable(scope, to: claims.clientID, by: scopes, settings)
        let release = ClaimRelease(
            scopes: scopes, requested: RequestedClaims(), scope: released, accessScope: released, claimScope: Scope())
        return Answer(
            response: response, user: try await store.claims(in: .accessToken, about: facts.user, by: release))
    }

    /// The part of a token that a caller may see.
    private struct View {
        let audience: [String]
        let scope: Scope

        /// Returns nil if the caller may not see the token.
        init?(of claims: AccessTokenClaims, for caller: IntrospectionCaller) {
            switch caller {
            case .resource(let api):
                guard let name = claims.audience(equalTo: api.resource.rawValue) else { return nil }
                audience = [name]
                scope = claims.scope.intersection(api.scope)
            case .client(let client):
                guard claims.clientID == client.id else { return nil }
                audience = claims.audience
                scope = claims.scope
            }
        }
    }

    /// Returns the response as a signed JWT.
    ///
    /// RFC 9701 §5: only `iss`, `aud` and `iat` are at the top level. All claims of the token are inside
    /// `token_introspection`, so that the JWT cannot be mistaken for an access token.
    private func signed(
        _ answer: Answer, for caller: IntrospectionCaller, in span: (any TraceSpan)?
    ) throws -> String {
        guard let key = keys.key(for: .es256) else { throw TokenIssuer.KeyMissing(algorithm: .es256) }
        var writer = JSONWriter(reservingCapacity: 1024)
        try writer.object { writer in
            writer.member("iss", settings.issuer.rawValue)
            writer.member("aud", caller.clientID.rawValue)
            writer.member("iat", Int64(wallClock().timeIntervalSince1970))
            try writer.member("token_introspection", object: { writer in try answer.write(to: &writer) })
        }
        return try span.during(.signature) { try key.sign(json: writer.bytes, type: .introspectionResponse) }
    }
}

extension IncomingRequest {
    /// Returns true if the request explicitly accepts a media type (RFC 9110 §12.5.1).
    fileprivate func accepts(_ type: TokenType) -> Bool {
        // A field without `+` cannot contain the media type. Most requests have only such fields, which are not
        // parsed.
        head.headerFields[values: .accept].lazy.filter { $0.utf8.contains(UInt8(ascii: "+")) }
            .flatMap { $0.split(separator: ",") }.contains { range in
                let parts = range.lowercased().split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
                return parts.first == "application/\(type)"
                    && !parts.dropFirst().contains { $0.wholeMatch(of: /q=0(\.0*)?/) != nil }
            }
    }
}
