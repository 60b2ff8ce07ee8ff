import CounterfoilProtocol
package import CounterfoilStore
import CounterfoilTokens
import Foundation

/// A client in answers of the administration API, and in the output of commands.
///
/// The members have the names of the fields of the registration form. If RFC 7591 §2 defines a name for a field, that
/// name is used.
package struct ClientRecord: AdministrationDocument {
    enum Member: String, CodingKey, CaseIterable {
        case clientID = "client_id"
        case clientSecret = "client_secret"
        case applicationType = "application_type"
        case tokenEndpointAuthMethod = "token_endpoint_auth_method"
        case jwks
        case owner, developer, developers, use
        case clientName = "client_name"
        case publisher
        case consentText = "consent_text"
        case policyURI = "policy_uri"
        case termsURI = "tos_uri"
        case logo
        case redirectURIs = "redirect_uris"
        case scope
        case optionalScope = "optional_scope"
        case reservedScope = "reserved_scope"
        case machineScope = "machine_scope"
        case pendingMachineScope = "pending_machine_scope"
        case approval, testers, suspension, origins
        case appleApps = "apple_apps"
        case androidApps = "android_apps"
        case postLogoutRedirectURIs = "post_logout_redirect_uris"
        case backchannelLogoutURI = "backchannel_logout_uri"
        case firstParty = "first_party"
        case vouchedFor = "vouched_for"
        case claimedHTTPSVerified = "claimed_https_verified"
        case pkce
        case requireState = "require_state"
        case requirePushedRequests = "require_pushed_authorization_requests"
        case requireBoundTokens = "dpop_bound_access_tokens"
        case refreshTokens = "refresh_tokens"
        case rotatesRefreshTokens = "rotate_refresh_tokens"
        case refreshGracePeriod = "refresh_grace_period"
        case refreshIdleLifetime = "refresh_idle_lifetime"
        case refreshLifetime = "refresh_lifetime"
        case accessTokenLifetime = "access_token_lifetime"
        case idTokenLifetime = "id_token_lifetime"
        case webViews = "web_views"
        case minimumAuthentication = "minimum_authentication"
        case idTokenAlgorithm = "id_token_signed_response_alg"
        case userClaimsInIDToken = "user_claims_in_id_token"
        case subjectType = "subject_type"
        case pkceExceptionUse = "pkce_exception_use"
        case clientSecrets = "client_secrets"
        case clientIDIssuedAt = "client_id_issued_at"
        case changedAt = "changed_at"
        case revision, connection, warnings
    }

    private let client: RegisteredClient
    /// The name of the user who owns the client; nil if no user does, or if the document omits it.
    private let developer: Username?
    private let secrets: [ClientSecretRecord]
    private let newSecret: ClientSecret?
    private let exceptionUse: PKCEExceptionUse?
    private let use: ClientUse?
    /// The users who manage the client with the owner; empty if the document omits them.
    private let developers: [Username]
    /// The scopes of the client that are reserved for approved clients; empty if the document omits them.
    private let reservedScope: Scope
    /// The way in which the client connects; nil before the first start of a server, and if the document omits it.
    private let connection: ClientConnection?
    /// The warnings about the redirect URIs of the request that created or changed the client.
    private let warnings: [ClientWarning]

    /// Creates the document of the registration and the policy alone.
    package init(_ client: RegisteredClient) { self.init(client, developer: nil) }

    init(
        _ client: RegisteredClient, developer: Username?, secrets: [ClientSecretRecord] = [],
        newSecret: ClientSecret? = nil, exceptionUse: PKCEExceptionUse? = nil, use: ClientUse? = nil,
        developers: [Username] = [], reservedScope: Scope = Scope(), connection: ClientConnection? = nil,
        warnings: [ClientWarning] = []
    ) {
        self.client = client
        self.developer = developer
        self.secrets = secrets
        self.newSecret = newSecret
        self.exceptionUse = exceptionUse
        self.use = use
        self.developers = developers
        self.reservedScope = reservedScope
        self.connection = connection
        self.warnings = warnings
    }

    private struct Keys: Encodable {
        let keys: [JSONWebKey]
    }

    private struct Suspension: Encodable {
        let at: Int
        let reason: String
    }

    private struct Secret: Encodable {
        let id: String
        let created_at: Int
    }

    private struct Use: Encodable {
        let users: Int
        let is_exact: Bool
        let last_used_at: Int?
    }

    private struct ExceptionUse: Encodable {
        let count: Int
        let last_at: Int
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(client.id, forKey: .clientID)
        try members.encodeIfPresent(newSecret?.exposed, forKey: .clientSecret)
        try members.encode(client.type.rawValue, forKey: .applicationType)
        try members.encode(client.authenticationMethods[0], forKey: .tokenEndpointAuthMethod)
        try members.encodeIfPresent(client.keys.map { Keys(keys: $0.keys) }, forKey: .jwks)
        try members.encodeIfPresent(client.owner?.rawValue, forKey: .owner)
        try members.encodeIfPresent(developer?.rawValue, forKey: .developer)
        if !developers.isEmpty { try members.encode(developers.map(\.rawValue), forKey: .developers) }
        if let use, client.type != .service {
            let shown = Use(
                users: use.users.number, is_exact: use.users.isExact, last_used_at: use.lastUsedAt.map(Self.seconds))
            try members.encode(shown, forKey: .use)
        }
        try encodePresentation(into: &members)
        try encodeRequests(into: &members)
        try encodeStanding(into: &members)
        try encodePolicy(into: &members)
        if let exceptionUse {
            let use = ExceptionUse(count: exceptionUse.count, last_at: Self.seconds(exceptionUse.lastAt))
            try members.encode(use, forKey: .pkceExceptionUse)
        }
        if !secrets.isEmpty {
            let shown = secrets.map { Secret(id: $0.shortID, created_at: Self.seconds($0.createdAt)) }
            try members.encode(shown, forKey: .clientSecrets)
        }
        try members.encode(Self.seconds(client.createdAt), forKey: .clientIDIssuedAt)
        try members.encode(Self.seconds(client.changedAt), forKey: .changedAt)
        try members.encode(client.revision, forKey: .revision)
        try members.encodeIfPresent(connection, forKey: .connection)
        if !warnings.isEmpty { try members.encode(warnings, forKey: .warnings) }
    }

    private func encodePresentation(into members: inout KeyedEncodingContainer<Member>) throws {
        let presentation = client.presentation
        try members.encode(presentation.name, forKey: .clientName)
        try members.encodeIfPresent(presentation.publisher, forKey: .publisher)
        try members.encodeIfPresent(presentation.consentText, forKey: .consentText)
        try members.encodeIfPresent(presentation.privacyURI?.rawValue, forKey: .policyURI)
        try members.encodeIfPresent(presentation.termsURI?.rawValue, forKey: .termsURI)
        try members.encodeIfPresent(presentation.logo?.rawValue, forKey: .logo)
    }

    private func encodeRequests(into members: inout KeyedEncodingContainer<Member>) throws {
        try members.encode(client.redirectURIs, forKey: .redirectURIs)
        try members.encode(client.scope, forKey: .scope)
        try members.encode(client.optionalScope, forKey: .optionalScope)
        if !reservedScope.isEmpty { try members.encode(reservedScope, forKey: .reservedScope) }
        if client.type == .service {
            try members.encode(client.approvedMachineScope, forKey: .machineScope)
            try members.encode(client.pendingMachineScope, forKey: .pendingMachineScope)
        }
        try members.encode(client.origins.map(\.rawValue), forKey: .origins)
        try members.encode(client.appleApps.map(\.rawValue), forKey: .appleApps)
        try members.encode(client.androidApps.map(\.description), forKey: .androidApps)
        try members.encode(client.postLogoutRedirectURIs, forKey: .postLogoutRedirectURIs)
        try members.encodeIfPresent(client.backchannelLogoutURI?.rawValue, forKey: .backchannelLogoutURI)
    }

    private func encodeStanding(into members: inout KeyedEncodingContainer<Member>) throws {
        try members.encode(client.approval.rawValue, forKey: .approval)
        if !client.testers.isEmpty { try members.encode(client.testers.map(\.rawValue), forKey: .testers) }
        try members.encodeIfPresent(
            client.suspension.map { Suspension(at: Self.seconds($0.at), reason: $0.reason) }, forKey: .suspension)
    }

    private func encodePolicy(into members: inout KeyedEncodingContainer<Member>) throws {
        let policy = client.policy
        try members.encode(policy.isFirstParty, forKey: .firstParty)
        try members.encode(policy.isVouchedFor, forKey: .vouchedFor)
        try members.encode(policy.isClaimedHTTPSVerified, forKey: .claimedHTTPSVerified)
        try members.encode(policy.pkce.description, forKey: .pkce)
        try members.encode(policy.requiresState, forKey: .requireState)
        try members.encode(policy.requiresPushedRequests, forKey: .requirePushedRequests)
        try members.encode(policy.requiresBoundTokens, forKey: .requireBoundTokens)
        try members.encode(policy.refreshTokens.rawValue, forKey: .refreshTokens)
        try members.encodeIfPresent(policy.refreshTokenLife.rotates, forKey: .rotatesRefreshTokens)
        try members.encodeIfPresent(policy.refreshTokenLife.gracePeriod, forKey: .refreshGracePeriod)
        try members.encodeIfPresent(policy.refreshTokenLife.idleLifetime, forKey: .refreshIdleLifetime)
        try members.encodeIfPresent(policy.refreshTokenLife.lifetime, forKey: .refreshLifetime)
        try members.encodeIfPresent(policy.accessTokenLifetime, forKey: .accessTokenLifetime)
        try members.encodeIfPresent(policy.idTokenLifetime, forKey: .idTokenLifetime)
        try members.encode(policy.webViews.rawValue, forKey: .webViews)
        try members.encode(policy.minimumAuthentication.rawValue, forKey: .minimumAuthentication)
        try members.encode(policy.idTokenAlgorithm.rawValue, forKey: .idTokenAlgorithm)
        try members.encode(policy.putsUserClaimsInIDToken, forKey: .userClaimsInIDToken)
        try members.encode(policy.subjectType.rawValue, forKey: .subjectType)
    }

    private static func seconds(_ moment: Date) -> Int { Int(moment.timeIntervalSince1970) }

    /// Returns the version of a client, which every change of it replaces.
    static func version(of client: RegisteredClient) throws -> EntityTag {
        try EntityTag(of: [client.id.rawValue, "\(client.revision)", "\(seconds(client.createdAt))"])
    }
}

