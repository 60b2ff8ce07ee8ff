import CounterfoilProtocol
package import CounterfoilStore
import Foundation

/// An unregistered client in answers of the administration API.
struct UnregisteredClientDocument: AdministrationDocument {
    typealias Member = CodingKeys

    let use: UnregisteredClientUse

    init(_ use: UnregisteredClientUse) { self.use = use }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case users, scope
        case clientID = "client_id"
        case name = "client_name"
        case firstSeen = "first_seen"
        case lastUsed = "last_used"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(use.client.id.rawValue, forKey: .clientID)
        try values.encode(use.client.presentation.name, forKey: .name)
        try values.encode(Moment.text(use.client.createdAt), forKey: .firstSeen)
        try values.encodeIfPresent(use.lastUsedAt.map(Moment.text), forKey: .lastUsed)
        try values.encode(use.users, forKey: .users)
        try values.encode(use.scope.description, forKey: .scope)
    }
}

/// The policy for unregistered clients in answers of the administration API.
struct UnregisteredPolicyDocument: AdministrationDocument {
    typealias Member = UnregisteredPolicyDraft.Field

    let policy: UnregisteredClientPolicy

    init(_ policy: UnregisteredClientPolicy) { self.policy = policy }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Member.self)
        try values.encode(UnregisteredClientSwitch(policy.kinds).rawValue, forKey: .kinds)
        try values.encode(policy.allowedHosts.map(\.rawValue), forKey: .allowedHosts)
        try values.encode(policy.refusedHosts.map(\.rawValue), forKey: .refusedHosts)
        try values.encode(policy.defaultScope.tokens.map(\.rawValue), forKey: .defaultScope)
        try values.encodeIfPresent(policy.maximumScope?.tokens.map(\.rawValue), forKey: .maximumScope)
        try values.encodeIfPresent(policy.resources?.map(\.rawValue), forKey: .resources)
        try values.encode(policy.refreshTokens.rawValue, forKey: .refreshTokens)
        try values.encodeIfPresent(policy.accessTokenLifetime, forKey: .accessTokenLifetime)
        try values.encodeIfPresent(policy.refreshIdleLifetime, forKey: .refreshIdleLifetime)
        try values.encodeIfPresent(policy.refreshLifetime, forKey: .refreshLifetime)
        try values.encode(policy.approvers.rawValue, forKey: .approvers)
        try values.encode(policy.requiresInitialAccessToken, forKey: .requiresInitialAccessToken)
    }

    static func version(of policy: UnregisteredClientPolicy) throws -> EntityTag {
        try EntityTag(of: ["policy", "\(policy.revision)"])
    }
}

extension UnregisteredPolicyDraft.Field: CodingKey {}

/// A host in the list of unregistered clients; the clients that registered themselves have none.
struct UnregisteredHostDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable { case host, apps, unused }

    let host: String?
    let apps: Int
    let unused: Int

    init(_ host: String?, _ count: UnregisteredClientCount) {
        self.host = host
        apps = count.clients
        unused = count.unused
    }
}

/// The result of the deletion of every client of a host.
struct RemovedHostDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable { case host, deleted, refused }

    private let host: String
    private let deleted: Int
    private let refused: Bool

    init(host: String, deleted: Int, refused: Bool) {
        self.host = host
        self.deleted = deleted
        self.refused = refused
    }
}

extension UnregisteredClientCursor {
    /// The place as one text: the time in microseconds, a period and the identifier.
    package var parameter: String { "\(Int64((createdAt.timeIntervalSince1970 * 1_000_000).rounded())).\(id)" }

    /// Parses a place.
    package init?(parameter: String) {
        let parts = parameter.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let time = Int64(parts[0]), let id = ClientIdentifier(String(parts[1])) else {
            return nil
        }
        self.init(createdAt: Date(timeIntervalSince1970: TimeInterval(time) / 1_000_000), id: id)
    }
}
