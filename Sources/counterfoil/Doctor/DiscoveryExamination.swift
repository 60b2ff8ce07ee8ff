import CounterfoilClient
import CounterfoilProtocol
import CounterfoilTokens

/// The check of what a client needs at an authorization server at which it is not registered.
extension Examination {
    /// Checks the issuer, the ways to a client identifier, the scopes, and the access by scripts.
    mutating func clientsWithoutRegistration(at server: AuthorizationServerConfiguration) async {
        issuer(server.issuer)
        await unknownPath(
            below: "\(server.issuer.origin)/.well-known/oauth-authorization-server", of: "the authorization server")
        identification(server)
        offlineAccess(server)
        everyScope(server)
        await scripts(at: server)
    }

    /// Records whether a client without a client ID can use a metadata document or register itself (RFC 7591 §3).
    mutating func registration(_ server: AuthorizationServerConfiguration) {
        if server.supportsMetadataDocuments, server.acceptsPublicClients {
            sound("client-documents", "the server accepts the URL of a metadata document as the client ID")
        } else if server.supportsMetadataDocuments {
            advise(
                "client-documents-none",
                "the server accepts client metadata documents, but token_endpoint_auth_methods_supported does not list none",
                why: "Claude and other large MCP clients use a document only if the metadata has both",
                mend: "accept clients with a document and no secret, and list none")
        }
        guard let endpoint = server.registrationEndpoint else { return }
        guard endpoint.origin.lowercased() == server.issuer.origin else {
            return advise(
                "registration-elsewhere",
                "clients register at a host other than the issuer's: \(endpoint.origin)",
                mend: "check whether that host is intended; its response determines the client ID")
        }
        sound(
            "registration-offered",
            "the metadata says that clients can register themselves (RFC 7591); no client was registered")
    }

    /// Checks that normalization does not change the issuer.
    private mutating func issuer(_ issuer: Issuer) {
        do throws(Issuer.Refusal) {
            _ = try Issuer(issuer.rawValue)
            sound("issuer-canonical", "the issuer is canonical: lower-case host, no default port, no final slash")
        } catch {
            guard case .notCanonical(let canonical) = error else { return }
            advise(
                "issuer-not-canonical", "the issuer \(issuer) is not in its canonical form \(canonical)",
                why:
                    "clients with the MCP SDK for Python normalize authorization_servers, and the issuer of the metadata is"
                    + " then another text",
                mend: "write \(canonical) in the metadata of the API and the server, in iss, and in tokens")
        }
    }

    /// Checks that a client that is not registered can obtain an identifier.
    private mutating func identification(_ server: AuthorizationServerConfiguration) {
        let takesDocuments = server.supportsMetadataDocuments && server.acceptsPublicClients
        switch (takesDocuments, server.registrationEndpoint != nil) {
        case (true, _): break
        case (false, true):
            advise(
                "client-documents-absent", "clients can only register themselves (RFC 7591)",
                why: "dynamic registration is deprecated since MCP 2026-07-28; each installation is another client",
                mend:
                    "accept client metadata documents: client_id_metadata_document_supported, and none in"
                    + " token_endpoint_auth_methods_supported")
        case (false, false):
            advise(
                "client-identification-none", "a client that is not registered at the server gets no client ID",
                why: "Claude, ChatGPT, VS Code and other MCP clients then ask their users for a client ID, or fail",
                mend: "accept client metadata documents, or offer dynamic registration (RFC 7591)")
        }
    }

    private mutating func offlineAccess(_ server: AuthorizationServerConfiguration) {
        guard let scopes = server.scopes else { return }
        if scopes.contains(Scope.Token.offlineAccess.rawValue) {
            return sound("offline-access", "the server lists offline_access, so clients request refresh tokens with it")
        }
        advise(
            "offline-access-unlisted", "scopes_supported of the server does not list offline_access",
            why:
                "MCP clients request it only if it is listed; where it is required, their users sign in again each time",
            mend: "list offline_access at the authorization server, and not at the API")
    }

    /// Records a note if clients request every scope of the server, because the API names none.
    private mutating func everyScope(_ server: AuthorizationServerConfiguration) {
        guard !apiStatesScope, let scopes = server.scopes, scopes.count > 1 else { return }
        advise(
            "scope-everything", "the API names no scope, and the server lists \(scopes.count)",
            why: "clients with the MCP SDK for Python then request every scope of the server",
            mend: "name the scope in the challenge, or in scopes_supported of the API")
    }
}

extension AuthorizationServerConfiguration {
    /// Whether the metadata say that the token endpoint accepts clients that do not authenticate.
    ///
    /// RFC 8414 §2: without the member, the method is `client_secret_basic`.
    var acceptsPublicClients: Bool { authenticationMethods?.contains("none") == true }
}
