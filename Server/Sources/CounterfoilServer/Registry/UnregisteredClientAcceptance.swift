import CounterfoilProtocol
package import CounterfoilStore

/// The kinds of unregistered clients that the server accepts, by the names of the command line and of forms.
package enum UnregisteredClientSwitch: String, Sendable, Hashable, CaseIterable {
    case none
    case documents
    case registration
    case both

    /// Creates the switch for a set of kinds.
    package init(_ kinds: Set<UnregisteredClientKind>) {
        self =
            switch (kinds.contains(.document), kinds.contains(.registration)) {
            case (false, false): .none
            case (true, false): .documents
            case (false, true): .registration
            case (true, true): .both
            }
    }

    /// The accepted kinds.
    package var kinds: Set<UnregisteredClientKind> {
        switch self {
        case .none: []
        case .documents: [.document]
        case .registration: [.registration]
        case .both: [.document, .registration]
        }
    }
}

/// The users who may allow something to a client.
enum ClientApprovers: Sendable, Hashable {
    case everyone
    /// Administrators, because no person has registered the client.
    case administrators
    /// The developer of a client in development, and the users whom the developer names.
    case testers(of: RegisteredClient)
}

extension RegistryReader {
    /// Reads the policy that applies in this process.
    ///
    /// It is the stored policy. If ``ServerSettings/unregisteredClients`` is set, that setting replaces the accepted
    /// kinds.
    package func effectiveUnregisteredClientPolicy(
        _ settings: ServerSettings
    ) async throws(StoreFault) -> UnregisteredClientPolicy {
        var policy = try await unregisteredClientPolicy()
        if let kinds = settings.unregisteredClients { policy.kinds = kinds }
        return policy
    }

    /// Reads which users may allow something to a client; every user may if a person has registered it and it is not in
    /// development.
    func approvers(
        of client: RegisteredClient, _ settings: ServerSettings
    ) async throws(StoreFault) -> ClientApprovers {
        if client.isInDevelopment { return .testers(of: client) }
        guard client.isUnregistered else { return .everyone }
        return switch try await effectiveUnregisteredClientPolicy(settings).approvers {
        case .everyone: .everyone
        case .administrators: .administrators
        }
    }

    /// Throws `invalid_target` if the policy does not let an unregistered client have a token for one of the APIs that
    /// a request names, or that follow from its scope (RFC 8707 §2).
    ///
    /// A registered client can have a token for every API. A token for no API has the default audience, which the
    /// policy judges if the token contains a scope of an API.
    func checkAPIs(
        _ apis: NamedResources, for scope: Scope, of client: RegisteredClient, _ settings: ServerSettings
    ) async throws {
        guard client.isUnregistered else { return }
        let policy = try await effectiveUnregisteredClientPolicy(settings)
        guard policy.resources != nil else { return }
        var named = apis.known.map(\.resource) + apis.unknown
        if named.isEmpty, scope.tokens.contains(where: { !$0.isStandard }) {
            guard let audience = try? Resource(settings.defaultAudience) else { return }
            named = [audience]
        }
        guard !named.isEmpty else { return }
        try policy.check(named, issuer: settings.issuer)
    }
}

extension UnregisteredClientPolicy {
    /// Throws `invalid_target` if the policy does not contain one of the APIs; the server itself is always allowed.
    func check(_ resources: [Resource], issuer: Issuer) throws(OAuthError) {
        guard let allowed = self.resources else { return }
        let server = try? Resource(issuer.rawValue)
        for resource in resources where !allowed.contains(resource) && resource != server {
            throw OAuthError(
                .invalidTarget,
                "an unregistered client cannot request access to \(resource) at this server; "
                    + "its administrators can allow it, or register the client")
        }
    }
}
