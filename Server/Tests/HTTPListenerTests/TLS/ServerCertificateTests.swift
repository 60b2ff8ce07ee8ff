import Crypto
import Foundation
import TestSupport
import Testing
import X509

@testable import HTTPListener

@Suite("TLS: the checks of a certificate")
struct ServerCertificateTests {
    private let root: TestAuthority
    private let intermediate: TestAuthority

    init() throws {
        root = try TestAuthority("Root")
        intermediate = try TestAuthority("Intermediate", certifiedBy: root)
    }

    private static let host = "id.example.com"

    private func refusal(_ chain: String, _ key: String, hosts: [String] = [host]) async throws
        -> ServerCertificate.Refusal
    {
        try #require(
            await #expect(throws: ServerCertificate.Refusal.self) {
                _ = try await ServerCertificate(chain: chain, key: key, hosts: hosts, at: Date())
            })
    }

    @Test func `a certificate with its chain is accepted, with or without the root`() async throws {
        let end = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 7200).rounded())
        let issued = try intermediate.issue(for: [Self.host, "cb.example.net"], until: end)
        for chain in [
            issued.certificate + (try intermediate.pem), issued.certificate + (try intermediate.pem) + (try root.pem),
            // A private authority, whose certificate its clients have.
            issued.certificate,
        ] {
            let certificate = try await ServerCertificate(
                chain: chain, key: issued.key, hosts: [Self.host, "cb.example.net"], at: Date())
            #expect(certificate.expires == end)
        }
    }

    @Test(arguments: [
        ("id.example.com", ["*.example.com"], true), ("example.com", ["*.example.com"], false),
        ("a.b.example.com", ["*.example.com"], false), ("id.example.com", ["ID.Example.COM"], true),
        ("id.example.com", ["example.com", "www.example.com"], false),
    ])
    func `a wildcard stands for one label`(host: String, names: [String], isAccepted: Bool) async throws {
        let issued = try root.issue(for: names)
        guard !isAccepted else {
            _ = try await ServerCertificate(chain: issued.certificate, key: issued.key, hosts: [host], at: Date())
            return
        }
        #expect(
            try await refusal(issued.certificate, issued.key, hosts: [host])
                == .wrongHost(host, names: names.map { $0.lowercased() }))
    }

    @Test func `an issuer with an IP address needs a certificate for it`() async throws {
        let issued = try root.issue(for: [], addresses: [[127, 0, 0, 1], Array(repeating: 0, count: 15) + [1]])
        for host in ["127.0.0.1", "[::1]"] {
            _ = try await ServerCertificate(chain: issued.certificate, key: issued.key, hosts: [host], at: Date())
        }
        #expect(
            try await refusal(issued.certificate, issued.key, hosts: ["127.0.0.2"])
                == .wrongHost("127.0.0.2", names: ["127.0.0.1", "::1"]))
    }

    @Test func `a certificate that clients refuse is refused`() async throws {
        let (past, future) = (Date() - 3600, Date() + 3600)
        let expired = try root.issue(for: [Self.host], from: past - 60, until: past)
        guard case .expired = try await refusal(expired.certificate, expired.key) else {
            Issue.record("not expired")
            return
        }
        let early = try root.issue(for: [Self.host], from: future, until: future + 60)
        guard case .notYetValid = try await refusal(early.certificate, early.key) else {
            Issue.record("valid already")
            return
        }
        let ofClient = try root.issue(for: [Self.host], usage: [.clientAuth])
        #expect(try await refusal(ofClient.certificate, ofClient.key) == .notForServers)
        let issued = try intermediate.issue(for: [Self.host])
        let other = try intermediate.issue(for: [Self.host])
        #expect(try await refusal(issued.certificate, other.key) == .keyOfAnother)
        // In the wrong order, and with a gap.
        #expect(try await refusal(try intermediate.pem + issued.certificate, issued.key) == .keyOfAnother)
        #expect(try await refusal(issued.certificate + (try root.pem), issued.key) == .brokenChain(number: 1))
        let impostor = try TestAuthority("Intermediate", certifiedBy: root)
        #expect(try await refusal(issued.certificate + (try impostor.pem), issued.key) == .brokenChain(number: 1))
        let alone = try intermediate.issue(for: [Self.host], issuerAddress: "http://ca.example.com/intermediate.der")
        #expect(try await refusal(alone.certificate, alone.key) == .incompleteChain(issuer: "CN=Intermediate"))
        _ = try await ServerCertificate(
            chain: alone.certificate + (try intermediate.pem), key: alone.key, hosts: [Self.host], at: Date())
    }

    // RFC 5280 §4.2.1.9, §4.2.1.3
    @Test func `a chain with an issuer that may not issue certificates is refused`() async throws {
        let issuers = [
            try TestAuthority("No CA", certifiedBy: root, constraints: .notCertificateAuthority),
            try TestAuthority("No constraints", certifiedBy: root, constraints: nil),
            try TestAuthority("No keyCertSign", certifiedBy: root, usage: KeyUsage(cRLSign: true)),
        ]
        for issuer in issuers {
            let issued = try issuer.issue(for: [Self.host])
            let chain = issued.certificate + (try issuer.pem)
            #expect(try await refusal(chain, issued.key) == .issuerIsNoAuthority(number: 2))
            #expect(try await refusal(chain + (try root.pem), issued.key) == .issuerIsNoAuthority(number: 2))
        }
        let narrow = try TestAuthority("Narrow", constraints: .isCertificateAuthority(maxPathLength: 0))
        let below = try TestAuthority("Below", certifiedBy: narrow)
        let issued = try below.issue(for: [Self.host])
        let chain = issued.certificate + (try below.pem) + (try narrow.pem)
        #expect(try await refusal(chain, issued.key) == .issuerIsNoAuthority(number: 3))
        let direct = try narrow.issue(for: [Self.host])
        _ = try await ServerCertificate(
            chain: direct.certificate + (try narrow.pem), key: direct.key, hosts: [Self.host], at: Date())
    }

    @Test func `a chain that lacks its second intermediate certificate, or a private root, is reported`() async throws {
        let address = "http://ca.example.com/issuer.der"
        let middle = try TestAuthority("Middle", certifiedBy: root)
        let issuing = try TestAuthority("Issuing", certifiedBy: middle, issuerAddress: address)
        let issued = try issuing.issue(for: [Self.host], issuerAddress: address)
        let cut = issued.certificate + (try issuing.pem)
        for (end, unknown) in [("", "CN=Middle"), (try middle.pem, nil), (try middle.pem + (try root.pem), nil)] {
            let certificate = try await ServerCertificate(
                chain: cut + end, key: issued.key, hosts: [Self.host], at: Date())
            #expect(certificate.unknownIssuer == unknown)
        }
        let ordered = try await ServerCertificate(
            chain: cut, key: issued.key, hosts: [Self.host], at: Date(), isWhole: true)
        #expect(ordered.unknownIssuer == nil)
    }

    @Test func `a certificate alone is not refused if the authority has sent it so`() async throws {
        let address = "http://ca.example.com/root.der"
        let issued = try root.issue(for: [Self.host], issuerAddress: address)
        #expect(try await refusal(issued.certificate, issued.key) == .incompleteChain(issuer: "CN=Root"))
        _ = try await ServerCertificate(
            chain: issued.certificate, key: issued.key, hosts: [Self.host], at: Date(), isWhole: true)
    }

    /// A certificate with an RSA key of 1024 bits.
    private static let weak = """
        -----BEGIN CERTIFICATE-----
        MIICDzCCAXigAwIBAgIUOHvswWHhcBVeS2c6Apx1rm3XEhowDQYJKoZIhvcNAQEL
        BQAwDDEKMAgGA1UEAwwBYTAeFw0yNjExMjcwOTIzNTRaFw0zNjExMjQwOTIzNTRa
        MAwxCjAIBgNVBAMMAWEwgZ8wDQYJKoZIhvcNAQEBBQADgY0AMIGJAoGBALIyagJ/
        /J5xb7K673wGWDGUnHo/jiF815vJrwP5rkfy8dWfhIDkacC0aTZcQHKUYrbg/zh/
        /bxQ1MMmIp0rKzjbxeNNiyNiN3QPSw2DHwocQZEo3ZoOUgzqB8oh1Ehbr6zfuBhf
        uiARDgzfERRr6EVweKnRBXEnjzvFDHrPRO1xAgMBAAGjbjBsMB0GA1UdDgQWBBTx
        klsoG878fwiG3vtihIadhYRmRzAfBgNVHSMEGDAWgBTxklsoG878fwiG3vtihIad
        hYRmRzAPBgNVHRMBAf8EBTADAQH/MBkGA1UdEQQSMBCCDmlkLmV4YW1wbGUuY29t
        MA0GCSqGSIb3DQEBCwUAA4GBAKEJ+O1Kkz3QfixlRDA99ZKgkjeIys/S+dosSVnt
        Me5PJ/GtztwXV2bauKxy4pn4z+M5JUGqJsk6MMIgPZUQbnXtqgKjuie8a/zNO1A7
        11AONLxhWDlejNnWSKj5k71q96xDC8tAQj1i2njZZoFKu19WydqALhWMWLpLyt2I
        2RFc
        -----END CERTIFICATE-----
        """

    @Test func `an RSA key that is too short is named with its size`() async throws {
        let issued = try root.issue(for: [Self.host])
        #expect(try await refusal(Self.weak, issued.key) == .weakKey(number: 1, bits: 1024))
        #expect(try await refusal(issued.certificate + Self.weak, issued.key) == .weakKey(number: 2, bits: 1024))
        #expect("\(ServerCertificate.Refusal.weakKey(number: 1, bits: 1024))".contains("at least 2048 bits"))
    }

    @Test func `files that contain something else are refused`() async throws {
        let issued = try root.issue(for: [Self.host])
        for text in ["", "certificate", issued.key] {
            #expect(try await refusal(text, issued.key) == .noCertificate)
        }
        let cut = String(issued.certificate.prefix(issued.certificate.count / 2))
        #expect(try await refusal(cut, issued.key) == .invalidCertificate(number: 1))
        #expect(try await refusal(issued.certificate + cut, issued.key) == .invalidCertificate(number: 2))
        for text in ["", issued.certificate, String(issued.key.prefix(100))] {
            #expect(try await refusal(issued.certificate, text) == .noKey)
        }
        // Browsers do not support the key, whatever its certificate is.
        // The private key of Ed25519 with its prefix (RFC 8410 §7).
        let prefix: [UInt8] = [0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 0x22, 4, 0x20]
        let encoded = Data(prefix + Array(Curve25519.Signing.PrivateKey().rawRepresentation)).base64EncodedString()
        let unsupported = "-----BEGIN PRIVATE KEY-----\n\(encoded)\n-----END PRIVATE KEY-----\n"
        #expect(try await refusal(issued.certificate, unsupported) == .noKey)
        // OpenSSL can write the parameters of the curve before the key.
        let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        _ = try await ServerCertificate(
            chain: issued.certificate, key: parameters + issued.key, hosts: [Self.host], at: Date())
        // No message repeats the key.
        let refusals: [ServerCertificate.Refusal] = [.noKey, .keyOfAnother, .noCertificate]
        for line in issued.key.split(separator: "\n") {
            for refusal in refusals { #expect(!"\(refusal)".contains(line)) }
        }
    }
}
