import Foundation
import TestSupport
import Testing

/// Invalid arguments of `serve`: each is refused at once, with advice.
@Suite(.timeLimit(.minutes(10)))
struct UnusableArgumentTests {
    @Test(arguments: [
        ("http://id.example.com", "an issuer must be https; http is allowed only for 127.0.0.1, [::1] and localhost"),
        ("http://127.0.0.1:8080/", "write the issuer in its canonical form: http://127.0.0.1:8080"),
        ("https://ID.example.com", "write the issuer in its canonical form: https://id.example.com"),
        ("https://id.example.com:443", "write the issuer in its canonical form: https://id.example.com"),
        ("https://id.example.com?x=1", "an issuer must not have user information, a query or a fragment"),
        ("https://id.example.com#x", "an issuer must not have user information, a query or a fragment"),
        ("https://a@id.example.com", "an issuer must not have user information, a query or a fragment"),
        ("https://id.example.com/a//b", "the path of an issuer must not have empty, . or .. segments"),
        ("ftp://id.example.com", "an issuer must be https; http is allowed only for 127.0.0.1, [::1] and localhost"),
    ])
    func `an invalid issuer is refused before anything is created`(issuer: String, sentence: String) async throws {
        try await Site.make { site in
            let ended = try await site.administer(["serve", "--issuer", issuer, "--listen", "127.0.0.1:0"])
            #expect(ended.status == 64)
            #expect(ended.errors.hasPrefix("Error: --issuer \(issuer): \(sentence).\n"))
            #expect(!FileManager.default.fileExists(atPath: site.dataDirectory))
        }
    }

    @Test(arguments: ["8080", "127.0.0.1:http", "127.0.0.1:65536", "127.1:8080", "::1:8080"])
    func `an invalid listen address is refused`(address: String) async throws {
        try await Site.make { site in
            let ended = try await site.administer(["serve", "--issuer", site.issuer, "--listen", address])
            #expect(ended.status == 64)
            let sentence = "must be HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080"
            #expect(ended.errors.hasPrefix("Error: --listen \(address): \(sentence).\n"))
            #expect(!FileManager.default.fileExists(atPath: site.dataDirectory))
        }
    }

    @Test(arguments: [
        ("--endpoint-alias", "token", "an alias is ENDPOINT=PATH, such as token=/connect/token"),
        (
            "--endpoint-alias", "jwks=/keys",
            #""jwks" is not one of authorization, token, revocation, userinfo"#
        ),
        ("--endpoint-alias", "token=/oauth2/revoke", "/oauth2/revoke is a path of this server already"),
        (
            "--callback-origin", "https://cb.example.com/",
            "a callback origin is https:// and a host name in lower case, without a port or path, such as https://cb.example.com"
        ),
    ])
    func `an invalid second path or origin is refused`(option: String, value: String, sentence: String)
        async throws
    {
        try await Site.make { site in
            let ended = try await site.administer([
                "serve", "--issuer", site.issuer, "--listen", "127.0.0.1:0", option, value,
            ])
            #expect(ended.status == 64)
            #expect(ended.errors.hasPrefix("Error: \(option) \(value): \(sentence).\n"))
            #expect(!FileManager.default.fileExists(atPath: site.dataDirectory))
        }
    }

    @Test func `an address of another machine is refused with advice`() async throws {
        let reason = String(cString: strerror(EADDRNOTAVAIL))
        try await Site.make { site in
            for (host, status, sentence) in [
                ("192.0.2.1", Int32(6), ":8080 (\(reason)); choose an address of this machine"),
                ("nowhere.invalid", 3, ":8080: unknown host; choose an address of this machine"),
            ] {
                let ended = try await site.administer(["serve", "--issuer", site.issuer, "--listen", "\(host):8080"])
                #expect(ended.status == status)
                #expect(
                    ended.errors.hasSuffix("counterfoil-server: cannot listen on \(host)\(sentence) with --listen\n"))
            }
        }
    }

    @Test func `a port that is in use is refused with advice`() async throws {
        let reason = String(cString: strerror(EADDRINUSE))
        try await Site.make { site in
            try await site.serving {
                try await Site.make { other in
                    let address = "127.0.0.1:\(site.port)"
                    let ended = try await other.administer(["serve", "--issuer", other.issuer, "--listen", address])
                    #expect(ended.status == 6)
                    let advice = "stop the program that uses the port, or choose another one with --listen"
                    #expect(
                        ended.errors.contains(
                            "counterfoil-server: cannot listen on \(address) (\(reason)); \(advice)\n"))
                    // Commands and doctor go by the settings of the last server that has listened.
                    let noted = other.dataDirectory + "/last-settings.json"
                    #expect(!FileManager.default.fileExists(atPath: noted))
                    try await other.start().whileRunning {
                        #expect(FileManager.default.fileExists(atPath: noted))
                    }
                }
            }
        }
    }

    @Test(arguments: ["--redirect-listen", "--metrics-listen"])
    func `a second port that is in use is named with its option`(option: String) async throws {
        let reason = String(cString: strerror(EADDRINUSE))
        let socket = try ListeningSocket()
        try await Site.make { site in
            let address = "127.0.0.1:\(socket.port)"
            let ended = try await site.administer([
                "serve", "--issuer", "https://id.example.com", "--listen", "127.0.0.1:\(site.port)", option, address,
            ])
            #expect(ended.status == 6)
            let advice = "stop the program that uses the port, or choose another one with \(option)"
            #expect(
                ended.errors.contains("counterfoil-server: cannot listen on \(address) (\(reason)); \(advice)\n"),
                "\(ended.errors)")
        }
        withExtendedLifetime(socket) {}
    }
}
