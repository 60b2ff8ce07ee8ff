import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// `/oauth2/introspect` (RFC 7662): POST with a form, JSON or a signed answer back (RFC 9701).
struct IntrospectionEndpoint: Sendable {
    let issuer: Issuer
    let callers: IntrospectionAuthenticator
    let store: any ClientStore & GrantStore
    let accessTokens: KnownAccessTokens
    let keys: any SigningKeys
    let wallClock: @Sendable () -> Date

    var handlers: [EndpointHandler] { [EndpointHandler(.introspection, respond)] }

    func respond(to request: IncomingRequest, now: Date) async throws -> Reply {
        let form = try request.form()
        // Who may not ask learns nothing, not even what is wrong with the question.
        let caller = try await callers.authenticate(request, form: form, now: now)
        let answer = try await answer(about: try AnyToken(parsing: form), to: caller)
        guard request.accepts(TokenType.introspectionResponse) else { return Reply(.ok, .json(answer.encoded())) }
        return Reply(.ok, .signed(try signed(answer, for: caller), type: .introspectionResponse))
    }

    /// RFC 7662 §4: genuine, within its times, not revoked, and the asker's business; anything else is said in one word.
    private func answer(about token: AnyToken, to caller: IntrospectionCaller) async throws -> IntrospectionResponse {
        guard let issued = try? accessTokens.verify(token, keys: keys.publicKeys), issued.isCurrent(at: wallClock()),
            let view = View(of: issued.claims, for: caller),
            let standing = try await standing(of: issued.claims)
        else { return .inactive }
        let claims = issued.claims
        return .active(
            IntrospectionResponse.ActiveToken(
                issuer: claims.issuer,
                subject: claims.subject,
                audience: view.audience,
                clientID: claims.clientID,
                username: standing.username,
                scope: view.scope.intersection(standing.scope),
                expires: claims.expires,
                issuedAt: claims.issuedAt,
                tokenID: claims.tokenID,
                authTime: claims.authTime,
                authenticationContext: claims.authenticationContext
            ))
    }

    /// What of a token is the asker's business.
    private struct View {
        let audience: [String]
        let scope: Scope

        /// Nil where nothing is.
        init?(of claims: AccessTokenClaims, for caller: IntrospectionCaller) {
            switch caller {
            case .resource(let api):
                let name = api.resource.rawValue
                guard claims.audience.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else { return nil }
                audience = [name]
                scope = claims.scope.intersection(api.scope)
            case .client(let client):
                guard claims.clientID == client.id else { return nil }
                audience = claims.audience
                scope = claims.scope
            }
        }
    }

    /// What still holds of that for which a token was issued.
    private struct Standing {
        /// What the token may still do: a person can have taken some of it back.
        let scope: Scope
        let username: String?
    }

    /// Nil where nothing holds; one read of the store.
    private func standing(of claims: AccessTokenClaims) async throws(StoreFault) -> Standing? {
        guard let id = claims.grantID.flatMap(GrantIdentifier.init) else {
            // RFC 9068 §2.2: an application that acts for itself is its own subject.
            guard claims.subject == claims.clientID.rawValue, let client = try await store.client(claims.clientID),
                !client.approvedMachineScope.isEmpty
            else { return nil }
            return Standing(scope: client.approvedMachineScope, username: nil)
        }
        // A grant goes with its application, so that it answers for that too.
        guard let facts = try await store.grantFacts(id), facts.hold, facts.grant.clientID == claims.clientID
        else { return nil }
        // OpenID Connect Core §8.1: a pairwise name tells nobody who it is, and neither does what stands beside it.
        let isPublic = claims.subject == facts.person.id.rawValue
        return Standing(scope: facts.grant.scope, username: isPublic ? facts.person.username.rawValue : nil)
    }

    /// RFC 9701 §5: by whom, for whom and when beside the answer, and nothing that could make it pass for a token.
    private func signed(_ answer: IntrospectionResponse, for caller: IntrospectionCaller) throws -> String {
        guard let key = keys.key(for: .es256) else { throw TokenIssuer.KeyMissing(algorithm: .es256) }
        var writer = JSONWriter(reservingCapacity: 1024)
        writer.object { writer in
            writer.member("iss", issuer.rawValue)
            writer.member("aud", caller.clientID.rawValue)
            writer.member("iat", Int64(wallClock().timeIntervalSince1970))
            writer.member("token_introspection", object: { writer in answer.writeMembers(to: &writer) })
        }
        return try key.sign(json: writer.bytes, type: .introspectionResponse)
    }
}

extension IncomingRequest {
    /// Whether the sender asks for an answer of a type by its name (RFC 9110 §12.5.1).
    fileprivate func accepts(_ type: TokenType) -> Bool {
        // Nearly nobody asks for one, and then there is nothing to take apart.
        head.headerFields[values: .accept].lazy.filter { $0.utf8.contains(UInt8(ascii: "+")) }
            .flatMap { $0.split(separator: ",") }.contains { range in
                let parts = range.lowercased().split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
                return parts.first == "application/\(type)"
                    && !parts.dropFirst().contains { $0.wholeMatch(of: /q=0(\.0*)?/) != nil }
            }
    }
}
