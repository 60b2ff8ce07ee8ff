import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

/// The check of the server's metadata (RFC 8414 §3, OpenID Connect Discovery §4).
extension Examination {
    /// Checks the metadata; returns nil if they are missing or not usable for a sign-in.
    ///
    /// Every metadata URL is asked. Responses that are not the metadata of the issuer matter only if no URL has them.
    mutating func metadata(of issuer: Issuer) async -> AuthorizationServerConfiguration? {
        if !issuer.isSecure {
            advise("tls-none", "\(issuer) is not https, which is allowed only on this device", mend: nil)
        }
        var documents: [Document] = []
        var refusals: [Finding] = []
        for place in issuer.metadataCandidates(forOpenID: subject.scope.contains(.openID)) {
            guard let endpoint = try? EndpointURL(place.url) else { continue }
            guard let response = await ask(endpoint, as: "metadata") else { return nil }
            switch Self.document(in: response, at: place.url, issuer) {
            case .found(let document): documents.append(document)
            case .refused(let finding): refusals.append(finding)
            case .absent: continue
            }
        }
        guard let first = documents.first else {
            let most = refusals.min { Self.rank($0) < Self.rank($1) }
            record(
                most
                    ?? Finding(
                        weight: .fault, topic: "metadata-missing",
                        text: "\(issuer) publishes no metadata at \(issuer.metadataURLs.joined(separator: " or "))",
                        mend:
                            "write the issuer exactly as the server names it, with its path; use --vendor for a vendor"
                            + " without metadata", status: .unsafe))
            return nil
        }
        for finding in refusals {
            advise(
                finding.topic, finding.text + "; other metadata URLs work",
                why: finding.why
                    ?? "clients try the URLs in order; the MCP SDKs stop at a page and at an error of the server",
                mend: finding.mend)
        }
        compare(documents)
        return await configuration(of: issuer, first)
    }

    /// A metadata document that names the issuer.
    private struct Document {
        let address: String
        let response: TransportResponse
        let members: [String: JSONValue]
    }

    private enum Answer {
        case found(Document)
        case refused(Finding)
        case absent
    }

    private static func document(in response: TransportResponse, at address: String, _ issuer: Issuer) -> Answer {
        func refused(
            _ topic: String, _ text: String, why: String? = nil, mend: String, status: ExitStatus = .unsafe
        ) -> Answer {
            .refused(Finding(weight: .fault, topic: topic, text: text, why: why, mend: mend, status: status))
        }
        switch response.statusCode {
        case 200: break
        case 300..<400:
            return refused(
                "metadata-redirects", "\(address) responds with a redirect, which is never followed",
                mend: "serve the metadata at that URL, or use the issuer whose metadata it is")
        case 429, 500..<600:
            return refused(
                "busy", "\(address) failed or is overloaded (status \(response.statusCode))", mend: "try again later",
                status: .unavailable)
        default: return .absent
        }
        guard let members = Self.members(response),
            let metadata = try? AuthorizationServerMetadata(parsing: response.body)
        else {
            return refused(
                "metadata-unreadable",
                "\(address) is not valid JSON of RFC 8414: it is a page, has a duplicate member or is nested too deeply",
                mend: "serve one JSON object without duplicate members as application/json")
        }
        guard metadata.issuer.utf8.elementsEqual(issuer.rawValue.utf8) else {
            let named = String(metadata.issuer.prefix(200)).strippingControlCharacters
            return refused(
                "issuer-mismatch", "the metadata of \(issuer) names another issuer: \(named)",
                why:
                    "clients compare the two byte for byte, and must not use metadata of another issuer (RFC 8414 §3.3)",
                mend: named.contains("{")
                    ? "name one tenant; a multi-tenant issuer does not identify a server"
                    : "if that is the server, use exactly that issuer, including any final slash")
        }
        return .found(Document(address: address, response: response, members: members))
    }

    /// Returns the importance of a finding if no URL has metadata; the smallest number is reported.
    private static func rank(_ finding: Finding) -> Int {
        ["busy", "issuer-mismatch", "metadata-unreadable"].firstIndex(of: finding.topic) ?? 3
    }

    /// Records the members that the documents contradict each other about.
    ///
    /// It is no fault if one document lacks a member: the client takes it from the other one.
    private mutating func compare(_ documents: [Document]) {
        guard let first = documents.first else { return }
        let differing = documents.dropFirst().flatMap { other in
            first.members.keys.filter { name in
                guard name.hasSuffix("_endpoint") || name == "jwks_uri", let value = other.members[name] else {
                    return false
                }
                return value != first.members[name]
            }
        }
        guard !differing.isEmpty else { return }
        let names = Set(differing).sorted().prefix(8).joined(separator: ", ").strippingControlCharacters
        advise(
            "metadata-differ", "the metadata URLs return different values of \(names)",
            mend: "serve the same values at each of them; this client uses those of \(first.address)")
    }

    private mutating func configuration(
        of issuer: Issuer, _ document: Document
    ) async -> AuthorizationServerConfiguration? {
        let response = document.response
        metadataURL = try? EndpointURL(document.address)
        if response.mediaType != "application/json" {
            advise(
                "metadata-type",
                "\(document.address) has the media type \(response.mediaType.isEmpty ? "none" : response.mediaType)",
                mend: "serve it as application/json (RFC 8414 §3.2)")
        }
        do throws(SignInError) {
            // The client combines the documents, so the examination judges the combination.
            let configuration = try await MetadataDiscovery(transport: transport, cache: nil).configuration(
                of: issuer, forOpenID: subject.scope.contains(.openID), skippingPKCEMetadataCheck: true)
            sound("metadata", "the metadata of \(issuer) names that issuer and usable endpoints")
            pkce(document.members)
            endpoints(configuration)
            features(configuration, document.members)
            cors(response, what: "the metadata")
            return configuration
        } catch {
            guard case .unsafe(.metadata(let refusal)) = error else {
                fault("metadata-fails", "\(error)", mend: "check the log of the server", status: Failure(error).status)
                return nil
            }
            refuse(refusal)
            return nil
        }
    }

