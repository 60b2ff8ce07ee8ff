import Foundation
import HTTPTypes
import NIOSSL
import TestSupport
import Testing

/// A certificate that the server orders itself, from Pebble, which refuses nonces and delays.
@Suite(.timeLimit(.minutes(10)), .pebble)
struct PebbleTests {
    /// Waits until the server answers over https with a certificate of the authority.
    private static func answered(_ url: String, trusting root: NIOSSLCertificate) async throws {
        _ = try await Waiting.until("the first answer over https", within: .seconds(60)) {
            try await Pebble.get(url, trusting: root).status == 200 ? true : nil
        }
    }

    /// Waits until the server has a number of certificates, and returns the log.
    private static func certificates(_ count: Int, of server: RunningProgram) async throws {
        _ = try await Waiting.until("certificate \(count)", within: .seconds(120)) {
            server.errors.components(separatedBy: "got a certificate from the authority").count > count ? true : nil
        }
    }

    // The key of the certificate is encrypted in the store.
    @Test func `a server orders its certificate by tls-alpn-01, and renews it`() async throws {
        try await Site.make { site in
            try await Pebble.run(in: site.folder, tlsPort: site.port, httpPort: 1) { pebble in
                let issuer = "https://localhost:\(site.port)"
                let metadata = issuer + "/.well-known/oauth-authorization-server"
                let metrics = try ReservedPort()
                let options = pebble.options + ["--metrics-listen", "127.0.0.1:\(metrics.number)"]
                let server = try await site.start(issuer: issuer, options: options)
                let root = try await pebble.root
                try await server.whileRunning {
                    try await Self.answered(metadata, trusting: root)
                    let renewal = try await site.administer(["certificate", "renew"])
                    #expect(renewal.status == 0, "\(renewal.errors)")
                    try await Self.certificates(2, of: server)
                    #expect(try await Pebble.get(metadata, trusting: root).status == 200)
                    var browser = UserAgent()
                    let text = try await browser.send(.get, "http://127.0.0.1:\(metrics.number)/metrics").body
                    #expect(text.contains("\ncounterfoil_acme_failures_total 0\n"))
                    #expect(text.contains("\ncounterfoil_acme_consecutive_failures 0\n"))
                    #expect(text.contains("\ncounterfoil_tls_certificate_present 1\n"))
                    #expect(text.contains("\ncounterfoil_tls_certificate_expiry_timestamp_seconds "))
                }
                #expect(!server.errors.contains("PRIVATE KEY"))
                let store = try Data(contentsOf: URL(fileURLWithPath: site.dataDirectory + "/counterfoil.db"))
                #expect(store.range(of: Data("PRIVATE KEY".utf8)) == nil)

                let shown = try await site.administer(["certificate", "show"])
                #expect(shown.output.contains("valid until:"))
                // The next start has the certificate at once, and needs no authority.
                let next = try await site.start(issuer: issuer, options: options)
                try await next.whileRunning {
                    let answer = try await Pebble.get(metadata, trusting: root)
                    #expect(answer.status == 200)
                    #expect(!next.errors.contains("got a certificate"))
                }
            }
        }
    }

