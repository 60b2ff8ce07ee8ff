import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

@testable import CounterfoilSQLite

@Suite("SQLite: values that a newer version has written")
struct UnsupportedValueTests {
    // The client is neither shown nor used, and no other client is affected.
    @Test(arguments: [
        ("type", "agent"), ("pkce_policy", "s512"), ("refresh_tokens", "sometimes"), ("subject_type", "ephemeral"),
        ("web_views", "ask"), ("minimum_authentication", "three-factor"), ("id_token_algorithm", "ML-DSA-44"),
        ("source", "federation"),
        ("redirect_uris", "relative"), ("post_logout_redirect_uris", "relative"), ("origins", "everywhere"),
        ("apple_apps", "?"), ("android_apps", "?"),
    ])
    func `a client with an unknown value is left out of lists, and refused by itself`(
        column: String, word: String
    ) async throws {
        try await NewerVersion.run { newer in
            let (store, client, other) = (newer.store, newer.ada.client, newer.other)
            try await newer.write("UPDATE clients SET \(column) = ? WHERE id = 'app-lightbox'", [word])
            for _ in 1...2 {
                #expect(try await store.clients() == [other])
                #expect(try await store.clients(of: newer.ada.user.id) == [other])
                #expect(try await store.consents(of: newer.ada.user.id).map(\.client) == [other])
                #expect(try await store.client(other.id) == other)
                await newer.expectUnsupported("client", column) { _ = try await store.client(client.id) }
            }
            #expect(newer.reported.count == 1)

            // No update replaces the value, not even one that is based on an earlier read.
            var changed = client
            changed.presentation.name = "Changed"
            await newer.expectUnsupported("client", column) {
                _ = try await store.updateClient(changed, logo: .keep)
            }
            // The removal of a scope reaches the client, and changes nothing else.
            let photos = try #require(NewerVersion.photos)
            let removed = try await store.removeScope(photos, takingFromUses: true, at: World.now)
            guard case .removed(let uses) = removed else {
                Issue.record("\(removed)")
                return
            }
            #expect(Set(uses.clients) == [client.id, other.id])
            let scope = try await newer.text("SELECT scope FROM clients WHERE id = 'app-lightbox'")
            #expect(scope == client.scope.without(photos).description)
            #expect(try await newer.text("SELECT \(column) FROM clients WHERE id = 'app-lightbox'") == word)

            // What the client was allowed can be ended, and the client can be deleted.
            #expect(try await store.revokeGrant(newer.grant.id, because: .client, at: World.now) == .revoked)
            #expect(try await store.removeClient(client.id))
        }
    }

    /// A record that is read by its key.
    struct Record: Sendable, CustomTestStringConvertible {
        let record: String
        let column: String
        /// The statement of the newer version.
        let change: String
        /// The reads and updates that must be refused.
        let refused: @Sendable (NewerVersion) async throws -> [() async throws -> Void]

        var testDescription: String { "\(record).\(column)" }
    }

    private static let records = [
        Record(record: "grant", column: "resources", change: "UPDATE grants SET resources = 'relative'") { newer in
            let (store, grant) = (newer.store, newer.grant)
            return [
                { _ = try await store.grant(grant.id) }, { _ = try await store.grantFacts(grant.id) },
                { _ = try await store.code(newer.code.digest) },
                { _ = try await store.refreshFacts(newer.family.digest) },
            ]
        },
        Record(
            record: "code", column: "code_challenge_method", change: "UPDATE codes SET code_challenge_method = 'S512'"
        ) { newer in [{ _ = try await newer.store.code(newer.code.digest) }] },
        Record(record: "code", column: "key_thumbprint", change: "UPDATE codes SET key_thumbprint = 'x5t:1'") { newer in
            [{ _ = try await newer.store.code(newer.code.digest) }]
        },
        Record(
            record: "token family", column: "key_thumbprint",
            change: "UPDATE refresh_tokens SET key_thumbprint = 'x5t:1'"
        ) { newer in [{ _ = try await newer.store.refreshFacts(newer.family.digest) }] },
        Record(
            record: "user", column: "profile",
            change: #"UPDATE people SET profile = '{"email_verified":"by post"}' WHERE username = 'ada'"#
        ) { newer in
            let (store, ada) = (newer.store, newer.ada)
            return [
                { _ = try await store.user(ada.user.id) }, { _ = try await store.session(ada.session.digest) },
                { _ = try await store.updateUser(ada.user, at: World.now) },
            ]
        },
        Record(
            record: "API", column: "token_type",
            change: "UPDATE resources SET token_type = 'opaque' WHERE resource = 'https://a.example.com'"
        ) { newer in
            let (store, api) = (newer.store, newer.apis[0])
            return [
                { _ = try await store.resource(api.resource) },
                { _ = try await store.resource(authenticatingAs: api.clientID) },
                { _ = try await store.updateResource(api, from: api) },
            ]
        },
        Record(
            record: "device authorization", column: "code_challenge",
            change: "UPDATE device_authorizations SET code_challenge = 'S512:1'"
        ) { newer in
            let (store, device) = (newer.store, newer.device)
            return [
                { _ = try await store.deviceAuthorization(userCode: device.userCode, at: World.now) },
                { _ = try await store.pollDevice(device.digest, by: device.clientID, at: World.now) },
            ]
        },
        policy("approvers", "auditors"), policy("refresh_tokens", "sometimes"), policy("refused_hosts", "region:eu"),
        policy("allowed_hosts", "region:eu"), policy("resources", "relative"),
    ]

