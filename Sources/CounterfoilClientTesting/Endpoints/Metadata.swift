import CounterfoilTokens

extension MiniatureServer {
    /// Returns the metadata of the authorization server (RFC 8414 §2, OpenID Connect Discovery §3).
    func metadata(at form: MetadataScript.Form?) -> ScriptedAnswer {
        var members = [WireMember("issuer", .text(issuer))]
        for endpoint in ScriptedEndpoint.allCases where !script.metadata.absent.contains(endpoint) {
            members.append(endpoint.metadataName ?? "", endpoint.metadataName.map { _ in .text(url(of: endpoint)) })
        }
        let methods: WireValue =
            switch script.clients.authentication {
            case .none, .noSecretAllowed: ["none"]
            case .post: ["client_secret_post"]
            case .basic: ["client_secret_basic"]
            case .privateKey: ["private_key_jwt"]
            }
        members += [
            WireMember("response_types_supported", ["code"]),
            WireMember("response_modes_supported", ["query"]),
            WireMember("grant_types_supported", .list(ScriptedGrantType.allCases.map { .text($0.rawValue) })),
            WireMember("code_challenge_methods_supported", ["S256"]),
            WireMember("token_endpoint_auth_methods_supported", methods),
            WireMember("authorization_response_iss_parameter_supported", true),
            WireMember("scopes_supported", ["openid", "profile", "email", "offline_access", "photos.read"]),
            WireMember("subject_types_supported", ["public"]),
            WireMember("id_token_signing_alg_values_supported", [.text(script.keys.algorithm.rawValue)]),
        ]
        if !script.dpop.isIgnored { members.append("dpop_signing_alg_values_supported", ["ES256", "EdDSA"]) }
        if script.authorization.requiresPushedRequest {
            members.append("require_pushed_authorization_requests", true)
        }
        if script.userInfo.isSigned {
            members.append("userinfo_signing_alg_values_supported", [.text(script.keys.algorithm.rawValue)])
        }
        return json(
            members.changed(
                replacing: script.metadata.replaced,
                omitting: script.metadata.omitted + (form.flatMap { script.metadata.omittedAt[$0] } ?? [])),
            at: .metadata)
    }

    /// Returns the metadata of the API (RFC 9728 §2).
    func resourceMetadata() -> ScriptedAnswer {
        var members = [
            WireMember("resource", .text(filled(script.api.resource))),
            WireMember("authorization_servers", [.text(issuer)]),
            WireMember("bearer_methods_supported", ["header"]),
            WireMember("scopes_supported", ["photos.read"]),
        ]
        if script.dpop.isRequired { members.append("dpop_bound_access_tokens_required", true) }
        let metadata = script.metadata
        return json(
            members.changed(replacing: metadata.resourceReplaced, omitting: metadata.resourceOmitted),
            at: .resourceMetadata)
    }

    /// Returns the list of data centres in the format of Zoho.
    func serverInfo() -> ScriptedAnswer {
        json(
            [
                WireMember("result", "success"),
                WireMember("locations", ["us": .text(origin), "eu": .text(sibling)]),
            ], at: .serverInfo)
    }
}

/// The grant types that a scripted server supports.
enum ScriptedGrantType: String, CaseIterable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
    case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
    case clientCredentials = "client_credentials"
    case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
}
