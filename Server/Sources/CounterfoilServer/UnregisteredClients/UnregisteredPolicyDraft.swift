import CounterfoilProtocol
package import CounterfoilStore
import Foundation

/// The policy for unregistered clients as an administrator entered it, before it is checked.
package struct UnregisteredPolicyDraft: Sendable, Hashable {
    /// The accepted kinds, the raw value of an ``UnregisteredClientSwitch``.
    package var kinds = UnregisteredClientSwitch.none.rawValue
    /// The accepted hosts, such as `example.com` and `*.example.com`; empty for every host.
    package var allowedHosts: [String] = []
    /// The refused hosts, even if ``allowedHosts`` contains them.
    package var refusedHosts: [String] = []
    /// The scopes that a client gets if its request names none.
    package var defaultScopes: [String] = []
    /// The scopes that a client can request; nil for every scope that the metadata list.
    package var maximumScopes: [String]?
    /// The resource indicators of the APIs that a client can name; nil for every API.
    package var resources: [String]?
    /// The condition for refresh tokens, the raw value of a `RefreshTokenPolicy`.
    package var refreshTokens = RefreshTokenPolicy.offlineAccess.rawValue
    /// The lifetime of access tokens in seconds; empty for that of the server.
    package var accessTokenLifetime = ""
    /// The time in seconds after which an unused refresh token expires; empty for that of the server.
    package var refreshIdleLifetime = ""
    /// The lifetime of refresh tokens in seconds; empty for that of the server.
    package var refreshLifetime = ""
    /// The users who may approve, the raw value of `UnregisteredClientPolicy.Approvers`.
    package var approvers = UnregisteredClientPolicy.Approvers.everyone.rawValue
    /// Whether a registration needs an initial access token.
    package var requiresInitialAccessToken = false

    /// Creates a draft from the current policy, to edit it.
    ///
    /// Scopes and APIs that do not exist any more are left out.
    package init(_ policy: UnregisteredClientPolicy, beside registry: Registry) {
        kinds = UnregisteredClientSwitch(policy.kinds).rawValue
        allowedHosts = policy.allowedHosts.map(\.rawValue)
        refusedHosts = policy.refusedHosts.map(\.rawValue)
        let known = Set(registry.scopes.map(\.token))
        func names(_ scope: Scope) -> [String] { scope.tokens.filter(known.contains).map(\.rawValue) }
        defaultScopes = names(policy.defaultScope)
        maximumScopes = policy.maximumScope.map(names)
        resources = policy.resources.map { $0.filter(registry.apis.map(\.resource).contains).map(\.rawValue) }
        refreshTokens = policy.refreshTokens.rawValue
        accessTokenLifetime = policy.accessTokenLifetime.map(String.init) ?? ""
        refreshIdleLifetime = policy.refreshIdleLifetime.map(String.init) ?? ""
        refreshLifetime = policy.refreshLifetime.map(String.init) ?? ""
        approvers = policy.approvers.rawValue
        requiresInitialAccessToken = policy.requiresInitialAccessToken
    }

    /// The scopes and APIs that a policy can name.
    package struct Registry: Sendable {
        package let scopes: [ScopeDefinition]
        package let apis: [RegisteredResource]

        /// Reads the scopes and APIs of a registry.
        package init(_ registry: any RegistryReader) async throws(StoreFault) {
            scopes = try await registry.scopes()
            apis = try await registry.resources()
        }
    }

    /// A field of the policy; the raw value is its name in forms, in JSON and in the audit log.
    package enum Field: String, Sendable, Hashable, CaseIterable {
        case kinds
        case allowedHosts = "allowed_hosts"
        case refusedHosts = "refused_hosts"
        case defaultScope = "default_scope"
        case maximumScope = "maximum_scope"
        case resources
        case refreshTokens = "refresh_tokens"
        case accessTokenLifetime = "access_token_lifetime"
        case refreshIdleLifetime = "refresh_idle_lifetime"
        case refreshLifetime = "refresh_lifetime"
        case approvers
        case requiresInitialAccessToken = "require_initial_access_token"
    }

    /// An error in a draft; if ``field`` is nil, the error concerns the draft as a whole.
    package struct FieldProblem: Sendable {
        package let field: Field?
        /// The error and its remedy.
        package let text: LocalizedText

        package init(
            _ field: Field?, _ reason: some LocalizationKey, _ values: [String: LocalizedText.Value] = [:]
        ) {
            self.field = field
            text = LocalizedText(reason, values)
        }

        package enum Reason: String, LocalizationKey {
            case notAKind = "unregistered.not-a-kind"
            case notAHost = "unregistered.not-a-host"
            case tooManyHosts = "unregistered.too-many-hosts"
            case unknownScope = "unregistered.unknown-scope"
            case defaultNotInMaximum = "unregistered.default-not-in-maximum"
            case unknownAPI = "unregistered.unknown-api"
            case notApprovers = "unregistered.not-approvers"
            case changedMeanwhile = "unregistered.changed-meanwhile"
        }
    }

    /// Checks the draft and creates the policy from it.
    ///
    /// - Parameters:
    ///   - registry: The scopes and APIs that the policy can name.
    ///   - revision: The revision of the policy that the draft was made from.
    /// - Returns: The policy and the problems. If there is a problem, the policy must not be used.
    package func checked(
        beside registry: Registry, revision: Int
    ) -> (policy: UnregisteredClientPolicy, problems: [FieldProblem]) {
        var policy = UnregisteredClientPolicy(revision: revision)
        var problems: [FieldProblem] = []
        if let kinds = UnregisteredClientSwitch(rawValue: kinds) {
            policy.kinds = kinds.kinds
        } else {
            problems.append(FieldProblem(.kinds, FieldProblem.Reason.notAKind))
        }
        policy.allowedHosts = Self.hosts(allowedHosts, .allowedHosts, &problems)
        policy.refusedHosts = Self.hosts(refusedHosts, .refusedHosts, &problems)
        policy.maximumScope = maximumScopes.map { Self.scope($0, .maximumScope, registry, &problems) }
        policy.defaultScope = Self.scope(defaultScopes, .defaultScope, registry, &problems)
        let available = policy.requestableScope(of: registry.scopes)
        if let token = policy.defaultScope.tokens.first(where: { !available.contains($0) }) {
            problems.append(
                FieldProblem(.defaultScope, FieldProblem.Reason.defaultNotInMaximum, ["name": .text(token.rawValue)]))
        }
        policy.resources = resources.map { Self.resources($0, registry, &problems) }
        if let refreshTokens = RefreshTokenPolicy(rawValue: refreshTokens) {
            policy.refreshTokens = refreshTokens
        } else {
            problems.append(FieldProblem(.refreshTokens, ClientProblem.Reason.notARefreshTokenPolicy))
        }
        policy.accessTokenLifetime = Self.seconds(
            accessTokenLifetime, ClientRules.tokenLifetimes, .accessTokenLifetime, .notALifetime, &problems)
        policy.refreshIdleLifetime = Self.seconds(
            refreshIdleLifetime, ClientRules.refreshIdleLifetimes, .refreshIdleLifetime, .notARefreshTime, &problems)
        policy.refreshLifetime = Self.seconds(
            refreshLifetime, ClientRules.refreshLifetimes, .refreshLifetime, .notARefreshTime, &problems)
        if let approvers = UnregisteredClientPolicy.Approvers(rawValue: approvers) {
            policy.approvers = approvers
        } else {
            problems.append(FieldProblem(.approvers, FieldProblem.Reason.notApprovers))
        }
        policy.requiresInitialAccessToken = requiresInitialAccessToken
        return (policy, problems)
    }

    private static func hosts(
        _ written: [String], _ field: Field, _ problems: inout [FieldProblem]
    ) -> [HostPattern] {
        let written = written.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        let limit = UnregisteredClientPolicy.hostLimit
        if written.count > limit {
            problems.append(FieldProblem(field, FieldProblem.Reason.tooManyHosts, ["limit": .number(limit)]))
        }
        var hosts: [HostPattern] = []
        for text in written.prefix(limit) {
            guard let host = HostPattern(text) else {
                problems.append(
                    FieldProblem(field, FieldProblem.Reason.notAHost, ["host": .text(String(text.prefix(100)))]))
                continue
            }
            if !hosts.contains(host) { hosts.append(host) }
        }
        return hosts
    }

    private static func scope(
        _ names: [String], _ field: Field, _ registry: Registry, _ problems: inout [FieldProblem]
    ) -> Scope {
        let known = Set(registry.scopes.map(\.token))
        return Scope(
            names.compactMap { name in
                guard let token = Scope.Token(name), known.contains(token) else {
                    problems.append(
                        FieldProblem(field, FieldProblem.Reason.unknownScope, ["name": .text(String(name.prefix(100)))])
                    )
                    return nil
                }
                return token
            })
    }

    private static func resources(
        _ names: [String], _ registry: Registry, _ problems: inout [FieldProblem]
    ) -> [Resource] {
        var resources: [Resource] = []
        for name in names {
            guard let resource = try? Resource(name),
                let known = registry.apis.first(where: { $0.resource == resource })?.resource
            else {
                problems.append(
                    FieldProblem(.resources, FieldProblem.Reason.unknownAPI, ["name": .text(String(name.prefix(100)))]))
                continue
            }
            if !resources.contains(known) { resources.append(known) }
        }
        return resources
    }

    private static func seconds(
        _ text: String, _ range: ClosedRange<Int>, _ field: Field, _ reason: ClientProblem.Reason,
        _ problems: inout [FieldProblem]
    ) -> Int? {
        let text = text.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty else { return nil }
        guard text.utf8.count <= 8, let seconds = Int(text), range.contains(seconds) else {
            problems.append(
                FieldProblem(field, reason, ["least": .number(range.lowerBound), "most": .number(range.upperBound)]))
            return nil
        }
        return seconds
    }
}