    private static func policy(_ column: String, _ word: String) -> Record {
        Record(
            record: "policy for unregistered clients", column: column,
            change: "UPDATE unregistered_client_policy SET \(column) = '\(word)'"
        ) { newer in
            let policy = try await newer.store.unregisteredClientPolicy()
            return [
                { _ = try await newer.store.unregisteredClientPolicy() },
                { _ = try await newer.store.updateUnregisteredClientPolicy(policy) },
            ]
        }
    }

    // A requirement that this version does not know is never ignored.
    @Test(arguments: records)
    func `a record with an unknown value is refused`(_ record: Record) async throws {
        try await NewerVersion.run { newer in
            let refused = try await record.refused(newer)
            try await newer.write(record.change)
            for operation in refused {
                await newer.expectUnsupported(record.record, record.column) { try await operation() }
            }
            #expect(newer.reported.map(\.column).contains(record.column))
            #expect(newer.reported.count == 1)
        }
    }

    // The end of access never depends on a value that this version does not know.
    @Test func `grants with an unknown value are revoked`() async throws {
        try await NewerVersion.run { newer in
            let (store, ada, bob) = (newer.store, newer.ada, newer.bob)
            try await newer.write("UPDATE grants SET resources = 'relative'")
            try await newer.write(
                "UPDATE consents SET remembered = 'photos', remembered_at = 'https://a.example.com photos'")
            #expect(try await store.revokeGrant(newer.grant.id, because: .client, at: World.now) == .revoked)
            // The client has another active grant, so the consent stays, and remembers nothing.
            let consent = try #require(try await ada.consent)
            #expect(consent.remembered.isEmpty && consent.rememberedAt.isEmpty)
            #expect(try await store.signOutEverywhere(ada.user.id, except: nil, at: World.now) == 1)
            #expect(try await newer.text("SELECT count(*) FROM grants WHERE revoked_at IS NULL") == "1")
            #expect(
                try await store.narrowConsent(
                    of: bob.user.id, to: bob.client.id, keeping: Scope([]), at: World.now) == .narrowed)
            #expect(try await bob.consent == nil)
            #expect(try await newer.text("SELECT count(*) FROM grants WHERE revoked_at IS NULL") == "0")
        }
    }

    // Neither the profile of a user nor the record of a client keeps an account.
    @Test func `a user with an unknown value is disabled and deleted with all clients`() async throws {
        try await NewerVersion.run { newer in
            let (store, ada) = (newer.store, newer.ada)
            try await newer.write(#"UPDATE people SET profile = '{"email_verified":"by post"}'"#)
            try await newer.write("UPDATE clients SET type = 'agent' WHERE id = 'app-lightbox'")
            // No client can be addressed by this identifier.
            try await newer.write("UPDATE clients SET id = 'äpp' WHERE id = 'app-other'")
            try await newer.write("UPDATE clients SET logo = NULL, source = 'federation' WHERE id = 'äpp'")
            #expect(try await store.userID(named: ada.user.username) == ada.user.id)
            let ownership = ClientOwnership(id: ada.client.id, owner: ada.user.id, isUnregistered: false)
            #expect(try await store.clientOwnership(ada.client.id) == ownership)
            let event = AuditEvent(at: World.now, .account, userID: ada.user.id, detail: "disabled")
            for (later, outcome) in [(1, ChangeStandingOutcome.changed), (2, .unchanged)] {
                #expect(
                    try await store.disableUser(
                        ada.user.id, at: World.now + TimeInterval(later), recording: [event]) == outcome)
            }
            #expect(try await store.sessions(of: ada.user.id).isEmpty)
            let disabled = try await newer.text("SELECT disabled_at FROM people WHERE username = 'ada'")
            #expect(disabled == "1800000001123000")
            #expect(try await newer.text("SELECT count(*) FROM audit WHERE detail = 'disabled'") == "1")
            #expect(try await store.consumeCode(newer.code.digest, beginning: nil, at: World.now) != .consumed)

            let owned = try await store.clientIdentifiers(of: ada.user.id)
            #expect(owned == [ada.client.id])
            #expect(try await ada.beginRemoval() == .ownsClients(owned))
            #expect(try await ada.beginRemoval(ownedClients: .delete(owned)) == .begun(owned))
            #expect(try await newer.text("SELECT count(*) FROM clients") == "0")
            #expect(try await newer.text("SELECT count(*) FROM people WHERE username = 'ada'") == "0")
        }
    }

    @Test(arguments: ["kinds", "approvers", "refresh_tokens", "refused_hosts", "allowed_hosts", "default_scope"])
    func `a host is refused whatever the policy contains`(column: String) async throws {
        try await NewerVersion.run { newer in
            let (store, host) = (newer.store, try #require(HostPattern("app.example.com")))
            try await newer.write("UPDATE unregistered_client_policy SET \(column) = 'region:eu'")
            let revision = try await newer.text("SELECT revision FROM unregistered_client_policy")
            let event = AuditEvent(at: World.now, .setting, detail: "refused")
            #expect(try await store.refuseHost(host, recording: [event]) == .refused)
            #expect(try await store.refuseHost(host, recording: [event]) == .alreadyRefused)
            let hosts = try await newer.text("SELECT refused_hosts FROM unregistered_client_policy")
            #expect(hosts == (column == "refused_hosts" ? "region:eu app.example.com" : "app.example.com"))
            let value = try await newer.text("SELECT \(column) FROM unregistered_client_policy")
            #expect(value?.hasPrefix("region:eu") == true)
            #expect(try await newer.text("SELECT revision FROM unregistered_client_policy") != revision)
            #expect(try await store.audit(AuditQuery()).map(\.event) == [event])
        }
    }

    // A scope is removed from APIs and clients that this version cannot name, too.
    @Test func `a scope is removed whatever the identifiers of its uses are`() async throws {
        try await NewerVersion.run { newer in
            let (store, photos) = (newer.store, try #require(NewerVersion.photos))
            try await newer.write("UPDATE clients SET scope = 'openid' WHERE id = 'app-other'")
            try await newer.write("UPDATE clients SET id = 'äpp' WHERE id = 'app-other'")
            try await newer.write("UPDATE clients SET scope = 'openid photos' WHERE id = 'äpp'")
            try await newer.write("UPDATE resources SET resource = 'relative' WHERE resource LIKE '%//a.%'")
            let named = ScopeUses(clients: [newer.ada.client.id], resources: [newer.apis[1].resource])
            let refused = try await store.removeScope(photos, takingFromUses: false, at: World.now)
            #expect(refused == .inUse(named))
            let removed = try await store.removeScope(photos, takingFromUses: true, at: World.now)
            #expect(removed == .removed(from: named))
            for table in ["clients", "resources", "grants"] {
                let left = "SELECT count(*) FROM \(table) WHERE scope LIKE '%photos%'"
                #expect(try await newer.text(left) == "0", "\(table)")
            }
        }
    }

    @Test(arguments: [
        "UPDATE clients SET type = 'agent'", "UPDATE consents SET scope = 'a\u{7F}b'",
        "UPDATE grants SET scope = 'a\u{7F}b'", "UPDATE consents SET appearance = zeroblob(32)",
    ])
    func `a consent is withdrawn whatever a newer version has written`(change: String) async throws {
        try await NewerVersion.run { newer in
            let (store, ada) = (newer.store, newer.ada)
            try await newer.write(change)
            let outcome = try await store.narrowConsent(
                of: ada.user.id, to: ada.client.id, keeping: Scope(), at: World.now)
            #expect(outcome == .narrowed)
            let live = "SELECT count(*) FROM grants WHERE revoked_at IS NULL AND client_id = 'app-lightbox'"
            #expect(try await newer.text(live) == "1")
            #expect(try await ada.consent == nil)
            #expect(try await store.consumeCode(newer.code.digest, beginning: nil, at: World.now) != .consumed)
            #expect(newer.reported.isEmpty)
            let again = try await store.narrowConsent(
                of: ada.user.id, to: ada.client.id, keeping: Scope(), at: World.now)
            #expect(again == .notFound)
        }
    }

    @Test func `an API with an unknown value is left out of the list, and can be deleted`() async throws {
        try await NewerVersion.run { newer in
            let (store, api) = (newer.store, newer.apis[0])
            try await newer.write(
                "UPDATE resources SET token_type = 'opaque' WHERE resource = 'https://a.example.com'")
            #expect(try await store.resources() == [newer.apis[1]])
            #expect(try await store.addResource(api) == .exists)
            #expect(try await store.replaceSecret(of: api.resource, with: ArtefactDigest(of: ClientSecret())))
            #expect(try await newer.text("SELECT token_type FROM resources ORDER BY resource") == "opaque")
            #expect(try await store.removeResource(api.resource))
        }
    }

    @Test func `a key of an unknown algorithm is left out of the list and stays`() async throws {
        try await NewerVersion.run { newer in
            let store = newer.store
            try await newer.write(
                "UPDATE signing_keys SET algorithm = 'ML-DSA-44', replaced_at = 1 WHERE id = 'first'")
            #expect(try await store.signingKeys().map(\.id.rawValue) == ["second"])
            #expect(try await store.removeSigningKeys(replacedBefore: .distantFuture) == 0)
            #expect(try await newer.text("SELECT algorithm FROM signing_keys WHERE id = 'first'") == "ML-DSA-44")
            #expect(
                newer.reported == [UnsupportedValue(record: "signing key", column: "algorithm", text: "ML-DSA-44")])
        }
    }

    @Test func `a page of a list continues after a record that is left out`() async throws {
        try await NewerVersion.run { newer in
            let store = newer.store
            for name in ["carl", "dora", "emil", "finn"] { _ = try await store.addUser(.named(name)) }
            try await newer.write(
                #"UPDATE people SET profile = '{"email_verified":"by post"}' WHERE username IN ('bob', 'carl', 'emil')"#
            )
            var names: [String] = []
            var last: Username?
            while let user = try await store.users(after: last, limit: 1).first {
                names.append(user.username.rawValue)
                last = user.username
            }
            #expect(names == ["ada", "dora", "finn"])
            #expect(try await store.users(after: nil, limit: 3).map(\.username.rawValue) == names)

            for number in 1...4 {
                let client = try Self.documentClient(number)
                try await newer.bob.approve(first: client)
            }
            try await newer.write(
                "UPDATE clients SET type = 'agent' WHERE id IN (?, ?)",
                ["https://app.example.net/1", "https://app.example.net/3"])
            let family = UnregisteredClientFamily.host("app.example.net")
            var clients: [String] = []
            var cursor: UnregisteredClientCursor?
            while let use = try await store.unregisteredClients(of: family, after: cursor, limit: 1).first {
                clients.append(use.client.id.rawValue)
                cursor = UnregisteredClientCursor(of: use.client)
            }
            #expect(clients == ["https://app.example.net/4", "https://app.example.net/2"])
            let hidden = try #require(ClientIdentifier("https://app.example.net/1"))
            #expect(try await store.removeUnregisteredClient(hidden))
        }
    }

    @Test func `an event of an unknown kind is shown by its name`() async throws {
        try await NewerVersion.run { newer in
            let store = newer.store
            try await store.appendAudit(AuditEvent(at: World.now, .setting))
            try await newer.write(
                "INSERT INTO audit (at, kind, outcome) SELECT max(at), 'face-scan', 'deferred' FROM audit")
            try await store.appendAudit(AuditEvent(at: World.now, .account))
            let kinds = ["setting", "face-scan", "account"]
            #expect(try await store.auditLog(after: nil, limit: 9).map(\.event.kind.rawValue) == kinds)
            let listed = try await store.audit(AuditQuery())
            #expect(listed.map(\.event.kind.rawValue) == kinds.reversed())
            #expect(listed.map(\.event.outcome.rawValue) == ["done", "deferred", "done"])
            let unknown = AuditEvent.Kind(rawValue: "face-scan")
            #expect(try await store.audit(AuditQuery(kind: unknown)).count == 1)
            #expect(AuditEvent.Kind(known: "face-scan") == nil)
        }
    }

    private static func documentClient(_ number: Int) throws -> RegisteredClient {
        RegisteredClient(
            id: try #require(ClientIdentifier("https://app.example.net/\(number)")), type: .native,
            presentation: ClientPresentation(name: "App"), redirectURIs: [try RedirectURI("http://127.0.0.1/callback")],
            scope: Scope([.openID]), source: .document(Array("{}".utf8)), policy: .standard(for: .native),
            createdAt: World.now + TimeInterval(number))
    }
}

extension World {
    /// Approves a request of a client with a document, which the approval stores.
    fileprivate func approve(first client: RegisteredClient) async throws {
        let grant = Grant(
            userID: user.id, clientID: client.id, scope: Scope([.openID]), sessionID: session.id,
            createdAt: World.now, lastUsedAt: World.now)
        let approval = Approval(
            grant: grant, code: try .example(for: grant), asked: grant.scope, appearance: ClientAppearance(of: client),
            clientRevision: client.revision, pkce: .s256, passwordHash: user.passwordHash, basis: .answer,
            newClient: client)
        #expect(try await store.recordConsent(approval) == .recorded)
    }
}
