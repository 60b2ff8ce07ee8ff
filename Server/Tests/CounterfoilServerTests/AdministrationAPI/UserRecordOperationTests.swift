import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The operations of the administration API by which users move from one server to another.
struct UserRecordOperationTests {
    private typealias Record = [String: Any]

    /// Imports users, and returns the results.
    private static func add(
        _ users: [Record], to desk: AdministrationDesk, as token: AccessToken, isTrial: Bool = false
    ) async throws -> [Record] {
        let body: Record = ["users": users, "dry_run": isTrial]
        let json = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        let reply = try await desk.send(.post, "/user-records", as: token, json: json)
        #expect(reply.status == .ok)
        return try #require(try reply.members["results"] as? [Record])
    }

    private static func outcomes(_ results: [Record]) -> [String] { results.compactMap { $0["outcome"] as? String } }

    /// Returns the members that are refused, with the reasons.
    private static func errors(_ result: Record) -> [String: String] {
        let errors = result["errors"] as? [[String: String]] ?? []
        return Dictionary(errors.map { ($0["pointer"] ?? "", $0["detail"] ?? "") }) { first, _ in first }
    }

    private static var full: Record {
        [
            "sub": "auth0|5f7c8ec7c33c6c004bbafe82", "username": "Carol", "name": "Carol Berg",
            "email": "carol@example.com", "email_verified": true,
            "profile": [
                "given_name": "Carol", "phone_number": "+4722225555", "phone_number_verified": true,
                "address": ["locality": "Oslo"],
            ] as Record,
            "groups": ["staff"], "attributes": ["floor": 3], "role": "support", "disabled": false,
            "identities": [["issuer": "https://shop.example.com", "subject": "customer 7"]],
            "external_id": "E7", "created_at": "2019-05-01T09:00:00Z",
            "password_hash": "$pbkdf2-sha256$1000$zHnPOQcAYCyl9J6TUiplLA$WN8FR3FiY/I7Y9Rh0WFFWhmoeNRYjEcfeq1HSyI5TYU",
            "must_change_password": false,
        ]
    }

    @Test func `a user is imported with every value, once, and has an event and a page`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let (store, users) = (desk.test.store, [Self.full, ["username": "dora"]])
        let count = try await store.auditLog(after: nil, limit: 1000).count
        #expect(Self.outcomes(try await Self.add(users, to: desk, as: token, isTrial: true)) == ["created", "created"])
        let dora = try #require(Username("dora"))
        #expect(try await store.user(named: dora) == nil)
        #expect(try await store.auditLog(after: nil, limit: 1000).count == count)

        let created = try await Self.add(users, to: desk, as: token)
        #expect(Self.outcomes(created) == ["created", "created"])
        #expect(created[0]["sub"] as? String == Self.full["sub"] as? String)
        #expect((created[1]["sub"] as? String)?.hasPrefix("per_") == true)
        let id = try #require(UserIdentifier("auth0|5f7c8ec7c33c6c004bbafe82"))
        let carol = try #require(try await store.user(id))
        #expect(carol.username.rawValue == "carol" && carol.displayName == "Carol Berg" && carol.role == .support)
        #expect(carol.email?.rawValue == "carol@example.com" && carol.profile.isEmailVerified == true)
        #expect(carol.profile.isPhoneNumberVerified == true && carol.profile.address?.locality == "Oslo")
        #expect(carol.externalID?.rawValue == "E7" && carol.createdAt == Date(timeIntervalSince1970: 1_556_701_200))
        let attributes = try await store.attributes(of: id)
        #expect(attributes.groups.map(\.rawValue) == ["staff"] && attributes.values.values.map(\.json) == ["3"])
        #expect(try await store.identities(of: id).map(\.subject.subject) == ["customer 7"])
        let events = try await store.audit(AuditQuery(userID: id)).map(\.event)
        #expect(events.map(\.detail) == [AuditEvent.administratorPrefix + "imported with the role support"])
        #expect(events.map(\.action) == [.userCreated])

