import Foundation
import TestSupport
import Testing

/// `app create`, `app list` and `app show`, for scripts and for people.
@Suite(.timeLimit(.minutes(10)))
struct ClientCommandTests {
    // A client that moves from another server keeps its client_id.
    @Test func `a client keeps its existing client identifier`() async throws {
        try await Site.make { site in
            let create = [
                "app", "create", "--type", "native", "--name", "Lightbox", "--redirect-uri",
                "http://127.0.0.1/callback",
                "--client-id", "1000.R2K7A2NQIYQZ4I8B0UEUOQ",
            ]
            let created = try await site.administer(create + ["--json"])
            #expect(created.status == 0)
            #expect(try Self.object(created.output)["client_id"] as? String == "1000.R2K7A2NQIYQZ4I8B0UEUOQ")
            let again = try await site.administer(create)
            #expect(again.status == 3)
            #expect(again.errors.contains("the client_id 1000.R2K7A2NQIYQZ4I8B0UEUOQ is in use"))
        }
    }

    // One command registers a native client completely, without a secret.
    @Test func `a native app is registered without a secret`() async throws {
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
            let client = try Self.object(created.output)
            let clientID = try #require(client["client_id"] as? String)
            #expect(client["client_secret"] == nil)
            #expect(client["token_endpoint_auth_method"] as? String == "none")
            #expect(client["application_type"] as? String == "native")
            #expect(client["client_name"] as? String == "Lightbox")
            #expect(client["publisher"] as? String == "Lightbox AS")
            #expect(
                client["redirect_uris"] as? [String]
                    == ["http://127.0.0.1/callback", "com.example.lightbox:/callback"])
            #expect(client["scope"] as? String == "openid photos.read")
            #expect(client["require_state"] as? Bool == false)
            #expect(client["first_party"] as? Bool == false)
            #expect(client["vouched_for"] as? Bool == true)
            #expect(client["claimed_https_verified"] as? Bool == false)
            #expect(client["pkce"] as? String == "s256")
            #expect(client["refresh_tokens"] as? String == "offline-access")
            #expect(client["web_views"] as? String == "block")
            #expect(client["revision"] as? Int == 0)
            #expect(client["id_token_signed_response_alg"] as? String == "ES256")
            #expect(client["client_id_issued_at"] is Int)
            #expect(!created.output.contains("secret\""))

            let shown = try await site.administer(["app", "show", clientID, "--json"])
            #expect(try Self.withoutUse(shown.output) as NSDictionary == client as NSDictionary)
            let list = try await site.administer(["app", "list", "--json"])
            #expect(list.output == "[\(shown.output.trimmingCharacters(in: .newlines))]\n")

