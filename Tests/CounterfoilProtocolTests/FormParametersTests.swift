import CounterfoilProtocol
import TestSupport
import Testing

struct FormParametersTests {
    // Names and values are URL-encoded, whatever they contain.
    @Test(arguments: SeededGenerator.seeds)
    func `any parameters are unchanged after encoding and parsing`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<SeededGenerator.rounds {
            let form = FormParameters(
                (0..<Int.random(in: 0...12, using: &random)).map { _ in
                    FormParameters.Pair(name: random.anyText(1...12), value: random.anyText(0...40))
                }
            )
            #expect(try FormParameters(parsing: form.encoded) == form)
            #expect(form.encoded.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        }
    }

    // Parsing of network input must terminate with a value or an error for any bytes.
    @Test(arguments: SeededGenerator.seeds)
    func `any bytes are parsed or refused`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<SeededGenerator.rounds {
            let bytes = random.bytes(0...400)
            guard let form = try? FormParameters(parsing: bytes) else { continue }
            #expect((try? FormParameters(parsing: form.encoded)) == form)
        }
    }

    @Test(arguments: [
        ("a=1&b=2", [("a", "1"), ("b", "2")]), ("", []), ("&&a=1&&", [("a", "1")]), ("a", [("a", "")]),
        ("a=", [("a", "")]), ("=x", [("", "x")]), ("a=b=c", [("a", "b=c")]), ("a=1+2%2B3%203", [("a", "1 2+3 3")]),
        ("a%5B%5D=1&a%5B%5D=2", [("a[]", "1"), ("a[]", "2")]), ("%C3%A9=%F0%9F%93%B7", [("é", "📷")]),
        ("a=%2526", [("a", "%26")]), ("a=1;b=2", [("a", "1;b=2")]), ("a=%00", [("a", "\0")]),
    ])
    func `parameters are flat, decoded once and in order`(text: String, expected: [(String, String)]) throws {
        let form = try FormParameters(parsing: text)
        #expect(form.pairs == expected.map { FormParameters.Pair(name: $0.0, value: $0.1) })
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "%=1", "a=%C3", "a=%ED%A0%80", "a=%C0%AF", "a=%FF"])
    func `an invalid encoding is refused, not repaired`(text: String) {
        #expect(throws: FormParameters.Refusal.badEncoding) { try FormParameters(parsing: text) }
    }

    @Test func `length and count are limited`() throws {
        #expect(throws: FormParameters.Refusal.tooLong(limit: 32 * 1024)) {
            try FormParameters(parsing: "a=" + String(repeating: "x", count: 32 * 1024))
        }
        #expect(throws: FormParameters.Refusal.tooLong(limit: 3)) { try FormParameters(parsing: "a=12", byteLimit: 3) }
        let hundred = Array(repeating: "a=1", count: FormParameters.pairLimit).joined(separator: "&")
        #expect(try FormParameters(parsing: hundred).pairs.count == 100)
        #expect(throws: FormParameters.Refusal.tooManyPairs(limit: 100)) {
            try FormParameters(parsing: hundred + "&a=1")
        }
    }

    // RFC 6749 §3.1 and §3.2: parameters must not be repeated, and a parameter without a value counts as omitted.
    @Test func `a repeated parameter is refused, and an empty one is treated as absent`() throws {
        let form = try FormParameters(parsing: "a=1&b=&c=2&c=2&d=&d=")
        #expect(try form.single("a") == "1")
        #expect(try form.single("b") == nil)
        #expect(try form.single("e") == nil)
        #expect(throws: FormParameters.Refusal.repeated("c")) { try form.single("c") }
        #expect(throws: FormParameters.Refusal.repeated("d")) { try form.single("d") }
        #expect(form.all("c") == ["2", "2"])
        #expect(form.all("d") == [])
    }
}
