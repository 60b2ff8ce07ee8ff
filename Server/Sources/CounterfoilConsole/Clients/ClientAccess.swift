import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore

/// A client that the user may manage; only ``ClientAccess`` can create this value.
struct AccessibleClient: Sendable {
    let client: RegisteredClient
    /// Whether the user is an administrator, who may also change the policy.
    let byAdministrator: Bool
    /// Whether the user owns the client or is an administrator, who may also delete it and hand it over.
    let byOwner: Bool

    fileprivate init(_ client: RegisteredClient, byAdministrator: Bool, byOwner: Bool) {
        self.client = client
        self.byAdministrator = byAdministrator
        self.byOwner = byOwner
    }
}

/// The access rule for clients that a person registered: their owner, the users with whom the owner shares them, and
/// every administrator may manage them.
///
/// For other users, a client is treated as if it did not exist. The owner and administrators alone may delete it.
enum ClientAccess {
    /// Judges the access of a user to a client.
    ///
    /// - Parameters:
    ///   - client: The client; nil if there is none.
    ///   - user: The user.
    ///   - isDeveloper: Whether the user manages the client with its owner.
    static func judge(_ client: RegisteredClient?, by user: User, isDeveloper: Bool) -> AccessibleClient? {
        guard let client, !client.isUnregistered else { return nil }
        if user.isAdministrator { return AccessibleClient(client, byAdministrator: true, byOwner: true) }
        if client.owner == user.id { return AccessibleClient(client, byAdministrator: false, byOwner: true) }
        return isDeveloper ? AccessibleClient(client, byAdministrator: false, byOwner: false) : nil
    }

    /// Returns true if the user may delete the client.
    static func mayDelete(_ client: ClientOwnership, _ user: User) -> Bool {
        !client.isUnregistered && (user.isAdministrator || client.owner == user.id)
    }
}

extension Console {
    /// Returns the client in the path if the user may manage it; otherwise throws `NotFoundError`.
    func accessibleClient(_ exchange: Exchange) async throws -> AccessibleClient {
        guard let id = exchange.request.parameters.clientID,
            let accessible = ClientAccess.judge(
                try await registry.atArrival().client(id), by: exchange.user, isDeveloper: exchange.isDeveloper)
        else { throw NotFoundError() }
        return accessible
    }

    /// Returns the client in the path, even if this version cannot read its record, if the user may delete it;
    /// otherwise throws `NotFoundError`.
    func clientToDelete(_ exchange: Exchange) async throws -> ClientOwnership {
        guard let id = exchange.request.parameters.clientID, let client = try await store.clientOwnership(id),
            ClientAccess.mayDelete(client, exchange.user)
        else { throw NotFoundError() }
        return client
    }

    /// Returns the part of the console to which a client belongs: My Apps if it is the user's own client or shared with
    /// the user, or else the administration.
    func part(of client: RegisteredClient, _ exchange: Exchange) -> ConsoleHead.Part {
        isOwn(client, exchange) ? .clients : .administration
    }

    /// Returns whether the user sees the client in the path in My Apps.
    private func isOwn(_ client: RegisteredClient, _ exchange: Exchange) -> Bool {
        client.owner == exchange.user.id || exchange.isDeveloper
    }

    /// Returns the paths of the pages about a client, with the current page marked.
    func paths(
        of client: RegisteredClient, at part: ClientPaths.Part?, _ exchange: Exchange
    ) -> ClientPaths {
        let isOwn = isOwn(client, exchange)
        let mayDelete = client.owner == exchange.user.id || exchange.user.isAdministrator
        let claims =
            client.type == .native && client.redirectURIs.contains { if case .https = $0.kind { true } else { false } }
        func path(_ endpoint: Endpoint) -> String { self.path(endpoint, of: client.id) }
        return ClientPaths(
            at: part,
            overview: path(.client),
            edit: path(.editClient),
            connect: path(.connectClient),
            logo: path(.clientLogo),
            secrets: client.isConfidential ? path(.clientSecrets) : nil,
            association: claims ? path(.clientAssociation) : nil,
            policy: exchange.user.isAdministrator ? path(.clientPolicy) : nil,
            signIns: exchange.user.isAdministrator ? signIns(to: client.id) : nil,
            decision: exchange.user.isAdministrator ? path(.clientDecision) : nil,
            developers: path(.clientDevelopers),
            delete: mayDelete ? path(.deleteClient) : nil,
            list: self.path(isOwn ? .clients : .administration),
            isOwn: isOwn
        )
    }

    /// Reads the scopes that only approved clients get.
    func reservedScope() async throws(StoreFault) -> Scope {
        Scope(try await registry.fresh().scopes().filter(\.isReserved).map(\.token))
    }

    /// Returns what a client loses by a change that the user of an exchange makes.
    func approvalLoss(
        byChanging client: RegisteredClient, _ exchange: Exchange
    ) async throws(StoreFault) -> ApprovalLoss {
        guard !exchange.user.isAdministrator else { return ApprovalLoss() }
        let endsSignIns = settings.newClients != .open && (client.isApproved || client.approval == .open)
        guard client.isApproved else { return ApprovalLoss(signIns: endsSignIns) }
        return ApprovalLoss(
            signIns: endsSignIns, reservedScopes: !client.scope.intersection(try await reservedScope()).isEmpty)
    }

    func summary(_ client: RegisteredClient, _ exchange: Exchange) -> ClientSummary {
        ClientSummary(client, words: exchange.words, issuer: settings.issuer)
    }
}

/// The losses of a client by a change of its developer, until the next approval.
struct ApprovalLoss {
    /// Whether new users cannot sign in.
    var signIns = false
    var reservedScopes = false
}