            let words = try await site.administer(["app", "show", clientID])
            #expect(
                words.output == """
                    Lightbox
                      client_id: \(clientID)
                      type: native, no secret
                      use: 0 users, never used
                      publisher: Lightbox AS
                      redirect URI: http://127.0.0.1/callback
                      redirect URI: com.example.lightbox:/callback
                      scope: openid photos.read
                      PKCE: s256
                        Required: without a secret, only PKCE binds a code to the app (RFC 8252 §8.1).
                      ID token algorithm: ES256
                        Small signatures, which libraries for native and browser apps accept.
                      profile and email in ID tokens: yes
                        The app gets name and email without a UserInfo request; some libraries read nothing else.
                      issuer: unknown until the server has started once; then app show prints how to connect

                    """)
            #expect(try await site.administer(["app", "list"]).output == "\(clientID)  native  Lightbox\n")
        }
    }

    // A client without scopes could not make a single request.
    @Test(arguments: [
        ("native", "http://127.0.0.1/callback"), ("spa", "https://app.example.com/cb"),
        ("web", "https://app.example.com/cb"), ("device", nil),
    ])
    func `an app without --scope gets openid, profile and email`(type: String, redirectURI: String?) async throws {
        try await Site.make { site in
            let create =
                ["app", "create", "--type", type, "--name", "Lightbox"]
                + (redirectURI.map { ["--redirect-uri", $0] } ?? [])
            let created = try await site.administer(create)
            #expect(created.status == 0)
            #expect(created.output.contains("\n  scope: openid profile email\n"))
            #expect(
                created.errors.contains(
                    "note: no --scope was given, so the app may request openid profile email\n"))
            let document = try Self.object(try await site.administer(create + ["--json"]).output)
            #expect(document["scope"] as? String == "openid profile email")
            let own = try await site.administer(create + ["--scope", "openid"])
            #expect(own.output.contains("\n  scope: openid\n"))
            #expect(!own.errors.contains("--scope"))
        }
    }

    @Test func `a service without --scope gets none`() async throws {
        try await Site.make { site in
            let created = try await site.administer(["app", "create", "--type", "service", "--name", "Sync", "--json"])
            #expect(try Self.object(created.output)["scope"] as? String == "")
            #expect(!created.errors.contains("--scope"))
        }
    }

    @Test func `an empty list and an unknown client give advice`() async throws {
        try await Site.make { site in
            let missing = try await site.administer(["app", "list"])
            #expect(missing.status == 3)
            #expect(
                missing.errors == """
                    counterfoil-server: no data directory found at \(site.dataDirectory); check --data-dir, or start the \
                    server there first

                    """)
            #expect(!FileManager.default.fileExists(atPath: site.dataDirectory))

            try await site.add(.alice)
            let list = try await site.administer(["app", "list"])
            #expect(list.output == "No app is registered. See: counterfoil-server app create --help\n")
            #expect(try await site.administer(["app", "list", "--json"]).output == "[]\n")
            let unknown = try await site.administer(["app", "show", "nobody"])
            #expect(unknown.status == 3)
            #expect(
                unknown.errors
                    == "counterfoil-server: there is no app with the client_id nobody; see: counterfoil-server app list\n"
            )
        }
    }

    @Test(arguments: [
        (
            ["--type", "phone"],
            "The value 'phone' is invalid for '--type <type>'. Please provide one of 'native', 'spa', 'web', 'device' "
                + "or 'service'."
        ),
        (["--require-state", "maybe"], "--require-state must be true or false."),
        (["--require-pushed-requests", "yes"], "--require-pushed-requests must be true or false."),
        (["--require-bound-tokens", "1"], "--require-bound-tokens must be true or false."),
        (["--rotate-refresh-tokens", "no"], "--rotate-refresh-tokens must be true, false or empty."),
        (["--user-claims-in-id-token", ""], "--user-claims-in-id-token must be true or false."),
        (["--id-token-lifetime", "a day"], "--id-token-lifetime must be a number of seconds."),
    ])
    func `an invalid argument is wrong usage`(arguments: [String], sentence: String) async throws {
        try await Site.make { site in
            var all = ["--type", "native", "--name", "Lightbox", "--redirect-uri", "http://127.0.0.1/callback"]
            if let index = all.firstIndex(of: arguments[0]) { all.removeSubrange(index...index + 1) }
            let ended = try await site.administer(["app", "create"] + all + arguments)
            #expect(ended.status == 64)
            #expect(ended.errors.hasPrefix("Error: \(sentence)\n"))
            #expect(!FileManager.default.fileExists(atPath: site.dataDirectory))
        }
    }

    // RFC 6749 §3.3: a list of scopes is separated by spaces.
    @Test(arguments: ["openid photos.read", "openid,photos.read", " openid, photos.read "])
    func `one option can name several scopes`(list: String) async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let created = try await site.administer(
                Self.create(redirectURI: "http://127.0.0.1/callback") + ["--scope", list, "--json"])
            #expect(created.status == 0)
            #expect(try Self.object(created.output)["scope"] as? String == "openid photos.read")
        }
    }

    @Test func `an unknown scope is not assigned`() async throws {
        try await Site.make { site in
            let ended = try await site.administer(
                Self.create(redirectURI: "http://127.0.0.1/callback") + ["--scope", "photos.read"])
            #expect(ended.status == 3)
            #expect(
                ended.errors == """
                    counterfoil-server: --scope: There is no scope named photos.read; create it first.

                    """)
        }
    }

    // Only clients that can keep a secret get one; it is shown once and stored as a digest.
    @Test(arguments: [("web", ["--redirect-uri", "https://app.example.com/callback"]), ("service", [])])
    func `a confidential client gets a secret, which is shown once`(type: String, more: [String]) async throws {
        try await Site.make { site in
            let created = try await site.administer(
                ["app", "create", "--type", type, "--name", "Gallery", "--json"] + more)
            #expect(created.status == 0)
            let client = try Self.object(created.output)
            let clientID = try #require(client["client_id"] as? String)
            let secret = try #require(client["client_secret"] as? String)
            #expect(secret.utf8.count == 43)
            #expect(client["token_endpoint_auth_method"] as? String == "client_secret_basic")
            for arguments in [["app", "show", clientID], ["app", "list"]] {
                for more in [[], ["--json"]] {
                    #expect(try await !site.administer(arguments + more).output.contains(secret))
                }
            }
            let shown = try Self.object(try await site.administer(["app", "show", clientID, "--json"]).output)
            let secrets = try #require(shown["client_secrets"] as? [[String: Any]])
            #expect(secrets.map { Set($0.keys) } == [["id", "created_at"]])
            #expect((secrets[0]["id"] as? String)?.utf8.count == 12)
        }
    }

    // A client whose secret would be in every copy of the app gets none.
    @Test(arguments: [
        ("native", ["--redirect-uri", "com.example.app:/cb"]),
        ("spa", ["--redirect-uri", "https://app.example.com/cb"]),
        ("device", []),
    ])
    func `a public client gets no secret`(type: String, more: [String]) async throws {
        try await Site.make { site in
            let created = try await site.administer(
                ["app", "create", "--type", type, "--name", "Gallery", "--json"] + more)
            #expect(created.status == 0)
            let client = try Self.object(created.output)
            #expect(client["client_secret"] == nil)
            #expect(client["token_endpoint_auth_method"] as? String == "none")
            let clientID = try #require(client["client_id"] as? String)
            let asked = try await site.administer(["app", "secret", clientID])
            #expect(asked.status == 3)
            #expect(asked.errors.contains("has no secret"))
        }
    }

    // Every setting that an administrator can make for a client is stored and shown.
    @Test func `every option is stored and shown`() async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            let words = site.folder.path("words.md")
            try "We *never* sell your photos.".write(toFile: words, atomically: true, encoding: .utf8)
            let fingerprint = Array(repeating: "AB", count: 32).joined(separator: ":")
            let created = try await site.administer([
                "app", "create", "--type", "native", "--name", "Lightbox", "--redirect-uri",
                "https://lightbox.example.com/callback", "--scope", "openid", "--scope", "photos.read",
                "--optional-scope", "photos.read", "--consent-text", words, "--privacy-uri",
                "https://lightbox.example.com/privacy", "--terms-uri", "https://lightbox.example.com/terms",
                "--ios-app", "ABCDE12345.com.example.lightbox", "--android-app",
                "com.example.lightbox:\(fingerprint.replacing(":", with: "").lowercased())", "--pkce",
                "exempt-until:9999-12-31", "--require-state", "false", "--refresh-tokens", "always",
                "--access-token-lifetime", "600", "--id-token-lifetime", "300", "--web-views", "warn",
                "--minimum-authentication", "two-factor",
                "--id-token-signed-response-alg", "RS256", "--user-claims-in-id-token", "false", "--first-party",
                "--claimed-https-verified", "--json",
                "--rotate-refresh-tokens", "true", "--refresh-grace-period", "0", "--refresh-idle-lifetime", "600",
                "--refresh-lifetime", "63072000", "--require-pushed-requests", "true", "--require-bound-tokens", "true",
            ])
            #expect(created.status == 0, "\(created.errors)")
            let client = try Self.object(created.output)
            #expect(client["optional_scope"] as? String == "photos.read")
            #expect(client["consent_text"] as? String == "We *never* sell your photos.")
            #expect(client["policy_uri"] as? String == "https://lightbox.example.com/privacy")
            #expect(client["tos_uri"] as? String == "https://lightbox.example.com/terms")
            #expect(client["apple_apps"] as? [String] == ["ABCDE12345.com.example.lightbox"])
            #expect(client["android_apps"] as? [String] == ["com.example.lightbox:\(fingerprint)"])
            #expect(client["pkce"] as? String == "exempt-until:9999-12-31")
            #expect(client["require_state"] as? Bool == false)
            #expect(client["require_pushed_authorization_requests"] as? Bool == true)
            #expect(client["dpop_bound_access_tokens"] as? Bool == true)
            #expect(client["refresh_tokens"] as? String == "always")
            #expect(client["rotate_refresh_tokens"] as? Bool == true)
            #expect(client["refresh_grace_period"] as? Int == 0)
            #expect(client["refresh_idle_lifetime"] as? Int == 600)
            #expect(client["refresh_lifetime"] as? Int == 63_072_000)
            #expect(client["access_token_lifetime"] as? Int == 600)
            #expect(client["id_token_lifetime"] as? Int == 300)
            #expect(client["web_views"] as? String == "warn")
            #expect(client["minimum_authentication"] as? String == "two-factor")
            #expect(client["id_token_signed_response_alg"] as? String == "RS256")
            #expect(client["user_claims_in_id_token"] as? Bool == false)
            #expect(client["first_party"] as? Bool == true)
            #expect(client["claimed_https_verified"] as? Bool == true)
            let clientID = try #require(client["client_id"] as? String)
            let shown = try await site.administer(["app", "show", clientID, "--json"])
            #expect(try Self.withoutUse(shown.output) as NSDictionary == client as NSDictionary)
            let users = try await site.administer(["app", "show", clientID]).output
            #expect(users.contains("DANGER, PKCE: exempt-until:9999-12-31"))
            #expect(users.contains("\n  profile and email in ID tokens: no\n"))
            #expect(users.contains("  authorization requests must be pushed (PAR)\n"))
            #expect(users.contains("  access tokens must be bound to a key (DPoP)\n"))
            #expect(users.contains("  minimum sign-in: two-factor\n"))
            let edited = try await site.administer(["app", "edit", clientID, "--require-pushed-requests", "false"])
            #expect(!edited.output.contains("must be pushed"))
            #expect(edited.output.contains("must be bound"))
            #expect(!users.contains("*never*"))
        }
    }

    @Test(arguments: [
        ("--consent-text", [UInt8](repeating: 0xFF, count: 10), "is not UTF-8 text"),
        ("--consent-text", [UInt8](repeating: 0x20, count: 70_000), "is larger than 65536 bytes"),
        ("--logo", Array("<svg/>".utf8), "--logo: "), ("--logo", nil, "cannot read the file"),
        ("--consent-text", nil, "cannot read the file"),
    ])
    func `an unusable file is refused before anything is created`(
        option: String, bytes: [UInt8]?, reason: String
    ) async throws {
        try await Site.make { site in
            let path = site.folder.path("file")
            if let bytes { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
            let ended = try await site.administer(
                Self.create(redirectURI: "http://127.0.0.1/callback") + [option, path])
            #expect(ended.status == 3)
            #expect(ended.errors.contains(reason))
            #expect(!FileManager.default.fileExists(atPath: site.dataDirectory))
        }
    }

    static func create(redirectURI: String) -> [String] {
        ["app", "create", "--type", "native", "--name", "Lightbox", "--redirect-uri", redirectURI]
    }

    /// The members of a client but those that tell how it is used, which a registration does not return.
    private static func withoutUse(_ json: String) throws -> [String: Any] {
        var client = try object(json)
        let use = try #require(client.removeValue(forKey: "use") as? [String: Any])
        #expect(use["users"] as? Int == 0 && use["is_exact"] as? Bool == true)
        return client
    }

    static func object(_ json: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }
}
