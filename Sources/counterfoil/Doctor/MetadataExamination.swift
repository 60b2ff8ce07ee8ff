import CounterfoilClient
import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// The check of the server's metadata (RFC 8414 §3, OpenID Connect Discovery §4).
extension Examination {
    /// Checks the metadata; returns nil if they are missing or not usable for a sign-in.
    mutating func metadata(of issuer: Issuer) async -> AuthorizationServerConfiguration? {
        if !issuer.isSecure {
            advise("tls-none", "\(issuer) is not https, which is allowed only on this device", mend: nil)
        }
        var found: [(address: String, response: TransportResponse)] = []
        for address in issuer.metadataURLs {
            guard let endpoint = try? EndpointURL(address) else { continue }
            guard let response = await ask(endpoint, as: "metadata") else { return nil }
            switch response.statusCode {
            case 200: found.append((address, response))
            case 300..<400:
                fault(
                    "metadata-redirects", "\(address) responds with a redirect, which is never followed",
                    mend: "serve the metadata at that URL, or use the issuer whose metadata it is")
                return nil
            case 429, 500..<600:
                fault(
                    "busy", "\(address) failed or is overloaded (status \(response.statusCode))",
                    mend: "try again later",
                    status: .unavailable)
                return nil
            default: continue
            }
        }
        guard let first = found.first else {
            fault(
                "metadata-missing",
                "\(issuer) publishes no metadata at \(issuer.metadataURLs.joined(separator: " or "))",
                mend:
                    "write the issuer exactly as the server names it, with its path; use --vendor for a vendor without"
                    + " metadata")
            return nil
        }
        if Set(found.map(\.response.body)).count > 1 {
            advise(
                "metadata-differ", "the metadata URLs return different documents",
                mend: "serve the same document at each of them")
        }
        return configuration(of: issuer, in: first.response, at: first.address)
    }

    private mutating func configuration(
        of issuer: Issuer, in response: TransportResponse, at address: String
    ) -> AuthorizationServerConfiguration? {
        guard let members = Self.members(response),
            let metadata = try? AuthorizationServerMetadata(parsing: response.body)
        else {
            fault(
                "metadata-unreadable",
                "\(address) is not valid JSON of RFC 8414: it is a page, has a duplicate member or is nested too deeply",
                mend: "serve one JSON object without duplicate members as application/json")
            return nil
        }
        if response.mediaType != "application/json" {
            advise(
                "metadata-type",
                "\(address) has the media type \(response.mediaType.isEmpty ? "none" : response.mediaType)",
                mend: "serve it as application/json (RFC 8414 §3.2)")
        }
        do {
            let configuration = try AuthorizationServerConfiguration(
                metadata, of: issuer, skippingPKCEMetadataCheck: true)
            sound("metadata", "the metadata of \(issuer) names that issuer and usable endpoints")
            pkce(members)
            endpoints(configuration)
            features(configuration, members)
            cors(response, what: "the metadata")
            return configuration
        } catch {
            refuse(error, metadata, issuer)
            return nil
        }
    }

    private mutating func refuse(
        _ refusal: AuthorizationServerConfiguration.Refusal, _ metadata: AuthorizationServerMetadata, _ issuer: Issuer
    ) {
        switch refusal {
        case .wrongIssuer:
            let named = String(metadata.issuer.prefix(200)).strippingControlCharacters
            fault(
                "issuer-mismatch", "the metadata of \(issuer) names another issuer: \(named)",
                mend: named.contains("{")
                    ? "name one tenant; a multi-tenant issuer does not identify a server"
                    : "if that is the server, use exactly that issuer, including any final slash")
        case .badEndpoint, .foreignLoopback, .missing:
            fault(
                "endpoint-unusable", "\(refusal)",
                mend: "publish https URLs that can be reached from other hosts")
        case .noPKCE, .unreadable:
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

    /// Records whether a client without a client ID can use a metadata document or register itself (RFC 7591 §3).
    private mutating func registration(_ server: AuthorizationServerConfiguration) {
        if server.supportsMetadataDocuments {
            sound("client-documents", "the server accepts the URL of a metadata document as the client ID")
        }
        guard let endpoint = server.registrationEndpoint else { return }
        guard endpoint.origin.lowercased() == server.issuer.origin else {
            return advise(
                "registration-elsewhere",
                "clients register at a host other than the issuer's: \(endpoint.origin)",
                mend: "check whether that host is intended; its response determines the client ID")
        }
        sound("registration-offered", "clients can register themselves (RFC 7591)")
    }

    private mutating func features(_ server: AuthorizationServerConfiguration, _ members: [String: JSONValue]) {
        if server.sendsIssuerInResponses {
            sound("iss-promised", "every authorization response names the issuer (iss, RFC 9207)")
        } else {
            advise(
                "iss-not-promised", "authorization responses do not name the issuer, so two servers could be mixed up",
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
            sound("dpop-offered", "tokens can be bound to a key of the device (DPoP)")
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

    /// Checks whether CORS allows scripts of other sites to read a response.
    ///
    /// CORS does not affect native apps.
    mutating func cors(_ response: TransportResponse, what: String) {
        guard let name = HTTPField.Name("Access-Control-Allow-Origin") else { return }
        let topic = "cors-\(what.split(separator: " ").last ?? "")"
        guard let allowed = response.head.headerFields[name] else {
            return advise(
                topic, "scripts in a browser may not read \(what) (CORS); native applications are not affected")
        }
        let credentials = HTTPField.Name("Access-Control-Allow-Credentials").flatMap { response.head.headerFields[$0] }
        guard credentials == "true", allowed == Self.foreignOrigin || allowed == "*" else {
            return sound(topic, "scripts in a browser may read \(what) (CORS: \(allowed.strippingControlCharacters))")
        }
        fault(
            "cors-too-wide", "scripts of any site may read \(what) with the user's cookies (CORS)",
            mend: "do not send Access-Control-Allow-Credentials with it")
    }
}
