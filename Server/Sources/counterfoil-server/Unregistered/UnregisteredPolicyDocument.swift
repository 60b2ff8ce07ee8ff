import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

/// The policy for unregistered clients in the output of commands.
struct UnregisteredPolicyDocument: Encodable {
    private let policy: UnregisteredClientPolicy

    init(_ policy: UnregisteredClientPolicy) { self.policy = policy }

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(_ field: UnregisteredPolicyDraft.Field) { stringValue = field.rawValue }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(UnregisteredClientSwitch(policy.kinds).rawValue, forKey: Key(.kinds))
        try values.encode(policy.allowedHosts.map(\.rawValue), forKey: Key(.allowedHosts))
        try values.encode(policy.refusedHosts.map(\.rawValue), forKey: Key(.refusedHosts))
        try values.encode(policy.defaultScope.tokens.map(\.rawValue), forKey: Key(.defaultScope))
        try values.encodeIfPresent(policy.maximumScope?.tokens.map(\.rawValue), forKey: Key(.maximumScope))
        try values.encodeIfPresent(policy.resources?.map(\.rawValue), forKey: Key(.resources))
        try values.encode(policy.refreshTokens.rawValue, forKey: Key(.refreshTokens))
        try values.encodeIfPresent(policy.accessTokenLifetime, forKey: Key(.accessTokenLifetime))
        try values.encodeIfPresent(policy.refreshIdleLifetime, forKey: Key(.refreshIdleLifetime))
        try values.encodeIfPresent(policy.refreshLifetime, forKey: Key(.refreshLifetime))
        try values.encode(policy.approvers.rawValue, forKey: Key(.approvers))
        try values.encode(policy.requiresInitialAccessToken, forKey: Key(.requiresInitialAccessToken))
    }

    /// The policy as text, one line for each field.
    var words: String {
        UnregisteredPolicyDraft.Field.allCases.map { "\($0.rawValue): \(policy.text($0))" }.joined(separator: "\n")
    }
}
