import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL
import TestSupport
import Testing

/// TLS in the server, without a reverse proxy.
@Suite(.timeLimit(.minutes(10)))
struct TLSTests {
    /// The files of a certificate, and the options that name them.
    private struct Files {
        let certificate: String
        let key: String

        init(in folder: TemporaryDirectory) {
            certificate = folder.path("certificate.pem")
            key = folder.path("certificate.key")
        }

        var options: [String] { ["--tls-certificate", certificate, "--tls-key", key] }

        func put(_ issued: TestAuthority.Issued) throws {
            try put(certificate: issued.certificate)
            try put(key: issued.key)
        }

        func put(certificate text: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: certificate), options: .atomic)
        }

        func put(key text: String, mode: Int = 0o600) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: key), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
        }
    }

    /// A client that trusts one authority, with one connection.
    private struct Client {
        private let client: HTTPClient

        init(trusting authority: TestAuthority) throws {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates([try NIOSSLCertificate(bytes: Array(try authority.pem.utf8), format: .pem)])
            var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
            configuration.tlsConfiguration = tls
            configuration.httpVersion = .http1Only
            client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        }

        func get(_ url: String) async throws -> HTTPClientResponse {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(20))
            _ = try await response.body.collect(upTo: 1 << 20)
            return response
        }

        func text(_ url: String) async throws -> String {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(20))
            return String(buffer: try await response.body.collect(upTo: 1 << 20))
        }

        func close() async throws { try await client.shutdown() }
    }

    private static func status(_ url: String, trusting authority: TestAuthority) async throws -> UInt? {
        let client = try Client(trusting: authority)
        let status = (try? await client.get(url))?.status.code
        try await client.close()
        return status
    }

    @Test func `the server speaks TLS itself, and redirects plain http`() async throws {
        try await Site.make { site in
            let (authority, files) = (try TestAuthority(), Files(in: site.folder))
            try files.put(try authority.issue(for: ["localhost"]))
            let issuer = "https://localhost:\(site.port)"
            let server = try await site.start(
                issuer: issuer, options: files.options + ["--redirect-listen", "127.0.0.1:0"])
            try await server.whileRunning {
                let client = try Client(trusting: authority)
                let metadata = try await client.get(issuer + "/.well-known/oauth-authorization-server")
                #expect(metadata.status == .ok)
                #expect(metadata.headers.first(name: "strict-transport-security") == "max-age=63072000")
                try await client.close()

                let plain = try await server.said("the address of the redirect") { program in
                    program.errors.firstMatch(of: /Requests at (http:\/\/\S+) are redirected/).map { String($0.1) }
                }
                var browser = UserAgent()
                let target = "/oauth2/authorize?client_id=a&state=b"
                let redirected = try await browser.send(.get, plain + target, headers: ["host": "evil.example.com"])
                #expect(redirected.status == 308)
                #expect(redirected.header("location") == issuer + target)
                let posted = try await browser.send(.post, plain + "/oauth2/token", body: Array("code=secret".utf8))
                #expect(posted.status == 403)
                #expect(posted.text.contains("over https only"))
                // Plain http on the port for TLS gets no answer, and the server continues to answer.
                await #expect(throws: (any Error).self) {
                    _ = try await browser.send(.get, "http://localhost:\(site.port)/readyz")
                }
                #expect(try await Self.status(issuer + "/readyz", trusting: authority) == 200)
            }
        }
    }

    // RFC 9113 §3.2
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "curl is not installed"))
    func `curl gets the same response by HTTP/2 and by HTTP/1.1`() async throws {
        try await Site.make { site in
            let (authority, files) = (try TestAuthority(), Files(in: site.folder))
            try files.put(try authority.issue(for: ["localhost"]))
            let root = site.folder.path("root.pem")
            try Data(try authority.pem.utf8).write(to: URL(fileURLWithPath: root))
            let body = site.folder.path("body")
            try Data(repeating: 0x61, count: 100_000).write(to: URL(fileURLWithPath: body))
            let issuer = "https://localhost:\(site.port)"
            func curl(_ version: String, _ options: [String]) async throws -> String {
                let program = try RunningProgram(
                    at: "/usr/bin/curl",
                    [
                        "--silent", "--show-error", version, "--cacert", root, "--write-out",
                        "\n%{http_version} %{http_code}",
                    ]
                        + options, in: site.folder)
                let ended = try await program.ended()
                #expect(ended.status == 0, "\(ended.errors)")
                return ended.output
            }
            let server = try await site.start(issuer: issuer, options: files.options)
            try await server.whileRunning {
                let metadata = issuer + "/.well-known/openid-configuration"
                let new = try await curl("--http2", [metadata])
                let old = try await curl("--http1.1", [metadata])
                #expect(new.hasSuffix("\n2 200") && old.hasSuffix("\n1.1 200"))
                #expect(new.dropLast(5) == old.dropLast(7))
                let refused = try await curl("--http2", ["--data-binary", "@" + body, issuer + "/oauth2/token"])
                #expect(refused.hasSuffix("\n2 413"))
            }
        }
    }

    // RFC 9325 §3.1.1, §4.2
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "openssl is not installed"))
    func `TLS 1.2 and 1.3 work with forward secrecy and authenticated encryption only`() async throws {
        try await Site.make { site in
            let (authority, files) = (try TestAuthority(), Files(in: site.folder))
            // Only with an RSA key could the server accept suites without forward secrecy.
            try files.put(try authority.issue(for: ["localhost"], key: RSAKeyText.pkcs8))
            let root = site.folder.path("root.pem")
            try Data(try authority.pem.utf8).write(to: URL(fileURLWithPath: root))
            func connect(_ options: [String]) async throws -> EndedProgram {
                try await RunningProgram(
                    at: "/usr/bin/openssl",
                    [
                        "s_client", "-connect", "127.0.0.1:\(site.port)", "-servername", "localhost", "-CAfile", root,
                        "-verify_return_error",
                    ] + options, in: site.folder
                ).ended()
            }
            let server = try await site.start(issuer: "https://localhost:\(site.port)", options: files.options)
            try await server.whileRunning {
                let accepted = [
                    (["-tls1_3"], "TLSv1.3, Cipher is TLS_"), (["-tls1_2"], "Cipher is ECDHE-RSA-"),
                    (
                        ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"],
                        "Cipher is ECDHE-RSA-AES128-GCM-SHA256"
                    ),
                ]
                for (options, cipher) in accepted {
                    let ended = try await connect(options)
                    #expect(ended.status == 0, "\(options): \(ended.errors)")
                    #expect(ended.output.contains(cipher), "\(options): \(ended.output)")
                }
                let refused = [
                    // OpenSSL itself refuses TLS 1.1 at a higher security level.
                    (["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], "alert protocol version"),
                    // CBC, and a key exchange by RSA.
                    (["-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA"], "alert handshake failure"),
                    (["-tls1_2", "-cipher", "AES128-GCM-SHA256"], "alert handshake failure"),
                ]
                for (options, alert) in refused {
                    let ended = try await connect(options)
                    #expect(ended.status != 0, "\(options)")
                    #expect(ended.errors.contains(alert), "\(options): \(ended.errors)")
                }
            }
        }
    }

    @Test func `a renewed certificate is for new connections, and open ones continue`() async throws {
        try await Site.make { site in
            let (former, new) = (try TestAuthority("Former"), try TestAuthority("New"))
            let files = Files(in: site.folder)
            try files.put(try former.issue(for: ["localhost"]))
            let issuer = "https://localhost:\(site.port)"
            let server = try await site.start(issuer: issuer, options: files.options)
            try await server.whileRunning {
                let open = try Client(trusting: former)
                #expect(try await open.get(issuer + "/readyz").status == .ok)

                // The certificate is replaced before its key.
                let renewed = try new.issue(for: ["localhost"])
                try files.put(certificate: renewed.certificate)
                try server.signal("HUP")
                _ = try await server.said("that the key belongs to another certificate") { program in
                    program.errors.contains("the key belongs to another certificate") ? true : nil
                }
                #expect(try await Self.status(issuer + "/readyz", trusting: former) == 200)

                try files.put(key: renewed.key)
                try server.signal("HUP")
                _ = try await server.said("that the certificate was replaced") { program in
                    program.errors.contains("replaced the certificate") ? true : nil
                }
                #expect(try await Self.status(issuer + "/readyz", trusting: new) == 200)
                #expect(try await Self.status(issuer + "/readyz", trusting: former) == nil)
                #expect(try await open.get(issuer + "/readyz").status == .ok)
                try await open.close()

                // Without a signal, the server finds the change itself.
                try files.put(try former.issue(for: ["localhost"]))
                _ = try await Waiting.until("the next certificate") {
                    try await Self.status(issuer + "/readyz", trusting: former) == 200 ? true : nil
                }
            }
        }
    }

    @Test func `new settings with a certificate that cannot be used change nothing`() async throws {
        try await Site.make { site in
            let (authority, files) = (try TestAuthority(), Files(in: site.folder))
            try files.put(try authority.issue(for: ["localhost"]))
            let settings = site.folder.path("server.yaml")
            func set(_ lines: String) throws {
                try Data(lines.utf8).write(to: URL(fileURLWithPath: settings), options: .atomic)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: settings)
            }
            let tls = "tls-certificate: \(files.certificate)\ntls-key: \(files.key)\nlog-format: json\n"
            try set(tls)
            let issuer = "https://localhost:\(site.port)"
            let server = try await site.start(issuer: issuer, options: ["--config", settings])
            func event(_ message: String) async throws -> [String: String] {
                try await server.said(message) { program in
                    try program.logEvents.first { $0["message"] == message }
                }
            }
            try await server.whileRunning {
                let client = try Client(trusting: authority)
                let metadata = issuer + "/.well-known/oauth-authorization-server"
                // The certificate and the settings change at once; the key belongs to another certificate.
                let renewed = try authority.issue(for: ["localhost"])
                try files.put(certificate: renewed.certificate)
                try set(tls + "require-pushed-requests: true\nconnections: 40\n")
                try server.signal("HUP")
                let refused = try await event("refused the new settings; the former ones stay in use")
                let place = "\(settings), line 2: tls-key \(files.key): the key belongs to another certificate"
                #expect(refused["error"]?.hasPrefix(place) == true, "\(refused)")
                let certificate = try await event("refused the new certificate; the former one stays in use")
                #expect(certificate["error"]?.hasPrefix(place) == true, "\(certificate)")
                #expect(
                    try await client.text(metadata).contains(#""require_pushed_authorization_requests":false"#))
                let noted = URL(fileURLWithPath: site.dataDirectory + "/last-settings.json")
                #expect(try String(contentsOf: noted, encoding: .utf8).contains(#""connections" : "10000""#))

                try files.put(key: renewed.key)
                try server.signal("HUP")
                let changed = try await event("read the settings again")
                #expect(changed["changed"] == "require-pushed-requests, connections")
                _ = try await event("replaced the certificate")
                #expect(
                    try await client.text(metadata).contains(#""require_pushed_authorization_requests":true"#))
                try await client.close()
            }
        }
    }

    @Test func `a FIFO in place of the certificate changes nothing, and the server continues and stops`() async throws {
        try await Site.make { site in
            let (authority, files) = (try TestAuthority(), Files(in: site.folder))
            try files.put(try authority.issue(for: ["localhost"]))
            let issuer = "https://localhost:\(site.port)"
            let server = try await site.start(issuer: issuer, options: files.options)
            try await server.whileRunning {
                try FileManager.default.removeItem(atPath: files.certificate)
                #expect(mkfifo(files.certificate, 0o600) == 0)
                try server.signal("HUP")
                _ = try await server.said("that the file is no regular file") { program in
                    program.errors.contains("\(files.certificate) is not a regular file") ? true : nil
                }
                try FileManager.default.removeItem(atPath: files.certificate)
                try files.put(try authority.issue(for: ["localhost"]))
                try server.signal("HUP")
                _ = try await server.said("that the certificate was replaced") { program in
                    program.errors.contains("replaced the certificate") ? true : nil
                }
                #expect(try await Self.status(issuer + "/readyz", trusting: authority) == 200)
                try server.signal("TERM")
                #expect(try await server.ended().status == 0)
            }
        }
    }

    @Test func `a certificate that cannot be used is refused at the start, before anything is created`() async throws {
        try await Site.make { site in
            let (authority, files) = (try TestAuthority(), Files(in: site.folder))
            let good = try authority.issue(for: ["localhost"])
            func start(_ issuer: String = "https://localhost:1", _ options: [String]? = nil) async throws
                -> EndedProgram
            {
                try await site.administer(
                    ["serve", "--issuer", issuer, "--listen", "127.0.0.1:0"] + (options ?? files.options))
            }
            let missing = try await start()
            #expect(missing.status == 3)
            #expect(missing.errors.contains("--tls-certificate: cannot read the file"))
            try files.put(certificate: good.certificate)
            for (mode, reason) in [
                (0o644, "every user can read"), (0o660, "other users can change"), (0o602, "other users can change"),
            ] {
                try files.put(key: good.key, mode: mode)
                let open = try await start()
                #expect(open.status == 3)
                let advice = "(mode 0\(String(mode, radix: 8))); run: chmod g-w,o-rw \(files.key)\n"
                #expect(open.errors.contains("--tls-key: \(reason) \(files.key) \(advice)"), "\(open.errors)")
            }
            // The group may read the key.
            try files.put(key: try authority.issue(for: ["localhost"]).key, mode: 0o640)
            #expect(try await start().errors.contains("the key belongs to another certificate"))
            try files.put(key: try authority.issue(for: ["localhost"]).key)
            #expect(try await start().errors.contains("the key belongs to another certificate"))
            try files.put(try authority.issue(for: ["other.example.com"]))
            #expect(try await start().errors.contains("not for localhost, but for other.example.com"))
            try files.put(good)
            #expect(try await start("http://localhost:1").status == 64)
            #expect(try await start("https://localhost:1", Array(files.options.prefix(2))).status == 64)
            #expect(try await start("http://localhost:1", ["--redirect-listen", "127.0.0.1:0"]).status == 64)
            #expect(!FileManager.default.fileExists(atPath: site.dataDirectory))
        }
    }
}
