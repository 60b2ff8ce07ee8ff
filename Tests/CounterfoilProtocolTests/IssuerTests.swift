import CounterfoilProtocol
import TestSupport
import Testing

struct IssuerTests {
    @Test(arguments: [
        "https://id.example.com", "https://id.example.com/tenant1", "https://id.example.com:8443",
        "http://127.0.0.1:8080",
        "http://[::1]:8080", "http://localhost:8080/a/b", "https://id.example.com/a%20b",
    ])
    func `an issuer in canonical form is kept byte for byte`(text: String) throws {
        #expect(try Issuer(text).rawValue == text)
        #expect(try Issuer(text).description == text)
    }

    // Lower-case host, no default port, no trailing slash.
    @Test(arguments: [
        ("https://ID.example.com", "https://id.example.com"), ("HTTPS://id.example.com", "https://id.example.com"),
        ("https://id.example.com/", "https://id.example.com"), ("https://id.example.com:443", "https://id.example.com"),
        ("https://id.example.com:443/a/", "https://id.example.com/a"), ("http://localhost:80", "http://localhost"),
    ])
    func `any other spelling is refused with the canonical one`(text: String, canonical: String) {
        #expect(throws: Issuer.Refusal.notCanonical(canonical)) { try Issuer(text) }
    }

    // https, or http on a loopback host, without query and fragment.
    @Test(arguments: [
        ("http://id.example.com", Issuer.Refusal.insecure), ("ftp://id.example.com", .insecure),
        ("http://127.0.0.2", .insecure), ("https://id.example.com?x=1", .hasExtras),
        ("https://id.example.com?", .hasExtras),
        ("https://id.example.com#x", .hasExtras), ("https://u@id.example.com", .hasExtras),
        ("https://id.example.com//a", .badPath), ("https://id.example.com/a/../b", .badPath),
        ("https://id.example.com/.", .badPath), ("id.example.com", .notAURI(.relative)), ("", .notAURI(.relative)),
        ("https://", .notAURI(.badAuthority)), ("https://id.example.com:0", .notAURI(.badPort)),
    ])
    func `an invalid issuer is refused with the reason`(text: String, refusal: Issuer.Refusal) {
        #expect(throws: refusal) { try Issuer(text) }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `any canonical issuer is unchanged after printing and parsing`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let lower = "abcdefghijklmnopqrstuvwxyz0123456789"
        for _ in 0..<SeededGenerator.rounds {
            let host = "x" + random.text(1...10, of: lower) + ".example"
            let port = random.maybe { ":\(Int.random(in: 1024...65535, using: &$0))" } ?? ""
            let path = (0..<Int.random(in: 0...3, using: &random)).map { _ in "/s" + random.text(0...8, of: lower) }
                .joined()
            let text = "https://\(host)\(port)\(path)"
            let issuer = try Issuer(text)
            #expect(issuer.rawValue == text)
            #expect(issuer.origin + issuer.path == text)
            #expect(issuer.endpoint("/oauth2/token") == text + "/oauth2/token")
        }
    }

    // RFC 8414 §3.1: the path is inserted after the well-known part, without a trailing slash.
    @Test func `the metadata URLs follow from the issuer`() throws {
        #expect(
            try Issuer("https://id.example.com").metadataURLs == [
                "https://id.example.com/.well-known/oauth-authorization-server",
                "https://id.example.com/.well-known/openid-configuration",
            ])
        let withPath = [
            "https://id.example.com/.well-known/oauth-authorization-server/tenant1",
            "https://id.example.com/.well-known/openid-configuration/tenant1",
            "https://id.example.com/tenant1/.well-known/openid-configuration",
        ]
        #expect(try Issuer("https://id.example.com/tenant1").metadataURLs == withPath)
        #expect(try Issuer(ofServer: "https://id.example.com/tenant1/").metadataURLs == withPath)
    }

    // The issuer of another server is compared byte for byte, so its text is kept unchanged.
    @Test func `the issuer of another server keeps its spelling`() throws {
        #expect(try Issuer(ofServer: "https://ID.example.com/").rawValue == "https://ID.example.com/")
        #expect(try Issuer(ofServer: "https://id.example.com/") != Issuer(ofServer: "https://id.example.com"))
    }
}
