import CounterfoilClient
import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes

/// The metadata of the server (RFC 8414 §3, OpenID Connect Discovery §4).
extension Examination {
    /// Checks the metadata; returns nil if a sign-in could not even start.
    mutating func metadata(of issuer: Issuer) async -> AuthorizationServerConfiguration? {
        if !issuer.isSecure {
            advise("tls-none", "\(issuer) is not https, which is allowed on this device only", mend: nil)
        }
        var found: [(address: String, response: TransportResponse)] = []
        for address in issuer.metadataURLs {
            guard let endpoint = try? EndpointURL(address) else { continue }
            guard let response = await ask(endpoint, as: "metadata") else { return nil }
            switch response.statusCode {
            case 200: found.append((address, response))
            case 300..<400:
                fault(
                    "metadata-redirects", "\(address) answers with a redirect, which is never followed",
                    mend: "serve the metadata there, or use the issuer under whose name they are")
                return nil
            case 429, 500..<600:
                fault(
                    "busy", "\(address) has trouble (status \(response.statusCode))", mend: "try again later",
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
                    "write the issuer exactly as the server names it, with its path; some vendors publish none, then use"
                    + " --vendor")
            return nil
        }
        if Set(found.map(\.response.body)).count > 1 {
            advise(
                "metadata-differ", "the addresses of the metadata do not give the same document",
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
                "\(address) does not give the JSON of RFC 8414: a page, a member twice, or lists too deep inside each other",
                mend: "serve one JSON object there, each member once, as application/json")
            return nil
        }
        if response.mediaType != "application/json" {
            advise(
                "metadata-type",
                "\(address) gives its JSON as \(response.mediaType.isEmpty ? "nothing" : response.mediaType)",
                mend: "serve it as application/json (RFC 8414 §3.2)")
        }
        do {
            let configuration = try AuthorizationServerConfiguration(
                metadata, of: issuer, skippingPKCEMetadataCheck: true)
            sound("metadata", "the metadata of \(issuer) name that issuer and addresses that can be used")
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
                "issuer-mismatch", "the metadata of \(issuer) name another issuer: \(named)",
                mend: named.contains("{")
                    ? "name one tenant; an issuer that stands for many cannot be told from another"
                    : "if that is the server, use exactly that text as the issuer, slash and all")
        case .badEndpoint, .foreignLoopback, .missing:
            fault(
                "endpoint-unusable", "\(refusal)",
                mend: "let the metadata name https addresses that can be reached from outside")
        case .noPKCE, .unreadable:
            fault("metadata-unreadable", "\(refusal)", mend: "serve metadata as RFC 8414 has them")
        }
    }

    private mutating func pkce(_ members: [String: JSONValue]) {
        let methods = members.texts("code_challenge_methods_supported")
        guard methods?.contains("S256") == true else {
            return fault(
                "pkce-not-stated",
                methods.map { "the metadata list no S256 under code_challenge_methods_supported, but \($0)" }
                    ?? "the metadata have no code_challenge_methods_supported, so the server does no PKCE (RFC 8414 §2)",
                mend:
                    "let it do PKCE with S256 and say so; if its documentation says that it does, sign in with --assume-pkce"
            )
        }
        if methods?.contains("plain") == true {
            advise(
                "pkce-plain", "the server takes PKCE with plain too, which protects little",
                mend: "turn plain off there")
        } else {
            sound("pkce", "the server does PKCE with S256")
        }
    }

    private mutating func endpoints(_ server: AuthorizationServerConfiguration) {
        registration(server)
        let others = [server.authorizationEndpoint, server.tokenEndpoint].map(\.origin)
            .filter { $0.lowercased() != server.issuer.origin }
        guard let other = others.first else { return }
        advise("endpoint-elsewhere", "the server sends people, or codes, to another host than its issuer's: \(other)")
    }

    /// Checks how a client without a registration can obtain an identifier (RFC 7591 §3).
    private mutating func registration(_ server: AuthorizationServerConfiguration) {
        if server.takesMetadataDocuments {
            sound("client-documents", "the server takes the address of a client's document in the place of a client id")
        }
        guard let endpoint = server.registrationEndpoint else { return }
        guard endpoint.origin.lowercased() == server.issuer.origin else {
            return advise(
                "registration-elsewhere",
                "clients register themselves at another host than the issuer's: \(endpoint.origin)",
                mend: "see whether that host is meant; what it answers decides as which client people are asked")
        }
        sound("registration-offered", "clients can register themselves (RFC 7591)")
    }

    private mutating func features(_ server: AuthorizationServerConfiguration, _ members: [String: JSONValue]) {
        if server.sendsIssuerInResponses {
            sound("iss-promised", "every answer names the server (iss, RFC 9207)")
        } else {
            advise(
                "iss-not-promised", "answers do not name the server, so that two servers could be mixed up",
                mend: "send iss and say so, or register another redirect URI at each server (RFC 9207 §2)")
        }
        if server.requiresPushedRequests {
            sound("par-required", "requests have to be pushed first (RFC 9126); that is done")
        } else if server.pushedAuthorizationRequestEndpoint == nil {
            advise("par-absent", "requests cannot be pushed; all of them go through the browser (RFC 9126)")
        }
        if members.texts("dpop_signing_alg_values_supported")?.contains("ES256") == true {
            sound("dpop-offered", "tokens can be bound to a key of the device (DPoP)")
        }
        if server.revocationEndpoint == nil {
            advise(
                "revocation-absent", "tokens cannot be revoked; after signing out they stay good until they expire",
                mend: "offer a revocation endpoint (RFC 7009)")
        }
        if let types = members.texts("response_types_supported"), !types.contains("code") {
            fault(
                "code-not-supported", "the server does not give codes (response_types_supported: \(types))",
                mend: "allow the authorization code grant there")
        }
    }

    /// Checks which browser scripts may read a response.
    ///
    /// Native apps are not affected.
    mutating func cors(_ response: TransportResponse, what: String) {
        guard let name = HTTPField.Name("Access-Control-Allow-Origin") else { return }
        let topic = "cors-\(what.split(separator: " ").last ?? "")"
        guard let allowed = response.head.headerFields[name] else {
            return advise(
                topic, "a page in a browser may not read \(what) (CORS); for native applications that does not matter")
        }
        let credentials = HTTPField.Name("Access-Control-Allow-Credentials").flatMap { response.head.headerFields[$0] }
        guard credentials == "true", allowed == Self.foreignOrigin || allowed == "*" else {
            return sound(topic, "a page in a browser may read \(what) (CORS: \(allowed.strippingControlCharacters))")
        }
        fault(
            "cors-too-wide", "every page in a browser may read \(what) with the person's cookies (CORS)",
            mend: "do not send Access-Control-Allow-Credentials there")
    }
}
