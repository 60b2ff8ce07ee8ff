@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import Testing

@testable @_spi(Counterfoil) import CounterfoilTokens

struct StrictJSONTests {
    private func read(_ text: String) -> [String: JSONValue]? { try? JSONReader.object(Array(text.utf8)) }

    // RFC 8259 §3 to §7.
    @Test(
        arguments: [
            ("{}", [:]),
            (" \t\r\n{ \"a\" : 1 , \"b\" : [ ] }\n", ["a": .integer(1), "b": .array([])]),
            (
                #"{"a":-0,"b":9223372036854775807,"c":-1.5e2}"#,
                ["a": .integer(0), "b": .integer(.max), "c": .number(-150)]
            ),
            (#"{"a":9223372036854775808}"#, ["a": .number(9_223_372_036_854_775_808)]),
            (
                #"{"a":[true,false,null,{"b":{}}]}"#,
                ["a": .array([.boolean(true), .boolean(false), .null, .object(["b": .object([:])])])]
            ),
            (#"{"":"\"\\\/\b\f\n\r\t\u0041\u00e9\uD83E\uDD8A"}"#, ["": .string("\"\\/\u{8}\u{C}\n\r\tAé🦊")]),
            ("{\"é\":\"日本\"}", ["é": .string("日本")]),
        ] as [(String, [String: JSONValue])])
    func `well-formed objects are parsed`(text: String, expected: [String: JSONValue]) {
        #expect(read(text) == expected)
    }

    // RFC 8259 §2 to §8.1, RFC 8725 §2.7.
    @Test(arguments: [
        "", " ", "1", "[]", "\"\"", "null", "{", "}", "{}}", "{},", "{}{}", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
        "{a:1}",
        "{'a':1}", "{\"a\":1 \"b\":2}", "{\"a\":[1,]}", "{\"a\":[,1]}", "{\"a\":[1 2]}", "{\"a\":[1}", "{\"a\":01}",
        "{\"a\":-}",
        "{\"a\":+1}", "{\"a\":.5}", "{\"a\":1.}", "{\"a\":1e}", "{\"a\":1e+}", "{\"a\":0x1}", "{\"a\":NaN}",
        "{\"a\":Infinity}",
        "{\"a\":1e999}", "{\"a\":tru}", "{\"a\":True}", "{\"a\":nulll}", "{\"a\":\"}", "{\"a\":\"\\\"}",
        "{\"a\":\"\\x41\"}",
        "{\"a\":\"\\u00\"}", "{\"a\":\"\\u00G0\"}", "{\"a\":\"\\uD83E\"}", "{\"a\":\"\\uDD8A\"}",
        "{\"a\":\"\\uD83E\\u0041\"}",
        "{\"a\":\"\\u١٢٣٤\"}", "{\"a\":\"\n\"}", "{\"a\":\"\u{0}\"}", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}",
        "{\"a\":{\"b\":1,\"b\":1}}", "\u{FEFF}{}", "{}\u{0}", "/**/{}", "{\"a\":1}//",
    ])
    func `everything else is refused`(text: String) {
        #expect(read(text) == nil)
    }

    // RFC 8259 §6: a number may exceed the range of the reader.
    @Test(arguments: ["1e400", "-1e400", "1E+999"])
    func `a number beyond the range of Double is infinite where that is accepted, and malformed elsewhere`(
        number: String
    ) throws {
        let text = Array("{\"n\":\(number)}".utf8)
        #expect(throws: JSONReader.Malformed.self) { try JSONReader.object(text) }
        let infinity = number.hasPrefix("-") ? -Double.infinity : .infinity
        #expect(try JSONReader.object(text, acceptingHugeNumbers: true) == ["n": .number(infinity)])
    }

    @Test func `text that is not UTF-8 is refused`() {
        for bytes: [UInt8] in [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82]] {
            let text = Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)
            #expect(throws: JSONReader.Malformed.self) { try JSONReader.object(text) }
        }
    }

    @Test func `the depth is limited`() {
        func nested(_ depth: Int) -> String {
            #"{"a":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        }
        #expect(read(nested(JSONReader.depthLimit - 1)) != nil)
        #expect(read(nested(JSONReader.depthLimit)) == nil)
        #expect(read(#"{"a":"# + String(repeating: "[", count: 100_000)) == nil)
    }

    // RFC 8259 §9: the reader accepts nothing that Foundation rejects.
    @Test func `any accepted text is JSON for Foundation too`() {
        var random = SplitMix(state: 0x5EED)
        let alphabet = Array(#"{}[]",:\u0123456789aAeE+-. truefalsnbd"#.utf8) + [0x0A, 0xC3, 0xA9, 0x00]
        let seed = Array(#"{"a":[1,-2.5e3,"x\u00e9\n"],"b":{"c":true,"d":null}}"#.utf8)
        var accepted = 0
        for _ in 0..<20_000 {
            var text = seed
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let position = Int.random(in: text.indices, using: &random)
                text[position] = alphabet[Int.random(in: alphabet.indices, using: &random)]
            }
            guard (try? JSONReader.object(text)) != nil else { continue }
            accepted += 1
            #expect(
                (try? JSONSerialization.jsonObject(with: Data(text))) != nil, "\(String(decoding: text, as: UTF8.self))"
            )
        }
        #expect(accepted > 500)
    }

    @Test func `written values parse as the same values`() throws {
        let texts = ["", "a", "\"\\/", "\u{0}\u{1F}\n", "é日本🦊", "\u{2028}", String(repeating: "x", count: 1000)]
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("list", list: { writer in for text in texts { writer.element(text) } })
            writer.member("number", -5)
            writer.member("na\"me", "value")
        }
        let expected: [String: JSONValue] = [
            "list": .array(texts.map(JSONValue.string)), "number": .integer(-5), "na\"me": .string("value"),
        ]
        #expect(try JSONReader.object(writer.bytes) == expected)
    }
}

/// A random number generator with a fixed sequence (SplitMix64).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
