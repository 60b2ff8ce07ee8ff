@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Dispatch
import Foundation
import HTTPTypes
import Testing

/// The queue in which the passwords of all users wait.
struct SignInQueueTests {
    /// Adds a user whose hash is not that of the other users.
    private static func addBob(to test: TestServer) async throws -> User {
        let password = try #require(Password(typed: TestServer.password))
        let bob = User(
            username: try #require(Username("bob")), email: nil, displayName: "Bob",
            passwordHash: try await PasswordHasher().hash(password), createdAt: test.clock.now)
        #expect(try await test.store.addUser(bob) == .added)
        return bob
    }

    // The server has one core, which is busy with the first of them. Alone, another user waits for one verification:
    // that of the own password.
    @Test func `a hundred connections that sign in as one user delay another user by one turn`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let order = Mutex<[PasswordHash]>([])
        let hasher = PasswordHasher(
            cores: 1,
            verified: { hash in
                order.withLock { $0.append(hash) }
                gate.wait()
                gate.signal()
            })
        // Only the queue limits the sign-ins.
        let test = try await TestServer(hasher: hasher) {
            $0.signInLimits.failuresPerUser = 1000
            $0.signInLimits.delayFromFailure = 1000
        }
        let bob = try await Self.addBob(to: test)
        var ready: [(browser: ScriptedUserAgent, page: Reply)] = []
        for number in 0..<100 {
            var browser = test.browser(source: "198.51.100.\(number)")
            let page = try await browser.open(Attempt(test).url)
            ready.append((browser, page))
        }
        var other = test.browser(source: "203.0.113.9")
        let page = try await other.open(Attempt(test).url)
        let (alice, connections) = (other, ready)
        try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
            for (browser, page) in connections {
                group.addTask {
                    var browser = browser
                    return try await browser.signIn(on: page, username: "bob", password: TestServer.password).status
                }
            }
            for _ in 0..<92 {
                let refused = try await group.next()
                #expect(refused == .tooManyRequests)
            }
            #expect(test.server.passwordHashes.waiting == 7)
            group.addTask {
                var browser = alice
                return try await browser.signIn(on: page, username: "alice", password: TestServer.password).status
            }
            for _ in 0..<2000 where test.server.passwordHashes.waiting < 8 {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(test.server.passwordHashes.waiting == 8)
            gate.signal()
            for _ in 0..<9 {
                let signedIn = try await group.next()
                #expect(signedIn == .ok)
            }
        }
        let verified = order.withLock { $0 }
        #expect(verified.count == 9)
        #expect(Array(verified.prefix(3)) == [bob.passwordHash, test.alice.passwordHash, bob.passwordHash])
    }
}
