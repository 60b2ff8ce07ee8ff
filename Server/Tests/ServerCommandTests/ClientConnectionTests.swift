import Foundation
import TestSupport
import Testing

/// The values and ready configurations that `app create` and `app show` print.
@Suite(.timeLimit(.minutes(10)))
struct ClientConnectionTests {
    private static let create = [
        "app", "create", "--type", "web", "--name", "Gallery", "--redirect-uri",
        "https://gallery.example.com/login/oauth2/code/counterfoil", "--scope", "openid", "--scope", "profile",
    ]

    @Test func `without an issuer, app create says what is missing and where it is shown later`() async throws {
        try await Site.make { site in
            let created = try await site.administer(Self.create + ["--json"])
            #expect(created.status == 0)
            let client = try ClientCommandTests.object(created.output)
            #expect(client["connection"] == nil)
            #expect(created.errors.contains("note: the issuer is unknown until the server has started once"))
            let clientID = try #require(client["client_id"] as? String)
            let shown = try await site.administer(["app", "show", clientID])
            #expect(shown.output.contains("\n  issuer: unknown until the server has started once; "))
            #expect(!shown.output.contains("http://"))
            let configuration = try await site.administer(["app", "show", clientID, "--configuration", "spring"])
            #expect(configuration.status == 3)
            #expect(configuration.output.isEmpty)
            #expect(configuration.errors.contains("the issuer is unknown until the server has started once"))
        }
    }

