import Crypto
package import Foundation
import IPAddresses
import NIOCore
import NIOSSL
import SwiftASN1
import X509

/// The certificate of a server with its chain and its private key (RFC 8446 §4.4.2), which were checked.
package struct ServerCertificate: Sendable {
    /// An error in a certificate or its key; its description is written for the operator and contains no secret.
    package enum Refusal: Error, Hashable, CustomStringConvertible {
        /// The file of the certificate contains no certificate, or something else.
        case noCertificate
        /// A certificate in the file is invalid; the first one has the number 1.
        case invalidCertificate(number: Int)
        /// A certificate in the file has an RSA key of fewer than 2048 bits.
        case weakKey(number: Int, bits: Int)
        /// The file of the key contains no unencrypted private key that can be used.
        case noKey
        /// The key belongs to another certificate.
        case keyOfAnother
        /// The certificate is not valid yet.
        case notYetValid(Date)
        /// The certificate or that of its issuer has expired.
        case expired(Date)
        /// The certificate does not name a host of the server.
        case wrongHost(String, names: [String])
        /// The certificate is not for servers: `extKeyUsage` without `serverAuth`, or `keyUsage` without
        /// `digitalSignature` (RFC 5280 §4.2.1.12 and §4.2.1.3).
        case notForServers
        /// A certificate in the file was not issued by the next one.
        case brokenChain(number: Int)
        /// An issuer in the file may not issue certificates (RFC 5280 §4.2.1.3 and §4.2.1.9).
        case issuerIsNoAuthority(number: Int)
        /// The file contains only the certificate of the server, and clients cannot find its issuer.
        case incompleteChain(issuer: String)
        /// The TLS library refuses the certificate or its key.
        case unusable(String)

        /// The cause and the action to take.
        package var description: String {
            switch self {
            case .noCertificate:
                "it contains no certificate in PEM format; name the file with the certificate and its chain"
            case .invalidCertificate(let number): "certificate \(number) in it is invalid; get the file again"
            case .weakKey(let number, let bits):
                "certificate \(number) in it has an RSA key of \(bits) bits; make a new key of at least 2048 bits, and get a "
                    + "certificate for it"
            case .noKey:
                "it contains no private key that can be used; it must be one key in PEM format, RSA or ECDSA with P-256 or "
                    + "P-384, without a password"
            case .keyOfAnother: "the key belongs to another certificate; name the two files of one certificate"
            case .notYetValid(let date):
                "the certificate is valid from \(Self.text(date)) only; check the clock of this machine"
            case .expired(let date):
                "the certificate, or that of its issuer in the file, has expired on \(Self.text(date)); renew it"
            case .wrongHost(let host, let names):
                "the certificate is not for \(host), but for \(names.isEmpty ? "no host" : names.joined(separator: ", "))"
                    + "; get one that names \(host)"
            case .notForServers: "the certificate is not for servers (extKeyUsage or keyUsage); get another one"
            case .brokenChain(let number):
                "certificate \(number) in it was not issued by the next one; the certificate of the server comes first, "
                    + "and each one is followed by its issuer"
            case .issuerIsNoAuthority(let number):
                "certificate \(number) in it may not issue certificate \(number - 1) (basicConstraints or keyUsage), so "
                    + "clients refuse the chain; let a certificate authority issue the certificate"
            case .incompleteChain(let issuer):
                "it lacks the certificate of the issuer (\(issuer)), without which clients refuse it; use the file with "
                    + "the whole chain (fullchain.pem of certbot)"
            case .unusable(let reason): "the TLS library refuses it (\(reason))"
            }
        }

        private static func text(_ date: Date) -> String { ISO8601DateFormatter().string(from: date) }
    }

    /// The time from which clients accept the certificate.
    package let starts: Date
    /// The time after which clients refuse the certificate.
    package let expires: Date
    /// The issuer of the last certificate of a chain, if this machine knows no issuer of the chain; nil otherwise.
    ///
    /// Either the chain lacks its second intermediate certificate, and clients refuse it, or its root is a private one.
    package let unknownIssuer: String?
    let context: NIOSSLContext

    /// Checks a certificate and its key.
    ///
    /// - Parameters:
    ///   - chain: The certificate and those of its issuers, each followed by its issuer, in PEM format
    ///     (RFC 7468 §5). The certificate of a root that the system knows may be left out.
    ///   - key: The private key in PEM format, without encryption.
    ///   - hosts: The hosts of the server, each of which the certificate must name.
    ///   - now: The current time.
    ///   - isWhole: Whether the chain is known to be whole, because the authority has sent it. Its root need not be one
    ///     that the system knows.
    /// - Throws: ``Refusal``, which says what to do.
    package init(
        chain: String, key: String, hosts: [String], at now: Date, isWhole: Bool = false
    ) async throws(Refusal) {
        let certificates = try Self.certificates(in: chain)
        guard let leaf = certificates.first else { throw .noCertificate }
        guard let privateKey = Self.privateKey(in: key) else { throw .noKey }
        guard privateKey.publicKey == leaf.publicKey else { throw .keyOfAnother }
        guard leaf.notValidBefore <= now else { throw .notYetValid(leaf.notValidBefore) }
        // Clients know another path than a certificate of a root that another root has signed, so that one may expire.
        let end = certificates.prefix(2).map(\.notValidAfter).min() ?? leaf.notValidAfter
        guard now <= end else { throw .expired(end) }
        let names = CertificateNames(of: leaf)
        for host in hosts where !names.contain(host) { throw .wrongHost(host, names: names.texts) }
        if let usage = try? leaf.extensions.extendedKeyUsage {
            guard usage.contains(.serverAuth) || usage.contains(.any) else { throw .notForServers }
        }
        if let usage = try? leaf.extensions.keyUsage, !usage.digitalSignature { throw .notForServers }
        for (number, (certificate, issuer)) in zip(1..., zip(certificates, certificates.dropFirst())) {
            guard certificate.issuer == issuer.subject,
                issuer.publicKey.isValidSignature(certificate.signature, for: certificate)
            else { throw .brokenChain(number: number) }
            // The certificates between this issuer and the leaf.
            let others = certificates[1..<number].count { $0.issuer != $0.subject }
            guard Self.isAuthority(issuer, above: others) else { throw .issuerIsNoAuthority(number: number + 1) }
        }
        var unknownIssuer: String?
        if !isWhole, let last = certificates.last, await Self.isIncomplete(certificates, endingWith: last) {
            // A longer chain can end at a private root, which only the clients know.
            guard certificates.count > 1 else { throw .incompleteChain(issuer: "\(last.issuer)") }
            unknownIssuer = "\(last.issuer)"
        }
        self.unknownIssuer = unknownIssuer
        starts = leaf.notValidBefore
        expires = end
        do { context = try Self.context(chain, key) } catch { throw .unusable("\(error)") }
    }

    /// Returns true if a certificate may issue others, above a number of authorities that it has certified.
    ///
    /// A root can be older than the extensions (X.509 version 1).
    private static func isAuthority(_ certificate: Certificate, above others: Int) -> Bool {
        if certificate.version == .v1 { return certificate.issuer == certificate.subject }
        guard case .isCertificateAuthority(let limit)? = try? certificate.extensions.basicConstraints,
            others <= limit ?? .max
        else { return false }
        return (try? certificate.extensions.keyUsage)?.keyCertSign ?? true
    }

    /// Returns the key, which other blocks such as EC PARAMETERS may precede; nil unless there is exactly one that
    /// clients support.
    ///
    /// Browsers accept neither Ed25519 nor P-521 in certificates.
    private static func privateKey(in text: String) -> Certificate.PrivateKey? {
        let blocks = (try? PEMDocument.parseMultiple(pemString: text)) ?? []
        let keys = blocks.filter { $0.discriminator.hasSuffix("PRIVATE KEY") }
        guard keys.count == 1, let key = try? Certificate.PrivateKey(pemDocument: keys[0]) else { return nil }
        let isUnsupported =
            Curve25519.Signing.PublicKey(key.publicKey) != nil || P521.Signing.PublicKey(key.publicKey) != nil
        return isUnsupported ? nil : key
    }

    private static func certificates(in text: String) throws(Refusal) -> [Certificate] {
        let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")
        var certificates: [Certificate] = []
        for (number, block) in zip(1..., text.components(separatedBy: begin).dropFirst()) {
            guard let end = block.range(of: end) else { throw .invalidCertificate(number: number) }
            let text = begin + block[..<end.upperBound]
            guard let certificate = try? Certificate(pemEncoded: text) else {
                guard let bits = RSAKeySize.bits(inCertificate: text), bits < 2048 else {
                    throw .invalidCertificate(number: number)
                }
                throw .weakKey(number: number, bits: bits)
            }
            certificates.append(certificate)
        }
        return certificates
    }

    /// Returns true if the last certificate of a chain says where its issuer can be downloaded, and no authority of the
    /// system has issued a certificate of the chain.
    ///
    /// A private authority, which clients know, can issue a certificate without such an address. The last certificate
    /// can be that of a root that another root has signed: then the system knows the issuer of an earlier certificate.
    private static func isIncomplete(_ chain: [Certificate], endingWith last: Certificate) async -> Bool {
        guard last.issuer != last.subject, let places = try? last.extensions.authorityInformationAccess,
            places.contains(where: { $0.method == .issuingCA })
        else { return false }
        for certificate in chain.reversed() {
            var verifier = Verifier(rootCertificates: .systemTrustRoots) { RFC5280Policy() }
            switch await verifier.validate(leaf: certificate, intermediates: CertificateStore()) {
            case .validCertificate: return false
            case .couldNotValidate: continue
            }
        }
        return true
    }

    /// Creates the TLS context of a chain and a key in PEM format.
    static func context(_ chain: String, _ key: String) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(chain.utf8)).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        // RFC 9325 §4.2: with TLS 1.2, only suites with forward secrecy and authenticated encryption. HTTP/2 allows no
        // others (RFC 9113 §9.2.2), and no renegotiation, which the library does not offer.
        configuration.cipherSuiteValues = [
            .TLS_AES_128_GCM_SHA256, .TLS_AES_256_GCM_SHA384, .TLS_CHACHA20_POLY1305_SHA256,
            .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
            .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
            .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        ]
        configuration.applicationProtocols = ProtocolChoiceHandler.offered
        // The time after which the socket of a closed connection is free, even if the other side does not answer.
        configuration.shutdownTimeout = .seconds(1)
        return try NIOSSLContext(configuration: configuration)
    }
}

