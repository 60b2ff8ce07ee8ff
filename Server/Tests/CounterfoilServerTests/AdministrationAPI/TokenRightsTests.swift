import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The rights of a token at the administration API: those of its scope that the role of its user has.
struct TokenRightsTests {
    private static let users = "counterfoil.admin.users:read counterfoil.admin.users:write"

    // The way into an account leads to its rights, and no one approved them for the client.
    @Test func `a token acts on no account with a right that it lacks, not even on that of its user`() async throws {
        let desk = try await AdministrationDesk()
        let sam = try await desk.test.addUser("sam", role: .support)
        let alice = try #require(try await desk.test.store.user(desk.test.alice.id))
        let requests: [(HTTPRequest.Method, String, String?)] = [
            (.put, "/password", #"{"password": "another long passphrase"}"#), (.delete, "/second-factor", nil),
            (.post, "/password-link", "{}"), (.post, "/disable", nil), (.delete, "/sessions", nil),
            (.post, "/deletion", #"{"username": "root"}"#), (.get, "/export", nil),
        ]
        let tokens = [
            try await desk.serviceToken(Self.users), try await desk.token(Self.users),
            try await desk.token(Self.users, of: "root"),
        ]
        for token in tokens {
            for target in [desk.root, alice] {
                for (method, path, json) in requests {
                    let reply = try await desk.send(method, "/users/\(target.id)" + path, as: token, json: json)
                    #expect(reply.status == .forbidden && reply.problem == "stronger-role", "\(path)")
                }
                #expect(try await desk.test.store.user(target.id) == target)
            }
            #expect(try await desk.send(.post, "/users/\(sam.id)/enable", as: token).status == .ok)
        }
        let change = try await desk.send(
            .put, "/users/\(sam.id)/role", as: tokens[0], json: #"{"role": null}"#)
        #expect(change.status == .forbidden)

        // With every right, a service acts on administrators, and the token of an owner on owners, too.
        for (token, status) in [
            (try await desk.serviceToken(AdministrationDesk.scope, of: "Everything"), HTTPResponse.Status.forbidden),
            (try await desk.token(), .ok),
        ] {
            #expect(try await desk.send(.post, "/users/\(desk.root.id)/enable", as: token).status == .ok)
            let owner = try await desk.send(.post, "/users/\(alice.id)/enable", as: token)
            #expect(owner.status == status)
        }
    }

    @Test func `the apps of a user are deleted or given away with the scope for apps only`() async throws {
        let desk = try await AdministrationDesk()
        let dora = try await desk.test.addUser("dora")
        let app = try await desk.test.register(
            "Darkroom", redirectURIs: ["http://127.0.0.1/callback"], owner: dora.id)
        let (token, path) = (try await desk.token(Self.users), "/users/\(dora.id)/deletion")
        for fate in [#""clients": ["\#(app.id)"]"#, #""new_owner": "\#(desk.root.id)""#] {
            let reply = try await desk.send(.post, path, as: token, json: #"{"username": "dora", \#(fate)}"#)
            #expect(reply.status == .forbidden && reply.problem == "missing-right")
        }
        #expect(try await desk.test.store.client(app.id)?.owner == dora.id)
        let allowed = try await desk.token(Self.users + " counterfoil.admin.clients:write")
        let deleted = try await desk.send(
            .post, path, as: allowed, json: #"{"username": "dora", "clients": ["\#(app.id)"]}"#)
        #expect(try deleted.members["deleted_clients"] as? [String] == [app.id.rawValue])
    }

    // An app with a scope of the administration leads to its rights, by a secret or a redirect URI.
    @Test func `an app that can get a right of the administration is changed with this right only`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token("counterfoil.admin.clients:read counterfoil.admin.clients:write")
        let created = try await desk.send(
            .post, "/clients", as: token,
            json: """
                {"application_type": "service", "client_name": "Onboarding", "scope": "counterfoil.admin.users:write"}
                """)
        #expect(created.status == .forbidden && created.problem == "stronger-client")
        let service = try await desk.test.addService(scope: Self.users)
        let path = "/clients/\(service.client.id)"
        let tag = try #require(try await desk.send(.get, path, as: token).fields[.eTag])
        let changes: [(HTTPRequest.Method, String, String?)] = [
            (.patch, "", #"{"client_name": "Other"}"#), (.post, "/secrets", nil), (.post, "/approve", nil),
            (.post, "/resume", nil),
        ]
        for (method, part, json) in changes {
            let reply = try await desk.send(method, path + part, as: token, json: json, fields: [.ifMatch: tag])
            #expect(reply.status == .forbidden && reply.problem == "stronger-client", "\(part)")
        }
        let suspended = try await desk.send(.post, path + "/suspend", as: token, json: #"{"reason": "Audit"}"#)
        #expect(suspended.status == .ok)
        let holder = try await desk.token(Self.users + " counterfoil.admin.clients:write")
        #expect(try await desk.send(.post, path + "/resume", as: holder).status == .ok)
    }

    @Test func `a token from before the user got rights has none of them`() async throws {
        let desk = try await AdministrationDesk()
        let bob = try await desk.test.addUser("bob")
        let token = try await desk.token(of: "bob")
        #expect(try await desk.send(.get, "/users", as: token).problem == "missing-right")
        let given = try await desk.send(
            .put, "/users/\(bob.id)/role", as: try await desk.token(), json: #"{"role": "support"}"#)
        #expect(given.status == .ok)
        #expect(try await desk.send(.get, "/users", as: token).status == .unauthorized)
        #expect(try await desk.send(.get, "/users", as: try await desk.token(of: "bob")).status == .ok)
    }

    @Test(arguments: ["resetPassword", "disableUser", "beginRemoval"])
    func `a user who gets a stronger role at the same time is not changed`(_ commit: String) async throws {
        let store = TestStore()
        let desk = try await AdministrationDesk(store: store)
        let bob = try await desk.test.addUser("bob")
        let (token, now) = (try await desk.token(of: "root"), desk.test.clock.now)
        store.before(StoreOperation(commit)) {
            _ = try? await store.setRole(.owner, of: bob.id, from: nil, at: now, recording: [])
        }
        let path = "/users/\(bob.id)"
        let reply =
            switch commit {
            case "resetPassword":
                try await desk.send(
                    .put, path + "/password", as: token, json: #"{"password": "another long passphrase"}"#)
            case "disableUser": try await desk.send(.post, path + "/disable", as: token)
            default: try await desk.send(.post, path + "/deletion", as: token, json: #"{"username": "bob"}"#)
            }
        #expect(reply.status == (commit == "disableUser" ? .conflict : .forbidden))
        var expected = bob
        expected.role = .owner
        expected.changedAt = now
        #expect(try await store.user(bob.id) == expected)
        #expect(try await store.audit(AuditQuery(userID: bob.id)).allSatisfy { $0.event.kind != .account })
    }

    @Test func `an export needs the right to change users, and is recorded`() async throws {
        let desk = try await AdministrationDesk()
        let bob = try await desk.test.addUser("bob")
        let path = "/users/\(bob.id)/export"
        let reading = try await desk.send(.get, path, as: try await desk.token("counterfoil.admin.users:read"))
        #expect(reading.status == .forbidden)
        #expect(try await desk.test.store.audit(AuditQuery(kind: .account, userID: bob.id)).isEmpty)
        #expect(try await desk.send(.get, path, as: try await desk.token(Self.users)).status == .ok)
        let event = try #require(
            try await desk.test.store.audit(AuditQuery(kind: .account, userID: bob.id)).first?.event)
        #expect(event.detail == "by an administrator: exported")
        let own = try await desk.test.store.audit(AuditQuery(kind: .account, userID: desk.test.alice.id))
        #expect(own.first?.event.detail == "another account: exported")
        #expect(own.first?.event.clientID == desk.client.id)
    }

    @Test func `a user who has not accepted the terms does nothing at the API`() async throws {
        let desk = try await AdministrationDesk()
        let (token, service) = (try await desk.token(), try await desk.serviceToken(Self.users))
        var settings = desk.test.server.settings
        settings.termsURI = try AbsoluteURI(parsing: "https://www.example.com/terms")
        settings.termsVersion = "2"
        desk.test.server.replaceSettings(by: settings)
        let refused = try await desk.send(.get, "/users", as: token)
        #expect(refused.status == .forbidden && refused.problem == "terms-not-accepted")
        #expect(try await desk.send(.get, "/users", as: service).status == .ok)
        let terms = AcceptedTerms(version: "2", acceptedAt: desk.test.clock.now)
        #expect(try await desk.test.store.acceptTerms(terms, by: desk.test.alice.id, recording: []))
        #expect(try await desk.send(.get, "/users", as: token).status == .ok)
    }
}
