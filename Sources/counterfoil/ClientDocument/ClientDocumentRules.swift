import CounterfoilClient
import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// The rules for the metadata document of a client.
///
/// OAuth Client ID Metadata Document §3 and §4.1, RFC 7591 §2, RFC 8252 §7 and §8.
struct ClientDocumentRules {
    /// The maximum length of a document that every server reads (OAuth Client ID Metadata Document §6).
    private static let byteLimit = 5120

    private let document: ClientMetadataDocument
    private var findings: [Finding] = []

    /// Creates the rules for the document at a URL.
    init(_ document: ClientMetadataDocument) { self.document = document }

    /// Judges the contents of the document.
    func findings(in body: [UInt8]) -> [Finding] {
        var rules = self
        rules.judge(body)
        return rules.findings
    }

    private mutating func judge(_ body: [UInt8]) {
        guard let members = try? JSONReader.object(body) else {
            return fault(
                "document-unreadable", "the document is not a JSON object without duplicate members",
                "serve one JSON object")
        }
        if body.count > Self.byteLimit {
            fault(
                "document-size", "the document has \(body.count) bytes; servers read \(Self.byteLimit)",
                "remove members that servers do not need")
        }
        if document.description.contains("?") {
            note("document-query", "the URL of the document has a query", "choose a URL without a query")
        }
        identifier(members)
        authentication(members)
        grants(members)
        redirectURIs(members)
        urls(members)
        guard !findings.contains(where: { $0.weight == .fault }) else { return }
        findings.append(
            Finding(weight: .sound, topic: "document", text: "servers can use the document", mend: nil, status: .unsafe)
        )
    }

    private mutating func identifier(_ members: [String: JSONValue]) {
        if members.text("client_id") != document.description {
            fault(
                "document-client-id", "client_id in the document is not exactly its URL",
                "set client_id to \(document)")
        }
        let name = members.text("client_name") ?? ""
        if name.isEmpty {
            note("document-name", "the document has no client_name", "add the name that users know")
        } else if name.strippingControlCharacters != name {
            fault("document-name", "client_name contains control characters", "write the name in plain text")
        }
    }

    /// Checks that the client needs no secret, because nothing could agree on one.
    private mutating func authentication(_ members: [String: JSONValue]) {
        for name in ["client_secret", "client_secret_expires_at"] where members[name] != nil {
            fault("document-secret", "the document contains \(name), which is public", "remove \(name)")
        }
        let hasKey = members["jwks"] != nil || members["jwks_uri"] != nil
        switch members.text("token_endpoint_auth_method") {
        case "none": break
        case "private_key_jwt" where hasKey: break
        case "private_key_jwt":
            fault("document-key", "private_key_jwt needs the public key of the client", "add jwks or jwks_uri")
        case nil:
            fault(
                "document-method", "the document has no token_endpoint_auth_method, which means client_secret_basic",
                "set it to none")
        case let method?:
            fault(
                "document-method", "token_endpoint_auth_method must need no secret; it is \(Examination.shown(method))",
                "set it to none, or to private_key_jwt with the public key")
        }
        if members["jwks"] != nil, members["jwks_uri"] != nil {
            fault("document-key", "the document has both jwks and jwks_uri", "keep one of them (RFC 7591 §2)")
        }
    }

    private mutating func grants(_ members: [String: JSONValue]) {
        let grants = members.texts("grant_types") ?? ["authorization_code"]
        if !grants.contains("authorization_code") || members.texts("response_types")?.contains("code") == false {
            fault(
                "document-grants", "the document excludes the authorization code grant",
                "add authorization_code to grant_types and code to response_types")
        } else if !grants.contains("refresh_token") {
            note(
                "document-refresh", "grant_types does not list refresh_token, so users sign in again each time",
                "add refresh_token")
        }
    }

    private mutating func redirectURIs(_ members: [String: JSONValue]) {
        guard case .array(let list)? = members["redirect_uris"], !list.isEmpty else {
            return fault("document-redirects", "the document has no redirect_uris", "list those of the client")
        }
        let texts = members.texts("redirect_uris") ?? []
        guard texts.count == list.count else {
            return fault("document-redirects", "redirect_uris must contain strings only", "list URIs")
        }
        for text in texts { redirectURI(text) }
        let isWeb = members.text("application_type") != "native"
        if isWeb, texts.contains(where: { (try? RedirectURI($0))?.isHTTPS == false }) {
            note(
                "document-application-type", "application_type is not native, and a redirect URI is not https",
                "set application_type to native; servers may refuse such URIs of web applications")
        }
    }

    private mutating func redirectURI(_ text: String) {
        let shown = Examination.shown(text)
        let uri: RedirectURI
        do { uri = try RedirectURI(text) } catch {
            return fault("document-redirect-uri", "the redirect URI \(shown) cannot be used: \(error)", "correct it")
        }
        switch uri.kind {
        case .loopback(let host, let port):
            if port != nil {
                note(
                    "document-port", "the redirect URI \(shown) has a port, which may be in use",
                    "list it without a port; servers accept any port on loopback (RFC 8252 §7.3)")
            }
            if host == .localhost {
                note(
                    "document-localhost", "other programs may resolve localhost in \(shown) to another address",
                    "list http://127.0.0.1, too (RFC 8252 §8.3)")
            }
        case .privateUseScheme:
            do { _ = try CustomSchemeRedirectURI(text) } catch {
                note("document-scheme", "servers may refuse the redirect URI \(shown): \(error)", "use your own scheme")
            }
        case .https(let host):
            guard let own = (try? AbsoluteURI(parsing: document.description))?.host,
                own.lowercased() != host.lowercased()
            else { return }
            note(
                "document-other-host", "the redirect URI \(shown) is not on the host of the document",
                "check it; a server may accept only URIs of the same host")
        }
    }

    private mutating func urls(_ members: [String: JSONValue]) {
        for name in ["client_uri", "logo_uri", "tos_uri", "policy_uri", "jwks_uri"] {
            guard let value = members[name] else { continue }
            if case .string(let text) = value, let url = try? EndpointURL(text), !url.isLoopback { continue }
            fault("document-url", "\(name) is not an https URL that servers can reach", "correct or remove it")
        }
    }

    private mutating func fault(_ topic: String, _ text: String, _ mend: String) {
        findings.append(Finding(weight: .fault, topic: topic, text: text, mend: mend, status: .unsafe))
    }

    private mutating func note(_ topic: String, _ text: String, _ mend: String) {
        findings.append(Finding(weight: .advice, topic: topic, text: text, mend: mend, status: .unsafe))
    }
}

extension RedirectURI {
    fileprivate var isHTTPS: Bool { if case .https = kind { true } else { false } }
}
