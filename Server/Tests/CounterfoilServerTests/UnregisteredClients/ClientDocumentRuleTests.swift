import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import HTTPTypes
import Testing

/// The rules for the URL of a client document and for its content.
struct ClientDocumentRuleTests {
    // draft-ietf-oauth-client-id-metadata-document-02 §3.
    @Test(arguments: [
        ("https://app.example.net", "it has no path"),
        ("https://app.example.net?client.json", "it has no path"),
        ("https://app.example.net/a/../client.json", "its path has a segment . or .."),
        ("https://app.example.net/a/%2E%2e/client.json", "its path has a segment . or .."),
        ("https://app.example.net/./client.json", "its path has a segment . or .."),
        ("https://app.example.net/client.json#top", "it has a fragment"),
        ("https://app.example.net/client.json#", "it has a fragment"),
        ("https://user@app.example.net/client.json", "it has user information"),
        ("https://user:pass@app.example.net/client.json", "it has user information"),
        ("https://@app.example.net/client.json", "it has user information"),
        ("https://App.example.net/client.json", "its host is not in lower case"),
        ("https:///client.json", "it is not an https URL"),
        ("https://app.example.net:0/client.json", "it is not an https URL"),
        ("https://app.example.net:/client.json", "it is not an https URL"),
        ("https://app.example.net/client json", "it is not an https URL"),
        ("https://app.example.net/%zz", "it is not an https URL"),
        ("https://127.0.0.1/client.json", "its host is not a name"),
        ("https://2130706433/client.json", "its host is not a name"),
        ("https://0x7f000001/client.json", "its host is not a name"),
        ("https://[::1]/client.json", "its host is not a name"),
        ("https://[::ffff:10.0.0.1]/client.json", "its host is not a name"),
        ("https://app.example.net./client.json", "its host is not a name"),
        ("https://app%2eexample.net/client.json", "its host is not a name"),
        ("https://app.example.net/" + String(repeating: "a", count: 489), "it is longer than 512 bytes"),
    ])
    func `a client_id that cannot be the URL of a document is refused without a request`(
        url: String, reason: String
    ) async throws {
        let world = try await DocumentWorld([url: DocumentWorld.document(at: url)])
        let reply = try await world.attempt(url).firstReply()
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
        let page = try reply.problemPage
        #expect(page.title == "This app sent a request we can't accept")
        #expect(page.explanation.contains("describes itself in a document that this server cannot use"))
        #expect(
            page.developer?.advice == "Reason: the client_id cannot be the URL of a client document: \(reason).")
        #expect(world.files.requests.isEmpty)
    }

    // The scheme is compared as a string, too, so these are the identifiers of no client.
    @Test(arguments: [
        "http://app.example.net/client.json", "HTTPS://app.example.net/client.json", "https:/app.example.net/c",
        "data:application/json,{}", "file:///etc/passwd", "ftp://app.example.net/client.json",
    ])
    func `another scheme is an unknown client`(url: String) async throws {
        let world = try await DocumentWorld([url: DocumentWorld.document(at: url)])
        let page = try await world.attempt(url).firstReply().problemPage
        #expect(page.explanation.contains("There is no app with the client_id of the request"))
        #expect(world.files.requests.isEmpty)
    }

    // A port, a query and the path `/` are allowed. Two URLs that differ in a byte are two clients.
    @Test(arguments: [
        "https://app.example.net/", "https://app.example.net:443/client.json", "https://app.example.net:8443/c",
        "https://app.example.net/client?v=2", "https://app.example.net/a//b/...", "https://app.example.net/%41",
    ])
    func `a client_id is compared and requested byte for byte`(url: String) async throws {
        let world = try await DocumentWorld([url: DocumentWorld.document(at: url)])
        _ = try await world.attempt(url).authorize().code
        #expect(world.files.requests.map(\.url.rawValue) == [url])
        #expect(try await world.test.store.client(try DocumentWorld.id(url))?.id.rawValue == url)
    }

    // draft-ietf-oauth-client-id-metadata-document-02 §4. The Kelvin sign is canonically equivalent to K.
    @Test(arguments: [
        "https://app.example.net/client.jsoN", "https://app.example.net:443/client.json",
        "https://app.example.net/client.json?", "https://app.example.net/client.json ", "",
        "https://APP.example.net/client.json",
    ])
    func `a document whose client_id is not its URL is refused`(id: String) async throws {
        let world = try await DocumentWorld()
        world.publish(["client_id": "\"\(id)\""])
        try await Self.expectInvalid(world, "its client_id is not its URL, byte for byte")
    }

    @Test func `a client_id with an equivalent character is not equal`() async throws {
        let url = "https://app.example.net/K"
        let world = try await DocumentWorld([url: DocumentWorld.document(at: "https://app.example.net/\u{212A}")])
        #expect(
            try await world.attempt(url).firstReply().developerReason
                == "Reason: the client document is invalid: its client_id is not its URL, byte for byte.")
    }

    // Nothing that is secret belongs into a public file.
    @Test(
        arguments: [
            (["client_secret": #""s3cret""#], "it must not contain client_secret"),
            (["client_secret_expires_at": "0"], "it must not contain client_secret_expires_at"),
            (["token_endpoint_auth_method": #""client_secret_basic""#], "must not be client_secret_basic"),
            (["token_endpoint_auth_method": #""client_secret_post""#], "must not be client_secret_post"),
            (["token_endpoint_auth_method": #""client_secret_jwt""#], "must not be client_secret_jwt"),
            (
                ["token_endpoint_auth_methods_supported": #"["none", "client_secret_basic"]"#],
                "token_endpoint_auth_methods_supported must not contain client_secret_basic"
            ),
            (["token_endpoint_auth_methods_supported": #""none""#], "must be an array of strings"),
            (["token_endpoint_auth_methods_supported": #"["private_key_jwt"]"#], "private_key_jwt needs jwks"),
            (
                ["token_endpoint_auth_methods_supported": #"["private_key_jwt", "none"]"#, "jwks": #"{"keys": []}"#],
                "private_key_jwt needs jwks"
            ),
            (
                ["jwks": #"{"keys": [{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "d": "AA"}]}"#],
                "jwks contains a private or symmetric key"
            ),
            (["jwks": #"{"keys": [{"kty": "oct", "k": "AA"}]}"#], "jwks contains a private or symmetric key"),
            (["jwks": #"{"keys": [{"kty": "RSA", "p": "AA"}]}"#], "jwks contains a private or symmetric key"),
            (["token_endpoint_auth_method": #""private_key_jwt""#], "private_key_jwt needs jwks"),
            (
                ["token_endpoint_auth_method": #""private_key_jwt""#, "jwks": #"{"keys": []}"#],
                "private_key_jwt needs jwks"
            ),
            (
                ["token_endpoint_auth_method": #""private_key_jwt""#, "jwks_uri": #""http://app.example.net/keys""#],
                "jwks_uri must be an https URL"
            ),
            (["jwks": #"{"keys": []}"#, "jwks_uri": #""https://app.example.net/keys""#], "must not both be present"),
            (["jwks": "[]"], "jwks is not a JSON Web Key Set"),
            (["redirect_uris": nil], "redirect_uris is missing"),
            (["redirect_uris": "[]"], "redirect_uris is missing"),
            (["redirect_uris": #""https://app.example.net/callback""#], "redirect_uris must be an array of strings"),
            (["redirect_uris": #"["javascript:alert(1)", "https://10.0.0.1/"]"#], "no redirect URI can be used"),
            (["redirect_uris": #"["https://id.example.com/oauth2/authorize"]"#], "no redirect URI can be used"),
            (["client_name": "7"], "client_name must be a string"),
        ] as [([String: String?], String)])
    func `a document that breaks a rule is refused with the reason`(
        changes: [String: String?], reason: String
    ) async throws {
        let world = try await DocumentWorld()
        world.publish(changes)
        try await Self.expectInvalid(world, reason)
    }

    private static func expectInvalid(_ world: DocumentWorld, _ reason: String) async throws {
        let reply = try await world.attempt().firstReply()
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
        let text = try #require(try reply.developerReason)
        #expect(text.hasPrefix("Reason: the client document is invalid: "))
        #expect(text.contains(reason), "\(text)")
        let pushed = try await world.attempt().push()
        #expect(pushed.status == .badRequest)
        let error = try pushed.tokenError
        #expect(error.error == "invalid_client")
        #expect(error.errorDescription?.contains(reason) == true)
        // An invalid document is never kept.
        #expect(world.files.requests.count == 2)
        #expect(try await world.stored == nil)
        #expect(world.test.log.lines.contains { $0.contains("the client document is invalid") })
    }

    // draft-ietf-oauth-client-id-metadata-document-02 §5: 200 is the only success.
    @Test(arguments: [
        (201, "its host answered 201; it must be 200", 400), (204, "answered 204", 400), (206, "answered 206", 400),
        (301, "answered 301, and redirects are not followed", 400), (302, "redirects are not followed", 400),
        (307, "redirects are not followed", 400), (304, "answered 304", 400), (403, "answered 403", 400),
        (404, "answered 404", 400), (410, "answered 410", 400), (429, "answered 429", 503), (500, "answered 500", 503),
        (503, "answered 503", 503),
    ])
    func `a document with another status than 200 is refused and not kept`(
        status: Int, reason: String, expected: Int
    ) async throws {
        let world = try await DocumentWorld()
        world.files.set(
            DocumentWorld.url,
            .answered(
                .init(
                    status: status, contentType: "application/json", cacheControl: "max-age=86400",
                    body: Array(DocumentWorld.document().utf8))))
        let reply = try await world.attempt().firstReply()
        #expect(reply.status.code == expected)
        #expect(reply.fields[.retryAfter] == (expected == 503 ? "60" : nil))
        #expect(try reply.developerReason?.contains(reason) == true)
        #expect(try await world.attempt().firstReply().status.code == expected)
        #expect(world.files.requests.count == 2)
        world.publish([:])
        _ = try await world.attempt().authorize().code
    }

    @Test(arguments: [
        (OutboundFailure.unknownHost, "its host does not exist, or is not on the public internet", 503),
        (.notPublic, "its host does not exist, or is not on the public internet", 503),
        (.unreachable, "its host is not reachable", 503), (.timedOut, "its host did not answer in time", 503),
        (.untrusted, "the certificate of its host is not valid", 400), (.tooLarge, "larger than the limit", 400),
        (.unsuitableURL, "it must be an https URL with a host name", 400), (.busy, "try again later", 503),
    ])
    func `a document that cannot be fetched is a page for the user and an error for a program`(
        failure: OutboundFailure, reason: String, expected: Int
    ) async throws {
        let world = try await DocumentWorld()
        world.files.set(DocumentWorld.url, .failed(failure))
        let reply = try await world.attempt().firstReply()
        #expect(reply.status.code == expected)
        #expect(try reply.developerReason?.contains(reason) == true)
        let pushed = try await world.attempt().push()
        #expect(pushed.status.code == expected)
        #expect(
            try pushed.tokenError.error == (expected == 503 ? "temporarily_unavailable" : "invalid_client"))
        #expect(try pushed.tokenError.errorDescription?.contains(reason) == true)
        // The operator learns the cause.
        #expect(
            failure == .busy
                || world.test.log.lines.contains { $0.contains("\"failure\": \(failure)") })
        world.publish([:])
        #expect(try await world.attempt().push().status == .created)
    }

    @Test(
        arguments: [
            ("application/json", true), ("application/json; charset=utf-8", true), ("Application/JSON", true),
            ("application/client-metadata+json", true), ("text/html", false), ("text/json", false),
            ("text/plain", false),
            ("application/jsonp", false), ("image/svg+json", false), ("", false), (nil, false),
            ("application/json;" + String(repeating: "a", count: 100_000), false),
        ] as [(String?, Bool)])
    func `only JSON is a document`(type: String?, isAccepted: Bool) async throws {
        let world = try await DocumentWorld()
        world.files.set(
            DocumentWorld.url,
            .answered(.init(status: 200, contentType: type, body: Array(DocumentWorld.document().utf8))))
        let reply = try await world.attempt().firstReply()
        guard !isAccepted else { return #expect(reply.page is SignInPage) }
        #expect(reply.status == .badRequest)
        #expect(
            try reply.developerReason
                == "Reason: the client document is not JSON; its content type must be application/json.")
    }

    @Test(arguments: [
        "", "null", "[]", "\"text\"", "{", #"{"client_id": "https://app.example.net/client.json""#,
        #"{"client_id": "https://app.example.net/client.json", "client_id": "https://app.example.net/client.json"}"#,
        "\u{1F}\u{8B}\u{8}\u{0}",
    ])
    func `a body that is no JSON object, or has a member twice, is refused`(body: String) async throws {
        let world = try await DocumentWorld()
        world.files.set(DocumentWorld.url, .json(body))
        #expect(
            try await world.attempt().firstReply().developerReason
                == "Reason: the client document is invalid: it is not a JSON object, or a member occurs twice.")
    }

    // The fetcher stops at the limit; the server does not rely on it.
    @Test func `a document of more than 5 KB is refused`() async throws {
        let rest = 5120 - DocumentWorld.document(["padding": "\"\""]).utf8.count
        let world = try await DocumentWorld()
        world.publish(["padding": "\"\(String(repeating: "x", count: rest + 1))\""])
        let reply = try await world.attempt().firstReply()
        #expect(reply.status == .badRequest)
        #expect(try reply.developerReason?.contains("larger than the limit") == true)
        world.publish(["padding": "\"\(String(repeating: "x", count: rest))\""])
        _ = try await world.attempt().firstReply().signInPage
    }

    // A document is written for many servers: what means nothing here does not refuse the client.
    @Test(
        arguments: [
            ["grant_types": #"["refresh_token"]"#], ["grant_types": #"["implicit", "urn:example:grant"]"#],
            ["response_types": #"["token"]"#],
            ["token_endpoint_auth_method": #""tls_client_auth""#],
            ["token_endpoint_auth_methods_supported": #"["tls_client_auth"]"#],
            ["token_endpoint_auth_methods_supported": "[]"],
            ["token_endpoint_auth_methods_supported": #"["tls_client_auth", "none"]"#],
            [
                "token_endpoint_auth_method": #""tls_client_auth""#,
                "token_endpoint_auth_methods_supported": #"["none", "tls_client_auth"]"#,
            ],
            ["token_endpoint_auth_method": nil], ["token_endpoint_auth_method": #""none""#],
            ["token_endpoint_auth_methods_supported": #"["none", "private_key_jwt"]"#],
            ["scope": #""  not a \\ scope""#], ["scope": #""files.read""#], ["application_type": #""browser""#],
            ["application_type": #""web""#], ["client_secret": "null"], ["software_statement": #""e30.e30.""#],
            ["unknown": #"{"a": [1, 2.5, null, true]}"#], ["contacts": #"["dev@app.example.net"]"#],
            ["client_uri": #""javascript:alert(1)""#], ["policy_uri": #""data:text/html,x""#], ["client_name": nil],
            ["client_name": #""\u202Eelgoog""#], ["subject_type": #""ephemeral""#],
            ["id_token_signed_response_alg": #""none""#], ["jwks": #"{"keys": []}"#],
        ] as [[String: String?]])
    func `unknown members and unsupported values are ignored`(changes: [String: String?]) async throws {
        let world = try await DocumentWorld()
        world.publish(changes)
        let attempt = try world.attempt()
        #expect(await world.test.redeem(attempt.exchange(try await attempt.authorize().code)).status == .ok)
        let client = try #require(try await world.stored)
        #expect(!client.type.isConfidential)
        #expect(client.keys == nil)
    }

    @Test(arguments: [nil, #""""#, #"" ""#, #""\u202Eelgoog""#, #""\u0000""#] as [String?])
    func `the host stands for a name that is missing or cannot be shown`(name: String?) async throws {
        let world = try await DocumentWorld()
        world.publish(["client_name": name])
        _ = try await world.attempt().authorize().code
        #expect(try await world.stored?.presentation.name == "app.example.net")
    }

    @Test func `pages link only to https URLs of a document`() async throws {
        let world = try await DocumentWorld()
        world.publish([
            "policy_uri": #""https://app.example.net/privacy""#, "tos_uri": #""javascript:alert(1)""#,
        ])
        _ = try await world.attempt().authorize().code
        let presentation = try #require(try await world.stored?.presentation)
        #expect(presentation.privacyURI?.rawValue == "https://app.example.net/privacy")
        #expect(presentation.termsURI == nil)
    }
}
