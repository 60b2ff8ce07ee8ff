import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The rules for every request to the administration API: JSON, versions, cursors and repeated requests.
struct AdministrationRequestTests {
    private static let key = HTTPField.Name("Idempotency-Key")

    // RFC 9457 §3
    @Test(
        arguments: [
            ("", 400, "malformed-json", []),
            ("[]", 400, "malformed-json", []),
            (#"{"username": "a"} {}"#, 400, "malformed-json", []),
            (#"{"username": "a", "username": "b"}"#, 400, "malformed-json", []),
            (#"{"username": "\#u{0}"}"#, 400, "malformed-json", []),
            (#"{"a": "# + String(repeating: "[", count: 10_000), 400, "malformed-json", []),
            ("{}", 422, "invalid-members", ["/username"]),
            (#"{"username": null}"#, 422, "invalid-members", ["/username"]),
            (#"{"username": 7, "email": []}"#, 422, "invalid-members", ["/username", "/email"]),
            (#"{"username": "a b"}"#, 422, "invalid-members", ["/username"]),
            (#"{"username": "a", "administrator": true}"#, 422, "invalid-members", ["/administrator"]),
            (#"{"username": "a", "x/~": 1}"#, 422, "invalid-members", ["/x~1~0"]),
            (#"{"username": "a", "name": "\u0000"}"#, 422, "invalid-members", ["/name"]),
            (#"{"username": "a", "email": "nobody"}"#, 422, "invalid-members", ["/email"]),
            (#"{"username": "a", "email_verified": true}"#, 422, "invalid-members", ["/email_verified"]),
            (#"{"username": "a", "password": "password"}"#, 422, "invalid-members", ["/password"]),
            (#"{"username": "a", "role": "king"}"#, 422, "invalid-members", ["/role"]),
            (#"{"username": "ROOT"}"#, 409, "username-taken", ["/username"]),
        ] as [(String, Int, String, [String])])
    func `a body that is refused creates nothing, and the problem names each part`(
        _ json: String, _ status: Int, _ problem: String, _ parts: [String]
    ) async throws {
        let desk = try await AdministrationDesk()
        let reply = try await desk.send(.post, "/users", as: try await desk.token(), json: json)
        #expect(reply.status.code == status)
        #expect(reply.problem == problem)
        #expect(try reply.refusedParts == parts)
        #expect(try reply.members["status"] as? Int == status)
        #expect(try await desk.test.store.users(matching: UserQuery()).users.count == 2)
    }

    @Test(arguments: ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"])
    func `a body of another type gets 415`(_ type: String) async throws {
        let desk = try await AdministrationDesk()
        let reply = try await desk.send(
            .post, "/users", as: try await desk.token(), json: #"{"username": "a"}"#, fields: [.contentType: type])
        #expect(reply.status == .unsupportedMediaType)
        #expect(try reply.refusedParts == ["Content-Type"])
    }

    @Test func `another method gets 405 with the methods of the path`() async throws {
        let desk = try await AdministrationDesk()
        let reply = try await desk.send(.put, "/users", as: try await desk.token())
        #expect(reply.status == .methodNotAllowed)
        #expect(reply.fields[.allow] == "GET, POST")
        #expect(reply.problem == "blank")
    }

    @Test(arguments: [
        ("before=a", ["before"]), ("limit=1&limit=2", ["limit"]), ("limit=0", ["limit"]), ("limit=201", ["limit"]),
        ("state=gone", ["state"]), ("search=%00", ["search"]), ("cursor=AAAA", ["cursor"]),
        ("never_signed_in=true&signed_in_since=2026-01-01", ["signed_in_before"]),
    ])
    func `a query that is not understood gets 400 and no list`(_ query: String, _ parts: [String]) async throws {
        let desk = try await AdministrationDesk()
        let reply = try await desk.send(.get, "/users?" + query, as: try await desk.token())
        #expect(reply.status == .badRequest)
        #expect(try reply.refusedParts == parts)
    }

    @Test func `a cursor continues the list with the same filter, and no other list`() async throws {
        let desk = try await AdministrationDesk()
        for name in ["bob", "carol", "dave"] { _ = try await desk.test.addUser(name) }
        let token = try await desk.token()
        var (names, cursor) = ([String](), String?.none)
        repeat {
            let query = "/users?limit=2" + (cursor.map { "&cursor=\($0)" } ?? "")
            let page = try await desk.send(.get, query, as: token)
            names += try page.items("username")
            cursor = try page.members["next"] as? String
            #expect(try page.items("username").count <= 2)
        } while cursor != nil
        #expect(names == ["alice", "bob", "carol", "dave", "root"])
        let first = try #require(
            try await desk.send(.get, "/users?limit=1", as: token).members["next"] as? String)
        for path in ["/users?state=enabled&cursor=", "/users/\(desk.root.id)/sessions?cursor=", "/invitations?cursor="]
        {
            let reply = try await desk.send(.get, path + first, as: token)
            #expect(reply.status == .badRequest)
            #expect(try reply.refusedParts == ["cursor"])
        }
    }

    // RFC 9110 §13.1.1, RFC 6585 §3
    @Test func `of two changes of one version, one succeeds`() async throws {
        let desk = try await AdministrationDesk()
        let (token, path) = (try await desk.token(), "/users/\(desk.root.id)")
        let tag = try #require(try await desk.send(.get, path, as: token).fields[.eTag])
        let bare = try await desk.send(.patch, path, as: token, json: #"{"name": "Root"}"#)
        #expect(bare.status == .preconditionRequired)
        async let first = desk.send(.patch, path, as: token, json: #"{"name": "One"}"#, fields: [.ifMatch: tag])
        async let second = desk.send(.patch, path, as: token, json: #"{"name": "Two"}"#, fields: [.ifMatch: tag])
        let replies = [try await first, try await second]
        #expect(replies.map(\.status.code).sorted() == [200, 412])
        let winner = try #require(replies.first { $0.status == .ok })
        let stored = try await desk.send(.get, path, as: token)
        #expect(stored.fields[.eTag] == winner.fields[.eTag])
        #expect(try stored.members["name"] as? String == (try winner.members["name"] as? String))
        #expect(replies.first { $0.status == .preconditionFailed }?.problem == "changed-meanwhile")
    }

    // RFC 7396
    @Test func `null neither keeps a value nor changes a flag`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let api = try #require(try await desk.test.store.resources().first)
        for (path, members) in [
            ("/scopes/photos.read", ["description", "texts", "listed", "reserved", "starts_ticked"]),
            ("/apis/\(api.clientID)", ["name", "scope", "jwt_type", "dpop_bound_access_tokens_required"]),
            ("/clients/\(desk.test.lightbox.id)", ["client_name", "pkce", "vouched_for", "require_state"]),
            ("/users/\(desk.root.id)", ["name", "email_verified", "profile"]), ("/branding", ["statements"]),
        ] {
            let read = try await desk.send(.get, path, as: token)
            let tag = try #require(read.fields[.eTag])
            let body = "{" + members.map { "\"\($0)\": null" }.joined(separator: ", ") + "}"
            let reply = try await desk.send(.patch, path, as: token, json: body, fields: [.ifMatch: tag])
            #expect(reply.status == .unprocessableContent, "\(path)")
            for member in members {
                let alone = try await desk.send(
                    .patch, path, as: token, json: "{\"\(member)\": null}", fields: [.ifMatch: tag])
                #expect(try alone.refusedParts == ["/" + member], "\(path) \(member)")
            }
            #expect(try await desk.send(.get, path, as: token).fields[.eTag] == tag)
        }
        let attributes = try await desk.send(
            .put, "/users/\(desk.root.id)/attributes", as: token, json: #"{"groups": null, "attributes": null}"#,
            fields: [.ifMatch: #""any""#])
        #expect(try attributes.refusedParts.sorted() == ["/attributes", "/groups"])
    }

    // RFC 9110 §13.1.1
    @Test func `a deletion or a role for another version changes nothing, although it needs no version`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let api = try #require(try await desk.test.store.resources().first)
        let paths = [
            "/clients/\(desk.test.lightbox.id)", "/scopes/photos.read?remove_from_all=true", "/apis/\(api.clientID)",
        ]
        let stale: HTTPFields = [.ifMatch: #""former""#]
        for path in paths {
            let refused = try await desk.send(.delete, path, as: token, fields: stale)
            #expect(refused.status == .preconditionFailed, "\(path)")
        }
        let role = "/users/\(desk.root.id)"
        let refused = try await desk.send(.put, role + "/role", as: token, json: #"{"role": null}"#, fields: stale)
        #expect(refused.status == .preconditionFailed)
        let read = try await desk.send(.get, role, as: token)
        #expect(try read.members["role"] as? String == "administrator")
        let current: HTTPFields = [.ifMatch: try #require(read.fields[.eTag])]
        let given = try await desk.send(.put, role + "/role", as: token, json: #"{"role": null}"#, fields: current)
        #expect(given.status == .ok)
        for (number, path) in paths.enumerated() {
            let found = try await desk.send(.get, String(path.prefix { $0 != "?" }), as: token)
            // The last deletion is of any version.
            let current: HTTPFields = [.ifMatch: number == 2 ? "*" : try #require(found.fields[.eTag])]
            let deleted = try await desk.send(.delete, path, as: token, fields: current)
            #expect(deleted.status.kind == .successful, "\(path)")
        }
    }

    @Test func `requests with one key create one record, and get one answer`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let name = try #require(Self.key)
        func invite(_ json: String, key: String = "one") async throws -> Reply {
            try await desk.send(.post, "/invitations", as: token, json: json, fields: [name: key])
        }
        desk.test.server.replaceSettings(
            by: {
                var settings = desk.test.server.settings
                settings.signUp = .invited
                return settings
            }())
        async let first = invite("{}")
        async let second = invite("{}")
        let replies = [try await first, try await second]
        #expect(replies.contains { $0.status == .created })
        // The second may have come before the first had its answer.
        #expect(replies.allSatisfy { $0.status == .created || $0.problem == "request-pending" })
        let repeated = try await invite("{}")
        #expect(repeated.status == .created)
        let created = try #require(replies.first { $0.status == .created })
        #expect(try repeated.text == created.text)
        #expect(try await desk.test.store.invitations().count == 1)
        let other = try await invite(#"{"days": 2}"#)
        #expect(other.status == .unprocessableContent)
        #expect(other.problem == "key-of-other-request")
        #expect(try await invite("{}", key: "a b").status == .badRequest)

        // The key of a request that was refused can be used again.
        #expect(try await invite(#"{"email": "alice@example.com"}"#, key: "two").status == .conflict)
        #expect(try await invite("{}", key: "two").status == .created)
        desk.test.clock.advance(by: 24 * 3600 + 1)
        _ = try await desk.test.server.maintenance.runRound()
        let later = try await desk.token()
        let fresh = try await desk.send(.post, "/invitations", as: later, json: "{}", fields: [name: "one"])
        #expect(try fresh.text != created.text)
    }

    @Test func `the log has the user and the client of a change, and its request`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        #expect(try await desk.send(.post, "/users/\(desk.root.id)/disable", as: token).status == .ok)
        let events = try await desk.test.store.audit(AuditQuery(kind: .account))
        let own = try #require(events.first { $0.event.userID == desk.test.alice.id })
        #expect(own.event.clientID == desk.client.id)
        #expect(own.event.source == "192.0.2.1")
        #expect(own.event.detail == "another account: disabled")
        let other = try #require(events.first { $0.event.userID == desk.root.id })
        #expect(other.event.source == nil)
        #expect(other.event.requestID == own.event.requestID)
    }
}
