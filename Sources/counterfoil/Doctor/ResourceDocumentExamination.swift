import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The check of the metadata documents of an API (RFC 9728 §2 and §3).
extension Examination {
    /// Checks the metadata at the well-known URL of the API's path, and those that the challenge names.
    ///
    /// - Parameters:
    ///   - endpoint: The URL of the API.
    ///   - named: The URL of the metadata in the challenge; nil if there is none.
    ///   - isFound: Whether a client finds the authorization server from these metadata.
    mutating func resourceDocuments(of endpoint: EndpointURL, named: String?, isFound: Bool) async {
        guard let place = ResourceDiscovery.wellKnownURLs(of: endpoint).first,
            let known = try? EndpointURL(place.url),
            let response = await ask(known, as: "metadata of the API")
        else { return }
        var document = response.statusCode == 200 ? Self.members(response) : nil
        if document != nil {
            sound("resource-metadata-path", "the metadata of the API are at \(place.url)")
            mediaType(of: response, at: place.url)
        } else {
            absent(place.url, response, isFound: isFound)
        }
        if isFound, let named, named != place.url, let other = try? EndpointURL(named),
            let response = await ask(other, as: "metadata of the API")
        {
            let others = Self.members(response)
            if let document, let others, document != others {
                advise(
                    "resource-metadata-differ", "\(Self.shown(named)) and \(place.url) have different metadata",
                    why: "clients that ignore the URL in the challenge use the latter",
                    mend: "serve the same metadata at both")
            }
            document = others ?? document
        }
        if let document { examine(document, of: endpoint) }
        await unknownPath(below: "\(endpoint.origin)/.well-known/oauth-protected-resource", of: "the API")
    }

    private mutating func mediaType(of response: TransportResponse, at url: String) {
        guard response.mediaType != "application/json" else { return }
        advise(
            "resource-metadata-type",
            "\(url) has the media type \(response.mediaType.isEmpty ? "none" : Self.shown(response.mediaType))",
            mend: "serve it as application/json (RFC 9728 §3.2)")
    }

    private mutating func absent(_ url: String, _ response: TransportResponse, isFound: Bool) {
        if [401, 403].contains(response.statusCode) {
            let text = "the metadata of the API demand a token (status \(response.statusCode))"
            let why = "a client reads them before it has a token"
            let mend = "serve \(url) without authentication"
            return isFound
                ? advise("resource-metadata-protected", text, why: why, mend: mend)
                : fault("resource-metadata-protected", text, why: why, mend: mend)
        }
        // Without the metadata, the fault is already recorded.
        guard isFound else { return }
        advise(
            "resource-metadata-path-missing",
            "\(url) does not serve the metadata of the API (status \(response.statusCode))",
            why: "clients that find no URL in the challenge, or do not read it, try that URL first",
            mend: "serve the metadata there, too (RFC 9728 §3.1)")
    }

    private mutating func examine(_ document: [String: JSONValue], of endpoint: EndpointURL) {
        if let resource = document.text("resource"), let named = try? Resource(resource) {
            if resource == endpoint.rawValue {
                sound("resource-exact", "resource in the metadata is exactly the URL of the API")
            } else if named == (try? Resource(endpoint.rawValue)) {
                advise(
                    "resource-inexact",
                    "resource in the metadata is \(Self.shown(resource)), and the URL of the API is \(endpoint)",
                    why: "VS Code and Gemini CLI compare exactly and reject the metadata",
                    mend: "publish resource as clients write the URL (RFC 9728 §3.3)")
            }
        }
        servers(in: document)
        if let scopes = document.texts("scopes_supported"), !scopes.isEmpty {
            apiStatesScope = true
            if scopes.contains(Scope.Token.offlineAccess.rawValue) {
                advise(
                    "resource-offline-access", "scopes_supported of the API lists offline_access",
                    why:
                        "it is a matter of the authorization server; clients that need no refresh token request it, too",
                    mend: "list only the scopes of the API; the authorization server lists offline_access")
            }
        }
        if let methods = document.texts("bearer_methods_supported"), !methods.contains("header") {
            advise(
                "resource-bearer-methods", "bearer_methods_supported of the API does not list header",
                why: "MCP clients send the token in the Authorization field only", mend: "accept and list header")
        }
    }

    private mutating func servers(in document: [String: JSONValue]) {
        let servers = document.texts("authorization_servers") ?? []
        guard let first = servers.first else { return }
        if (try? Issuer(ofServer: first)) == nil {
            return advise(
                "resource-server-first",
                "the first of authorization_servers cannot be an issuer: \(Self.shown(first))",
                why: "the MCP SDKs use the first one only", mend: "list a usable https issuer first")
        }
        if servers.count > 1 {
            advise(
                "resource-servers-many", "the API names \(servers.count) authorization servers",
                why: "the MCP SDKs use the first one only: \(Self.shown(first))",
                mend: "list the server first at which every client can sign in")
        }
        if let given = subject.issuer, servers.contains(given.rawValue), given.rawValue != first {
            advise(
                "resource-server-order", "the API names \(Self.shown(first)) first, and not \(given)",
                why: "the MCP SDKs sign in at the first one")
        }
    }

    /// Checks the response to a well-known URL that does not exist.
    mutating func unknownPath(below base: String, of what: String) async {
        let url = "\(base)/counterfoil-doctor-\(UUID().uuidString.lowercased())"
        guard let endpoint = try? EndpointURL(url) else { return }
        let response = await ask(endpoint, readsBody: false, isRequired: false, as: "unknown well-known URL")
        if let response, [404, 410].contains(response.statusCode) {
            return sound("unknown-path", "an unknown well-known URL of \(what) has the status \(response.statusCode)")
        }
        let outcome = response.map { "has the status \($0.statusCode) and not 404" } ?? "gets no response"
        advise(
            "unknown-path", "an unknown well-known URL of \(what) \(outcome)",
            why:
                "clients try several well-known URLs in order; the MCP SDKs stop at a page, at other metadata and at an"
                + " error of the server",
            mend: "respond with 404 to unknown paths below /.well-known/")
    }
}