    @Test func `app create and app show print how to connect`() async throws {
        try await Site.make { site in
            try await site.serving {
                let created = try await site.administer(Self.create + ["--json"])
                #expect(created.errors.isEmpty)
                let client = try ClientCommandTests.object(created.output)
                let clientID = try #require(client["client_id"] as? String)
                let secret = try #require(client["client_secret"] as? String)
                let connection = try #require(client["connection"] as? [String: Any])
                #expect(connection["issuer"] as? String == site.issuer)
                #expect(
                    connection["openid_configuration"] as? String == site.issuer + "/.well-known/openid-configuration")
                #expect(connection["token_endpoint"] as? String == site.issuer + "/oauth2/token")
                #expect(connection["introspection_endpoint"] as? String == site.issuer + "/oauth2/introspect")
                #expect(
                    connection["token_endpoint_auth_methods"] as? [String]
                        == ["client_secret_basic", "client_secret_post"])
                #expect(connection["pkce"] as? String == client["pkce"] as? String)
                #expect(
                    connection["id_token_signed_response_alg"] as? String
                        == client["id_token_signed_response_alg"] as? String)
                let configurations = try #require(connection["configurations"] as? [String: String])
                #expect(
                    Set(configurations.keys) == [
                        "spring", "authlib", "express-openid-connect", "openid-client", "oauth2-proxy",
                        "mod-auth-openidc",
                    ])
                #expect(configurations.values.allSatisfy { !$0.contains(secret) })

                let json = try await site.administer(["app", "show", clientID, "--json"])
                #expect(
                    try ClientCommandTests.object(json.output)["connection"] as? NSDictionary == connection
                        as NSDictionary
                )
                #expect(!json.output.contains("digest"))
                let text = try await site.administer(["app", "show", clientID]).output
                for line in [
                    "issuer: \(site.issuer)", "token endpoint: \(site.issuer)/oauth2/token",
                    "public keys (JWKS): \(site.issuer)/oauth2/jwks",
                    "client authentication: client_secret_basic, client_secret_post",
                    "ready configurations: spring, authlib, express-openid-connect, openid-client, oauth2-proxy, "
                        + "mod-auth-openidc",
                ] {
                    #expect(text.contains("\n  \(line)\n"))
                }
                let spring = try await site.administer(["app", "show", clientID, "--configuration", "spring"])
                #expect(spring.output == configurations["spring"])
            }
        }
    }

    @Test func `app create and app show name the APIs of the app`() async throws {
        try await Site.make { site in
            try await site.serving {
                try await site.addScope("photos.read", "See your photos and albums")
                try await site.addScope("albums.read", "See your albums")
                for name in ["photos", "albums"] {
                    let created = try await site.administer([
                        "resource", "create", "https://\(name).example.com", "--name", "Library", "--scope",
                        "\(name).read",
                    ])
                    #expect(created.status == 0)
                }
                let create = [
                    "app", "create", "--type", "native", "--name", "Frames", "--redirect-uri",
                    "http://127.0.0.1/callback", "--scope", "openid", "--scope", "photos.read",
                ]
                let line = "\n  API Library: https://photos.example.com, scope photos.read\n"
                let text = try await site.administer(create).output
                #expect(text.contains(line) && !text.contains("albums.example.com"))

                let both = try await site.administer(create + ["--scope", "albums.read", "--json"])
                let client = try ClientCommandTests.object(both.output)
                let connection = try #require(client["connection"] as? [String: Any])
                let albums = ["name": "Library", "resource": "https://albums.example.com", "scope": "albums.read"]
                let photos = ["name": "Library", "resource": "https://photos.example.com", "scope": "photos.read"]
                #expect(connection["apis"] as? [[String: String]] == [albums, photos])
                let configurations = try #require(connection["configurations"] as? [String: String])
                let login = try #require(configurations["counterfoil-login"])
                #expect(
                    login.hasSuffix(
                        #"""
                        --resource https://albums.example.com \
                          --resource https://photos.example.com \
                          --resource \#(site.issuer)
                        """#))
                let clientID = try #require(client["client_id"] as? String)
                #expect(try await site.administer(["app", "show", clientID]).output.contains(line))
            }
        }
    }

    // The origins of a single-page client follow from its redirect URIs, unless it names them.
    @Test(arguments: [
        ([], ["https://gallery.example.com", "http://localhost:5173"]),
        (["--origin", "https://other.example.com"], ["https://other.example.com"]),
    ])
    func `the connection has the CORS origins of a single-page client`(options: [String], origins: [String])
        async throws
    {
        try await Site.make { site in
            try await site.serving {
                let create = [
                    "app", "create", "--type", "spa", "--name", "Gallery", "--redirect-uri",
                    "https://gallery.example.com/callback", "--redirect-uri", "http://localhost:5173/", "--json",
                ]
                let created = try await site.administer(create + options)
                let connection = try ClientCommandTests.object(created.output)["connection"] as? [String: Any]
                #expect(connection?["origins"] as? [String] == origins)
            }
        }
    }

    @Test func `an unknown configuration is refused with the names of the others`() async throws {
        try await Site.make { site in
            try await site.serving {
                let created = try await site.administer([
                    "app", "create", "--type", "service", "--name", "Nightly", "--json",
                ])
                let clientID = try #require(try ClientCommandTests.object(created.output)["client_id"] as? String)
                let refused = try await site.administer(["app", "show", clientID, "--configuration", "kubelogin"])
                #expect(refused.status == 3)
                #expect(
                    refused.errors == """
                        counterfoil-server: there is no configuration "kubelogin" for this app; choose one of spring, \
                        openid-client, curl

                        """)
                let both = try await site.administer(["app", "show", clientID, "--configuration", "spring", "--json"])
                #expect(both.status == 64)
                try await site.addScope("photos.read", "See your photos and albums")
                let page = try await site.administer([
                    "app", "create", "--type", "spa", "--name", "Frame", "--redirect-uri",
                    "https://frame.example.com/callback", "--scope", "photos.read", "--json",
                ])
                let frame = try #require(try ClientCommandTests.object(page.output)["client_id"] as? String)
                let none = try await site.administer(["app", "show", frame, "--configuration", "spring"])
                #expect(none.errors == "counterfoil-server: there is no ready configuration for this app\n")
            }
        }
    }
}
