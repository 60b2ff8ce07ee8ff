@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Networks from which a user has signed in, where the guesses of others elsewhere do not count.
struct EarlierNetworkTests {
    private static let home = "192.0.2.1"
    private static let stranger = "203.0.113.9"

    /// Signs in with a new browser, and returns the status of the response; 200 is that of the consent page.
    private static func signIn(
        _ test: TestServer, from source: String, as name: String = "alice", password: String = TestServer.password
    ) async throws -> HTTPResponse.Status {
        var browser = test.browser(source: source)
        return try await signIn(test, with: &browser, as: name, password: password)
    }

    /// Signs in with a browser, which is then signed out.
    private static func signIn(
        _ test: TestServer, with browser: inout ScriptedUserAgent, as name: String = "alice",
        password: String = TestServer.password
    ) async throws -> HTTPResponse.Status {
        let page = try await browser.open(Attempt(test).url)
        let reply = try await browser.signIn(on: page, username: name, password: password)
        browser.cookies["__Host-counterfoil-session"] = nil
        return reply.status
    }

    /// Uses up the guesses of a name, in three minutes.
    private static func guess(_ test: TestServer, from source: String = stranger, as name: String = "alice")
        async throws
    {
        for _ in 0..<10 {
            _ = try await signIn(test, from: source, as: name, password: "wrong")
            test.clock.advance(by: 20)
        }
    }

