import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import HTTPTypes

/// A client that the user may manage; only ``ClientAccess`` can create this value.
struct AccessibleClient: Sendable {
    let client: RegisteredClient
    /// Whether the user may change every client, and its policy.
    let byAdministrator: Bool
    /// Whether the user owns the client or is an administrator, who may also delete it and hand it over.
    let byOwner: Bool

    fileprivate init(_ client: RegisteredClient, byAdministrator: Bool, byOwner: Bool) {
        self.client = client
        self.byAdministrator = byAdministrator
        self.byOwner = byOwner
    }
}

/// The access rule for clients that a person registered: their owner may manage them, the users with whom the owner
/// shares them, and everyone with the right.
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
        guard let client, mayChange(client, user, isDeveloper: isDeveloper) else { return nil }
        let byAdministrator = user.may(.writeClients)
        return AccessibleClient(
            client, byAdministrator: byAdministrator, byOwner: byAdministrator || client.owner == user.id)
    }

    /// Returns true if the user may change the client.
    static func mayChange(_ client: RegisteredClient, _ user: User, isDeveloper: Bool) -> Bool {
        !client.isUnregistered && (user.may(.writeClients) || client.owner == user.id || isDeveloper)
    }

    /// Returns true if the user may delete the client.
    static func mayDelete(_ client: ClientOwnership, _ user: User) -> Bool {
        !client.isUnregistered && (user.may(.writeClients) || client.owner == user.id)
    }
}

extension Console {
    /// Returns the client in the path if the user may change it, or else throws the error of ``refusal(_:)``.
    func accessibleClient(_ exchange: Exchange) async throws -> AccessibleClient {
        guard let id = exchange.request.parameters.clientID,
            let accessible = ClientAccess.judge(
                try await registry.atArrival().client(id), by: exchange.user, isDeveloper: exchange.isDeveloper)
        else { throw refusal(exchange) }
        return accessible
    }

    /// Returns the client in the path for a page that users see who only read clients, too.
    ///
    /// A request that submits a form is for users who may change the client.
    func visibleClient(_ exchange: Exchange) async throws -> RegisteredClient {
        guard exchange.request.head.method != .post, exchange.user.may(.readClients) else {
            return try await accessibleClient(exchange).client
        }
        guard let id = exchange.request.parameters.clientID,
            let client = try await registry.atArrival().client(id), !client.isUnregistered
        else { throw NotFoundError() }
        return client
    }

    /// The error for a user who may not change the client in the path.
    ///
    /// It says that there is no such client, except in the answer to a form of a user who sees every client.
    private func refusal(_ exchange: Exchange) -> any Error {
        exchange.request.head.method == .post && exchange.user.may(.readClients) && !exchange.user.may(.writeClients)
            ? RoleRefusal.lacksRight(.writeClients) : NotFoundError()
    }

    /// Creates the head of a page about a client, which has forms if the user may change the client.
    func head(_ exchange: Exchange, of client: RegisteredClient) -> ConsoleHead {
        let mayChange =
            client.isUnregistered
            ? nil
            : ClientAccess.mayChange(
                client, exchange.user, isDeveloper: exchange.isDeveloper)
        return head(exchange, in: part(of: client, exchange), mayChange: mayChange)
    }

    /// Returns the client in the path, even if this version cannot read its record, if the user may delete it;
    /// otherwise throws the error of ``refusal(_:)``.
    func clientToDelete(_ exchange: Exchange) async throws -> ClientOwnership {
        guard let id = exchange.request.parameters.clientID, let client = try await store.clientOwnership(id),
            ClientAccess.mayDelete(client, exchange.user)
        else { throw refusal(exchange) }
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
        let mayDelete = client.owner == exchange.user.id || exchange.user.may(.writeClients)
        let claims =
            client.type == .native && client.redirectURIs.contains { if case .https = $0.kind { true } else { false } }
        let user = exchange.user
        let mayChange = ClientAccess.mayChange(client, user, isDeveloper: exchange.isDeveloper)
        func path(_ endpoint: Endpoint) -> String { self.path(endpoint, of: client.id) }
        return ClientPaths(
            at: part,
            overview: path(.client),
            edit: mayChange ? path(.editClient) : nil,
            connect: path(.connectClient),
            logo: mayChange ? path(.clientLogo) : nil,
            secrets: client.isConfidential ? path(.clientSecrets) : nil,
            association: claims ? path(.clientAssociation) : nil,
            policy: user.may(.writeClients) ? path(.clientPolicy) : nil,
            signIns: user.may(.readAudit) ? signIns(to: client.id) : nil,
            decision: user.may(.readClients) ? path(.clientDecision) : nil,
            developers: mayChange ? path(.clientDevelopers) : nil,
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
        guard !exchange.user.may(.writeClients) else { return ApprovalLoss() }
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
