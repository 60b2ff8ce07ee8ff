import Foundation
import TestSupport
import Testing

/// The options of `serve` for a certificate that the server orders itself.
struct ACMEOptionTests {
    @Test func `options that contradict each other are refused, before anything is created`() async throws {
        try await Site.make { site in
            let contact = ["--acme-contact", "owner@example.com"]
            let agreed = contact + ["--acme-terms-agreed"]
            let file = site.folder.path("eab.key")
            try Data("c2hvcnQ".utf8).write(to: URL(fileURLWithPath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            let key = agreed + ["--acme-eab-kid", "kid-1", "--acme-eab-key-file", file]
            let noRoot = site.folder.path("root.pem")
            try Data("no certificate\n".utf8).write(to: URL(fileURLWithPath: noRoot))
            let cases: [(issuer: String, options: [String], status: Int32, error: String)] = [
                ("https://id.example.com", contact, 64, "--acme-terms-agreed"),
                ("https://id.example.com", ["--acme-terms-agreed"], 64, "--acme-terms-agreed requires --acme-contact"),
                ("https://id.example.com", ["--acme-contact", "x", "--acme-terms-agreed"], 64, "not an email address"),
                ("http://localhost:1", agreed, 64, "requires an https issuer"),
                ("https://192.0.2.1", agreed, 64, "not a host name"),
                ("https://id.example.com", agreed + ["--acme-directory", "http://ca.example/"], 64, "https URL"),
                ("https://id.example.com", agreed + ["--acme-challenge", "http-01"], 64, "requires --redirect-listen"),
                ("https://id.example.com", agreed + ["--acme-eab-kid", "kid-1"], 64, "require each other"),
                ("https://id.example.com", agreed + ["--tls-certificate", "a", "--tls-key", "b"], 64, "exclude"),
                (
                    "https://id.example.com", agreed + ["--listen", "unix:/run/a.sock"], 64,
                    "--acme-contact requires a TCP port at --listen"
                ),
                ("https://id.example.com", key, 3, "every user can read"),
                ("https://id.example.com", agreed + ["--acme-root", site.folder.path("none")], 3, "--acme-root"),
                (
                    "https://id.example.com", agreed + ["--acme-root", noRoot], 3,
                    "--acme-root: cannot use the file \(noRoot): it contains no PEM certificate"
                ),
            ]
            for (issuer, options, status, error) in cases {
                let listen = options.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]
                let ended = try await site.administer(["serve", "--issuer", issuer] + listen + options)
                #expect(ended.status == status, "\(options)")
                #expect(ended.errors.contains(error), "\(ended.errors)")
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            let short = try await site.administer(
                ["serve", "--issuer", "https://id.example.com", "--listen", "127.0.0.1:0"] + key)
            #expect(short.status == 3)
            #expect(short.errors.contains("contains no key in base64url"))
            #expect(!short.errors.contains("c2hvcnQ"))
            #expect(!FileManager.default.fileExists(atPath: site.dataDirectory))
        }
    }
}
