import Foundation
import TestSupport
import Testing

/// Redirect URIs that the commands refuse, or accept with a note.
extension ClientCommandTests {
    // The rules are those of the pages, and each problem has its own line that starts with the option.
    @Test(arguments: [
        "javascript:alert(1)", "data:text/html,x", "http://app.example.com/cb", "http://127.0.0.1.evil.example/cb",
        "https://app.example.com/cb#x", "https://127.0.0.1@evil.example/cb", "https://*.example.com/cb",
        "https://app.example.com/cb?state=x", "http://127.0.0.1/cb?code=x", "https://app.example.com/cb?%ff",
        "myapp:/cb", "com.example.app://cb",
    ])
    func `an unsafe redirect URI is refused with the reason`(uri: String) async throws {
        try await Site.make { site in
            let ended = try await site.administer(Self.create(redirectURI: uri))
            #expect(ended.status == 3)
            #expect(ended.output.isEmpty)
            #expect(ended.errors.hasPrefix("counterfoil-server: --redirect-uri: "))
            #expect(ended.errors.contains(uri))
            #expect(ended.errors.filter { $0 == "\n" }.count == 1)
            let list = try await site.administer(["app", "list", "--json"])
            #expect(list.output == "[]\n")
        }
    }

    // RFC 8252 §7.1: an administrator accepts the exact URI of an app that moves here, and any change keeps it.
    @Test(arguments: ["com.example.app://callback", "lightbox://oauth", "vscode://publisher.app/cb"])
    func `an administrator accepts a redirect URI that breaks the rules for schemes`(uri: String) async throws {
        try await Site.make { site in
            let create = ["app", "create", "--type", "native", "--name", "Lightbox", "--json"]
            let created = try await site.administer(
                create + ["--redirect-uri", "http://127.0.0.1/callback", "--legacy-redirect-uri", uri])
            #expect(created.status == 0, "\(created.errors)")
            #expect(created.errors.contains("warning: \(uri): This URI breaks the rules for the scheme"))
            let client = try Self.object(created.output)
            #expect(client["redirect_uris"] as? [String] == ["http://127.0.0.1/callback", uri])
            let id = try #require(client["client_id"] as? String)
            #expect(try await site.administer(["app", "check", id, uri]).status == 0)
            #expect(try await site.administer(["app", "check", id, uri + "x"]).status == 1)
            #expect(try await site.administer(["app", "edit", id, "--name", "Darkroom"]).status == 0)
            // Neither another URI nor another app has the exception.
            #expect(try await site.administer(["app", "edit", id, "--redirect-uri", uri + "x"]).status == 3)
            #expect(try await site.administer(create + ["--redirect-uri", uri]).status == 3)
            // No option accepts what a browser would run.
            let script = try await site.administer(create + ["--legacy-redirect-uri", "javascript:alert(1)"])
            #expect(script.status == 3)
        }
    }

    @Test func `an https redirect URI that is verified at once is not called untrusted`() async throws {
        try await Site.make { site in
            let uri = "https://app.example.com/callback"
            let plain = try await site.administer(Self.create(redirectURI: uri))
            #expect(plain.errors.contains("Not trusted yet"))
            let verified = try await site.administer(Self.create(redirectURI: uri) + ["--claimed-https-verified"])
            #expect(verified.status == 0)
            #expect(!verified.errors.contains("Not trusted yet"))
        }
    }

    @Test func `a development redirect URI is registered with a note`() async throws {
        try await Site.make { site in
            let uri = "http://localhost:5173/callback"
            func create(_ type: String, _ uri: String, _ options: [String] = []) async throws -> EndedProgram {
                try await site.administer(
                    ["app", "create", "--type", type, "--name", "Gallery", "--redirect-uri", uri] + options)
            }
            for type in ["web", "spa"] {
                let created = try await create(type, uri, ["--json"])
                #expect(created.status == 0, "\(created.errors)")
                #expect(created.errors.contains("note: \(uri): For development only"))
                let id = try #require(try Self.object(created.output)["client_id"] as? String)
                #expect(try await site.administer(["app", "check", id, uri]).status == 0)
                for other in ["http://localhost:5174/callback", "http://127.0.0.1:5173/callback"] {
                    #expect(try await site.administer(["app", "check", id, other]).status == 1)
                }
                let marked = try await site.administer(["app", "edit", id, "--first-party"])
                #expect(marked.status == 3)
                #expect(marked.errors.contains("--first-party: An app with a development redirect URI"))
                let firstParty = try await create(type, uri, ["--first-party"])
                #expect(firstParty.status == 3)
                #expect(firstParty.errors.contains("--redirect-uri: \(uri)"))
                let free = try await site.administer(["app", "edit", id, "--redirect-uri", "http://localhost/callback"])
                #expect(free.errors.contains("Any port matches."))
                #expect(try await site.administer(["app", "check", id, "http://localhost:5174/callback"]).status == 0)
            }
            for bad in ["http://me@localhost:5173/cb", "http://localhost:0/cb", "http://localhost:70000/cb"] {
                let refused = try await create("spa", bad)
                #expect(refused.status == 3)
                #expect(refused.errors.hasPrefix("counterfoil-server: --redirect-uri: \(bad)"))
            }
            for type in ["device", "service"] { #expect(try await create(type, uri).status == 3) }
        }
    }

    // One run reports every problem.
    @Test func `every problem is reported at once, in a line of its own`() async throws {
        try await Site.make { site in
            let ended = try await site.administer([
                "app", "create", "--type", "native", "--name", " ", "--redirect-uri", "myapp:/cb", "--redirect-uri",
                "http://app.example.com/cb", "--scope", "qu\"ote", "--privacy-uri", "http://app.example.com/privacy",
                "--ios-app", "com.example", "--android-app", "com.example.app:1", "--origin", "https://app.example.com",
                "--pkce", "none", "--refresh-tokens", "maybe", "--web-views", "maybe", "--access-token-lifetime", "1",
                "--id-token-lifetime", "1", "--id-token-signed-response-alg", "none", "--claimed-https-verified",
                "--rotate-refresh-tokens", "false", "--refresh-grace-period", "601", "--refresh-idle-lifetime", "599",
                "--refresh-lifetime", "63072001",
            ])
            #expect(ended.status == 3)
            #expect(ended.output.isEmpty)
            let lines = ended.errors.split(separator: "\n").map(String.init)
            let options = lines.map { line in
                line.replacing("counterfoil-server: ", with: "").trimmingCharacters(in: .whitespaces)
                    .prefix { $0 != ":" }
            }
            #expect(
                Set(options.map(String.init)) == [
                    "--name", "--redirect-uri", "--scope", "--privacy-uri", "--ios-app", "--android-app", "--origin",
                    "--pkce", "--refresh-tokens", "--web-views", "--access-token-lifetime", "--id-token-lifetime",
                    "--id-token-signed-response-alg", "--claimed-https-verified", "--rotate-refresh-tokens",
                    "--refresh-grace-period", "--refresh-idle-lifetime", "--refresh-lifetime",
                ])
            #expect(options.count(where: { $0 == "--redirect-uri" }) == 2)
        }
    }

    @Test func `a URL of the server itself is never a redirect URI`() async throws {
        try await Site.make { site in
            try await site.serving {
                let ended = try await site.administer(Self.create(redirectURI: site.issuer + "/callback"))
                #expect(ended.status == 3)
                #expect(ended.errors.hasPrefix("counterfoil-server: --redirect-uri: "))
            }
        }
    }
}
