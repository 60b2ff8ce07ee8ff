import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import Testing

extension EndingChange {
    /// A report of a restore that names one client.
    private static func report(changed client: RegisteredClient) -> RestoreReport {
        var report = RestoreReport()
        report.changedClients = [client.id.rawValue]
        return report
    }

    /// The steps of a change of a client.
    private static func updating(
        _ former: RegisteredClient, to new: RegisteredClient,
        isValid: (@Sendable (RegisteredClient) -> Bool)?,
        isLeft: @escaping @Sendable (RegisteredClient) -> Bool = { _ in true }
    ) -> Steps {
        var steps = Steps(
            prepare: { world async throws in
                #expect(try await world.store.addClient(former) == .added)
            },
            end: { world async throws in
                #expect(try await world.store.updateClient(new, logo: .keep, recording: []) == .updated)
            },
            isLeft: { world async throws in
                let client = try await world.store.client(former.id)
                return client.map(isLeft) == true
            },
            report: report(changed: former))
        guard let isValid else { return steps }
        steps.isValid = { world async throws in
            let client = try await world.store.client(former.id)
            return client.map(isValid) == true
        }
        return steps
    }

    static let clients = [
        EndingChange("a deleted client", [.client]) { world async throws in
            Steps(
                end: { _ = try await $0.store.removeClient($0.client.id, recording: []) },
                isValid: { try await $0.store.client($0.client.id) != nil })
        },
        EndingChange("a user who no longer manages a client", [.clientDeveloper]) { world async throws in
            let other = try User.named("bob")
            return Steps(
                prepare: { world async throws in
                    #expect(try await world.store.addUser(other, recording: []) == .added)
                    for user in [world.user, other] {
                        let added = try await world.store.changeDevelopers(
                            of: world.client.id, .add(user.id), by: .administration, at: World.now, recording: [])
                        #expect(added == .changed)
                    }
                },
                end: { world async throws in
                    let removed = try await world.store.changeDevelopers(
                        of: world.client.id, .remove(world.user.id), by: .administration, at: World.now, recording: [])
                    #expect(removed == .changed)
                },
                isValid: { try await $0.store.isDeveloper($0.user.id, of: $0.client.id) },
                isLeft: { try await $0.store.isDeveloper(other.id, of: $0.client.id) })
        },
        EndingChange("a changed client", [.clientChanged]) { world async throws in
            let client = try RegisteredClient.named("app-other")
            var new = client
            new.policy.requiresState = false
            return updating(client, to: new, isValid: nil, isLeft: { $0.policy.requiresState })
        },
        EndingChange("a suspended client", [.clientSuspended, .clientChanged]) { world async throws in
            var report = EndingChange.report(changed: world.client)
            report.suspendedClients = [world.client.id.rawValue]
            let grant = world.grant()
            return Steps(
                prepare: { _ = try await $0.approve(grant) },
                end: { world async throws in
                    let outcome = try await world.store.decide(
                        .suspend(reason: "It sends mail."), on: world.client.id, at: World.now, recording: [])
                    #expect(outcome == .decided)
                },
                isValid: { try await $0.store.grantFacts(grant.id)?.hold == true },
                isLeft: { world async throws in
                    let facts = try await world.store.grantFacts(grant.id)
                    return facts?.grant.revokedAt == nil && facts != nil
                },
                report: report)
        },
        EndingChange("other keys of a client", [.clientKeys, .clientChanged]) { world async throws in
            var client = try RegisteredClient.named("app-keys")
            client.keys = JSONWebKeySet(keys: [try SigningKey.generate(.es256).publicKey])
            var new = client
            new.keys = JSONWebKeySet(keys: [try SigningKey.generate(.es256).publicKey])
            return updating(
                client, to: new, isValid: { [keys = client.keys] in $0.keys == keys },
                // Without a key set, the client could do without authentication.
                isLeft: { $0.keys?.keys.isEmpty == true && $0.keysURI == nil })
        },
        EndingChange("another URL of the keys of a client", [.clientKeys, .clientChanged]) { world async throws in
            var client = try RegisteredClient.named("app-keys")
            client.keysURI = try AbsoluteURI(parsing: "https://rp.example.net/keys")
            var new = client
            new.keysURI = try AbsoluteURI(parsing: "https://rp.example.net/new-keys")
            return updating(
                client, to: new, isValid: { [uri = client.keysURI] in $0.keysURI == uri },
                isLeft: { $0.keys?.keys.isEmpty == true })
        },
        EndingChange("another registration access token", [.clientRegistrationToken, .clientChanged]) {
            world async throws in
            func registration() -> ClientSource {
                .registration(
                    DynamicRegistration(
                        metadata: Array("{}".utf8), accessToken: ArtefactDigest(of: RegistrationAccessToken())))
            }
            var client = try RegisteredClient.named("app-registered")
            client.source = registration()
            var new = client
            new.source = registration()
            return updating(
                client, to: new, isValid: { [source = client.source] in $0.source == source },
                isLeft: { $0.source.kind == .registration })
        },
        EndingChange("less scope without a user", [.clientMachineScope, .clientChanged]) { world async throws in
            var client = try RegisteredClient.named("app-service")
            client.policy.machineScope = Scope([.profile, .email])
            var new = client
            new.policy.machineScope = Scope([.email])
            return updating(
                client, to: new, isValid: { $0.policy.machineScope.tokens.contains(.profile) },
                isLeft: { $0.policy.machineScope == Scope([.email]) })
        },
        EndingChange("a deleted secret", [.clientSecret]) { world async throws in
            let (secret, other) = (
                ClientSecretRecord.example(of: world.client), ClientSecretRecord.example(of: world.client, after: 1)
            )
            return Steps(
                prepare: { world async throws in
                    for secret in [secret, other] {
                        #expect(try await world.store.addClientSecret(secret, recording: []) == .added)
                    }
                },
                end: { world async throws in
                    _ = try await world.store.removeClientSecret(secret.digest, of: world.client.id, recording: [])
                },
                isValid: { try await $0.store.clientSecrets(of: $0.client.id).contains(secret) },
                isLeft: { try await $0.store.clientSecrets(of: $0.client.id) == [other] })
        },
    ]

