import CounterfoilProtocol
import TestSupport
import Testing

struct ScopeTests {
    // Several scopes are delimited by single spaces.
    @Test(arguments: SeededGenerator.seeds)
    func `any scope is unchanged after printing and parsing`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<SeededGenerator.rounds {
            let tokens = (0..<Int.random(in: 1...20, using: &random)).compactMap { _ in
                Scope.Token(random.text(1...30, of: Alphabet.scope))
            }
            let scope = Scope(tokens)
            let parsed = try Scope(parsing: scope.description)
            #expect(parsed == scope)
            #expect(parsed.tokens == scope.tokens)
            #expect(scope.description.split(separator: " ").count == scope.tokens.count)
        }
    }

    // RFC 6749 §3.3
    @Test func `order does not matter, case does, and a repeated token counts once`() throws {
        let scope = try Scope(parsing: "photos.read openid photos.read")
        #expect(scope.description == "photos.read openid")
        #expect(try scope == Scope(parsing: "openid photos.read"))
        #expect(try scope != Scope(parsing: "OPENID photos.read"))
        #expect(scope.contains(.openID))
        #expect(try !Scope(parsing: "OPENID").contains(.openID))
        #expect(try Scope(parsing: "openid").isSubset(of: scope))
        #expect(try !Scope(parsing: "openid email").isSubset(of: scope))
    }

    @Test(arguments: [
        "", " ", "   ", "a\tb", "a\nb", "a\"b", "a\\b", "a\0b", "é", "a\u{7F}",
        String(repeating: "a", count: 256),
    ])
    func `a text that is not a scope is refused`(text: String) {
        #expect(throws: Scope.Refusal.malformed) { try Scope(parsing: text) }
    }

    // A client that builds the parameter from a list with an empty element sends surplus spaces. No token contains one.
    @Test(arguments: [" a b", "a b ", "a  b", "  a   b  "])
    func `surplus spaces are ignored`(text: String) throws {
        #expect(try Scope(parsing: text).description == "a b")
        #expect(try Scope(lenient: text).description == "a b")
    }

    @Test func `length and count are limited`() throws {
        #expect(throws: Scope.Refusal.tooLong) { try Scope(parsing: String(repeating: "a", count: 4097)) }
        let names = (0...Scope.tokenLimit).map { "s\($0)" }
        #expect(throws: Scope.Refusal.tooManyTokens) { try Scope(parsing: names.joined(separator: " ")) }
        #expect(try Scope(parsing: names.dropLast().joined(separator: " ")).tokens.count == 100)
        #expect(throws: Scope.Refusal.tooLong) {
            try Scope(parsing: Array(repeating: "a", count: 10_000).joined(separator: " "))
        }
    }

    @Test func `an empty scope is valid in responses, not in requests`() throws {
        #expect(try Scope(lenient: "").isEmpty)
        #expect(try Scope(lenient: " ").isEmpty)
    }
}