/// A warning or a note about an accepted redirect URI in a request.
struct ClientWarning: Sendable, Hashable, Encodable {
    /// The severity: `warning` for a risk, `note` for a fact that can surprise.
    private let severity: String
    private let redirectURI: String
    private let detail: String

    private enum CodingKeys: String, CodingKey {
        case severity
        case redirectURI = "redirect_uri"
        case detail
    }

    fileprivate init(_ warning: RedirectURIWarning, about uri: RedirectURI) {
        severity = warning.isNote ? "note" : "warning"
        redirectURI = uri.rawValue
        detail = Localizer.english(warning.text)
    }
}

extension ClientRules {
    /// Returns the warnings about the redirect URIs of an accepted draft.
    ///
    /// - Parameter policy: The policy of the client after the change.
    func warnings(
        about draft: ClientDraft, policy: ClientPolicy, of type: ClientType, id: ClientIdentifier,
        schemesInUse: Set<String>
    ) -> [ClientWarning] {
        let context = context(draft, type: type, id: id, isFirstParty: false, schemesInUse: schemesInUse)
        return draft.redirectURIs.flatMap { text -> [ClientWarning] in
            guard case .accepted(let uri, let warnings) = RedirectURIRegistration.verdict(on: text, for: context) else {
                return []
            }
            return warnings.filter { $0 != .claimed || !policy.isClaimedHTTPSVerified }
                .map { ClientWarning($0, about: uri) }
        }
    }
}
