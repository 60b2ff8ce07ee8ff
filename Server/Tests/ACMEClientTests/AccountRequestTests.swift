import Crypto
import Foundation
import SwiftASN1
import Testing
import X509

@testable import ACMEClient

@Suite("ACME: requests of the account")
struct AccountRequestTests {
    private let key = AccountKey()

    private func members(_ text: String) throws -> [String: Any] {
        try object(try #require(Base64URL.decode(text)))
    }

    private func object(_ json: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
    }

    // RFC 8555 §6.2
    @Test func `a request is a signed JWS with nonce and URL, and names the key only for an account`() throws {
        let point = key.publicKey.x
        for account in [nil, "https://ca.example/account/1"] {
            let jws = try JWS(
                payload: [], url: "https://ca.example/order", nonce: "n-1", account: account, key: key)
            let whole = try object(jws.json)
            #expect(Set(whole.keys) == ["protected", "payload", "signature"])
            // RFC 8555 §6.3: POST-as-GET
            #expect(whole["payload"] as? String == "")
            let header = try members(jws.protected)
            #expect(header["alg"] as? String == "ES256")
            #expect(header["nonce"] as? String == "n-1")
            #expect(header["url"] as? String == "https://ca.example/order")
            #expect(header["kid"] as? String == account)
            let jwk = header["jwk"] as? [String: String]
            #expect(jwk?["x"] == (account == nil ? point : nil))
            #expect(jwk?["d"] == nil)
            let signature = try #require(Base64URL.decode(jws.signature))
            #expect(signature.count == 64)
        }
    }

    // RFC 8555 §7.3.4
    @Test func `an external account binding signs the account key with the MAC key`() throws {
        let secret = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"
        let account = try #require(ExternalAccount(keyIdentifier: "kid-1", key: secret + "\n"))
        let jws = try account.binding(of: key, url: "https://ca.example/account")
        let header = try members(jws.protected)
        #expect(
            header as? [String: String] == ["alg": "HS256", "kid": "kid-1", "url": "https://ca.example/account"])
        #expect(Set(try members(jws.payload).keys) == ["kty", "crv", "x", "y"])
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(jws.protected).\(jws.payload)".utf8),
            using: SymmetricKey(data: try #require(Base64URL.decode(secret))))
        #expect(jws.signature == Base64URL.encode(code))
        let creation = try object(AccountRequest.creation(contact: "o@example.com", binding: jws))
        #expect((creation["externalAccountBinding"] as? [String: String])?["signature"] == jws.signature)
        #expect(creation["contact"] as? [String] == ["mailto:o@example.com"])
        for bad in ["", "c2hvcnQ", "not base64!"] {
            #expect(ExternalAccount(keyIdentifier: "kid-1", key: bad) == nil)
        }
    }

    // RFC 8555 §7.4, RFC 9773 §5
    @Test func `an order names the hosts, and the certificate that it replaces`() throws {
        let order = try object(AccountRequest.order(of: ["a.example", "b.example"], replacing: "x.y"))
        #expect(
            order["identifiers"] as? [[String: String]]
                == ["a.example", "b.example"].map { ["type": "dns", "value": $0] })
        #expect(order["replaces"] as? String == "x.y")
        #expect(try object(AccountRequest.order(of: ["a.example"], replacing: nil))["replaces"] == nil)
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
    @Test func `a key authorization is the token and the thumbprint of the account key`() throws {
        // RFC 7638 §3.3: the required members of an EC key, in the order of their names
        let (x, y) = (key.publicKey.x, key.publicKey.y)
        let text = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        let thumbprint = Base64URL.encode(SHA256.hash(data: Array(text.utf8)))
        #expect(try key.authorization(ofToken: "abc") == "abc.\(thumbprint)")
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
