import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

@Suite("Refused registrations")
struct RegistrationRefusalTests {
    /// Members that replace or add to those of a valid registration, as JSON, and the refusal.
    struct Case: Sendable, CustomTestStringConvertible {
        let members: String
        var error = "invalid_client_metadata"
        /// A part of the description.
        let reason: String

        var testDescription: String { String(members.prefix(80)) }
    }

    private static func metadata(_ members: String) throws -> [String: Any] {
        let members = try #require(try JSONSerialization.jsonObject(with: Data("{\(members)}".utf8)) as? [String: Any])
        return ["redirect_uris": [RegistrationDesk.callback]].merging(members) { _, sent in sent }
    }

    // RFC 7591 §2 and §3.2.2
    @Test(arguments: [
        Case(members: #""redirect_uris": "https://rp.example.net/cb""#, reason: "redirect_uris must be an array"),
        Case(members: #""redirect_uris": [7]"#, reason: "redirect_uris must be an array of strings"),
        Case(members: #""redirect_uris": []"#, error: "invalid_redirect_uri", reason: "redirect_uris is missing"),
        Case(members: #""redirect_uris": null"#, error: "invalid_redirect_uri", reason: "redirect_uris is missing"),
        Case(
            members: #""redirect_uris": ["https://rp.example.net/cb#x"]"#, error: "invalid_redirect_uri",
            reason: "redirect_uris: https://rp.example.net/cb#x is refused"),
        Case(
            members: #""redirect_uris": ["http://rp.example.net/cb"]"#, error: "invalid_redirect_uri",
            reason: "is refused"),
        Case(
            members: #""redirect_uris": ["javascript:alert(1)"], "application_type": "native""#,
            error: "invalid_redirect_uri", reason: "is refused"),
        Case(
            members: #""redirect_uris": ["myapp:/cb"], "application_type": "native""#, error: "invalid_redirect_uri",
            reason: "is refused"),
        Case(
            members: #""redirect_uris": ["com.example.app:/cb"], "application_type": "web""#,
            error: "invalid_redirect_uri", reason: "is refused"),
        Case(
            members: #""redirect_uris": ["https://id.example.com/cb"]"#, error: "invalid_redirect_uri",
            reason: "is refused"),
        Case(
            members: #""client_name": "My Bank (bank.example.com)""#,
            reason: "client_name contains bank.example.com, which is not the host of the redirect URIs"),
        Case(members: #""token_endpoint_auth_method": "client_secret_jwt""#, reason: "token_endpoint_auth_method"),
        Case(members: #""token_endpoint_auth_method": 1"#, reason: "token_endpoint_auth_method must be a string"),
        Case(members: #""token_endpoint_auth_method": "private_key_jwt""#, reason: "needs jwks or jwks_uri"),
        Case(members: #""grant_types": ["client_credentials"]"#, reason: "only an administrator registers"),
        Case(members: #""grant_types": ["implicit"]"#, reason: "grant_types"),
        Case(members: #""grant_types": ["refresh_token"]"#, reason: "grant_types"),
        Case(members: #""grant_types": []"#, reason: "grant_types"),
        Case(members: #""response_types": ["token"]"#, reason: "response_types must contain code"),
        Case(members: #""response_types": []"#, reason: "response_types must contain code"),
        Case(
            members: #""grant_types": ["urn:ietf:params:oauth:grant-type:device_code"]"#,
            error: "invalid_redirect_uri", reason: "redirect_uris needs the grant type authorization_code"),
        Case(
            members: #""grant_types": ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"]"#,
            reason: "application_type native"),
        Case(members: #""application_type": "desktop""#, reason: "application_type"),
        Case(
            members: #""jwks": {"keys": []}, "jwks_uri": "https://rp.example.net/keys""#,
            reason: "jwks and jwks_uri must not both be present"),
        Case(
            members: #""jwks": {"keys": [{"kty": "oct", "k": "AAAA"}]}"#, reason: "jwks contains a private or symmetric"
        ),
        Case(
            members: #""jwks": {"keys": []}, "token_endpoint_auth_method": "private_key_jwt""#,
            reason: "jwks contains no key"),
        Case(members: #""jwks_uri": "http://rp.example.net/keys""#, reason: "jwks_uri must be an https URL"),
        Case(
            members: #""software_statement": "e30.e30.""#, error: "invalid_software_statement",
            reason: "software statements are not supported"),
        Case(members: #""initiate_login_uri": "http://rp.example.net/""#, reason: "initiate_login_uri"),
        Case(members: #""client_name": "\u202e\u200b""#, reason: "client_name"),
        Case(members: #""client_uri": 7"#, reason: "client_uri must be a string"),
        Case(members: #""post_logout_redirect_uris": ["http://a.example/"]"#, reason: "post_logout_redirect_uris"),
        Case(members: #""backchannel_logout_uri": "http://127.0.0.1/""#, reason: "backchannel_logout_uri"),
        Case(members: #""id_token_signed_response_alg": "none""#, reason: "id_token_signed_response_alg"),
        Case(members: #""id_token_signed_response_alg": "HS256""#, reason: "id_token_signed_response_alg"),
        Case(members: #""userinfo_encrypted_response_alg": "RSA-OAEP""#, reason: "userinfo_encrypted_response_alg"),
        Case(members: #""id_token_encrypted_response_alg": "RSA-OAEP""#, reason: "id_token_encrypted_response_alg"),
        Case(members: #""require_signed_request_object": true"#, reason: "require_signed_request_object"),
        Case(members: #""subject_type": "ephemeral""#, reason: "subject_type"),
        Case(
            members: #""subject_type": "pairwise", "redirect_uris": ["https://a.example/", "https://b.example/"]"#,
            reason: "needs sector_identifier_uri"),
        Case(members: #""sector_identifier_uri": "https://rp.example.net/s""#, reason: "sector_identifier_uri"),
        Case(members: #""scope": "open\"id""#, reason: "scope"),
        Case(members: #""contacts": "ops@rp.example.net""#, reason: "contacts"),
    ])
    func `a value that the server does not support is refused by name`(refused: Case) async throws {
        let desk = try await RegistrationDesk()
        let before = try await desk.test.store.clients().count
        let reason = try await desk.refusal(of: try Self.metadata(refused.members), refused.error)
        #expect(reason.contains(refused.reason), "\(reason)")
        #expect(try await desk.test.store.clients().count == before)
        #expect(try await desk.events.isEmpty)
    }

    // RFC 7591 §2 and §3.2.1: the response shows what the client is registered with. The first bodies are those of the
    // end-to-end tests of oauth4webapi and openid-client.
    @Test(
        arguments: [
            (#""authorization_signed_response_alg": "ES256""#, "authorization_signed_response_alg", nil),
            (#""authorization_encrypted_response_alg": "RSA-OAEP""#, "authorization_encrypted_response_alg", nil),
            (#""userinfo_signed_response_alg": "none""#, "userinfo_signed_response_alg", nil),
            (#""userinfo_signed_response_alg": "RS256""#, "userinfo_signed_response_alg", nil),
            (#""client_uri": "http://rp.example.net""#, "client_uri", nil),
            (#""client_uri": "javascript:alert(1)""#, "client_uri", nil),
            (#""logo_uri": "http://localhost/logo.png""#, "logo_uri", nil),
            (#""policy_uri": "data:text/html,x""#, "policy_uri", nil), (#""tos_uri": "https://""#, "tos_uri", nil),
            (
                #""grant_types": ["implicit", "authorization_code", "client_credentials", "refresh_token"]"#,
                "grant_types", ["authorization_code", "refresh_token"]
            ),
            (#""response_types": ["code id_token", "code", "token"]"#, "response_types", ["code"]),
            (
                #""redirect_uris": [], "grant_types": ["urn:ietf:params:oauth:grant-type:device_code"], "#
                    + #""response_types": ["code"]"#, "response_types", []
            ),
        ] as [(String, String, [String]?)])
    func `a value that the server does not use is left out of the registration`(
        members: String, name: String, registered: [String]?
    ) async throws {
        let desk = try await RegistrationDesk()
        let reply = try await desk.register(try Self.metadata(members))
        #expect(reply.status == .created)
        #expect(try reply.members[name] as? [String] == registered)
        #expect(try (reply.members[name] == nil) == (registered == nil))
        let stored = try await Registrant(desk: desk, members: reply.members).registration()
        guard case .registration(let registration) = stored.source else { Issue.record("no registration"); return }
        #expect(!String(decoding: registration.metadata, as: UTF8.self).contains("alert"))
        #expect(stored.presentation.privacyURI == nil && stored.presentation.termsURI == nil)
    }

    private static let nested =
        #"{"redirect_uris": ["https://rp.example.net/cb"], "x": "# + String(repeating: "[", count: 100_000)

    @Test(arguments: [
        (#"{"redirect_uris": ["https://rp.example.net/cb"]}"#, "text/plain"),
        (#"{"redirect_uris": ["https://rp.example.net/cb"]}"#, "application/x-www-form-urlencoded"),
        (#"{"redirect_uris": ["https://rp.example.net/cb"], "redirect_uris": ["https://a.example/"]}"#, json),
        (#"{"redirect_uris": ["https://rp.example.net/cb"]} {}"#, json), (#"["https://rp.example.net/cb"]"#, json),
        ("redirect_uris=https://rp.example.net/cb", json), (nested, json), ("null", json),
    ])
    func `a body that is not one JSON object is refused`(body: String, type: String) async throws {
        let desk = try await RegistrationDesk()
        let reply = try await desk.send(.post, to: "/oauth2/register", body, type: type)
        #expect(reply.status == .badRequest)
        #expect(try reply.members["error"] as? String == "invalid_client_metadata")
    }

    private static let json = "application/json"

    // The web layer answers 413 to a body beyond the limit.
    @Test func `unknown members have no effect, and the size of a registration is limited`() async throws {
        let desk = try await RegistrationDesk()
        let reply = try await desk.send(
            .post, to: "/oauth2/register",
            #"{"redirect_uris": ["https://rp.example.net/cb"], "__proto__": {"client_name": "x"}}"#,
            type: "application/json; charset=utf-8")
        #expect(reply.status == .created)
        #expect(try reply.members["client_name"] == nil)
        #expect(Endpoint.registration.bodyLimit == 16 * 1024)
        #expect(Endpoint.registeredClient.bodyLimit == 16 * 1024)
    }
}
