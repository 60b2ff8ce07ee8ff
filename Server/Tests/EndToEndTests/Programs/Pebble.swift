import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import TestSupport
import Testing

/// Pebble, the authority for tests of clients of RFC 8555.
struct Pebble {
    static let executable = "/usr/bin/pebble"

    /// The options of `serve` that lead to this authority.
    let options: [String]
    private let management: String
    private let transport: TestAuthority
    private let program: RunningProgram

    /// The number of requests that it has received.
    var requests: Int { (program.output + program.errors).components(separatedBy: "calling handler()").count - 1 }

    /// Runs `body` with a Pebble that refuses a third of the nonces, and takes up to three seconds for a validation.
    ///
    /// - Parameters:
    ///   - tlsPort: The port at which it validates by `tls-alpn-01`.
    ///   - httpPort: The port at which it validates by `http-01`.
    ///   - validity: The lifetime of its certificates in seconds.
    ///   - externalKey: The MAC key in base64url that new accounts must be bound to, with the identifier `kid-1`; nil
    ///     for none.
    ///   - environment: Further settings.
    static func run(
        in parent: TemporaryDirectory, tlsPort: Int, httpPort: Int, validity: Int = 3600, externalKey: String? = nil,
        environment: [String: String] = [:], _ body: (Pebble) async throws -> Void
    ) async throws {
        let folder = try parent.makeFolder("pebble")
        let authority = try TestAuthority("Certificate of Pebble")
        let issued = try authority.issue(for: ["localhost"])
        let (port, management) = (try ReservedPort(), try ReservedPort())
        func write(_ text: String, _ name: String) throws -> String {
            let path = folder.path(name)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            return path
        }
        let configuration = """
            {"pebble": {
              "listenAddress": "127.0.0.1:\(port.number)", "managementListenAddress": "127.0.0.1:\(management.number)",
              "certificate": "\(try write(issued.certificate, "pebble.pem"))",
              "privateKey": "\(try write(issued.key, "pebble.key"))",
              "httpPort": \(httpPort), "tlsPort": \(tlsPort), "ocspResponderURL": "",
              "certificateValidityPeriod": \(validity),
              "externalAccountBindingRequired": \(externalKey != nil),
              "externalAccountMACKeys": {"kid-1": "\(externalKey ?? "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0")"}
            }}
            """
        let root = try write(try authority.pem, "root.pem")
        let program = try RunningProgram(
            at: executable, ["-config", try write(configuration, "pebble.json")],
            environment: ["PEBBLE_WFE_NONCEREJECT": "33", "PEBBLE_VA_SLEEPTIME": "3"].merging(environment) { $1 },
            in: folder)
        try await program.whileRunning {
            _ = try await program.said("that it listens") { program in
                (program.output + program.errors).contains("ACME directory available at") ? true : nil
            }
            try await body(
                Pebble(
                    options: [
                        "--acme-contact", "owner@example.com", "--acme-terms-agreed", "--acme-directory",
                        "https://localhost:\(port.number)/dir", "--acme-root", root,
                    ], management: "https://localhost:\(management.number)", transport: authority,
                    program: program))
        }
    }

    /// The root certificate of the issued certificates, which is new with each start.
    var root: NIOSSLCertificate {
        get async throws {
            let own = try NIOSSLCertificate(bytes: Array(try transport.pem.utf8), format: .pem)
            let pem = try #require(try await Self.get(management + "/roots/0", trusting: own).body)
            return try NIOSSLCertificate(bytes: pem, format: .pem)
        }
    }

    /// Sends a GET request; the status is nil if the certificate of the server is not from the given authority.
    static func get(
        _ url: String, trusting root: NIOSSLCertificate
    ) async throws -> (status: UInt?, body: [UInt8]?) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([root])
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.tlsConfiguration = tls
        configuration.httpVersion = .http1Only
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: (status: UInt?, body: [UInt8]?)
        do {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(20))
            let body = try await response.body.collect(upTo: 1 << 20)
            result = (response.status.code, Array(body.readableBytesView))
        } catch { result = (nil, nil) }
        try await client.shutdown()
        return result
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the test with a reason if Pebble is missing; in CI the test runs and fails instead.
    static var pebble: Self {
        .enabled("pebble is not installed (Debian: apt-get install pebble)") {
            let inCI = ProcessInfo.processInfo.environment["CI"].map { !["", "0", "false"].contains($0) } ?? false
            return inCI || FileManager.default.isExecutableFile(atPath: Pebble.executable)
        }
    }
}
