import CounterfoilTokens
import Foundation
import Testing

struct JSONWebKeySetTests {
    private func parse(_ text: String) throws(JSONWebKeySet.Refusal) -> JSONWebKeySet {
        try JSONWebKeySet(parsing: Array(text.utf8))
    }

    // RFC 7517 §5: unsupported keys are ignored, and the other keys are kept.
    @Test func `unusable keys are skipped`() throws {
        let set = try parse(
            """
            {"keys":[{"kty":"oct","k":"AA"},{"kty":"future","kid":5},\(PublishedVector.edDSA.key),{},\
            \(PublishedVector.thumbprintKey)],"other":1}
            """
        )
        #expect(set.keys.map(\.algorithm) == [.edDSA, .rs256])
    }

    // RFC 7517 §4.5: keys of different types may share a kid.
    @Test func `a key ID finds the key for the algorithm`() throws {
        let name = KeyIdentifier("1")
        let set = try parse(
            #"{"keys":[\#(named(PublishedVector.es256.key)),\#(named(PublishedVector.edDSA.key))]}"#
        )
        #expect(set.keys(for: name, algorithm: .es256).map(\.algorithm) == [.es256])
        #expect(set.keys(for: name, algorithm: .edDSA).map(\.algorithm) == [.edDSA])
        #expect(set.keys(for: name, algorithm: .rs256).isEmpty)
        #expect(set.keys(for: KeyIdentifier("2"), algorithm: .es256).isEmpty)
        #expect(set.keys(for: nil, algorithm: .es256).count == 1)
    }

    // RFC 7517 §4.5: if two keys of one type share a kid, both are candidates.
    @Test func `a repeated key ID finds each key once`() throws {
        let (first, second) = (try SigningKey.generate(.es256).publicKey, try SigningKey.generate(.es256).publicKey)
        let text = String(decoding: JSONWebKeySet(keys: [first, second, first]).encoded(), as: UTF8.self)
        let set = try parse(text.replacing(second.id.rawValue, with: first.id.rawValue))
        #expect(set.keys(for: first.id, algorithm: .es256).map(\.thumbprint) == [first.thumbprint, second.thumbprint])
        #expect(try parse(#"{"keys":[]}"#).keys.isEmpty)
    }

    @Test(arguments: [
        "", "{}", "[]", "null", #"{"keys":{}}"#, #"{"keys":[1]}"#, #"{"keys":[[]]}"#, #"{"keys":[],"keys":[]}"#,
        #"{"keys":[]}{"#, #"{"keys":[{"kty":"EC","kty":"RSA"}]}"#,
    ])
    func `an invalid key set is refused`(text: String) {
        #expect(throws: JSONWebKeySet.Refusal.malformed) { try parse(text) }
    }

    @Test func `a document over the limits is refused`() throws {
        let many = Array(repeating: "{}", count: 101).joined(separator: ",")
        #expect(throws: JSONWebKeySet.Refusal.tooManyKeys) { try parse(#"{"keys":[\#(many)]}"#) }
        #expect(try parse(#"{"keys":[\#(many.dropLast(3))]}"#).keys.isEmpty)
        let large = String(repeating: " ", count: 65537)
        #expect(throws: JSONWebKeySet.Refusal.tooLarge) { try parse(large) }
    }

    private func named(_ key: String) -> String { key.replacing(#"{"kty""#, with: #"{"kid":"1","kty""#) }
}
