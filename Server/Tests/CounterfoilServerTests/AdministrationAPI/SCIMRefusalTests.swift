import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Requests of SCIM that are refused.
struct SCIMRefusalTests {
    @Test(arguments: [
        String(repeating: "(", count: 10_000) + #"userName eq "a""# + String(repeating: ")", count: 10_000),
        String(repeating: "(", count: 100) + #"userName eq "a""# + String(repeating: ")", count: 100),
        Array(repeating: #"id eq "a""#, count: 17).joined(separator: " and "),
        #"userName eq "\#(String(repeating: "a", count: 3000))""#, #"userName eq "a\u0000""#, "userName eq \"a\0\"",
        #"userName eq "a"#, #"userName sw "a""#, #"userName eq "a" or userName eq "b""#, #"not (userName eq "a")"#,
        "userName pr", #"title eq "a""#, "userName", "(", "active eq 1", #"emails[type eq "work""#, "emails[",
        #"emails.type eq "work""#, #"userName eq "a" and"#, "\u{1F600}", #"password eq "a""#, #"userName eq "a\"#,
    ])
    func `a filter that the server does not know gets invalidFilter`(_ filter: String) async throws {
        let scim = try await SCIMDesk()
        let body: [String: Any] = [
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"], "filter": filter,
        ]
        let json = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        for reply in [
            try await scim.find(filter), try await scim.send(.post, "/.search", json: json),
        ] {
            #expect(reply.status == .badRequest)
            #expect(reply.scimType == "invalidFilter")
        }
    }

    @Test(
        arguments: [
            (#""userName": "bob@example.com""#, "invalidValue"), (#""displayName": "Bob""#, "invalidValue"),
            (#""userName": "alice""#, "uniqueness"), (#""userName": 1"#, "invalidValue"),
            (#""userName": "bob", "USERNAME": "bob""#, "invalidSyntax"),
            (#""userName": "bob", "userName": "bob""#, "invalidSyntax"),
            (#""userName": "bob", "usrName": "bob""#, "invalidSyntax"),
            (#""userName": "bob", "active": "maybe""#, "invalidValue"),
            (#""userName": "bob", "displayName": "a\u0000b""#, "invalidValue"),
            (#""userName": "bob", "externalId": "a\u0000""#, "invalidValue"),
            (#""userName": "bob", "emails": "a@example.com""#, "invalidValue"),
            (#""userName": "bob", "emails": [{"value": "nobody"}]"#, "invalidValue"),
            (#""userName": "bob", "emails": [{"value": "alice@example.com"}]"#, "uniqueness"),
            (#""userName": "bob", "name": []"#, "invalidValue"), (#""userName": null"#, "invalidValue"),
            (#""userName": "bob", "name": {"givenName": "a", "GIVENNAME": "b"}"#, "invalidSyntax"),
            (#""userName": "bob", "name": {"planet": "Earth"}"#, "invalidSyntax"),
            (#""userName": "bob", "displayName": "\u200b""#, "invalidValue"),
            (#""userName": "bob", "name": {"givenName": {"a": 1}}"#, "invalidValue"),
        ] as [(String, String)])
    func `a body that is refused creates no user`(_ members: String, _ type: String) async throws {
        let scim = try await SCIMDesk()
        let reply = try await scim.send(
            .post, "/Users", json: #"{"schemas": ["\#(SCIMDesk.userSchema)"], \#(members)}"#)
        #expect(reply.status == (type == "uniqueness" ? .conflict : .badRequest))
        #expect(reply.scimType == type)
        #expect(try await scim.desk.test.store.users(matching: UserQuery()).users.count == 2)
    }

    @Test(arguments: [
        "{}", #"{"schemas": []}"#, #"{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "userName": "bob"}"#,
        #"{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User", "urn:example"], "userName": "bob"}"#,
        #"{"schemas": "urn:ietf:params:scim:schemas:core:2.0:User", "userName": "bob"}"#, "[]", "{",
    ])
    func `a body without the schema of users, or with an unknown one, is refused`(_ json: String) async throws {
        let scim = try await SCIMDesk()
        let reply = try await scim.send(.post, "/Users", json: json)
        #expect(reply.status == .badRequest)
        #expect(reply.scimType == "invalidSyntax")
        let other = try await scim.send(.post, "/Users", json: json, fields: [.contentType: "text/plain"])
        #expect(other.status == .unsupportedMediaType)
    }

    @Test(
        arguments: [
            (#"{"op": "replace", "path": "userName", "value": "other"}"#, "mutability"),
            (#"{"op": "replace", "path": "password", "value": "a long enough passphrase"}"#, "mutability"),
            (#"{"op": "replace", "path": "id", "value": "per_other"}"#, "mutability"),
            (#"{"op": "remove", "path": "displayName"}"#, "mutability"),
            (#"{"op": "remove", "path": "active"}"#, "mutability"), (#"{"op": "remove"}"#, "noTarget"),
            (#"{"op": "replace", "path": "planet", "value": "Earth"}"#, "invalidPath"),
            (#"{"op": "replace", "path": "emails[", "value": "a"}"#, "invalidPath"),
            (#"{"op": "replace", "path": "emails[type eq \"home\"].value", "value": "a@example.com"}"#, "noTarget"),
            (#"{"op": "replace", "path": "name.givenName", "value": true}"#, "invalidValue"),
            (#"{"op": "replace", "path": "active"}"#, "invalidValue"),
            (#"{"op": "replace", "value": "active"}"#, "invalidValue"), (#"{"op": "move"}"#, "invalidSyntax"),
            (#"{"op": "replace", "value": {"active": false, "Active": true}}"#, "invalidSyntax"),
            ("", "invalidSyntax"), ("1", "invalidSyntax"),
        ] as [(String, String)])
    func `a PATCH request with a refused operation changes nothing`(_ operation: String, _ type: String) async throws {
        let scim = try await SCIMDesk()
        let id = try await scim.create(#""userName": "bob", "displayName": "Bob""#)
        let first = operation.isEmpty ? "" : #"{"op": "replace", "path": "displayName", "value": "Robert"}, "#
        let reply = try await scim.patch(id, first + operation)
        #expect(reply.status == .badRequest)
        #expect(reply.scimType == type)
        #expect(try await scim.send(.get, "/Users/\(id)").members["displayName"] as? String == "Bob")
    }

    @Test func `a change is applied as a whole or not at all`() async throws {
        let scim = try await SCIMDesk()
        _ = try await scim.create(#""userName": "carol", "emails": [{"value": "carol@example.com"}]"#)
        let id = try await scim.create(#""userName": "bob""#)
        let taken = try await scim.patch(
            id, #"{"op": "replace", "value": {"active": false, "emails": [{"value": "carol@example.com"}]}}"#)
        #expect(taken.status == .conflict && taken.scimType == "uniqueness")
        #expect(try await scim.send(.get, "/Users/\(id)").members["active"] as? Bool == true)

        let owner = try await scim.desk.token()
        let last = try await scim.send(
            .patch, "/Users/\(scim.desk.test.alice.id)",
            json: #"""
                {"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
                 "Operations": [{"op": "replace", "value": {"active": false, "displayName": "Other"}}]}
                """#, as: owner)
        #expect(last.status == .conflict)
        let alice = try #require(try await scim.desk.test.store.user(scim.desk.test.alice.id))
        #expect(alice.disabledAt == nil && alice.displayName != "Other")
        let deleted = try await scim.send(.delete, "/Users/\(scim.desk.test.alice.id)", as: owner)
        #expect(deleted.status == .conflict)
    }

    @Test func `one commit changes and disables a user, ends the sessions and is in the audit log`() async throws {
        let scim = try await SCIMDesk()
        let bob = try await scim.desk.test.addUser("bob")
        var browser = scim.desk.test.browser()
        try await browser.signInToConsole(username: "bob")
        let reply = try await scim.patch(
            bob.id.rawValue, #"{"op": "replace", "value": {"active": false, "displayName": "Robert"}}"#)
        #expect(reply.status == .ok)
        let store = scim.desk.test.store
        #expect(try await store.sessions(of: bob.id).isEmpty)
        let events = try await store.audit(AuditQuery(kind: .account, userID: bob.id)).map(\.event)
        #expect(Set(events.compactMap(\.detail)) == ["by an administrator: disabled", "by an administrator: changed"])
        let own = try await store.audit(AuditQuery(kind: .account)).map(\.event).filter { $0.userID == nil }
        #expect(Set(own.compactMap(\.detail)) == ["another account: disabled", "another account: changed"])
        #expect(own.allSatisfy { $0.clientID == ClientIdentifier("app_directory") })
        let unchanged = try await scim.patch(bob.id.rawValue, #"{"op": "replace", "path": "active", "value": false}"#)
        #expect(unchanged.status == .ok)
        #expect(try await store.audit(AuditQuery(kind: .account, userID: bob.id)).count == events.count)
    }

    @Test func `a token needs the scope, and acts on no account with a stronger role`() async throws {
        let scim = try await SCIMDesk()
        let reading = try await SCIMDesk(scope: "counterfoil.admin.users:read")
        #expect(try await reading.send(.get, "/Users").status == .ok)
        let refused = try await reading.send(
            .post, "/Users", json: #"{"schemas": ["\#(SCIMDesk.userSchema)"], "userName": "bob"}"#)
        #expect(refused.status == .forbidden)
        #expect(refused.fields[.wwwAuthenticate]?.contains("insufficient_scope") == true)
        let root = scim.desk.root.id.rawValue
        for reply in [
            try await scim.patch(root, #"{"op": "replace", "path": "active", "value": false}"#),
            try await scim.send(.delete, "/Users/\(root)"),
            try await scim.send(
                .put, "/Users/\(root)", json: #"{"schemas": ["\#(SCIMDesk.userSchema)"], "userName": "root"}"#),
        ] {
            #expect(reply.status == .forbidden)
            #expect(try reply.members["status"] as? String == "403")
        }
        #expect(try await scim.desk.test.store.user(scim.desk.root.id) == scim.desk.root)
        let bare = try await scim.send(.get, "/Users", fields: [.authorization: "Bearer nothing"])
        #expect(bare.status == .unauthorized)
        #expect(bare.fields[.wwwAuthenticate] != nil)
    }

    @Test func `a withdrawn role, a disabled API and owned apps are judged at the request`() async throws {
        let scim = try await SCIMDesk()
        let sam = try await scim.desk.test.addUser("sam", role: .support)
        let dora = try await scim.desk.test.addUser("dora")
        let app = try await scim.desk.test.register(
            "Darkroom", redirectURIs: ["http://127.0.0.1/callback"], owner: dora.id)
        let owns = try await scim.send(.delete, "/Users/\(dora.id)")
        #expect(owns.status == .conflict)
        #expect((try owns.members["detail"] as? String)?.contains(app.id.rawValue) == true)

        // User support has no right that the token lacks.
        let named = try await scim.patch(
            sam.id.rawValue, #"{"op": "replace", "path": "name.givenName", "value": "Samuel"}"#)
        #expect(named.status == .ok)
        let support = try await scim.desk.token(of: "sam")
        #expect(try await scim.send(.get, "/Users", as: support).status == .ok)
        let outcome = try await scim.desk.test.store.setRole(
            nil, of: sam.id, from: .support, at: scim.desk.test.clock.now, recording: [])
        #expect(outcome == .changed)
        #expect(try await scim.send(.get, "/Users", as: support).status == .forbidden)

        var settings = scim.desk.test.server.settings
        settings.offersAdministrationAPI = false
        scim.desk.test.server.replaceSettings(by: settings)
        let reply = try await scim.send(.get, "/ServiceProviderConfig")
        #expect(reply.status == .notFound)
        #expect(try reply.members["status"] as? String == "404")
    }
}
