import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The assertions of the module of `oidcc-config-certification-test-plan`, under its name.
@Suite("OpenID conformance: configuration")
struct ConfigurationConformanceTests {
    @Test func `oidcc-discovery-endpoint-verification`() async throws {
        let party = try await RelyingParty()
        let members = try RelyingParty.members(of: await party.test.send(.get, to: .metadata))
        let issuer = party.test.issuer.rawValue
        #expect(members["issuer"] as? String == issuer)
        for name in [
            "authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint", "end_session_endpoint",
        ] {
            #expect((members[name] as? String)?.hasPrefix(issuer + "/oauth2/") == true, "\(name)")
        }
        let lists: [(name: String, has: String)] = [
            ("response_types_supported", "code"), ("response_modes_supported", "query"),
            ("response_modes_supported", "form_post"), ("response_modes_supported", "fragment"),
            ("subject_types_supported", "public"), ("subject_types_supported", "pairwise"),
            ("id_token_signing_alg_values_supported", "RS256"),
            ("scopes_supported", "openid"), ("grant_types_supported", "authorization_code"),
            ("code_challenge_methods_supported", "S256"), ("claims_supported", "sub"), ("claims_supported", "email"),
            ("acr_values_supported", "urn:counterfoil:acr:password"),
        ]
        for (name, value) in lists {
            #expect((members[name] as? [String])?.contains(value) == true, "\(name) \(value)")
        }
        for name in [
            "claims_parameter_supported", "backchannel_logout_supported", "backchannel_logout_session_supported",
        ] {
            #expect(members[name] as? Bool == true, "\(name)")
        }
        #expect(members["request_parameter_supported"] as? Bool == false)

        let keys = try RelyingParty.members(of: await party.test.send(.get, to: .keySet))["keys"] as? [[String: Any]]
        for key in try #require(keys) {
            for secret in ["d", "p", "q", "dp", "dq", "qi", "k"] { #expect(key[secret] == nil) }
        }
    }
}