    private mutating func refuse(_ refusal: AuthorizationServerConfiguration.Refusal) {
        switch refusal {
        case .badEndpoint, .foreignLoopback, .missing:
            fault(
                "endpoint-unusable", "\(refusal)",
                mend: "publish https URLs that can be reached from other hosts")
        case .noPKCE, .unreadable, .wrongIssuer:
            fault("metadata-unreadable", "\(refusal)", mend: "serve metadata as in RFC 8414")
        }
    }

    private mutating func pkce(_ members: [String: JSONValue]) {
        let methods = members.texts("code_challenge_methods_supported")
        guard methods?.contains("S256") == true else {
            return fault(
                "pkce-not-stated",
                methods.map { "code_challenge_methods_supported in the metadata does not list S256, but \($0)" }
                    ?? "the metadata has no code_challenge_methods_supported, so the server does not support PKCE (RFC 8414 §2)",
                why: "MCP clients must then refuse to sign in, and so does this client",
                mend:
                    "support PKCE with S256 and publish it; if the documentation promises it, sign in with --assume-pkce"
            )
        }
        if methods?.contains("plain") == true {
            advise(
                "pkce-plain", "the server also accepts PKCE with plain, which protects little",
                mend: "disable plain at the server")
        } else {
            sound("pkce", "the server supports PKCE with S256")
        }
    }

    private mutating func endpoints(_ server: AuthorizationServerConfiguration) {
        registration(server)
        let others = [server.authorizationEndpoint, server.tokenEndpoint].map(\.origin)
            .filter { $0.lowercased() != server.issuer.origin }
        guard let other = others.first else { return }
        advise("endpoint-elsewhere", "an endpoint is on a host other than the issuer's: \(other)")
    }

    private mutating func features(_ server: AuthorizationServerConfiguration, _ members: [String: JSONValue]) {
        if server.sendsIssuerInResponses {
            sound("iss-promised", "every authorization response names the issuer (iss, RFC 9207)")
        } else {
            advise(
                "iss-not-promised", "authorization responses do not name the issuer, so two servers could be mixed up",
                why: "the MCP specification announces that clients will require it",
                mend: "send iss and publish that, or register a different redirect URI at each server (RFC 9207 §2)")
        }
        if server.requiresPushedRequests {
            sound("par-required", "pushed authorization requests are required (RFC 9126); this client sends them")
        } else if server.pushedAuthorizationRequestEndpoint == nil {
            advise(
                "par-absent",
                "the server has no pushed authorization requests (RFC 9126); the browser carries every parameter")
        }
        if members.texts("dpop_signing_alg_values_supported")?.contains("ES256") == true {
            sound("dpop-offered", "the metadata says that tokens can be bound to a key of the device (DPoP)")
        }
        if let contexts = server.authenticationContexts, !contexts.isEmpty {
            sound(
                "acr-values",
                "acr says how users signed in; the metadata lists \(Self.spoken(contexts)) (acr_values_supported)")
        }
        let algorithms = members.texts("id_token_signing_alg_values_supported") ?? []
        if subject.scope.contains(.openID), !algorithms.isEmpty,
            !algorithms.contains(where: { SigningAlgorithm(rawValue: $0) != nil })
        {
            fault(
                "id-token-algorithms",
                "the server signs ID tokens only with \(algorithms.prefix(8).joined(separator: ", ").strippingControlCharacters)",
                mend: "sign them with \(SigningAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        if server.revocationEndpoint == nil {
            advise(
                "revocation-absent", "tokens cannot be revoked; after a sign-out they remain valid until they expire",
                mend: "provide a revocation endpoint (RFC 7009)")
        }
        if let types = members.texts("response_types_supported"), !types.contains("code") {
            fault(
                "code-not-supported", "the server does not issue codes (response_types_supported: \(types))",
                mend: "enable the authorization code grant at the server")
        }
    }

    /// Checks whether CORS allows the scripts of the single-page client to read a response.
    ///
    /// CORS does not affect native apps, so nothing is checked without --origin.
    mutating func cors(_ response: TransportResponse, what: String) {
        guard let origin = subject.origin, let name = HTTPField.Name("Access-Control-Allow-Origin") else { return }
        let topic = "cors-\(what.split(separator: " ").last ?? "")"
        guard let allowed = response.head.headerFields[name], allowed == origin || allowed == "*" else {
            return fault(
                topic, "scripts of \(origin) may not read \(what) (CORS)",
                mend: "allow that origin for the client at the server")
        }
        let credentials = HTTPField.Name("Access-Control-Allow-Credentials").flatMap { response.head.headerFields[$0] }
        sound(topic, "scripts of \(origin) may read \(what) (CORS: \(allowed.strippingControlCharacters))")
        if credentials == "true" {
            advise(
                "cors-credentials", "scripts of \(origin) may read \(what) with the user's cookies (CORS)",
                mend:
                    "do not send Access-Control-Allow-Credentials with it; if other origins get it too, that is a fault"
            )
        }
    }
}