    // The guesses come from one address, and from all 256 networks of a household, for both names of the account. A
    // passkey signs the user in anywhere.
    @Test func `an hour of guesses keeps a user out of no browser and no network of an earlier sign-in`() async throws {
        let test = try await TestServer()
        var browser = test.browser(source: "198.51.100.0")
        var passkey = TestPasskey()
        try await browser.signInToConsole(username: "alice")
        try await browser.add(&passkey)
        browser.cookies["__Host-counterfoil-session"] = nil
        #expect(try await Self.signIn(test, with: &browser) == .ok)
        var guessing: Set<String> = []
        // The second one is in the network of 48 bits from which most guesses come.
        let homes = [Self.home, "2001:db8:2:2a5::/64"]
        for home in homes { #expect(try await Self.signIn(test, from: home) == .ok) }
        for minute in 0..<60 {
            test.clock.advance(by: 60)
            for number in 0..<10 {
                let subnet = String(0x100 + (minute * 9 + number) % 256, radix: 16)
                let source = number == 0 ? Self.stranger : "2001:db8:2:\(subnet)::/64"
                guessing.insert(source)
                _ = try await Self.signIn(
                    test, from: source, as: number.isMultiple(of: 2) ? "alice" : "alice@example.com",
                    password: "wrong")
            }
            // The limits apply to everyone else.
            #expect(try await Self.signIn(test, from: "203.0.113.77") != .ok)
            // The browser is in another network each time.
            browser.source = "198.51.100.\(minute + 1)"
            #expect(try await Self.signIn(test, with: &browser) == .ok)
            for home in homes { #expect(try await Self.signIn(test, from: home) == .ok) }
            var other = test.browser(source: "203.0.113.\(100 + minute)")
            let page = try await other.open(Attempt(test).url)
            #expect(try await other.signIn(on: page, with: passkey).status == .ok)
        }
        #expect(guessing.count == 257)
    }

    @Test func `a network of an earlier sign-in has ten guesses of its own`() async throws {
        let judged = Mutex<[PasswordHash]>([])
        let test = try await TestServer(
            hasher: .keepingLowestCost { hash in judged.withLock { $0.append(hash) } })
        let other = "198.51.100.7"
        for home in [Self.home, other] { #expect(try await Self.signIn(test, from: home) == .ok) }
        judged.withLock { $0 = [] }
        for number in 0..<60 {
            let name = number.isMultiple(of: 2) ? "alice" : "alice@example.com"
            _ = try await Self.signIn(test, from: Self.home, as: name, password: "wrong")
            test.clock.advance(by: 10)
        }
        let hashes = judged.withLock { $0 }
        #expect(hashes.count { $0 == test.alice.passwordHash } == 10)
        #expect(try await Self.signIn(test, from: Self.home) != .ok)
        // They lock the user out nowhere else.
        for place in [other, Self.stranger] { #expect(try await Self.signIn(test, from: place) == .ok) }
        test.clock.advance(by: 900)
        #expect(try await Self.signIn(test, from: Self.home) == .ok)
    }

    // Otherwise an attacker in eight networks of the user would have eighty.
    @Test func `all networks of earlier sign-ins have twenty guesses together`() async throws {
        let judged = Mutex<[PasswordHash]>([])
        let test = try await TestServer(
            hasher: .keepingLowestCost { hash in judged.withLock { $0.append(hash) } })
        let homes = (0..<EarlierNetwork.limit).map { "198.51.100.\($0)" }
        for home in homes { #expect(try await Self.signIn(test, from: home) == .ok) }
        judged.withLock { $0 = [] }
        for round in 0..<40 {
            let name = round.isMultiple(of: 2) ? "alice" : "alice@example.com"
            for source in homes + [Self.stranger] {
                _ = try await Self.signIn(test, from: source, as: name, password: "wrong")
            }
            test.clock.advance(by: 20)
        }
        let hashes = judged.withLock { $0 }
        #expect(hashes.count { $0 == test.alice.passwordHash } == 30)
        test.clock.advance(by: 900)
        #expect(try await Self.signIn(test, from: homes[0]) == .ok)
    }

    // As in any other network.
    @Test func `failures of one identifier do not show for another in a network of an earlier sign-in`() async throws {
        let test = try await TestServer()
        #expect(try await Self.signIn(test, from: Self.home) == .ok)
        for _ in 0..<5 { #expect(try await Self.signIn(test, from: Self.home, password: "wrong") == .badRequest) }
        #expect(try await Self.signIn(test, from: Self.home) == .tooManyRequests)
        let other = try await Self.signIn(test, from: Self.home, as: "alice@example.com", password: "wrong")
        #expect(other == .badRequest)
    }

    // Otherwise a stranger in the network of a company could try one password for each of its users.
    @Test func `failures in a network of an earlier sign-in count for this network, and not for the wider ones`()
        async throws
    {
        let test = try await TestServer { $0.signInLimits.failuresPerSource = 2 }
        let home = "2001:db8:2:2a5::/64"
        #expect(try await Self.signIn(test, from: home) == .ok)
        for number in 1...8 {
            let source = "2001:db8:2:\(number)00::/64"
            #expect(try await Self.signIn(test, from: source, as: "nobody\(number)", password: "x") == .badRequest)
        }
        #expect(try await Self.signIn(test, from: "2001:db8:2:900::/64") == .tooManyRequests)
        #expect(try await Self.signIn(test, from: home) == .ok)
        for _ in 0..<2 { #expect(try await Self.signIn(test, from: home, password: "wrong") == .badRequest) }
        #expect(try await Self.signIn(test, from: home) == .tooManyRequests)
    }

    // An attacker who knew the former password could have signed in from any number of networks.
    @Test func `a sign-in with a former password makes no network known`() async throws {
        let test = try await TestServer()
        #expect(try await Self.signIn(test, from: Self.home) == .ok)
        let password = "another horse battery staple"
        let renewed = try await PasswordHasher().hash(try Password.chosen(password, for: test.alice.username))
        #expect(
            try await test.store.replacePasswordHash(
                of: test.alice.id, from: try #require(test.alice.passwordHash), to: renewed))
        try await Self.guess(test)
        #expect(try await Self.signIn(test, from: Self.home, password: password) == .tooManyRequests)
    }

    @Test func `the eight networks from which a user signed in last are known`() async throws {
        let test = try await TestServer()
        for number in 0..<9 {
            #expect(try await Self.signIn(test, from: "198.51.100.\(number)") == .ok)
            test.clock.advance(by: 60)
        }
        try await Self.guess(test)
        #expect(try await Self.signIn(test, from: "198.51.100.0") == .tooManyRequests)
        for number in 1..<9 { #expect(try await Self.signIn(test, from: "198.51.100.\(number)") == .ok) }
    }

    @Test func `a sign-in with a passkey makes its network known`() async throws {
        let test = try await TestServer()
        var passkey = TestPasskey()
        var browser = test.browser(source: "198.51.100.7")
        try await browser.signInToConsole(username: "alice")
        try await browser.add(&passkey)
        var other = test.browser(source: Self.home)
        let page = try await other.open(Attempt(test).url)
        let reply = try await other.signIn(on: page, with: passkey)
        #expect(reply.status == .ok)
        try await Self.guess(test)
        #expect(try await Self.signIn(test, from: Self.home) == .ok)
    }

    // The sign-in of one user makes the network known for no other.
    @Test func `a network is known for the user who signed in there`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        #expect(try await Self.signIn(test, from: Self.home, as: "bob") == .ok)
        try await Self.guess(test)
        #expect(try await Self.signIn(test, from: Self.home) == .tooManyRequests)
    }

    @Test func `a store that cannot tell the networks stops no sign-in`() async throws {
        let store = TestStore()
        let test = try await TestServer(store: store)
        store.fail(.earlierNetworkNoted, .noteEarlierNetwork)
        #expect(try await Self.signIn(test, from: Self.home) == .ok)
        store.recover()
        try await Self.guess(test)
        #expect(try await Self.signIn(test, from: Self.home) == .tooManyRequests)
    }
}
