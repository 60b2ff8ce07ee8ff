import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The operations of the administration API on clients, scopes, APIs and the server, and the rules of all operations.
struct RegistryOperationTests {
    /// Bodies for the operations that have required members.
    private static let bodies = [
        "createUser": #"{"username": "carol"}"#, "setUserRole": #"{"role": null}"#,
        "deleteUser": #"{"username": "carol"}"#, "setPassword": #"{"password": "a long enough passphrase"}"#,
        "setAttributes": #"{"groups": [], "attributes": {}}"#,
        "createClient": #"{"application_type": "native", "client_name": "Viewer"}"#,
        "suspendClient": #"{"reason": "It sends mail."}"#,
        "createScope": #"{"scope": "maps.read", "description": "See your maps"}"#,
        "createAPI": #"{"resource": "https://maps.example.com", "name": "Maps", "scope": "photos.read"}"#,
        "addRegistrationToken": #"{"name": "Build"}"#,
        "createWebhook": #"{"url": "https://hooks.example.com/", "label": "Photos"}"#,
        "replayWebhook": #"{"since": "2026-11-30"}"#, "resendWebhookEvent": #"{"event": "evt_1"}"#,
        "sendTestMail": #"{"email": "ada@example.com"}"#, "importUsers": #"{"users": []}"#,
    ]

