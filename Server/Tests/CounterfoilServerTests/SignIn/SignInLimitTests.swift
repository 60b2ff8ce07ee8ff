@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Dispatch
import Foundation
import HTTPTypes
import Testing

/// Limits for failed sign-ins.
struct SignInLimitTests {
    /// Tries to sign in with a new browser.
    private static func attempt(
        _ test: TestServer,
        _ name: String,
        _ password: String,
        source: String = "192.0.2.1",
        fields: HTTPFields = [:]
    ) async throws -> Reply {
        var browser = test.browser(source: source)
        browser.fields = fields
        return try await browser.signIn(
            on: try await browser.open(Attempt(test).url), username: name, password: password)
    }

    private static func failureTimes(_ test: TestServer, name: String) async throws -> [Int] {
        var waits: [Int] = []
        for _ in 0..<10 {
            var reply = try await attempt(test, name, "wrong")
            var waited = 0
            while reply.status == .tooManyRequests, waited < 600 {
                let seconds = try #require(try reply.signInPage.retryAfterSeconds)
                #expect(reply.fields[.retryAfter] == String(seconds))
                #expect(reply.cookies.isEmpty)
                test.clock.advance(by: TimeInterval(seconds))
                waited += seconds
                reply = try await attempt(test, name, "wrong")
            }
            #expect(reply.status == .badRequest)
            waits.append(waited)
        }
        return waits
    }

    // From the fifth failure on each attempt is delayed, twice as long each time; an unknown name is counted alike.
    @Test(arguments: ["alice", "ALICE", "nobody", "nobody@example.com", "not a name"])
    func `ten failures are delayed more and more, for any name`(name: String) async throws {
        let test = try await TestServer()
        #expect(try await Self.failureTimes(test, name: name) == [0, 0, 0, 0, 0, 1, 2, 4, 8, 16])
        let reply = try await Self.attempt(test, name, "wrong")
        #expect(reply.status == .tooManyRequests)
        #expect(try #require(reply.signInPage.retryAfterSeconds) > 800)
    }

    // White space around a name gives no further guesses.
    @Test func `failures count by the name without white space around it`() async throws {
        let test = try await TestServer()
        for number in 0..<5 {
            let name = String(repeating: " ", count: number) + "nobody\u{A0}"
            #expect(try await Self.attempt(test, name, "wrong").status == .badRequest)
        }
        let waiting = try await Self.attempt(test, "nobody", "wrong")
        #expect(waiting.status == .tooManyRequests)
    }

