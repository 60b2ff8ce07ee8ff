import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

/// Access ends whatever identifiers and names the records have.
struct InvalidIdentifierTests {
    @Test func `a scope is removed from the grants and consents of clients with invalid identifiers`() async throws {
        try await NewerVersion.run { newer in
            let photos = try #require(NewerVersion.photos)
            for (table, column) in [("clients", "id"), ("grants", "client_id"), ("consents", "client_id")] {
                try await newer.write("UPDATE \(table) SET \(column) = 'äpp' WHERE \(column) = 'app-other'")
            }
            try await newer.write("UPDATE grants SET scope = 'photos' WHERE client_id = 'äpp'")
            _ = try await newer.store.removeScope(photos, takingFromUses: true, at: World.now)
            let live = "SELECT count(*) FROM grants WHERE client_id = 'äpp' AND revoked_at IS NULL"
            #expect(try await newer.text(live) == "0")
            #expect(try await newer.text("SELECT count(*) FROM consents WHERE client_id = 'äpp'") == "0")
            #expect(try await newer.ada.consent?.scope.contains(photos) == false)
        }
    }

    @Test func `a session with an invalid identifier ends, and the grants to a client with one are revoked`()
        async throws
    {
        try await NewerVersion.run { newer in
            let (store, ada) = (newer.store, newer.ada)
            try await newer.write("UPDATE clients SET id = 'äpp' WHERE id = 'app-other'")
            try await newer.write("UPDATE grants SET client_id = 'äpp' WHERE client_id = 'app-other'")
            try await newer.write("UPDATE grants SET session_id = 'ses_1' WHERE session_id = '\(ada.session.id)'")
            try await newer.write("UPDATE sessions SET id = 'ses_1' WHERE id = '\(ada.session.id)'")
            #expect(try await store.signOutEverywhere(ada.user.id, except: nil, at: World.now) == 1)
            #expect(try await newer.text("SELECT count(*) FROM grants WHERE revoked_at IS NULL") == "1")
        }
    }

    @Test func `a user with an invalid session, name and email address is disabled and deleted`() async throws {
        try await NewerVersion.run { newer in
            let (store, ada) = (newer.store, newer.ada)
            try await newer.write("UPDATE sessions SET id = 'ses_1' WHERE id = '\(ada.session.id)'")
            #expect(try await store.disableUser(ada.user.id, at: World.now, recording: []) == .changed)
            #expect(try await newer.text("SELECT count(*) FROM sessions WHERE id = 'ses_1'") == "0")

            let named = AuditEvent(at: World.now, .account, userID: ada.user.id, detail: "renamed to ada lovelace")
            try await store.appendAudit(named)
            try await newer.write("UPDATE people SET username = 'Ada Lovelace', email = '' WHERE username = 'ada'")
            let owned = try await store.clientIdentifiers(of: ada.user.id)
            #expect(try await ada.beginRemoval(ownedClients: .delete(owned)) == .begun(owned))
            try await ada.finishRemovals()
            #expect(try await newer.text("SELECT count(*) FROM removed_people") == "0")
            let terms = try World.terms(of: ada.user)
            let events = try await store.audit(AuditQuery(userID: terms.pseudonym)).map(\.event.detail)
            // The detail that names the user is gone.
            #expect(events.contains(nil) && !events.contains(named.detail), "\(events)")
        }
    }
}