    /// Sends a request for an operation, with a text in place of each variable segment of its path.
    private static func send(
        _ operation: AdministrationOperation, to desk: AdministrationDesk, as token: AccessToken, id: String,
        json: String? = nil
    ) async throws -> Reply {
        let path = operation.path.replacing(/\{\w+\}/, with: id)
        let body = operation.body == nil ? nil : json ?? bodies[operation.id] ?? "{}"
        return try await desk.send(
            operation.method, path, as: token, json: body,
            fields: operation.isConditional ? [.ifMatch: #""former""#] : [:])
    }

    @Test func `every operation needs its scope, an existing record, known members and the current version`()
        async throws
    {
        let desk = try await AdministrationDesk()
        let (all, others) = (try await desk.token(), try await desk.token("counterfoil.admin.events:read"))
        let users = try await desk.token("counterfoil.admin.users:read")
        for operation in AdministrationOperation.all {
            let name = Comment(rawValue: operation.id)
            let other = operation.right == .readEvents ? users : others
            let forbidden = try await Self.send(operation, to: desk, as: other, id: "unknown")
            #expect(forbidden.status == .forbidden, name)
            // Of a host without clients, nothing is left to delete.
            if operation.path.contains("{"), operation.id != "deleteUnregisteredHost" {
                #expect(try await Self.send(operation, to: desk, as: all, id: "unknown").status == .notFound, name)
            }
            guard operation.body != nil else { continue }
            let refused = try await Self.send(operation, to: desk, as: all, id: "unknown", json: #"{"colour": 1}"#)
            #expect(refused.status == .unprocessableContent, name)
            #expect(try refused.refusedParts.contains("/colour"), name)
        }
        let api = try #require(try await desk.test.store.resources().first)
        let records = [
            "changeUser": desk.root.id.rawValue, "setAttributes": desk.root.id.rawValue,
            "changeClient": desk.test.lightbox.id.rawValue,
            "approveClient": desk.test.lightbox.id.rawValue, "changeScope": "photos.read",
            "changeAPI": api.clientID.rawValue, "changeBranding": "", "changeUnregisteredPolicy": "",
        ]
        for operation in AdministrationOperation.all {
            guard let id = records[operation.id] else { continue }
            let stale = try await Self.send(operation, to: desk, as: all, id: id)
            #expect(stale.status == .preconditionFailed, Comment(rawValue: operation.id))
        }
    }

    @Test func `a client is created, changed, suspended, resumed, approved and deleted`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let json = #"""
            {"application_type": "web", "client_name": "Prints", "redirect_uris": ["https://prints.example.com/back"],
             "scope": "openid photos.read", "access_token_lifetime": 600, "developer": "root"}
            """#
        let key = try #require(HTTPField.Name("Idempotency-Key"))
        let created = try await desk.send(.post, "/clients", as: token, json: json, fields: [key: "one"])
        #expect(created.status == .created)
        let id = try #require(try created.members["client_id"] as? String)
        #expect(try created.members["approval"] as? String == "approved")
        #expect(try created.members["developer"] as? String == "root")
        #expect((try created.members["client_secret"] as? String)?.isEmpty == false)
        let repeated = try await desk.send(.post, "/clients", as: token, json: json, fields: [key: "one"])
        #expect(try repeated.members["client_id"] as? String == id)
        let path = "/clients/\(id)"
        #expect(created.fields[.location] == "https://id.example.com/api/v1" + path)

        #expect(try await desk.send(.get, "/clients?search=prin", as: token).items("client_id") == [id])
        let read = try await desk.send(.get, path, as: token)
        #expect(read.fields[.eTag] == created.fields[.eTag])
        #expect(try read.members["client_secret"] == nil)
        let tag = try #require(read.fields[.eTag])
        let wrong = try await desk.send(
            .patch, path, as: token,
            json: #"{"redirect_uris": ["ftp://a"], "scope": "openid no such", "pkce": "never", "developer": null}"#,
            fields: [.ifMatch: tag])
        #expect(wrong.status == .unprocessableContent)
        #expect(Set(try wrong.refusedParts) == ["/redirect_uris", "/pkce"])
        let changed = try await desk.send(
            .patch, path, as: token,
            json:
                #"{"publisher": "Example", "access_token_lifetime": null, "pkce": "s256-or-nonce", "developer": null}"#,
            fields: [.ifMatch: tag])
        #expect(changed.status == .ok)
        #expect(try changed.members["pkce"] as? String == "s256-or-nonce")
        #expect(try changed.members["access_token_lifetime"] == nil)
        #expect(try changed.members["owner"] == nil)

        let secret = try await desk.send(.post, path + "/secrets", as: token)
        #expect(secret.status == .created)
        #expect(try await desk.send(.post, path + "/secrets", as: token).problem == "too-many-secrets")
        let secretID = try #require(try secret.members["id"] as? String)
        #expect(try await desk.send(.delete, path + "/secrets/\(secretID)", as: token).status == .noContent)

        let suspended = try await desk.send(.post, path + "/suspend", as: token, json: #"{"reason": "It sends mail."}"#)
        let again = try await desk.send(.post, path + "/suspend", as: token, json: #"{"reason": "It sends mail."}"#)
        #expect(again.status == .ok)
        let other = try await desk.send(.post, path + "/suspend", as: token, json: #"{"reason": "Spam"}"#)
        #expect(other.problem == "suspended-already")
        #expect((try suspended.members["suspension"] as? [String: Any])?["reason"] as? String == "It sends mail.")
        #expect(try await desk.send(.get, "/clients?state=suspended", as: token).items("client_id") == [id])
        #expect(try await desk.send(.post, path + "/resume", as: token).members["suspension"] == nil)
        try await desk.test.change(try #require(try await desk.client(id))) { $0.approval = .pending }
        let current = try #require(try await desk.send(.get, path, as: token).fields[.eTag])
        let approved = try await desk.send(.post, path + "/approve", as: token, fields: [.ifMatch: current])
        #expect(try approved.members["approval"] as? String == "approved")
        #expect(try await desk.send(.delete, path, as: token).status == .noContent)
        #expect(try await desk.send(.get, path, as: token).status == .notFound)

        let events = try await desk.send(.get, "/audit-events?kind=application&client=\(id)&person=alice", as: token)
        let details = try events.items("detail")
        #expect(details.first?.hasSuffix(": deleted") == true)
        #expect(details.allSatisfy { $0.hasPrefix("with the app \(desk.client.id): ") })
        #expect(details.contains { $0.hasSuffix(": suspended: It sends mail.") })
    }

    @Test func `an answer has the connection of a client, its reserved scopes and the warnings about redirect URIs`()
        async throws
    {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let legacy = #"["lightbox://oauth"]"#
        let json = #"{"application_type": "native", "client_name": "Old", "redirect_uris": \#(legacy)"#
        let refused = try await desk.send(.post, "/clients", as: token, json: json + "}")
        #expect(try refused.refusedParts == ["/redirect_uris"])
        let created = try await desk.send(
            .post, "/clients", as: token, json: json + #", "accepted_redirect_uris": \#(legacy)}"#)
        let warnings = try #require(try created.members["warnings"] as? [[String: String]])
        #expect(warnings.map { $0["redirect_uri"] } == ["lightbox://oauth"])
        #expect(warnings.map { $0["severity"] } == ["warning"])
        let connection = try #require(try created.members["connection"] as? [String: Any])
        #expect(connection["issuer"] as? String == "https://id.example.com")

        let path = "/clients/\(try #require(try created.members["client_id"] as? String))"
        let read = try await desk.send(.get, path, as: token)
        #expect(try read.members["connection"] as? NSDictionary == connection as NSDictionary)
        #expect(try read.members["warnings"] == nil)
        let scope = try await desk.send(.get, "/scopes/photos.read", as: token)
        let reserved = try await desk.send(
            .patch, "/scopes/photos.read", as: token, json: #"{"reserved": true}"#,
            fields: [.ifMatch: try #require(scope.fields[.eTag])])
        #expect(reserved.status == .ok)
        let changed = try await desk.send(
            .patch, path, as: token, json: #"{"scope": "openid photos.read"}"#,
            fields: [.ifMatch: try #require(read.fields[.eTag])])
        #expect(try changed.members["reserved_scope"] as? String == "photos.read")
        #expect((try changed.members["warnings"] as? [Any])?.count == 1)
        #expect(try changed.members["connection"] == nil)
    }

    @Test func `a logo is a file in base64, and null removes it`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let path = "/clients/\(desk.test.lightbox.id)"
        let pixel =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        var tag = try #require(try await desk.send(.get, path, as: token).fields[.eTag])
        for text in ["not base64", "aW1hZ2U="] {
            let refused = try await desk.send(
                .patch, path, as: token, json: #"{"logo_image": "\#(text)"}"#, fields: [.ifMatch: tag])
            #expect(try refused.refusedParts == ["/logo_image"])
        }
        let added = try await desk.send(
            .patch, path, as: token, json: #"{"logo_image": "\#(pixel)"}"#, fields: [.ifMatch: tag])
        #expect(try added.members["logo"] is String)
        tag = try #require(added.fields[.eTag])
        let removed = try await desk.send(
            .patch, path, as: token, json: #"{"logo_image": null}"#, fields: [.ifMatch: tag])
        #expect(try removed.members["logo"] == nil)
    }

    @Test func `scopes and APIs are created, changed and deleted with what uses them`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let scope = try await desk.send(
            .post, "/scopes", as: token,
            json: #"{"scope": "maps.read", "description": "See your maps", "texts": {"de": "Ihre Karten sehen"}}"#)
        #expect(scope.status == .created)
        #expect(try await desk.send(.post, "/scopes", as: token, json: Self.bodies["createScope"]).status == .conflict)
        let changed = try await desk.send(
            .patch, "/scopes/maps.read", as: token, json: #"{"claims": ["groups"], "texts": {"de": null}}"#,
            fields: [.ifMatch: try #require(scope.fields[.eTag])])
        #expect(try changed.members["claims_in"] as? [String] == ["userinfo"])
        #expect(try (changed.members["texts"] as? [String: String]) == [:])

        let api = try await desk.send(
            .post, "/apis", as: token,
            json: #"{"resource": "https://maps.example.com", "name": "Maps", "scope": "maps.read photos.read"}"#)
        let (id, secret) = (try api.members["client_id"] as? String, try api.members["client_secret"] as? String)
        let path = "/apis/\(try #require(id))"
        let same = try await desk.send(
            .post, "/apis", as: token,
            json: #"{"resource": "https://MAPS.example.com/", "name": "Maps", "scope": "maps.read"}"#)
        #expect(same.problem == "api-exists")
        #expect(try same.refusedParts == ["/resource"])
        let other = try await desk.send(.post, path + "/secret", as: token)
        #expect(try other.members["client_secret"] as? String != secret)
        let refused = try await desk.send(
            .patch, path, as: token, json: #"{"scope": "none.such", "jwt_type": "saml"}"#,
            fields: [.ifMatch: try #require(api.fields[.eTag])])
        #expect(try refused.refusedParts == ["/jwt_type"])
        #expect(try await desk.send(.delete, "/scopes/maps.read", as: token).problem == "scope-in-use")
        let deleted = try await desk.send(.delete, "/scopes/maps.read?remove_from_all=true", as: token)
        #expect(try deleted.members["resources"] as? [String] == ["https://maps.example.com"])
        #expect(try await desk.send(.get, path, as: token).members["scope"] as? String == "photos.read")
        #expect(try await desk.send(.delete, path, as: token).status == .noContent)
    }

    @Test func `keys, tokens for registration, branding and the policy are listed and changed`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let former = try await desk.send(.get, "/signing-keys", as: token).items("kid")
        let rotated = try await desk.send(
            .post, "/signing-keys/rotation", as: token, json: #"{"algorithm": "ES256"}"#)
        #expect(rotated.status == .created)
        let made = try rotated.items("kid")
        #expect(made.count == 1)
        #expect(Set(try await desk.send(.get, "/signing-keys", as: token).items("kid")) == Set(former + made))

        let added = try await desk.send(
            .post, "/registration-tokens", as: token, json: #"{"name": "Build", "days": 3}"#)
        #expect((try added.members["token"] as? String)?.isEmpty == false)
        let list = try await desk.send(.get, "/registration-tokens", as: token)
        let id = try #require(try list.items("id").first)
        #expect(try list.items("token") == [])
        #expect(try await desk.send(.delete, "/registration-tokens/\(id)", as: token).status == .noContent)

        let branding = try #require(try await desk.send(.get, "/branding", as: token).fields[.eTag])
        let statement = #"{"site_name": "Prints", "statements": {"de": {"text": "Hallo"}}}"#
        let branded = try await desk.send(
            .patch, "/branding", as: token, json: statement, fields: [.ifMatch: branding])
        #expect(try branded.members["site_name"] as? String == "Prints")
        #expect(try (branded.members["statements"] as? [String: [String: String]]) == ["de": ["text": "Hallo"]])

        let policy = try #require(try await desk.send(.get, "/unregistered/policy", as: token).fields[.eTag])
        let edited = try await desk.send(
            .patch, "/unregistered/policy", as: token,
            json: #"{"kinds": "documents", "refused_hosts": ["bad.example"], "maximum_scope": ["photos.read"]}"#,
            fields: [.ifMatch: policy])
        #expect(try edited.members["maximum_scope"] as? [String] == ["photos.read"])
        let refused = try await desk.send(.delete, "/unregistered/hosts/worse.example?refuse=true", as: token)
        #expect(try refused.members["refused"] as? Bool == true)
        let hosts = try await desk.send(.get, "/unregistered/policy", as: token).members["refused_hosts"]
        #expect(hosts as? [String] == ["bad.example", "worse.example"])
        #expect(try await desk.send(.get, "/unregistered/hosts", as: token).items("host") == [])
        let none = try await desk.send(.delete, "/unregistered/hosts/none.example", as: token)
        #expect(try none.members["deleted"] as? Int == 0)
        let unknown = try await desk.send(.get, "/unregistered/clients?after=none", as: token)
        #expect(unknown.problem == "invalid-parameters")
    }
}

extension AdministrationDesk {
    /// Returns a client of the store; nil if there is none.
    fileprivate func client(_ id: String) async throws -> RegisteredClient? {
        guard let id = ClientIdentifier(id) else { return nil }
        return try await test.store.client(id)
    }
}