    // A user's identifiers share ten guesses, in any mixture; from the eleventh on even the right password
    // is refused, with the same response as a wrong one.
    @Test func `a second identifier of a user allows no more guesses`() async throws {
        let test = try await TestServer()
        for number in 0..<10 {
            let name = number.isMultiple(of: 2) ? "alice" : "Alice@Example.com"
            #expect(try await Self.attempt(test, name, "wrong").status == .badRequest)
        }
        // Each identifier had five, after which each attempt waits a second.
        test.clock.advance(by: 1)
        for name in ["ALICE", "alice@example.com"] {
            let refused = try await Self.attempt(test, name, TestServer.password)
            #expect(refused.status == .badRequest)
            #expect(refused.cookies.isEmpty)
            #expect(try refused.signInPage.problem == "Wrong user name, email or password.")
        }
        // Further guesses do not extend the time of refusal.
        test.clock.advance(by: 899)
        #expect(
            try await Self.attempt(test, "alice@example.com", TestServer.password).consentPage.userDisplayName
                .description
                == "Alice")
    }

    // The counts of failures do not reveal that two identifiers belong to one user.
    @Test func `failures of one identifier do not show for another`() async throws {
        let test = try await TestServer()
        _ = try await Self.failureTimes(test, name: "alice")
        _ = try await Self.failureTimes(test, name: "nobody")
        let known = try await Self.failureTimes(test, name: "alice@example.com")
        let unknown = try await Self.failureTimes(test, name: "nobody@example.com")
        #expect(known == [0, 0, 0, 0, 0, 1, 2, 4, 8, 16])
        #expect(known == unknown)
    }

    // A sign-in clears the failures of the user, under all identifiers.
    @Test func `a sign-in with another identifier clears the failures of the user`() async throws {
        let test = try await TestServer()
        let email = "alice@example.com"
        for _ in 0..<5 { #expect(try await Self.attempt(test, "alice", "wrong").status == .badRequest) }
        for _ in 0..<3 {
            for _ in 0..<4 { #expect(try await Self.attempt(test, email, "wrong").status == .badRequest) }
            let signedIn = try await Self.attempt(test, email, TestServer.password)
            #expect(try signedIn.consentPage.userDisplayName.description == "Alice")
        }
    }

    /// The cookie of a session.
    private static let session = "__Host-counterfoil-session"

    /// Signs in as alice with a browser, which is then signed out.
    private static func signIn(
        _ test: TestServer, with browser: inout ScriptedUserAgent, as name: String = "alice",
        password: String = TestServer.password
    ) async throws -> Reply {
        let page = try await browser.open(Attempt(test).url)
        let reply = try await browser.signIn(on: page, username: name, password: password)
        browser.cookies[session] = nil
        return reply
    }

    // The attacker uses all guesses of both names again and again, at the address of the user.
    @Test func `guesses of others lock no user out of a browser in which the user signed in before`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        #expect(try await Self.signIn(test, with: &browser).status == .ok)
        for _ in 0..<40 {
            test.clock.advance(by: 60)
            for name in ["alice", "alice@example.com", "alice", "alice@example.com"] {
                _ = try await Self.attempt(test, name, "wrong")
            }
            for name in ["alice", "alice@example.com"] {
                let reply = try await Self.signIn(test, with: &browser, as: name)
                #expect(try reply.consentPage.userDisplayName.description == "Alice")
            }
        }
        #expect(try await Self.attempt(test, "alice", TestServer.password).status != .ok)
    }

    // An attacker who knew the former password could have collected any number of such browsers.
    @Test func `a sign-in with a former password gives no guesses of its own`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        #expect(try await Self.signIn(test, with: &browser).status == .ok)
        let username = try #require(Username("alice"))
        let alice = try #require(try await test.store.user(named: username))
        let password = "another horse battery staple"
        let renewed = try await PasswordHasher().hash(try Password.chosen(password, for: username))
        let former = try #require(alice.passwordHash)
        #expect(try await test.store.replacePasswordHash(of: alice.id, from: former, to: renewed))
        for _ in 0..<10 {
            _ = try await Self.attempt(test, "alice", "wrong", source: "203.0.113.9")
            test.clock.advance(by: 20)
        }
        #expect(try await Self.signIn(test, with: &browser, password: password).status == .tooManyRequests)
    }

    @Test func `a browser in which a user signed in before has ten guesses of its own`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        var browser = test.browser()
        #expect(try await Self.signIn(test, with: &browser).status == .ok)
        var judged = 0
        for _ in 0..<100 {
            let reply = try await Self.signIn(test, with: &browser, password: "wrong")
            judged += reply.status == .badRequest ? 1 : 0
            test.clock.advance(by: 5)
        }
        #expect(judged == 10)
        #expect(try await Self.signIn(test, with: &browser).status == .tooManyRequests)
        // They count neither elsewhere nor for another user.
        #expect(try await Self.attempt(test, "alice", TestServer.password).status == .ok)
        #expect(try await Self.signIn(test, with: &browser, as: "bob").status == .ok)
        // The cookie is that of bob now.
        for _ in 0..<10 {
            _ = try await Self.attempt(test, "alice", "wrong", source: "203.0.113.9")
            test.clock.advance(by: 20)
        }
        browser.source = "198.51.100.7"
        #expect(try await Self.signIn(test, with: &browser).status == .tooManyRequests)
    }

    // A success counts, too, for one user from one source.
    @Test func `a user can sign in sixty times in a minute from one source`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        for _ in 0..<60 { #expect(try await Self.attempt(test, "alice", TestServer.password).status == .ok) }
        for name in ["alice", "alice@example.com"] {
            let reply = try await Self.attempt(test, name, TestServer.password)
            #expect(reply.status == .tooManyRequests)
            #expect(reply.fields[.retryAfter] == "60")
        }
        #expect(try await Self.attempt(test, "bob", TestServer.password).status == .ok)
        #expect(try await Self.attempt(test, "alice", TestServer.password, source: "198.51.100.7").status == .ok)
        test.clock.advance(by: 60)
        #expect(try await Self.attempt(test, "alice", TestServer.password).status == .ok)
    }

    // A household has 256 networks of 64 bits.
    @Test func `failures of an IPv6 network of 48 bits are counted together`() async throws {
        let test = try await TestServer { $0.signInLimits.failuresPerSource = 2 }
        for number in 1...8 {
            let source = "2001:db8:2:\(number)00::/64"
            #expect(try await Self.attempt(test, "nobody\(number)", "wrong", source: source).status == .badRequest)
        }
        let stopped = try await Self.attempt(test, "nobody", "wrong", source: "2001:db8:2:900::/64")
        #expect(stopped.status == .tooManyRequests)
        let other = try await Self.attempt(test, "alice", TestServer.password, source: "2001:db8:3:900::/64")
        #expect(other.status == .ok)
    }

    // No user is locked out for longer than the window, and the right password then works.
    @Test func `after the window the right password works`() async throws {
        let test = try await TestServer()
        _ = try await Self.failureTimes(test, name: "alice")
        let refused = try await Self.attempt(test, "alice", TestServer.password)
        #expect(refused.status == .tooManyRequests)
        #expect(refused.cookies.isEmpty)
        test.clock.advance(by: TimeInterval(try #require(try refused.signInPage.retryAfterSeconds)))
        #expect(
            try await Self.attempt(test, "alice", TestServer.password).consentPage.userDisplayName.description
                == "Alice")
    }

    // Of 1000 attempts with wrong passwords, ten are checked, and none after them.
    @Test func `a thousand wrong passwords on one account are refused`() async throws {
        let verified = Verifications()
        let test = try await TestServer(hasher: PasswordHasher(verified: { _ in verified.note() }))
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        var judged = 0
        for _ in 0..<1000 {
            if try await browser.signIn(on: page, username: "alice", password: "wrong").status == .badRequest {
                judged += 1
            }
            test.clock.advance(by: 0.5)
        }
        #expect(judged <= 10)
        #expect(verified.count == judged)
    }

    // A sign-in clears the failures.
    @Test func `a successful sign-in is not counted and clears the failures`() async throws {
        let test = try await TestServer()
        for _ in 0..<30 {
            for _ in 0..<3 { #expect(try await Self.attempt(test, "alice", "wrong").status == .badRequest) }
            #expect(
                try await Self.attempt(test, "alice", TestServer.password).consentPage.clientName == "Lightbox")
            test.clock.advance(by: 60)
        }
    }

    // One password on many accounts is counted by source address, which is that of the connection
    // and not that of a header field.
    @Test func `a hundred failures of one source throttle it, whatever its header fields say`() async throws {
        let test = try await TestServer()
        for number in 0...100 { _ = try await test.addUser("person\(number)") }
        let name = try HTTPField.Name.named("X-Forwarded-For")
        let forwarded = try HTTPField.Name.named("Forwarded")
        for number in 0..<100 {
            let fields: HTTPFields = [name: "198.51.100.\(number)", forwarded: "for=198.51.100.\(number)"]
            #expect(try await Self.attempt(test, "person\(number)", "summer2027", fields: fields).status == .badRequest)
        }
        let stopped = try await Self.attempt(test, "person100", TestServer.password, fields: [name: "198.51.100.200"])
        #expect(stopped.status == .tooManyRequests)
        let elsewhere = try await Self.attempt(test, "person100", TestServer.password, source: "203.0.113.9")
        #expect(try elsewhere.consentPage.userDisplayName.description == "Person100")
        test.clock.advance(by: 900)
        #expect(try await Self.attempt(test, "person99", TestServer.password).consentPage.clientName == "Lightbox")
    }

    // Concurrent attempts do not get past the limit before the first of them has failed.
    @Test func `of fifty concurrent attempts five are checked`() async throws {
        let test = try await TestServer()
        let replies = try await Self.together((0..<50).map { _ in "alice" }, in: test)
        #expect(replies.filter { $0.status == .badRequest }.count == 5)
        #expect(replies.filter { $0.status == .tooManyRequests }.count == 45)
    }

    // Beyond the queue of the hasher the response is 429, and attempts that were not checked do not count.
    @Test func `sign-ins beyond the hasher's queue are told to retry`() async throws {
        // The hasher ends no comparison before most of the attempts are refused.
        let gate = DispatchSemaphore(value: 0)
        let hasher = PasswordHasher(
            cores: 1, capacity: 2,
            verified: { _ in
                gate.wait()
                gate.signal()
            })
        let test = try await TestServer(hasher: hasher) { $0.signInLimits.failuresPerSource = 39 }
        let names = (0..<39).map { "nobody\($0)" }
        var waiting = 36
        let replies = try await Self.together(names, in: test) { reply in
            waiting -= reply.status == .tooManyRequests ? 1 : 0
            if waiting == 0 { gate.signal() }
        }
        let judged = replies.filter { $0.status == .badRequest }
        let refused = replies.filter { $0.status == .tooManyRequests }
        #expect(judged.count + refused.count == 39)
        #expect(refused.count >= 36)
        for reply in refused {
            #expect(reply.fields[.retryAfter] == "2")
            #expect(try reply.problemPage.status == 429)
        }
        // If the refused attempts were counted, the source would be at its limit now.
        let other = try await Self.attempt(test, "alice", TestServer.password)
        #expect(try other.consentPage.userDisplayName.description == "Alice")
    }

    // All requests through an undeclared proxy on this machine come from loopback.
    @Test(arguments: ["127.0.0.1", "::1"])
    func `failures from loopback are not counted by source`(source: String) async throws {
        let test = try await TestServer { $0.signInLimits.failuresPerSource = 1 }
        for number in 0..<3 {
            let reply = try await Self.attempt(test, "nobody\(number)", "wrong", source: source)
            #expect(reply.status == .badRequest)
        }
    }

    // The limits are configurable.
    @Test func `an operator can configure the limits`() async throws {
        let test = try await TestServer {
            $0.signInLimits.failuresPerUser = 2
            $0.signInLimits.window = 60
        }
        for _ in 0..<2 { #expect(try await Self.attempt(test, "alice", "wrong").status == .badRequest) }
        #expect(try await Self.attempt(test, "alice", TestServer.password).fields[.retryAfter] == "60")
        test.clock.advance(by: 60)
        #expect(try await Self.attempt(test, "alice", TestServer.password).consentPage.clientName == "Lightbox")
    }

    /// The number of passwords that a hasher has verified.
    private final class Verifications: Sendable {
        private let recorded = Mutex(0)

        var count: Int { recorded.withLock { $0 } }

        func note() { recorded.withLock { $0 += 1 } }
    }

    /// Sends wrong passwords for names concurrently.
    private static func together(
        _ names: [String], in test: TestServer, received: (Reply) -> Void = { _ in }
    ) async throws -> [Reply] {
        var browser = test.browser()
        let page = try await browser.open(Attempt(test).url)
        let ready = browser
        return try await withThrowingTaskGroup(of: Reply.self) { group in
            for name in names {
                group.addTask {
                    var browser = ready
                    return try await browser.signIn(on: page, username: name, password: "wrong")
                }
            }
            return try await group.reduce(into: []) { replies, reply in
                received(reply)
                replies.append(reply)
            }
        }
    }
}