        // The same request again changes nothing.
        let again = try await Self.add(users, to: desk, as: token)
        #expect(Self.outcomes(again) == ["exists", "exists"])
        #expect(try await store.user(id) == carol)
        #expect(try await store.audit(AuditQuery(userID: id)).count == 1)

        let record = try await desk.send(.get, "/users/auth0%7C5f7c8ec7c33c6c004bbafe82", as: token)
        #expect(try record.members["username"] as? String == "carol")
        var browser = desk.test.browser()
        try await browser.signInToConsole(username: "alice")
        let page = try await browser.open(Endpoint.user.path(of: id)).userAccountPage
        #expect(page.name == "Carol Berg" && page.id == id.rawValue)
    }

    @Test func `a record is refused for itself, with the members that are wrong`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let client = try await desk.test.addService("Nightly", scope: "photos.read").client.id.rawValue
        let own = UserIdentifier().rawValue
        let refused: [(Record, [String: String])] = [
            ([:], ["/username": "It is required."]),
            (["username": "c c"], ["/username": "1 to 64"]), (["username": "carol", "sub": ""], ["/sub": "1 to 64"]),
            (["username": "carol", "sub": "a b"], ["/sub": ""]), (["username": "carol", "sub": "a/b"], ["/sub": ""]),
            (["username": "carol", "sub": ".."], ["/sub": ""]),
            (["username": "carol", "sub": client], ["/sub": "app_"]),
            (["username": "carol", "sub": "per_" + String(repeating: "A", count: 43)], ["/sub": "per_"]),
            (["username": "carol", "sub": String(repeating: "a", count: 65)], ["/sub": "64"]),
            (["username": "carol", "email_verified": true], ["/email_verified": "It needs an email address."]),
            (["username": "carol", "email": "carol"], ["/email": "It must be an email address."]),
            (["username": "carol", "profile": ["given_name": 1]], ["/profile/given_name": ""]),
            (["username": "carol", "groups": [1]], ["/groups": ""]),
            (["username": "carol", "attributes": ["sub": 1]], ["/attributes": ""]),
            (["username": "carol", "identities": [["issuer": "https://a.example"]]], ["/identities": ""]),
            (["username": "carol", "role": "king"], ["/role": ""]),
            (["username": "carol", "created_at": "May"], ["/created_at": ""]),
            (["username": "carol", "password": "secret"], ["/password": "The operation has no such member."]),
            (["username": "alice"], ["/username": "Another user has it."]),
            (["username": "carol", "email": "alice@example.com"], ["/email": "Another user has it."]),
            (["username": "carol", "sub": desk.root.id.rawValue], ["/sub": "Another user or an app has it."]),
        ]
        for (record, expected) in refused {
            let users = [record, ["username": "dora", "sub": own]]
            let results = try await Self.add(users, to: desk, as: token, isTrial: true)
            #expect(Self.outcomes(results) == ["refused", "created"], "\(record)")
            let errors = Self.errors(results[0])
            #expect(Set(errors.keys) == Set(expected.keys), "\(record): \(errors)")
            for (member, part) in expected where !part.isEmpty {
                #expect(errors[member]?.contains(part) == true, "\(record): \(errors)")
            }
        }
    }

    @Test func `values that two users of an import have are refused for the second one`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let identity = [["issuer": "https://a.example", "subject": "1"]]
        let results = try await Self.add(
            [
                ["sub": "1", "username": "carol", "email": "c@example.com", "identities": identity],
                ["sub": "1", "username": "dora"], ["sub": "2", "username": "CAROL"],
                ["sub": "3", "username": "erin", "email": "C@example.com"],
                ["sub": "4", "username": "fay", "identities": identity], ["sub": "5", "username": "gus"],
            ], to: desk, as: token)
        #expect(
            Self.outcomes(results) == ["created", "refused", "refused", "refused", "refused", "created"])
        #expect(
            results.flatMap { Self.errors($0).keys } == ["/sub", "/username", "/email", "/identities"])
        let later = try await Self.add(
            [["sub": "6", "username": "hal", "identities": identity], ["sub": "1", "username": "ida"]], to: desk,
            as: token)
        #expect(later.flatMap { Self.errors($0).keys } == ["/identities", "/sub"])
    }

    // RFC 9700 §4.15
    @Test func `a client does not get the identifier of an imported user, nor a user that of a client`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let added = try await Self.add([["sub": "viewer", "username": "carol"]], to: desk, as: token)
        #expect(Self.outcomes(added) == ["created"])
        func client(_ id: String) async throws -> Reply {
            try await desk.send(
                .post, "/clients", as: token,
                json: #"""
                    {"application_type": "web", "client_name": "Viewer", "client_id": "\#(id)",
                     "redirect_uris": ["https://viewer.example.com/back"], "scope": "openid"}
                    """#)
        }
        #expect(try await client("viewer").status == .conflict)
        #expect(try await client("viewer2").status == .created)
        let refused = try await Self.add([["sub": "viewer2", "username": "dora"]], to: desk, as: token)
        #expect(Self.errors(refused[0]) == ["/sub": "Another user or an app has it."])
    }

    @Test func `a role needs the right to give it, and an import the scope of changes`() async throws {
        let desk = try await AdministrationDesk()
        let users = try await desk.token("counterfoil.admin.users:write counterfoil.admin.users:read")
        let results = try await Self.add(
            [["username": "carol", "role": "administrator"], ["username": "dora"]], to: desk, as: users)
        #expect(Self.outcomes(results) == ["refused", "created"])
        #expect(Self.errors(results[0])["/role"]?.contains("roles:write") == true)
        let support = try await desk.token(of: "root")
        let owner = try await Self.add([["username": "carol", "role": "owner"]], to: desk, as: support)
        #expect(Self.errors(owner[0])["/role"]?.contains("owner") == true)
        let reader = try await desk.token("counterfoil.admin.users:read")
        let refused = try await desk.send(.post, "/user-records", as: reader, json: #"{"users": []}"#)
        #expect(refused.status == .forbidden)
        let many = String(repeating: "{},", count: 200) + "{}"
        let tooMany = try await desk.send(.post, "/user-records", as: users, json: #"{"users": [\#(many)]}"#)
        #expect(try tooMany.refusedParts == ["/users"])
    }

    @Test func `an export has every user without a hash, and an import takes it`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        _ = try await Self.add([Self.full, ["username": "dora", "disabled": true]], to: desk, as: token)
        var records: [Record] = []
        var cursor = ""
        repeat {
            let page = try await desk.send(.get, "/user-records?limit=1\(cursor)", as: token)
            records += try #require(try page.members["items"] as? [Record])
            cursor = (try page.members["next"] as? String).map { "&cursor=\($0)" } ?? ""
        } while !cursor.isEmpty
        #expect(records.compactMap { $0["username"] as? String } == ["alice", "carol", "dora", "root"])
        #expect(!"\(records)".contains("pbkdf2") && !"\(records)".contains("argon2"))
        let exports = try await desk.test.store.audit(AuditQuery(kind: .account))
        #expect(exports.count { $0.event.detail?.hasSuffix("exported all users") == true } == 1)

        let other = try await AdministrationDesk()
        let results = try await Self.add(
            records.filter { ["carol", "dora"].contains($0["username"] as? String) }, to: other,
            as: try await other.token())
        #expect(Self.outcomes(results) == ["created", "created"])
        for name in ["carol", "dora"] {
            let username = try #require(Username(name))
            let (former, user) = (
                try #require(try await desk.test.store.user(named: username)),
                try #require(try await other.test.store.user(named: username))
            )
            #expect(user.id == former.id && user.profile == former.profile && user.role == former.role)
            #expect(user.email == former.email && user.externalID == former.externalID)
            #expect((user.disabledAt == nil) == (former.disabledAt == nil) && user.passwordHash == nil)
            #expect(
                try await other.test.store.attributes(of: user.id)
                    == (try await desk.test.store.attributes(of: user.id)))
        }
    }
}
