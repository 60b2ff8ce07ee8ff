import Foundation
import Testing

/// `app create`, `app list` and `app show`, as scripts and people read them.
@Suite(.timeLimit(.minutes(10)))
struct ApplicationCommandTests {
    // R001, R105: a native application is registered whole, and gets no secret.
    @Test func `a native application is registered without a secret`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let created = try await site.administer([
                "app", "create", "--type", "native", "--name", "Lightbox", "--publisher", "Lightbox AS",
                "--redirect-uri",
                "http://127.0.0.1/callback", "--redirect-uri", "com.example.lightbox:/callback", "--scope", "openid",
                "--scope", "photos.read", "--json",
            ])
            #expect(created.status == 0)
            #expect(created.output.filter { $0 == "\n" }.count == 1)
            let application = try Self.object(created.output)
            let clientID = try #require(application["client_id"] as? String)
            #expect(application["client_secret"] == nil)
            #expect(application["token_endpoint_auth_method"] as? String == "none")
            #expect(application["application_type"] as? String == "native")
            #expect(application["client_name"] as? String == "Lightbox")
            #expect(application["publisher"] as? String == "Lightbox AS")
            #expect(
                application["redirect_uris"] as? [String]
                    == ["http://127.0.0.1/callback", "com.example.lightbox:/callback"])
            #expect(application["scope"] as? String == "openid photos.read")
            #expect(application["require_state"] as? Bool == true)
            #expect(application["first_party"] as? Bool == false)
            #expect(application["id_token_signed_response_alg"] as? String == "ES256")
            #expect(application["client_id_issued_at"] is Int)
            #expect(application.count == 11)

            let shown = try await site.administer(["app", "show", clientID, "--json"])
            #expect(shown.output == created.output)
            let list = try await site.administer(["app", "list", "--json"])
            #expect(list.output == "[\(created.output.trimmingCharacters(in: .newlines))]\n")

            let words = try await site.administer(["app", "show", clientID])
            #expect(
                words.output == """
                    Lightbox
                      client_id: \(clientID)
                      type: native, no secret
                      publisher: Lightbox AS
                      redirect URI: http://127.0.0.1/callback
                      redirect URI: com.example.lightbox:/callback
                      scope: openid photos.read
                      ID tokens: ES256

                    """)
            #expect(try await site.administer(["app", "list"]).output == "\(clientID)  native  Lightbox\n")
        }
    }

    @Test func `an empty list and an unknown application say what to do`() async throws {
        try await Site.make { site in
            let missing = try await site.administer(["app", "list"])
            #expect(missing.status == 3)
            #expect(
                missing.errors == """
                    counterfoil-server: there is no data directory at \(site.dataDirectory); check --data-dir, or make \
                    something there first

                    """)
            #expect(!FileManager.default.fileExists(atPath: site.dataDirectory))

            try await site.add(.alice)
            let list = try await site.administer(["app", "list"])
            #expect(list.output == "No application is registered. See: counterfoil-server app create --help\n")
            #expect(try await site.administer(["app", "list", "--json"]).output == "[]\n")
            let unknown = try await site.administer(["app", "show", "nobody"])
            #expect(unknown.status == 3)
            #expect(unknown.errors == "counterfoil-server: there is no application with the client_id nobody\n")
        }
    }

    // R105, R141.
    @Test(arguments: [
        ("javascript:alert(1)", "the scheme javascript: is handled by browsers themselves and can never be one"),
        ("data:text/html,x", "the scheme data: is handled by browsers themselves and can never be one"),
        ("http://app.example.com/cb", "http is allowed only for 127.0.0.1, [::1] and localhost; use https"),
        ("http://127.0.0.1.evil.example/cb", "http is allowed only for 127.0.0.1, [::1] and localhost; use https"),
        ("https://app.example.com/cb#x", "it has a fragment (#…), which a redirect URI cannot have"),
        ("https://127.0.0.1@evil.example/cb", "it has user information before an @, which a redirect URI cannot have"),
        ("https://*.example.com/cb", "it holds a *; every address is registered whole"),
        (
            "https://app.example.com/cb?state=x",
            "its query has a parameter state, which belongs to the answer of the server; choose another name"
        ),
        (
            "http://127.0.0.1/cb?code=x",
            "its query has a parameter code, which belongs to the answer of the server; choose another name"
        ),
        ("https://app.example.com/cb?%ff", "its query is not correctly encoded"),
        (
            "myapp:/cb",
            "the scheme myapp: could be anybody's; use a domain name of yours in reverse, such as com.example.app:/callback"
        ),
        ("com.example.app://cb", "a scheme of an application is followed by a single slash: com.example.app:/callback"),
    ])
    func `a redirect URI that could never be safe is refused with the reason`(uri: String, reason: String) async throws
    {
        try await Site.make { site in
            let ended = try await site.administer(Self.create(redirectURI: uri))
            #expect(ended.status == 3)
            #expect(ended.output.isEmpty)
            #expect(ended.errors == "counterfoil-server: the redirect URI \(uri) is refused: \(reason)\n")
            let list = try await site.administer(["app", "list", "--json"])
            #expect(list.output == "[]\n")
        }
    }

    @Test func `an address of the server itself is never a redirect URI`() async throws {
        try await Site.make { site in
            try await site.serving {
                let ended = try await site.administer(Self.create(redirectURI: site.issuer + "/callback"))
                #expect(ended.status == 3)
                #expect(
                    ended.errors.hasSuffix(
                        "is refused: it is an address of this server itself, which can never receive an answer\n"))
            }
        }
    }

    @Test(arguments: [
        (["--type", "web"], "This version registers applications of the type native only, not web."),
        (["--name", " "], "The name of an application is 1 to 100 characters."),
        (["--require-state", "maybe"], "--require-state is true or false."),
        (["--id-token-signed-response-alg", "none"], "--id-token-signed-response-alg is ES256 or RS256."),
        (["--scope", "two words"], "two words cannot be the name of a scope."),
    ])
    func `an argument that cannot be is wrong usage`(arguments: [String], sentence: String) async throws {
        try await Site.make { site in
            var all = ["--type", "native", "--name", "Lightbox", "--redirect-uri", "http://127.0.0.1/callback"]
            if let index = all.firstIndex(of: arguments[0]) { all.removeSubrange(index...index + 1) }
            let ended = try await site.administer(["app", "create"] + all + arguments)
            #expect(ended.status == 64)
            #expect(ended.errors.hasPrefix("Error: \(sentence)\n"))
            #expect(!FileManager.default.fileExists(atPath: site.dataDirectory))
        }
    }

    @Test func `a scope that does not exist is not assigned`() async throws {
        try await Site.make { site in
            let ended = try await site.administer(
                Self.create(redirectURI: "http://127.0.0.1/callback") + ["--scope", "photos.read"])
            #expect(ended.status == 3)
            #expect(
                ended.errors == """
                    counterfoil-server: there is no scope named photos.read; make it first with: counterfoil-server scope \
                    create

                    """)
        }
    }

    private static func create(redirectURI: String) -> [String] {
        ["app", "create", "--type", "native", "--name", "Lightbox", "--redirect-uri", redirectURI]
    }

    private static func object(_ json: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }
}
