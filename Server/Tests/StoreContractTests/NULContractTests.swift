import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

/// NUL, which PostgreSQL cannot store in a text.
@Suite("The contract: NUL characters")
struct NULContractTests {
    // A request must not be able to keep an event from the log.
    @Test(arguments: StoreKind.allCases)
    func `an audit event with NUL in its detail is recorded`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let event = AuditEvent(at: World.now, .clientAuthentication, detail: "unknown type a\0b")
            try await store.appendAudit(event)
            #expect(try await store.audit(AuditQuery()).map(\.event.detail) == ["unknown type a\u{FFFD}b"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a profile with NUL is refused, and one with a backslash is not`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            var user = world.user
            user.profile.nickname = #"\u0000 is no NUL \"#
            #expect(try await world.store.updateUser(user, at: World.now, recording: []) == .updated)
            for text in ["\0", "a\0b", #"\"# + "\0", "\0\u{301}"] {
                user.profile.nickname = text
                await #expect(throws: StoreFault.damaged("a text to be stored contains a NUL character")) {
                    _ = try await world.store.updateUser(user, at: World.now, recording: [])
                }
            }
        }
    }

    @Test func `an identifier with NUL is none`() {
        #expect(UserIdentifier("per_a\0") == nil)
        #expect(GrantIdentifier("gr_a\0") == nil)
        #expect(ClientIdentifier("app_a\0") == nil)
        #expect(SessionIdentifier("ses_a\0") == nil)
    }
}
