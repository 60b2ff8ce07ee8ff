import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The operations of the administration API on users.
struct UserOperationTests {
    @Test func `a user is created, changed, given a role, disabled, exported and deleted`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let created = try await desk.send(
            .post, "/users", as: token,
            json: #"{"username": "Bob", "email": "bob@example.com", "password": "a long enough passphrase"}"#)
        #expect(created.status == .created)
        let id = try #require(try created.members["id"] as? String)
        #expect(created.fields[.location] == "https://id.example.com/api/v1/users/\(id)")
        #expect(try created.members["has_password"] as? Bool == true)
        #expect(try !created.text.contains("argon2"))
        let path = "/users/\(id)"

        let changed = try await desk.send(
            .patch, path, as: token,
            json: #"{"email": null, "profile": {"nickname": "B", "address": {"country": "Norway"}}}"#,
            fields: [.ifMatch: try #require(created.fields[.eTag])])
        #expect(changed.status == .ok)
        #expect(try changed.members["email"] == nil)
        let profile = try #require(try changed.members["profile"] as? [String: Any])
        #expect(profile["nickname"] as? String == "B")
        #expect((profile["address"] as? [String: String]) == ["country": "Norway"])
        let refused = try await desk.send(
            .patch, path, as: token, json: #"{"profile": {"website": "http://a", "address": {"planet": "Earth"}}}"#,
            fields: [.ifMatch: try #require(changed.fields[.eTag])])
        #expect(try refused.refusedParts == ["/profile/address/planet", "/profile/website"])

        let cleared = try await desk.send(
            .patch, path, as: token, json: #"{"profile": {"nickname": null, "address": {"country": null}}}"#,
            fields: [.ifMatch: try #require(changed.fields[.eTag])])
        let rest = try #require(try cleared.members["profile"] as? [String: Any])
        #expect(cleared.status == .ok && rest["nickname"] == nil && rest["address"] == nil)

        let role = try await desk.send(.put, path + "/role", as: token, json: #"{"role": "administrator"}"#)
        #expect(try role.members["role"] as? String == "administrator")
        #expect(try await desk.send(.put, path + "/role", as: token, json: #"{"role": null}"#).status == .ok)
        #expect(try await desk.send(.post, path + "/disable", as: token).members["disabled"] as? Bool == true)
        #expect(try await desk.send(.post, path + "/enable", as: token).members["disabled"] as? Bool == false)
        let export = try await desk.send(.get, path + "/export", as: token)
        #expect((try export.members["account"] as? [String: Any])?["username"] as? String == "bob")

        let wrong = try await desk.send(.post, path + "/deletion", as: token, json: #"{"username": "carol"}"#)
        #expect(wrong.status == .unprocessableContent)
        let deleted = try await desk.send(.post, path + "/deletion", as: token, json: #"{"username": "bob"}"#)
        #expect((try deleted.members["pseudonym"] as? String)?.isEmpty == false)
        #expect(try await desk.send(.get, path, as: token).status == .notFound)
    }

    @Test func `a user is found by the whole username, and a list continues after one`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        for name in ["bob", "bobby"] { _ = try await desk.test.addUser(name) }
        func names(_ query: String) async throws -> [String] {
            try await desk.send(.get, "/users?" + query, as: token).items("username")
        }
        #expect(try await names("username=bob") == ["bob"])
        #expect(try await names("username=BOB&limit=1") == ["bob"])
        #expect(try await names("username=bo").isEmpty)
        #expect(try await names("search=bob&after=bob") == ["bobby"])
        for query in ["username=bob&state=enabled", "username=b%20b", "username=", "after=b%20b"] {
            let refused = try await desk.send(.get, "/users?" + query, as: token)
            #expect(refused.status == .badRequest && refused.problem == "invalid-parameters", "\(query)")
        }
    }

    @Test func `an export has pages, and audit events only with their scope`() async throws {
        let desk = try await AdministrationDesk()
        let user = try await desk.test.addUser("bob")
        for number in 1...450 {
            try await desk.test.store.appendAudit(
                AuditEvent(at: desk.test.clock.now, .account, userID: user.id, detail: "\(number)"))
        }
        let path = "/users/\(user.id)/export"
        let token = try await desk.token()
        var page = try await desk.send(.get, path, as: token)
        #expect(try page.members["account"] != nil && page.members["clients"] != nil)
        var events = try #require(try page.members["audit_events"] as? [[String: Any]])
        while let cursor = try page.members["next"] as? String {
            page = try await desk.send(.get, path + "?cursor=" + cursor, as: token)
            #expect(try page.members.keys.allSatisfy { ["audit_events", "next"].contains($0) })
            events += try #require(try page.members["audit_events"] as? [[String: Any]])
        }
        let details = events.compactMap { $0["detail"] as? String }
        #expect(Set(details).isSuperset(of: (1...450).map(String.init)) && details.count == Set(details).count)
        #expect(details.count { $0.hasSuffix("exported") } == 1)

        let scope = "counterfoil.admin.users:read counterfoil.admin.users:write"
        let narrow = try await desk.send(.get, path, as: try await desk.token(scope))
        #expect(try narrow.members["account"] != nil && narrow.members["audit_events"] == nil)
        #expect(try narrow.members["next"] == nil)
        let other = try await desk.send(.get, "/users/\(desk.root.id)/export?cursor=AAAA", as: token)
        #expect(other.status == .badRequest)
    }

    @Test func `a new password deletes the passkeys only if the request says so`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let path = "/users/\(desk.root.id)"
        let passkey = Passkey(
            credentialID: [UInt8](repeating: 1, count: 40), userID: desk.root.id, publicKey: [0xA5, 1], name: "Phone",
            model: [UInt8](repeating: 9, count: 16), transports: ["internal"], isBackupEligible: true,
            isBackedUp: true, signatureCounter: 0, createdAt: desk.test.clock.now)
        #expect(try await desk.test.store.addPasskey(passkey, recording: []) == .added)
        for (removal, left) in [("", 1), (#", "remove_passkeys": true"#, 0)] {
            let set = try await desk.send(
                .put, path + "/password", as: token, json: #"{"password": "another long passphrase"\#(removal)}"#)
            #expect(set.status == .noContent)
            #expect(try await desk.send(.get, path, as: token).members["passkeys"] as? Int == left)
        }
    }

    @Test func `groups and attributes are replaced as a whole, and an app's claims are shown`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let path = "/users/\(desk.root.id)"
        let tag = try #require(try await desk.send(.get, path + "/attributes", as: token).fields[.eTag])
        func set(_ json: String) async throws -> Reply {
            try await desk.send(.put, path + "/attributes", as: token, json: json, fields: [.ifMatch: tag])
        }
        let refused = try await set(#"{"groups": [" "], "attributes": {"sub": 1, "floor": {"a": 1}}}"#)
        #expect(try refused.refusedParts == ["/attributes"])
        #expect(try await set(#"{"groups": []}"#).refusedParts == ["/attributes"])
        let stored = try await set(#"{"groups": ["staff"], "attributes": {"floor": 3}}"#)
        #expect(try stored.members["groups"] as? [String] == ["staff"])
        #expect(try stored.members["attributes"] as? [String: Int] == ["floor": 3])
        #expect(try await set(#"{"groups": [], "attributes": {}}"#).status == .preconditionFailed)
        let claims = try await desk.send(.get, "\(path)/claims?client_id=\(desk.client.id)", as: token)
        #expect(try claims.members["allowed"] as? Bool == false)
        #expect(try await desk.send(.get, path + "/claims", as: token).refusedParts == ["client_id"])
    }

    @Test func `sessions, sign-ins of apps and ways in are listed and ended`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let path = "/users/\(desk.root.id)"
        var browser = desk.test.browser()
        try await browser.signInToConsole(username: "root")
        let session = try #require(try await desk.send(.get, path + "/sessions", as: token).items("id").first)
        let end = path + "/sessions/\(session)"
        #expect(try await desk.send(.delete, end, as: token).status == .noContent)
        #expect(try await desk.send(.delete, end, as: token).status == .notFound)
        #expect(try await desk.send(.delete, path + "/sessions", as: token).status == .noContent)
        let link = try await desk.send(.post, path + "/password-link", as: token, json: #"{"hours": 2}"#)
        #expect(link.status == .created)
        #expect((try link.members["url"] as? String)?.hasPrefix("https://id.example.com/recover?token=") == true)
        let password = try await desk.send(
            .put, path + "/password", as: token,
            json: #"{"password": "another long passphrase", "must_change_password": true}"#)
        #expect(password.status == .noContent)
        #expect(try await desk.send(.get, path, as: token).members["must_change_password"] as? Bool == true)
        for path in ["/passkeys/AAAA", "/second-factor", "/grants/AAAA"] {
            let reply = try await desk.send(.delete, "/users/\(desk.root.id)" + path, as: token)
            #expect(reply.status == .notFound)
        }

        let own = "/users/\(desk.test.alice.id)/grants"
        let grants = try await desk.send(.get, own, as: token)
        #expect(try grants.items("client_id") == [desk.client.id.rawValue])
        let grant = try #require(try grants.items("id").first)
        #expect(try await desk.send(.delete, "\(own)/\(grant)", as: token).status == .noContent)
        #expect(try await desk.send(.get, own, as: token).status == .unauthorized)
    }

    @Test func `a role needs the right to give roles, and one owner is left`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token("counterfoil.admin.users:read counterfoil.admin.users:write")
        let created = try await desk.send(
            .post, "/users", as: token, json: #"{"username": "bob", "role": "administrator"}"#)
        #expect(created.status == .forbidden)
        #expect(created.problem == "missing-right")
        let last = try await desk.send(
            .post, "/users/\(desk.test.alice.id)/disable", as: try await desk.token())
        #expect(last.status == .conflict)
        #expect(last.problem == "last-owner")
    }

    @Test func `a role acts on no account with a stronger one, and an auditor changes nothing`() async throws {
        let desk = try await AdministrationDesk()
        _ = try await desk.test.addUser("sam", role: .support)
        _ = try await desk.test.addUser("ann", role: .auditor)
        let (support, auditor) = (try await desk.token(of: "sam"), try await desk.token(of: "ann"))
        let path = "/users/\(desk.root.id)"
        let json = #"{"password": "another long passphrase"}"#
        let stronger = try await desk.send(.put, path + "/password", as: support, json: json)
        #expect(stronger.status == .forbidden)
        #expect(stronger.problem == "stronger-role")
        let right = try await desk.send(.put, path + "/password", as: auditor, json: json)
        #expect(right.problem == "missing-right")
        #expect(try await desk.send(.get, path, as: auditor).status == .ok)
        let assigned = try await desk.send(
            .put, "/users/\(desk.test.alice.id)/role", as: try await desk.token(of: "root"), json: #"{"role": null}"#)
        #expect(assigned.status == .forbidden)
    }

    @Test func `support does not act on an account with a service that has rights of the administration`()
        async throws
    {
        let desk = try await AdministrationDesk()
        _ = try await desk.test.addUser("sam", role: .support)
        let (dora, bob) = (try await desk.test.addUser("dora"), try await desk.test.addUser("bob"))
        let support = try await desk.token(of: "sam")
        let service = try await desk.test.addService(scope: AdministrationDesk.scope)
        try await desk.test.change(service.client) { $0.owner = dora.id }
        let added = try await desk.test.store.changeDevelopers(
            of: service.client.id, .add(bob.id), by: .administration, at: desk.test.clock.now, recording: [])
        #expect(added == .changed)
        let json = #"{"password": "another long passphrase"}"#
        func set(_ user: User, as token: AccessToken) async throws -> Reply {
            try await desk.send(.put, "/users/\(user.id)/password", as: token, json: json)
        }
        func approve(_ scope: String) async throws {
            let approved = try Scope(parsing: scope)
            try await desk.test.change(service.client) { $0.policy.machineScope = approved }
        }
        // No right that support lacks.
        try await approve("counterfoil.admin.users:write")
        #expect(try await set(dora, as: support).status.kind == .successful)
        try await approve("counterfoil.admin.clients:write counterfoil.admin.users:write")
        for user in [dora, bob] {
            let refused = try await set(user, as: support)
            #expect(refused.status == .forbidden && refused.problem == "stronger-clients")
        }
        let link = try await desk.send(
            .post, "/users/\(dora.id)/password-link", as: support, json: #"{"hours": 1}"#)
        #expect(link.problem == "stronger-clients")
        #expect(try await set(dora, as: try await desk.token()).status.kind == .successful)
    }

    @Test(arguments: ["per_unknown", "%00", "..", "%ff", "per_a%2fb", "person_1"])
    func `a path that names no user gets 404`(_ user: String) async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        for path in ["", "/sessions", "/export", "/deletion"] {
            let reply = try await desk.send(.get, "/users/\(user)\(path)", as: token)
            #expect(reply.status == .notFound)
            #expect(reply.problem == "blank")
        }
    }
}
