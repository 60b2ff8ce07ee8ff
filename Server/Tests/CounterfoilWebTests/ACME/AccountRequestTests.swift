import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto
import Foundation
import SwiftASN1
import Testing
import X509

@testable import CounterfoilWeb

@Suite("ACME: requests of the account")
struct AccountRequestTests {
    private let key: SigningKey

    init() throws { key = try SigningKey.generate(.es256) }

    private func members(_ text: String) throws -> [String: JSONValue] {
        try JSONReader.object(try #require(Base64URL.decode(text)))
    }

    // RFC 8555 §6.2
    @Test func `a request is a signed JWS with nonce and URL, and names the key only for an account`() throws {
        let point = try #require(key.publicKey.publicMembers.first { $0.name == "x" }?.value)
        for account in [nil, "https://ca.example/account/1"] {
            let jws = try JWS(
                payload: [], url: "https://ca.example/order", nonce: "n-1", account: account, key: key)
            let whole = try JSONReader.object(jws.json)
            #expect(Set(whole.keys) == ["protected", "payload", "signature"])
            // RFC 8555 §6.3: POST-as-GET
            #expect(whole.text("payload") == "")
            let header = try members(jws.protected)
            #expect(header.text("alg") == "ES256")
            #expect(header.text("nonce") == "n-1")
            #expect(header.text("url") == "https://ca.example/order")
            #expect(header.text("kid") == account)
            #expect(header.object("jwk")?.text("x") == (account == nil ? point : nil))
            #expect(header.object("jwk")?["d"] == nil)
            let signature = try #require(Base64URL.decode(jws.signature))
            #expect(signature.count == 64)
        }
    }

    // RFC 8555 §7.3.4
    @Test func `an external account binding signs the account key with the MAC key`() throws {
        let secret = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"
        let account = try #require(ExternalAccount(keyIdentifier: "kid-1", key: secret + "\n"))
        let jws = account.binding(of: key.publicKey, url: "https://ca.example/account")
        let header = try members(jws.protected)
        #expect(
            header == ["alg": .string("HS256"), "kid": .string("kid-1"), "url": .string("https://ca.example/account")])
        #expect(Set(try members(jws.payload).keys) == ["kty", "crv", "x", "y"])
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(jws.protected).\(jws.payload)".utf8),
            using: SymmetricKey(data: try #require(Base64URL.decode(secret))))
        #expect(jws.signature == Base64URL.encode(code))
        let creation = try JSONReader.object(AccountRequest.creation(contact: "o@example.com", binding: jws))
        #expect(creation.object("externalAccountBinding")?.text("signature") == jws.signature)
        #expect(creation["contact"] == .array([.string("mailto:o@example.com")]))
        for bad in ["", "c2hvcnQ", "not base64!"] {
            #expect(ExternalAccount(keyIdentifier: "kid-1", key: bad) == nil)
        }
    }

    // RFC 8555 §7.4, RFC 9773 §5
    @Test func `an order names the hosts, and the certificate that it replaces`() throws {
        let order = try JSONReader.object(AccountRequest.order(of: ["a.example", "b.example"], replacing: "x.y"))
        #expect(
            order["identifiers"]
                == .array(
                    ["a.example", "b.example"].map { .object(["type": .string("dns"), "value": .string($0)]) }))
        #expect(order.text("replaces") == "x.y")
        #expect(try JSONReader.object(AccountRequest.order(of: ["a.example"], replacing: nil))["replaces"] == nil)
    }

    @Test func `a request for a certificate names every host, and no other subject`() throws {
        let request = try CertificateRequest(for: ["id.example.com", "cb.example.net"])
        let parsed = try CertificateSigningRequest(derEncoded: request.der)
        #expect(parsed.subject.isEmpty)
        let names = try #require(try parsed.attributes.extensionRequest?.extensions.subjectAlternativeNames)
        #expect(Array(names) == [.dnsName("id.example.com"), .dnsName("cb.example.net")])
        #expect(parsed.publicKey.isValidSignature(parsed.signature, for: parsed))
        #expect(request.key.hasPrefix("-----BEGIN PRIVATE KEY-----"))
    }

    // RFC 8555 §8.1
    @Test func `a key authorization is the token and the thumbprint of the account key`() {
        #expect(KeyAuthorization.of(token: "abc", account: key.publicKey) == "abc.\(key.publicKey.thumbprint)")
    }

    // RFC 8737 §3
    @Test func `the certificate of a challenge has the digest in a critical extension`() throws {
        let text = "evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA.9jg46WB3rR_AHD-EBXdN7cBkH1WOu0tA3M9fm21mqTI"
        let identifier = try ChallengeCertificate.identifier(of: text)
        #expect(identifier.critical)
        #expect("\(identifier.oid)" == "1.3.6.1.5.5.7.1.31")
        #expect(Array(identifier.value) == [0x04, 0x20] + Array(SHA256.hash(data: Array(text.utf8))))
        let (certificate, _) = try ChallengeCertificate.make(
            for: "id.example.com", keyAuthorization: text, at: Date())
        let names = try #require(try certificate.extensions.subjectAlternativeNames)
        #expect(Array(names) == [.dnsName("id.example.com")])
        #expect(certificate.issuer == certificate.subject)
        #expect(certificate.extensions[oid: identifier.oid] == identifier)
    }
}