/// The names in the extension `subjectAltName` of a certificate (RFC 5280 §4.2.1.6).
private struct CertificateNames {
    private var hosts: [String] = []
    private var addresses: [[UInt8]] = []

    init(of certificate: Certificate) {
        for name in (try? certificate.extensions.subjectAlternativeNames).map({ Array($0) }) ?? [] {
            switch name {
            case .dnsName(let host): hosts.append(host.lowercased())
            case .ipAddress(let address): addresses.append(Array(address.bytes))
            default: break
            }
        }
    }

    /// The names as text.
    var texts: [String] { hosts + addresses.compactMap(Self.text(ofAddress:)) }

    private static func text(ofAddress bytes: [UInt8]) -> String? {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        return inet_ntop(family, bytes, &text, socklen_t(text.count)).map { String(cString: $0) }
    }

    /// Returns true if a client accepts the certificate for a host (RFC 9525 §6.3, RFC 6125 §6.4.3).
    func contain(_ host: String) -> Bool {
        let host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        if let address = IPAddress(host) { return addresses.contains(address.bytes) }
        return hosts.contains { name in
            guard name.hasPrefix("*.") else { return name == host }
            // A wildcard stands for one label.
            guard let dot = host.firstIndex(of: ".") else { return false }
            return host[dot...] == name.dropFirst()
        }
    }
}
