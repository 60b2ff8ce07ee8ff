import CounterfoilProtocol
import CounterfoilTokens
import Foundation

/// The metadata that a client requests in its registration.
struct ClientRegistrationRequest: Sendable, Hashable {
    /// `client_name`: the name that users see on the consent page.
    var name: String
    /// `redirect_uris`; a loopback URI contains a port only if the server requires one (RFC 8252 §7.3).
    var redirectURIs: [String]
    /// `grant_types`: the grants that the client uses, such as `authorization_code` and `refresh_token`.
    var grantTypes: [String]
    /// `scope`; an empty scope requests the server's default.
    var scope: Scope
    /// The private key whose public key is registered in `jwks`; nil for a client without a key.
    var key: ClientKey?

    /// The maximum number of redirect URIs in one registration.
    private static let redirectURILimit = 16

    /// Returns this request with the redirect URIs, grant types and scope of a former registration added.
    ///
    /// A client may alternate between browser and device sign-in, which need different grant types. The new
    /// registration then covers both, so the client does not register again for each sign-in.
    func including(_ former: ClientRegistration?) -> ClientRegistrationRequest {
        guard let former else { return self }
        var request = self
        let others = former.redirectURIs.filter { !redirectURIs.contains($0) }
        request.redirectURIs += others.prefix(max(0, Self.redirectURILimit - redirectURIs.count))
        request.grantTypes += former.grantTypes.filter { !grantTypes.contains($0) }
        request.scope = scope.union(former.scope)
        return request
    }

    /// The request body for a native app, which may have a private key but no secret (RFC 7591 §2, RFC 8252 §8.5).
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("client_name", name)
            writer.member("application_type", "native")
            writer.member("token_endpoint_auth_method", key == nil ? "none" : "private_key_jwt")
            if let key = key?.key.publicKey {
                writer.member("token_endpoint_auth_signing_alg", key.algorithm.rawValue)
                writer.member("jwks", object: { writer in writer.member("keys", list: { $0.element(key) }) })
            }
            writer.member("grant_types", texts: grantTypes)
            writer.member("response_types", texts: grantTypes.contains("authorization_code") ? ["code"] : [])
            if !redirectURIs.isEmpty { writer.member("redirect_uris", texts: redirectURIs) }
            if !scope.isEmpty { writer.member("scope", scope.description) }
        }
        return writer.bytes
    }

    /// Registers the client at a server (RFC 7591 §3).
    func register(
        at endpoint: EndpointURL, of issuer: Issuer, through transport: any HTTPTransport, at now: Date
    ) async throws(SignInError) -> ClientRegistration {
        let body: [UInt8]
        do throws(SignInError) {
            body = try await EndpointRequest(json: json).send(to: endpoint, through: transport)
        } catch {
            guard case .unsafe(.tokenResponse(.unreadableRefusal(let status))) = error else { throw error }
            throw .unsafe(.registration(.unreadableRefusal(status)))
        }
        do { return try registration(in: body, at: issuer, now: now) } catch { throw .unsafe(.registration(error)) }
    }

    /// Parses the client information response (RFC 7591 §3.2.1).
    private func registration(
        in body: [UInt8], at issuer: Issuer, now: Date
    ) throws(ClientRegistration.Refusal) -> ClientRegistration {
        guard let members = try? JSONReader.object(body) else { throw .unreadable }
        guard case .string(let text) = members["client_id"], let clientID = ClientIdentifier(text) else {
            throw .noClientID
        }
        let authentication = try authentication(in: members)
        try check(members["redirect_uris"])
        return ClientRegistration(
            issuer: issuer, clientID: clientID, authentication: authentication,
            secretExpires: try Self.end(of: authentication, in: members), redirectURIs: redirectURIs,
            grantTypes: grantTypes, scope: scope, since: now)
    }

    /// Returns the client authentication that the server assigned.
    ///
    /// RFC 7591 §2: if the response omits `token_endpoint_auth_method`, a secret is used with `client_secret_basic`.
    private func authentication(
        in members: [String: JSONValue]
    ) throws(ClientRegistration.Refusal) -> ClientAuthentication {
        var secret: ClientSecret?
        switch members["client_secret"] {
        case nil, .null: break
        case .string(let text):
            guard let value = ClientSecret(text) else { throw .badSecret }
            secret = value
        default: throw .badSecret
        }
        if let key {
            guard members["token_endpoint_auth_method"] == .string("private_key_jwt") else {
                throw .otherAuthentication
            }
            return .privateKey(key)
        }
        switch (members["token_endpoint_auth_method"], secret) {
        case (.string("none"), _), (nil, nil): return .none
        case (.string("client_secret_post"), let secret?): return .secretPost(secret)
        case (.string("client_secret_basic"), let secret?), (nil, let secret?): return .secretBasic(secret)
        default: throw .otherAuthentication
        }
    }

    /// Parses `client_secret_expires_at`, in seconds since 1970.
    ///
    /// Returns nil if there is no secret, or if the value is 0 or missing, which means that the secret does not expire.
    private static func end(
        of authentication: ClientAuthentication, in members: [String: JSONValue]
    ) throws(ClientRegistration.Refusal) -> Date? {
        switch authentication {
        case .none, .privateKey: return nil
        case .secretPost, .secretBasic: break
        }
        switch members["client_secret_expires_at"] {
        case nil, .null, .integer(0): return nil
        case .integer(let seconds) where (1...253_402_300_799).contains(seconds):
            return Date(timeIntervalSince1970: TimeInterval(seconds))
        default: throw .badSecret
        }
    }

    /// Checks that the server registered exactly the requested redirect URIs, byte for byte, in any order.
    private func check(_ value: JSONValue?) throws(ClientRegistration.Refusal) {
        guard !redirectURIs.isEmpty else { return }
        guard case .array(let list) = value else { throw .otherRedirectURIs }
        let registered = list.map { if case .string(let text) = $0 { Array(text.utf8) } else { [UInt8]() } }
        guard Set(registered) == Set(redirectURIs.map { Array($0.utf8) }) else { throw .otherRedirectURIs }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, texts: [String]) {
        member(name, list: { writer in for text in texts { writer.element(text) } })
    }

    /// Writes a public key as an element of a list (RFC 7517 §4).
    fileprivate mutating func element(_ key: JSONWebKey) {
        object { writer in for member in key.members { writer.member(member.name, member.value) } }
    }
}
