@_spi(Counterfoil) public import CounterfoilProtocol
import CounterfoilTokens

/// The metadata document with which an API names its authorization server, in JSON.
///
/// RFC 9728 §2. A client that knows only the URL of the API finds the document at ``url``. Only a ``ResourceServer``
/// creates values of this type, from its own settings.
public struct ProtectedResourceMetadata: Sendable, Hashable {
    /// `resource`: the URL of the API, which is its audience without the slash of an empty path.
    public let resource: String
    /// `authorization_servers`: the issuer of the tokens.
    public let authorizationServers: [Issuer]
    /// `scopes_supported`: the scope with which a client can start, without `offline_access`; omitted if empty.
    public let scopesSupported: Scope
    /// `resource_name`: the name of the API for its users; omitted if nil.
    public let resourceName: String?
    /// `resource_documentation`: the URL of a page for client developers; omitted if nil.
    public let resourceDocumentation: AbsoluteURI?
    /// `dpop_signing_alg_values_supported`: the accepted algorithms of DPoP proofs; omitted if empty.
    public let proofAlgorithms: [String]
    /// `dpop_bound_access_tokens_required`: whether the API refuses tokens that are not bound to a key.
    public let requiresBoundTokens: Bool
    /// The URL of the document, `resource_metadata` of the challenges.
    ///
    /// RFC 9728 §3: `/.well-known/oauth-protected-resource` is inserted between the host and the path of the API.
    public let url: String

    /// The path and the query of ``url``.
    let target: String

    /// Creates the metadata of an API; nil if the audience is not an http or https URL.
    init?(
        issuer: Issuer, audience: String, description: ResourceDescription, proofAlgorithms: [String],
        requiresBoundTokens: Bool
    ) {
        guard let uri = try? AbsoluteURI(parsing: audience), ["http", "https"].contains(uri.scheme.lowercased()),
            let host = uri.host, !host.isEmpty, uri.userInformation == nil, uri.fragment == nil
        else { return nil }
        let origin = "\(uri.scheme)://\(host)" + (uri.port.map { ":\($0)" } ?? "")
        // RFC 9728 §3.1: a slash after the host is removed if nothing follows it.
        let path = (uri.path == "/" ? "" : uri.path) + (uri.query.map { "?\($0)" } ?? "")
        resource = origin + path
        target = "/.well-known/oauth-protected-resource" + path
        url = origin + target
        authorizationServers = [issuer]
        scopesSupported = Scope(description.scopes.tokens.filter { $0 != .offlineAccess })
        resourceName = description.name
        resourceDocumentation = description.documentation
        self.proofAlgorithms = proofAlgorithms
        self.requiresBoundTokens = requiresBoundTokens
    }

    /// Returns the document.
    public func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("resource", resource)
            writer.member("authorization_servers", authorizationServers.map(\.rawValue))
            writer.member("scopes_supported", scopesSupported.tokens.map(\.rawValue))
            // RFC 6750 §2.1: a token in a form or in the query is never used.
            writer.member("bearer_methods_supported", ["header"])
            if let resourceName { writer.member("resource_name", resourceName) }
            if let resourceDocumentation { writer.member("resource_documentation", resourceDocumentation.rawValue) }
            writer.member("dpop_signing_alg_values_supported", proofAlgorithms)
            if requiresBoundTokens { writer.member("dpop_bound_access_tokens_required", true) }
        }
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes a member whose value is an array of strings; an empty one is omitted (RFC 9728 §3.2).
    fileprivate mutating func member(_ name: String, _ values: [String]) {
        guard !values.isEmpty else { return }
        member(name, list: { writer in for value in values { writer.element(value) } })
    }
}
