package import CounterfoilProtocol
package import CounterfoilStore

extension UnregisteredClientPolicy {
    /// Returns the scopes that a client can request, of those that the server has and that are not reserved.
    package func requestableScope(of definitions: [ScopeDefinition]) -> Scope {
        Scope(
            definitions.filter { scope in
                !scope.isReserved && maximumScope?.contains(scope.token) ?? (scope.isListed || scope.token.isStandard)
            }.map(\.token))
    }

    /// Returns the value of a field as the audit log shows it.
    private func text(_ field: UnregisteredPolicyDraft.Field) -> String {
        func list(_ values: [String], none: String) -> String {
            values.isEmpty ? none : values.joined(separator: " ")
        }
        func seconds(_ value: Int?) -> String { value.map { "\($0) seconds" } ?? "server default" }
        switch field {
        case .kinds: return UnregisteredClientSwitch(kinds).rawValue
        case .allowedHosts: return list(allowedHosts.map(\.rawValue), none: "every host")
        case .refusedHosts: return list(refusedHosts.map(\.rawValue), none: "none")
        case .defaultScope: return list(defaultScope.tokens.map(\.rawValue), none: "none")
        case .maximumScope:
            return maximumScope.map { list($0.tokens.map(\.rawValue), none: "none") } ?? "every scope in the metadata"
        case .resources: return resources.map { list($0.map(\.rawValue), none: "none") } ?? "every API"
        case .refreshTokens: return refreshTokens.rawValue
        case .accessTokenLifetime: return seconds(accessTokenLifetime)
        case .refreshIdleLifetime: return seconds(refreshIdleLifetime)
        case .refreshLifetime: return seconds(refreshLifetime)
        case .approvers: return approvers.rawValue
        case .requiresInitialAccessToken: return requiresInitialAccessToken ? "yes" : "no"
        }
    }

    /// Describes the change from an earlier policy, for the audit log: the name and the new value of each changed
    /// field.
    ///
    /// An audit event has little space, so a long value is left out and only its field is named.
    package func difference(from former: UnregisteredClientPolicy) -> String {
        let changes = UnregisteredPolicyDraft.Field.allCases.filter { text($0) != former.text($0) }.map { field in
            let value = text(field)
            return value.utf8.count <= 40 ? "\(field.rawValue) \(value)" : field.rawValue
        }
        return "unregistered apps: " + (changes.isEmpty ? "nothing changed" : changes.joined(separator: ", "))
    }
}
