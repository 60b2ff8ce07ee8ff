import Crypto
import Foundation
import NIOSSL

/// A certificate authority of a test, which issues certificates for test hosts (RFC 5280 §4.1).
struct TestAuthority: Sendable {
    private let key = P256.Signing.PrivateKey()
    private let name: String

    init(_ name: String = "Test Authority") { self.name = name }

    /// The certificate of the authority, in PEM format.
    var pem: String {
        get throws { try certificate(subject: name, publicKey: key.publicKey, extensions: [Self.isAuthority]) }
    }

    /// Returns the TLS configuration of a server with a certificate for a host name.
    func serverContext(for host: String) throws -> NIOSSLContext {
        let key = P256.Signing.PrivateKey()
        let pem = try certificate(
            subject: host, publicKey: key.publicKey, extensions: [DER.subjectAlternativeName(host)])
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(pem.utf8), format: .pem))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem)))
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    /// The extension basicConstraints: critical, with cA true.
    private static let isAuthority = DER.sequence(
        DER.identifier([2, 5, 29, 19]), [0x01, 0x01, 0xFF], DER.octets(DER.sequence([0x01, 0x01, 0xFF])))

    private func certificate(
        subject: String, publicKey: P256.Signing.PublicKey, extensions: [[UInt8]]
    ) throws -> String {
        let algorithm = DER.sequence(DER.identifier([1, 2, 840, 10045, 4, 3, 2]))
        let body = DER.sequence(
            DER.tagged(0xA0, [0x02, 0x01, 0x02]),
            DER.tagged(0x02, [0x01] + (0..<15).map { _ in UInt8.random(in: 0...255) }),
            algorithm, DER.name(self.name),
            DER.sequence(
                DER.tagged(0x17, Array("200101000000Z".utf8)), DER.tagged(0x18, Array("21200101000000Z".utf8))),
            DER.name(subject), Array(publicKey.derRepresentation),
            DER.tagged(0xA3, DER.sequence(extensions.flatMap { $0 })))
        let signature = try key.signature(for: Data(body)).derRepresentation
        let certificate = DER.sequence(body, algorithm, DER.tagged(0x03, [0] + Array(signature)))
        let lines = Data(certificate).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
    }
}

/// The DER encodings that a certificate needs (X.690 §8).
private enum DER {
    static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count
        switch length {
        case ..<0x80: return [tag, UInt8(length)] + content
        case ..<0x100: return [tag, 0x81, UInt8(length)] + content
        default: return [tag, 0x82, UInt8(length >> 8), UInt8(length & 0xFF)] + content
        }
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { tagged(0x30, parts.flatMap { $0 }) }

    static func octets(_ content: [UInt8]) -> [UInt8] { tagged(0x04, content) }

    static func identifier(_ numbers: [Int]) -> [UInt8] {
        var bytes = [UInt8(numbers[0] * 40 + numbers[1])]
        for number in numbers.dropFirst(2) {
            var groups = [UInt8(number & 0x7F)]
            var rest = number >> 7
            while rest > 0 {
                groups.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            bytes += groups
        }
        return tagged(0x06, bytes)
    }

    /// Returns a distinguished name with a common name.
    static func name(_ text: String) -> [UInt8] {
        sequence(tagged(0x31, sequence(identifier([2, 5, 4, 3]), tagged(0x0C, Array(text.utf8)))))
    }

    static func subjectAlternativeName(_ host: String) -> [UInt8] {
        sequence(identifier([2, 5, 29, 17]), octets(sequence(tagged(0x82, Array(host.utf8)))))
    }
}
