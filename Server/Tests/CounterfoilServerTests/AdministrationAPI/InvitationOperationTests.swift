import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The operations of the administration API on invitations.
struct InvitationOperationTests {
    @Test func `an invitation names a registered app, and the log has the calling one`() async throws {
        let desk = try await AdministrationDesk { $0.signUp = .invited }
        let token = try await desk.token()
        let unregistered = try await desk.test.selfRegisteredClient()
        for id in [unregistered.id.rawValue, "app_nowhere"] {
            let reply = try await desk.send(.post, "/invitations", as: token, json: #"{"client_id": "\#(id)"}"#)
            #expect(reply.status == .conflict && reply.problem == "no-client")
        }
        let created = try await desk.send(
            .post, "/invitations", as: token, json: #"{"client_id": "\#(desk.test.lightbox.id)"}"#)
        let id = try #require(try created.members["id"] as? String)
        #expect(try await desk.send(.delete, "/invitations/\(id)", as: token).status == .noContent)
        let events = try await desk.test.store.audit(AuditQuery(kind: .account, userID: desk.test.alice.id))
        #expect(
            events.prefix(2).map(\.event.detail) == [
                "another account: withdrew the invitation \(id)", "another account: created the invitation \(id)",
            ])
        #expect(events.prefix(2).allSatisfy { $0.event.clientID == desk.client.id })
    }

    @Test func `an invitation with a role is withdrawn with the right to give this role only`() async throws {
        let desk = try await AdministrationDesk { $0.signUp = .invited }
        _ = try await desk.test.addUser("sam", role: .support)
        let token = try await desk.token()
        let created = try await desk.send(.post, "/invitations", as: token, json: #"{"role": "administrator"}"#)
        let path = "/invitations/\(try #require(try created.members["id"] as? String))"
        for (username, problem) in [("sam", "missing-right"), ("root", "role-not-assignable")] {
            let refused = try await desk.send(.delete, path, as: try await desk.token(of: username))
            #expect(refused.status == .forbidden && refused.problem == problem)
        }
        #expect(try await desk.test.store.invitations().count == 1)
        #expect(try await desk.send(.delete, path, as: token).status == .noContent)
    }

    @Test func `no more than 1,000 invitations can be used at once`() async throws {
        let desk = try await AdministrationDesk { $0.signUp = .invited }
        let (store, now) = (desk.test.store, desk.test.clock.now)
        func add(until end: Date) async throws -> AddInvitationOutcome {
            let invitation = Invitation(digest: ArtefactDigest(of: SignUpSecret()), createdAt: now, expiresAt: end)
            return try await store.addInvitation(invitation, sending: nil, recording: [])
        }
        // One that has expired does not count.
        #expect(try await add(until: now) == .added)
        for _ in 1...1000 { #expect(try await add(until: now + 86_400) == .added) }
        let token = try await desk.token()
        let refused = try await desk.send(.post, "/invitations", as: token, json: "{}")
        #expect(refused.status == .conflict && refused.problem == "too-many-invitations")
        let open = try #require(try await store.invitations().first { $0.expiresAt > now })
        #expect(try await store.removeInvitation(open.digest, recording: []))
        #expect(try await desk.send(.post, "/invitations", as: token, json: "{}").status == .created)
    }
}
