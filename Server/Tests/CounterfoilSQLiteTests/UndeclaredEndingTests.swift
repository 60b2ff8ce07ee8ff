import CounterfoilSQLite
import Foundation
import Testing

@testable import CounterfoilSQL

/// An operation of the store that ends something that it does not declare.
struct UndeclaredEndingTests {
    #if DEBUG
        @Test func `an operation that ends what it does not declare stops a build for debugging`() async {
            await #expect(processExitsWith: .failure) {
                // A backtrace of the test program would take ten seconds.
                for number in [SIGILL, SIGTRAP, SIGABRT] { signal(number, SIG_DFL) }
                let store = try EphemeralStore()
                try await store.commit(ending: .usually(.client)) { try $0.send("DELETE FROM scopes") }
            }
        }
    #endif

    @Test func `an operation that ends what it declares returns its outcome`() async throws {
        let store = try EphemeralStore()
        let deleted = try await store.commit(ending: .usually(.scope)) { try $0.run("DELETE FROM scopes") }
        #expect(deleted > 0)
    }
}
