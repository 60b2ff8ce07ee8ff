import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens

/// A client in the output of commands, as JSON or text, with the way in which the client connects.
struct ClientDocument: Encodable {
    private let record: ClientRecord
    private let connection: Connection

    /// The part of a document that says how the client connects to the server.
    enum Connection {
        case omitted
        /// The URLs depend on the issuer, which is unknown until a server has started on the data directory.
        case unknown
        case known(ClientConnection)

        /// Reads the registered APIs, whose scopes the client may request.
        init(of client: RegisteredClient, in installation: Installation) async throws {
            guard let issuer = installation.issuer else {
                self = .unknown
                return
            }
            let apis = try await installation.store.resources()
            self = .known(ClientConnection(of: client, issuer: issuer, apis: apis))
        }
    }

    init(_ record: ClientRecord, connection: Connection = .omitted) {
        self.record = record
        self.connection = connection
    }

    private var client: RegisteredClient { record.client }

    private enum CodingKeys: String, CodingKey { case connection }

    func encode(to encoder: any Encoder) throws {
        try record.encode(to: encoder)
        guard case .known(let connection) = connection else { return }
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(connection, forKey: .connection)
    }
}

// MARK: - Text output

extension ClientDocument {
    /// The registration as text, one line for each value.
    ///
    /// Default values are omitted.
    var words: String {
        var lines = ["\(client.displayName)", "  client_id: \(client.id)"]
        if let newSecret = record.newSecret { lines.append("  client_secret: \(newSecret.exposed)") }
        lines.append("  type: \(client.type.rawValue)" + (client.isConfidential ? "" : ", no secret"))
        if let developer = record.developer { lines.append("  developer: \(developer)") }
        if !record.developers.isEmpty {
            lines.append("  managed by: \(record.developers.map(\.rawValue).joined(separator: " "))")
        }
        if let use = record.use, client.type != .service { lines.append("  use: \(use.words)") }
        lines += standingLines
        lines += presentationLines
        lines += client.redirectURIs.map { "  redirect URI: \($0)" }
        if !client.scope.isEmpty { lines.append("  scope: \(client.scope)") }
        if !client.optionalScope.isEmpty { lines.append("  optional: \(client.optionalScope)") }
        if !client.approvedMachineScope.isEmpty { lines.append("  without a user: \(client.approvedMachineScope)") }
        if !client.pendingMachineScope.isEmpty {
            lines.append("  awaiting approval: \(client.pendingMachineScope)")
        }
        lines += client.origins.map { "  origin: \($0)\($0.isAnyPort ? " (any port)" : "")" }
        lines += client.appleApps.map { "  Apple app: \($0)" }
        lines += client.androidApps.map { "  Android app: \($0)" }
        lines += client.postLogoutRedirectURIs.map { "  redirect URI after sign-out: \($0)" }
        if let uri = client.backchannelLogoutURI { lines.append("  back-channel logout URI: \(uri.rawValue)") }
        lines += (client.keys?.keys ?? []).map { "  key: \($0)" }
        lines += policyLines
        if record.newSecret == nil {
            lines += record.secrets.map {
                "  secret: \($0.shortID), created \(CalendarDay(of: $0.createdAt))"
            }
        }
        lines += connectionLines
        return lines.joined(separator: "\n")
    }

    /// The lines about the suspension, the approval and the testers.
    private var standingLines: [String] {
        var lines: [String] = []
        if let suspension = client.suspension {
            lines.append("  SUSPENDED on \(CalendarDay(of: suspension.at)): \(suspension.reason)")
        }
        if client.isPending { lines.append("  pending: no user can sign in before: app approve") }
        if client.isInDevelopment {
            lines.append("  in development: only its developer and the testers can sign in before: app approve")
        }
        if !client.testers.isEmpty {
            lines.append("  testers: \(client.testers.map(\.rawValue).joined(separator: " "))")
        }
        return lines
    }