    private static func api(
        _ name: String, _ scope: Scope = Scope([.openID]), secret: ArtefactDigest = ArtefactDigest(of: ClientSecret())
    ) throws -> RegisteredResource {
        RegisteredResource(
            resource: try Resource("https://\(name).example.com"),
            clientID: try #require(RegisteredResource.newClientID()), name: name, scope: scope, secret: secret,
            createdAt: World.now)
    }

    private static func webhook(_ name: String) throws -> Webhook {
        Webhook(
            url: try AbsoluteURI(parsing: "https://\(name).example.com/"), label: name, types: [],
            sealedSecret: [1], createdAt: World.now, cursor: 0)
    }

    private static func changedWebhook(
        _ name: String, by change: @escaping @Sendable (inout Webhook) throws -> Void
    ) -> EndingChange {
        EndingChange(name, [.webhook]) { world async throws in
            let (webhook, other) = (try Self.webhook("photos"), try Self.webhook("albums"))
            return Steps(
                prepare: { world async throws in
                    for webhook in [webhook, other] {
                        #expect(try await world.store.addWebhook(webhook, recording: []) == .added)
                    }
                },
                end: { world async throws in
                    var changed = webhook
                    try change(&changed)
                    _ = try await world.store.updateWebhook(changed, from: webhook, at: World.now, recording: [])
                },
                isValid: { world async throws in
                    let stored = try await world.store.webhook(webhook.id)
                    return stored?.url == webhook.url && stored?.sealedSecret == webhook.sealedSecret
                        && stored?.state == .active
                },
                isLeft: { try await $0.store.webhook(other.id)?.state == .active })
        }
    }

