import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The strength of new passwords, which libzxcvbn estimates if the system has it.
struct PasswordStrengthTests {
    /// The words of Carol Smith.
    private static func words() throws -> WordsOfUser {
        WordsOfUser(
            username: try #require(Username("carol.smith")), email: EmailAddress("carol.smith@example.org"),
            displayName: "Carol Smith", host: "id.example.com")
    }

    private static func choose(_ text: String, by strength: PasswordStrength?) throws -> Password {
        try Password(
            choosing: text, for: try #require(Username("carol.smith")), knowing: try words(), by: strength)
    }

    private static func library() throws -> PasswordStrength {
        try #require(PasswordStrength.system, "libzxcvbn is missing; run: script/bootstrap")
    }

    // They are not on the list of common passwords.
    @Test(arguments: [
        "carol.smith99", "Carol Smith 1", "c4rol$mith!", "smithcarol1980", "CarolSmith2027!", "id.example.com",
        "counterfoil-2027", "qwertz12345!", "ThisIsMyPassword", "24.12.1990",
    ])
    func `a password that is easy to guess for this user is refused`(text: String) throws {
        let strength = try Self.library()
        #expect(throws: Password.Refusal.guessable) { try Self.choose(text, by: strength) }
        #expect(try Self.choose(text, by: nil).exposed == text)
    }

    @Test(arguments: [
        "correct horse battery staple", "kPq7!zRt", "sommer regen katze", "слова которых никто не ставит рядом",
        "carol smith and four unrelated words", String(repeating: "long and odd ", count: 70),
    ])
    func `a password that takes many guesses is accepted`(text: String) throws {
        #expect(try Self.choose(text, by: Self.library()).exposed == text)
    }

    // The list refuses some passwords that the library would accept, and the other way round.
    @Test func `the list of common passwords counts with and without the library`() throws {
        let text = String(repeating: "xkcd", count: 10)
        #expect(throws: Password.Refusal.common) { try Self.choose(text, by: Self.library()) }
        #expect(throws: Password.Refusal.common) { try Self.choose(text, by: nil) }
    }

    // The time of the library grows faster than the length.
    @Test func `the library sees the first hundred bytes of a password`() throws {
        let strength = try Self.library()
        let bits = { (text: String) in strength.bits(of: text, knowing: []) }
        let beginning = String(repeating: "é ", count: 33) + "z"
        #expect(beginning.utf8.count == PasswordStrength.byteLimit)
        #expect(bits(beginning) == bits(beginning + String(repeating: "long and odd ", count: 50_000)))
        #expect(bits("") == 0)
        #expect(bits("carol\0and much more") == bits("carol"))
    }

    @Test func `the words of the user count, whatever their number and length`() throws {
        let strength = try Self.library()
        let bits = strength.bits(of: "zyxqvutk", knowing: [])
        #expect(strength.bits(of: "zyxqvutk", knowing: ["", "zyxqvutk"]) < bits / 2)
        let many = (0..<1000).map { "word\($0)" } + [String(repeating: "x", count: 100_000)]
        #expect(strength.bits(of: "zyxqvutk", knowing: many) == bits)
    }

    @Test func `a library without the function is not used`() {
        #expect(PasswordStrength(libraryNames: ["libnone.so.1", "libc.so.6"]) == nil)
    }

    @Test func `the first administrator cannot choose a password made of the address`() async throws {
        let test = try await TestServer()
        let link = try #require(try await test.server.openSetup())
        var browser = test.browser()
        let form = FormParameters([
            "token": String(link.split(separator: "=").last ?? ""), "username": "root",
            "email": "carol.smith@example.org", "password": "smithcarol1980",
        ])
        let reply = try await browser.submit(form, to: "/setup")
        #expect(reply.status == .badRequest)
        let page = try #require(reply.page as? SetupPage)
        #expect(page.wrongField == .password)
        #expect(page.problem == Password.Refusal.guessable.description)
        #expect(try await !test.store.hasOwner())
    }
}

extension Password {
    /// Chooses a password for a user of whom only the username is known.
    static func chosen(_ text: String, for username: Username) throws(Refusal) -> Password {
        try Password(choosing: text, for: username, email: nil, displayName: nil, host: nil)
    }
}
