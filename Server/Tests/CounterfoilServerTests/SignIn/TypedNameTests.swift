import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// Usernames and email addresses as keyboards and copied texts spell them.
struct TypedNameTests {
    private static func signIn(
        _ test: TestServer, as name: String, password: String = TestServer.password
    ) async throws -> Reply {
        var browser = test.browser()
        return try await browser.signIn(
            on: try await browser.open(Attempt(test).url), username: name, password: password)
    }

    // RFC 8265 §3.3.1 maps fullwidth characters.
    @Test(arguments: [
        "Alice", " alice", "alice\u{A0}", "alice. ", "alice.", "\u{200B}alice\u{200D}", "\u{FEFF}alice", "ａｌｉｃｅ",
        "Alice@Example.com ", "alice＠example.com", "alice@example。com", "alice@example.com. ",
        "\u{202A}alice@example.com\u{202C}", "\u{3000}alice@exam\u{AD}ple.com\n",
    ])
    func `a name is found however a keyboard spells it`(name: String) async throws {
        let test = try await TestServer()
        #expect(try await Self.signIn(test, as: name).consentPage.userDisplayName.description == "Alice")
    }

    @Test func `another spelling of a name gives no further guesses`() async throws {
        let test = try await TestServer()
        for name in [
            "nobody@example.com", " Nobody@Example.com", "nobody＠example.com", "nobody@example.com. ",
            "\u{202A}nobody@example.com\u{202C}",
        ] {
            #expect(try await Self.signIn(test, as: name, password: "wrong").status == .badRequest)
        }
        let sixth = try await Self.signIn(test, as: "nobody@example.com", password: "wrong")
        #expect(sixth.status == .tooManyRequests)
    }

    // Only what keyboards and copying add is removed.
    @Test(arguments: [
        "", " ", ".", "\u{200B}", "al ice", "ali\u{A0}ce", "ålice", "alice\u{301}", "\u{212A}ate", "alice@", "alice/1",
    ])
    func `other characters are refused in a user name`(name: String) {
        #expect(Username(name) == nil)
    }

    @Test(arguments: ["alice@example", "alice.@example.com", "a.l.i.c.e@example.com"])
    func `an address keeps its other periods`(address: String) {
        #expect(EmailAddress(address)?.rawValue == address)
    }
}
