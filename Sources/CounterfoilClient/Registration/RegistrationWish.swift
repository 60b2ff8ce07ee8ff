import CounterfoilProtocol
import CounterfoilTokens
import Foundation

/// What an application wants to be registered as.
struct RegistrationWish: Sendable, Hashable {
    /// `client_name`: what people are shown.
    var name: String
    /// `redirect_uris`, those on the device without a port unless the server needs one (RFC 8252 §7.3).
    var redirectURIs: [String]
    /// `grant_types`.
    var grantTypes: [String]
    /// `scope`; empty leaves it to the server.
    var scope: Scope
    /// The key of which the public half is registered, `jwks`; nil for a client that proves nothing.
    var key: ClientKey?

    /// The most redirect URIs of one registration.
    private static let addressLimit = 16

    /// The same wish, and all that was registered before: who goes back and forth between two ways registers twice at most.
    func including(_ former: ClientRegistration?) -> RegistrationWish {
        guard let former else { return self }
        var wish = self
        let others = former.redirectURIs.filter { !redirectURIs.contains($0) }
        wish.redirectURIs += others.prefix(max(0, Self.addressLimit - redirectURIs.count))
        wish.grantTypes += former.grantTypes.filter { !grantTypes.contains($0) }
        wish.scope = scope.union(former.scope)
        return wish
    }

    /// The request (RFC 7591 §2): a native application, which has no secret (RFC 8252 §8.5) but may have a key of its own.
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

    /// Registers the application at a server (RFC 7591 §3).
    func register(
        at endpoint: EndpointURL, of issuer: Issuer, through transport: any HTTPTransport, at now: Date
    ) async throws(SignInError) -> ClientRegistration {
        let body: [UInt8]
        do throws(SignInError) {
            body = try await ServerMessage(json: json).send(to: endpoint, through: transport)
        } catch {
            guard case .unsafe(.tokenResponse(.unreadableRefusal(let status))) = error else { throw error }
            throw .unsafe(.registration(.unreadableRefusal(status)))
        }
        do { return try registration(in: body, at: issuer, now: now) } catch { throw .unsafe(.registration(error)) }
    }

    /// Reads the answer (RFC 7591 §3.2.1).
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

    /// What the server wants of the client; RFC 7591 §2 has `client_secret_basic` where nothing is said.
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

    /// `client_secret_expires_at`, in seconds; 0 is never.
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

    /// Exactly the redirect URIs that were asked for, byte for byte, in whatever order.
    private func check(_ value: JSONValue?) throws(ClientRegistration.Refusal) {
        guard !redirectURIs.isEmpty else { return }
        guard case .array(let list) = value else { throw .otherRedirectURIs }
        let registered = list.map { if case .string(let text) = $0 { Array(text.utf8) } else { [UInt8]() } }
        guard Set(registered) == Set(redirectURIs.map { Array($0.utf8) }) else { throw .otherRedirectURIs }
    }
}

extension JSONWriter {
    /// Writes a member that is a list of texts.
    fileprivate mutating func member(_ name: String, texts: [String]) {
        member(name, list: { writer in for text in texts { writer.element(text) } })
    }

    /// Writes a public key as an element of a list (RFC 7517 §4).
    fileprivate mutating func element(_ key: JSONWebKey) {
        object { writer in for member in key.members { writer.member(member.name, member.value) } }
    }
}