    static let settings = [
        EndingChange("a deleted API", [.api]) { world async throws in
            let (api, other) = (try Self.api("photos"), try Self.api("albums"))
            return Steps(
                prepare: { world async throws in
                    for api in [api, other] {
                        #expect(try await world.store.addResource(api, recording: []) == .added)
                    }
                },
                end: { _ = try await $0.store.removeResource(api.resource, recording: []) },
                isValid: { try await $0.store.resource(authenticatingAs: api.clientID) != nil },
                isLeft: { try await $0.store.resource(authenticatingAs: other.clientID) != nil })
        },
        EndingChange("a deleted webhook", [.webhook]) { world async throws in
            let (webhook, other) = (try Self.webhook("photos"), try Self.webhook("albums"))
            return Steps(
                prepare: { world async throws in
                    for webhook in [webhook, other] {
                        #expect(try await world.store.addWebhook(webhook, recording: []) == .added)
                    }
                },
                end: { _ = try await $0.store.removeWebhook(webhook.id, recording: []) },
                isValid: { try await $0.store.webhook(webhook.id)?.state == .active },
                isLeft: { try await $0.store.webhook(other.id)?.state == .active })
        },
        changedWebhook("another URL of a webhook") { $0.url = try AbsoluteURI(parsing: "https://moved.example.com/") },
        changedWebhook("another secret of a webhook") { $0.sealedSecret = [2] },
        EndingChange("another secret of an API", [.apiSecret]) { world async throws in
            let api = try Self.api("photos")
            return Steps(
                prepare: { world async throws in
                    #expect(try await world.store.addResource(api, recording: []) == .added)
                },
                end: { world async throws in
                    _ = try await world.store.replaceSecret(
                        of: api.resource, with: ArtefactDigest(ofFamily: [2]), recording: [])
                },
                isValid: { try await $0.store.resource(authenticatingAs: api.clientID)?.secret == api.secret },
                isLeft: { try await $0.store.resource(authenticatingAs: api.clientID) != nil })
        },
        EndingChange("an API with other scopes", [.apiChanged]) { world async throws in
            let former = try Self.api("albums", Scope([.openID, .profile]))
            var new = former
            new.scope = Scope([.openID])
            var report = RestoreReport()
            report.changedAPIs = [former.resource.rawValue]
            return Steps(
                prepare: { world async throws in
                    #expect(try await world.store.addResource(former, recording: []) == .added)
                },
                end: { [new] in _ = try await $0.store.updateResource(new, from: former, recording: []) },
                isLeft: { try await $0.store.resource(authenticatingAs: former.clientID) == former },
                report: report)
        },
        EndingChange("a deleted scope", [.scope, .clientChanged, .apiChanged]) { world async throws in
            let scope = ScopeDefinition(token: try #require(Scope.Token("photos.read")), description: "See photos")
            let client = try RegisteredClient.named("app-photos", scope: Scope([.openID, scope.token]))
            let api = try Self.api("photos", Scope([.openID, scope.token]))
            var report = Self.report(changed: client)
            report.changedAPIs = [api.resource.rawValue]
            return Steps(
                prepare: { world async throws in
                    #expect(try await world.store.addScope(scope, recording: []) == .added)
                    #expect(try await world.store.addClient(client) == .added)
                    #expect(try await world.store.addResource(api, recording: []) == .added)
                },
                end: { world async throws in
                    _ = try await world.store.removeScope(
                        scope.token, takingFromUses: true, at: World.now, recording: { _ in [] })
                },
                isValid: { world async throws in
                    let ofClient = try await world.store.client(client.id)?.scope.tokens.contains(scope.token)
                    let ofAPI = try await world.store.resource(authenticatingAs: api.clientID)?.scope.tokens
                        .contains(scope.token)
                    let isThere = try await world.store.scopes().contains(scope)
                    return isThere || ofClient == true || ofAPI == true
                },
                isLeft: { try await $0.store.client(client.id)?.scope == Scope([.openID]) },
                report: report)
        },
        EndingChange("a reserved scope", [.scopeReserved]) { world async throws in
            let scope = ScopeDefinition(token: try #require(Scope.Token("photos.write")), description: "Edit photos")
            var reserved = scope
            reserved.isReserved = true
            return Steps(
                prepare: { world async throws in
                    #expect(try await world.store.addScope(scope, recording: []) == .added)
                },
                end: { [reserved] world async throws in
                    #expect(try await world.store.updateScope(reserved, from: scope, recording: []) == .updated)
                },
                isValid: { try await $0.store.scopes().contains(scope) },
                isLeft: { [reserved] in try await $0.store.scopes().contains(reserved) })
        },
        EndingChange("a deleted registration token", [.registrationToken]) { world async throws in
            let token = InitialAccessToken(
                digest: ArtefactDigest(of: InitialAccessTokenText()), name: "Partners", createdAt: World.now,
                // The database compares it with its own clock, and an expired token has already ended.
                expiresAt: World.now + 10 * 365 * 86_400)
            return Steps(
                prepare: { try await $0.store.addInitialAccessToken(token, recording: []) },
                end: { _ = try await $0.store.removeInitialAccessToken(token.digest, recording: []) },
                isValid: { try await $0.store.initialAccessToken(token.digest, at: World.now) != nil })
        },
        EndingChange("a host that is refused first", [.policyChanged]) { world async throws in
            let host = try #require(HostPattern("app.example.com"))
            var report = RestoreReport()
            report.hasFormerPolicy = true
            return Steps(
                end: { world async throws in
                    #expect(try await world.store.refuseHost(host, recording: []) == .refused)
                },
                report: report)
        },
        EndingChange("a withdrawn signing key", [.signingKey]) { world async throws in
            @Sendable func key(_ id: String) -> SealedSigningKey {
                SealedSigningKey(
                    id: KeyIdentifier(id), algorithm: .es256, sealed: [1], createdAt: World.now, signsFrom: World.now)
            }
            return Steps(
                prepare: { world async throws in
                    _ = try await world.store.addFirstSigningKey(key("first"), recording: [])
                    _ = try await world.store.addSigningKey(
                        key("second"), replacing: KeyIdentifier("first"), recording: [])
                },
                end: { _ = try await $0.store.removeSigningKey(KeyIdentifier("first"), recording: []) },
                isValid: { try await $0.store.signingKeys().map(\.id).contains(KeyIdentifier("first")) },
                isLeft: { try await $0.store.signingKeys().map(\.id) == [KeyIdentifier("second")] })
        },
    ]
}