    private var connectionLines: [String] {
        switch connection {
        case .omitted: return []
        case .unknown:
            return ["  issuer: unknown until the server has started once; then app show prints how to connect"]
        case .known(let connection):
            var lines = [
                "  issuer: \(connection.issuer)", "  discovery URL: \(connection.openIDConfiguration)",
                "  discovery URL (OAuth): \(connection.oauthMetadata)",
            ]
            lines += ConnectionEndpoint.allCases.compactMap { endpoint in
                connection.url(of: endpoint).map { "  \(endpoint.words): \($0)" }
            }
            lines += connection.apis.map { "  API \(DisplayName($0.name)): \($0.resource), scope \($0.scope)" }
            lines.append("  client authentication: \(connection.authenticationMethods.joined(separator: ", "))")
            let names = ReadyConfiguration.all(for: connection).map(\.name)
            if !names.isEmpty {
                lines.append("  ready configurations: \(names.joined(separator: ", "))")
                lines.append("    print one with: counterfoil-server app show \(client.id) --configuration \(names[0])")
            }
            return lines
        }
    }

    private var presentationLines: [String] {
        let presentation = client.presentation
        var lines: [String] = []
        if let publisher = presentation.publisher { lines.append("  publisher: \(DisplayName(publisher))") }
        if let text = presentation.consentText {
            lines.append("  consent page text: \(text.count) characters")
        }
        if let uri = presentation.privacyURI { lines.append("  privacy policy: \(uri.rawValue)") }
        if let uri = presentation.termsURI { lines.append("  terms of service: \(uri.rawValue)") }
        if presentation.logo != nil { lines.append("  has a logo") }
        return lines
    }

    private var policyLines: [String] {
        let policy = client.policy
        let usual = ClientPolicy.standard(for: client.type)
        var lines: [String] = []
        if policy.isFirstParty { lines.append("  first party: users are not asked for consent") }
        if !policy.isVouchedFor { lines.append("  not vouched for: pages show a warning") }
        if policy.isClaimedHTTPSVerified { lines.append("  https redirect URIs verified") }
        lines += signInLines
        if policy.requiresState != usual.requiresState {
            lines.append("  requests without state are \(policy.requiresState ? "refused" : "accepted")")
        }
        if policy.requiresPushedRequests { lines.append("  authorization requests must be pushed (PAR)") }
        if policy.requiresBoundTokens { lines.append("  access tokens must be bound to a key (DPoP)") }
        if policy.refreshTokens != .offlineAccess { lines.append("  refresh tokens: \(policy.refreshTokens.rawValue)") }
        if let seconds = policy.accessTokenLifetime { lines.append("  access token lifetime: \(seconds) seconds") }
        if let seconds = policy.idTokenLifetime { lines.append("  ID token lifetime: \(seconds) seconds") }
        if policy.webViews != usual.webViews { lines.append("  web-views: \(policy.webViews.rawValue)") }
        if policy.minimumAuthentication > .password {
            lines.append("  minimum sign-in: \(policy.minimumAuthentication.rawValue)")
        }
        if policy.subjectType == .pairwise { lines.append("  subject identifiers: pairwise") }
        return lines
    }

    /// The settings on which the configuration of the client depends, each with its reason.
    private var signInLines: [String] {
        let policy = client.policy
        var lines: [String] = []
        func add(_ name: String, _ value: String, _ reason: PolicyReason) {
            lines += ["  \(name): \(value)", "    \(Localizer.english(reason.text))"]
        }
        if client.type.hasRedirectURIs {
            let use = record.exceptionUse.map { ", used \($0.count) times, last on \(CalendarDay(of: $0.lastAt))" }
            add(
                policy.pkce.isException ? "DANGER, PKCE" : "PKCE", "\(policy.pkce)\(use ?? "")",
                PolicyReason(policy.pkce, of: client.type))
        }
        if client.type != .service {
            add("ID token algorithm", policy.idTokenAlgorithm.rawValue, PolicyReason(policy.idTokenAlgorithm))
            add(
                "profile and email in ID tokens", policy.putsUserClaimsInIDToken ? "yes" : "no",
                PolicyReason(userClaimsInIDToken: policy.putsUserClaimsInIDToken))
        }
        return lines
    }
}

extension RegisteredClient {
    /// The reason why not every user can sign in; nil if every user can.
    var statusWord: String? {
        if suspension != nil { return "suspended" }
        return isPending || isInDevelopment ? approval.rawValue : nil
    }
}

extension ConnectionEndpoint {
    /// The name in text output.
    fileprivate var words: String {
        switch self {
        case .authorization: "authorization endpoint"
        case .token: "token endpoint"
        case .userInfo: "UserInfo endpoint"
        case .keySet: "public keys (JWKS)"
        case .revocation: "revocation endpoint"
        case .introspection: "introspection endpoint"
        case .endSession: "end-session endpoint"
        }
    }
}