    @Test func `a server orders its certificate by http-01, with an account that is bound`() async throws {
        try await Site.make { site in
            let plain = try ReservedPort()
            let key = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"
            let file = site.folder.path("eab.key")
            try Data((key + "\n").utf8).write(to: URL(fileURLWithPath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            // The short lifetime makes the server renew by itself.
            try await Pebble.run(
                in: site.folder, tlsPort: 1, httpPort: plain.number, validity: 20, externalKey: key
            ) { pebble in
                let issuer = "https://localhost:\(site.port)"
                let options = [
                    "--acme-challenge", "http-01", "--redirect-listen", "127.0.0.1:\(plain.number)", "--acme-eab-kid",
                    "kid-1", "--acme-eab-key-file", file,
                ]
                let server = try await site.start(issuer: issuer, options: pebble.options + options)
                try await server.whileRunning {
                    let root = try await pebble.root
                    try await Self.answered(issuer + "/readyz", trusting: root)
                    try await Self.certificates(2, of: server)
                    var browser = UserAgent()
                    let unknown = try await browser.send(
                        .get, "http://127.0.0.1:\(plain.number)/.well-known/acme-challenge/unknown")
                    #expect(unknown.status == 308)
                }
            }
        }
    }

    @Test func `a renewal that is killed after any of its requests leaves the certificate in use, and is repeated`()
        async throws
    {
        try await Site.make { site in
            try await Pebble.run(in: site.folder, tlsPort: site.port, httpPort: 1) { pebble in
                let issuer = "https://localhost:\(site.port)"
                let root = try await pebble.root
                var accounts = 0
                func starting(_ body: (RunningProgram) async throws -> Void) async throws {
                    let server = try await site.start(issuer: issuer, options: pebble.options)
                    try await server.whileRunning { try await body(server) }
                    accounts += server.errors.components(separatedBy: "created an account at the authority").count - 1
                }
                try await starting { server in
                    try await Self.certificates(1, of: server)
                    #expect(try await Pebble.get(issuer + "/readyz", trusting: root).status == 200)
                }
                for step in [1, 2, 4, 7, 10] {
                    #expect(try await site.administer(["certificate", "renew"]).status == 0)
                    let before = pebble.requests
                    try await starting { server in
                        // The former certificate serves, whatever became of the renewal before.
                        #expect(try await Pebble.get(issuer + "/readyz", trusting: root).status == 200)
                        _ = try await Waiting.until("request \(step) of the renewal", within: .seconds(60)) {
                            pebble.requests >= before + step ? true : nil
                        }
                        try server.signal("KILL")
                        _ = try? await server.ended()
                    }
                }
                #expect(try await site.administer(["certificate", "renew"]).status == 0)
                try await starting { server in
                    #expect(try await Pebble.get(issuer + "/readyz", trusting: root).status == 200)
                    try await Self.certificates(1, of: server)
                    #expect(try await Pebble.get(issuer + "/readyz", trusting: root).status == 200)
                }
                #expect(accounts == 1)
            }
        }
    }

    // RFC 8555 §7.3.2
    @Test func `a changed contact reaches the account of an earlier start, once`() async throws {
        try await Site.make { site in
            try await Pebble.run(in: site.folder, tlsPort: site.port, httpPort: 1) { pebble in
                let issuer = "https://localhost:\(site.port)"
                let server = try await site.start(issuer: issuer, options: pebble.options)
                try await server.whileRunning { try await Self.certificates(1, of: server) }
                #expect(try await site.administer(["certificate", "renew"]).status == 0)
                let options = pebble.options.map { $0 == "owner@example.com" ? "operations@example.com" : $0 }
                let next = try await site.start(issuer: issuer, options: options)
                try await next.whileRunning {
                    try await Self.certificates(1, of: next)
                    #expect(try await site.administer(["certificate", "renew"]).status == 0)
                    try await Self.certificates(2, of: next)
                }
                let event = "updated the contact of the account at the authority"
                #expect(!server.errors.contains(event))
                #expect(next.errors.components(separatedBy: event).count == 2)
                #expect(!next.errors.contains("created an account at the authority"))
            }
        }
    }

    @Test func `an authority that cannot validate is reported, and a kill leaves one account`() async throws {
        try await Site.make { site in
            // Nothing listens at the port of the challenge.
            let closed = try ReservedPort()
            try await Pebble.run(in: site.folder, tlsPort: closed.number, httpPort: 1) { pebble in
                let issuer = "https://localhost:\(site.port)"
                let server = try await site.start(issuer: issuer, options: pebble.options)
                try await server.whileRunning {
                    _ = try await server.said("why there is no certificate") { program in
                        program.errors.contains("could not validate localhost by tls-alpn-01") ? true : nil
                    }
                    #expect(try await Pebble.get(issuer, trusting: try await pebble.root).status == nil)
                    try server.signal("KILL")
                    _ = try? await server.ended()
                }
                #expect(try await site.administer(["certificate", "renew"]).status == 0)
                let next = try await site.start(issuer: issuer, options: pebble.options)
                try await next.whileRunning {
                    _ = try await next.said("the same failure") { program in
                        program.errors.contains("could not validate localhost") ? true : nil
                    }
                    #expect(!next.errors.contains("created an account at the authority"))
                }
            }
        }
    }
}
