import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens
import Foundation

extension SQLConnection {
    func client(_ id: ClientIdentifier) throws -> RegisteredClient? {
        try first(
            "SELECT \(RegisteredClient.columns) FROM clients WHERE clients.id = ?", id.rawValue,
            read: RegisteredClient.init(_:))
    }

    func insert(_ client: RegisteredClient) throws {
        try send(
            RegisteredClient.insertion,
            values: [client.id.rawValue, client.type.rawValue, client.createdAt.microseconds]
                + client.changeableValues + client.derivedValues
        )
    }

    func update(_ client: RegisteredClient) throws {
        // The stored key set can contain keys of a type that this version does not know. An update that does not change
        // the other keys keeps them.
        let keys = try first("SELECT keys FROM clients WHERE id = ?", client.id.rawValue) { columns in
            try columns.optionalBytes()
        }
        try send(RegisteredClient.change, values: client.changeableValues + client.derivedValues + [client.id.rawValue])
        if let stored = keys ?? nil, let parsed = try? JSONWebKeySet(parsing: stored), parsed == client.keys,
            stored != client.keys?.encoded()
        {
            try send("UPDATE clients SET keys = ?2 WHERE id = ?1", client.id.rawValue, Data(stored))
        }
        guard client.isUnregistered else { return }
        try send("UPDATE clients SET type = ?2 WHERE id = ?1 AND type <> ?2", client.id.rawValue, client.type.rawValue)
    }
}

extension RegisteredClient {
    private static let changeable = [
        "owner_id", "name", "publisher", "consent_text", "privacy_uri", "terms_uri", "logo", "redirect_uris", "scope",
        "optional_scope", "origins", "apple_apps", "android_apps", "post_logout_redirect_uris",
        "backchannel_logout_uri",
        "keys", "keys_uri", "source", "metadata", "registration_access_token", "is_first_party", "is_vouched_for",
        "is_claimed_https_verified", "pkce_policy", "requires_state",
        "requires_pushed_requests", "requires_bound_tokens",
        "refresh_tokens", "rotates_refresh_tokens", "refresh_grace_period", "refresh_idle_lifetime", "refresh_lifetime",
        "subject_type", "access_token_lifetime", "id_token_lifetime", "web_views", "minimum_authentication",
        "id_token_algorithm", "puts_user_claims_in_id_token", "machine_scope", "approval", "testers", "suspended_at",
        "suspension_reason", "changed_at", "revision",
    ]
    private static let all = ["id", "type", "created_at"] + changeable
    /// The columns that only queries use, and that no record contains.
    private static let derived = ["host", "name_key"]

    /// The column names, each with the name of the table as a prefix, for joins.
    static let columns = all.map { "clients." + $0 }.joined(separator: ", ")

    fileprivate static let insertion = """
        INSERT INTO clients (\((all + derived).joined(separator: ", ")))
        VALUES (\(placeholders(all.count + derived.count)))
        """

    fileprivate static let change = """
        UPDATE clients SET (\((changeable + derived).joined(separator: ", ")))
            = (\(placeholders(changeable.count + derived.count)))
        WHERE id = ?
        """

    private static func placeholders(_ count: Int) -> String {
        repeatElement("?", count: count).joined(separator: ", ")
    }

    /// The values of the columns in `derived`, in the same order.
    fileprivate var derivedValues: [(any SQLValue)?] { [documentHost, ClientSearch.key(of: presentation.name)] }

    /// The values of the columns in `changeable`, in the same order.
    fileprivate var changeableValues: [(any SQLValue)?] {
        [
            owner?.rawValue,
            presentation.name,
            presentation.publisher,
            presentation.consentText,
            presentation.privacyURI?.rawValue,
            presentation.termsURI?.rawValue,
            presentation.logo?.rawValue,
            // This list and the following ones are stored as text. No element contains a space, so spaces delimit the
            // elements.
            redirectURIs.map(\.rawValue).joined(separator: " "),
            scope.description,
            optionalScope.description,
            origins.map(\.rawValue).joined(separator: " "),
            appleApps.map(\.rawValue).joined(separator: " "),
            androidApps.map(\.description).joined(separator: " "),
            postLogoutRedirectURIs.map(\.rawValue).joined(separator: " "),
            backchannelLogoutURI?.rawValue,
            keys.map { Data($0.encoded()) },
            keysURI?.rawValue,
            source.kind?.rawValue ?? "console",
            source.metadata.map { Data($0) },
            source.registrationAccessToken.map { Data($0.bytes) },
            policy.isFirstParty,
            policy.isVouchedFor,
            policy.isClaimedHTTPSVerified,
            policy.pkce.description,
            policy.requiresState,
            policy.requiresPushedRequests,
            policy.requiresBoundTokens,
            policy.refreshTokens.rawValue,
            policy.refreshTokenLife.rotates,
            policy.refreshTokenLife.gracePeriod,
            policy.refreshTokenLife.idleLifetime,
            policy.refreshTokenLife.lifetime,
            policy.subjectType.rawValue,
            policy.accessTokenLifetime,
            policy.idTokenLifetime,
            policy.webViews.rawValue,
            policy.minimumAuthentication.rawValue,
            policy.idTokenAlgorithm.rawValue,
            policy.putsUserClaimsInIDToken,
            policy.machineScope.description,
            approval.rawValue,
            testers.map(\.rawValue).joined(separator: " "),
            suspension?.at.microseconds,
            suspension?.reason,
            changedAt.microseconds,
            revision,
        ]
    }

    init(_ columns: inout Columns) throws {
        columns.record = "client"
        let id = try columns.value(ClientIdentifier.init(_:))
        let type = try columns.word(ClientType.init(rawValue:))
        let createdAt = try columns.date()
        self.init(
            id: id,
            type: type,
            owner: try columns.optionalValue(UserIdentifier.init(_:)),
            presentation: try ClientPresentation(&columns),
            redirectURIs: try columns.list { try RedirectURI($0) },
            scope: try columns.scope(),
            optionalScope: try columns.scope(),
            origins: try columns.list(RegisteredOrigin.init(_:)),
            appleApps: try columns.list(AppleApp.init(_:)),
            androidApps: try columns.list(AndroidApp.init(_:)),
            postLogoutRedirectURIs: try columns.list { try RedirectURI($0) },
            backchannelLogoutURI: try columns.optionalValue { try AbsoluteURI(parsing: $0) },
            keys: try columns.keys(),
            keysURI: try columns.optionalValue { try AbsoluteURI(parsing: $0) },
            source: try columns.source(),
            policy: try ClientPolicy(&columns),
            approval: try columns.word(ClientApproval.init(rawValue:)),
            testers: try columns.list(Username.init(_:)),
            suspension: try columns.suspension(),
            createdAt: createdAt,
            changedAt: try columns.date(),
            revision: Int(try columns.integer())
        )
    }
}

extension ClientPresentation {
    fileprivate init(_ columns: inout Columns) throws {
        self.init(
            name: try columns.text(),
            publisher: try columns.optionalText(),
            consentText: try columns.optionalText(),
            privacyURI: try columns.optionalValue { try AbsoluteURI(parsing: $0) },
            termsURI: try columns.optionalValue { try AbsoluteURI(parsing: $0) },
            logo: try columns.optionalValue(LogoIdentifier.init(_:))
        )
    }
}

extension ClientPolicy {
    fileprivate init(_ columns: inout Columns) throws {
        self.init(
            isFirstParty: try columns.flag(),
            isVouchedFor: try columns.flag(),
            isClaimedHTTPSVerified: try columns.flag(),
            pkce: try columns.word(PKCEPolicy.init(_:)),
            requiresState: try columns.flag(),
            requiresPushedRequests: try columns.flag(),
            requiresBoundTokens: try columns.flag(),
            refreshTokens: try columns.word(RefreshTokenPolicy.init(rawValue:)),
            refreshTokenLife: RefreshTokenLife(
                rotates: try columns.optionalInteger().map { $0 != 0 },
                gracePeriod: try columns.optionalInteger().map(Int.init),
                idleLifetime: try columns.optionalInteger().map(Int.init),
                lifetime: try columns.optionalInteger().map(Int.init)
            ),
            subjectType: try columns.word(SubjectType.init(rawValue:)),
            accessTokenLifetime: try columns.optionalInteger().map(Int.init),
            idTokenLifetime: try columns.optionalInteger().map(Int.init),
            webViews: try columns.word(WebViewPolicy.init(rawValue:)),
            minimumAuthentication: try columns.word(AuthenticationContext.init(rawValue:)),
            idTokenAlgorithm: try columns.word(SigningAlgorithm.init(rawValue:)),
            putsUserClaimsInIDToken: try columns.flag(),
            machineScope: try columns.scope()
        )
    }
}

extension ClientSource {
    fileprivate var metadata: [UInt8]? {
        switch self {
        case .console: nil
        case .document(let metadata): metadata
        case .registration(let registration): registration.metadata
        }
    }

    fileprivate var registrationAccessToken: ArtefactDigest? {
        guard case .registration(let registration) = self else { return nil }
        return registration.accessToken
    }
}

extension Columns {
    fileprivate mutating func source() throws(StoreFault) -> ClientSource {
        let name = try text()
        let unknown = unsupported(name)
        let (metadata, token) = (try optionalBytes(), try optionalBytes())
        switch (name, metadata, token.flatMap(ArtefactDigest.init(stored:))) {
        case ("console", nil, nil): return .console
        case ("documents", let metadata?, nil): return .document(metadata)
        case ("registration", let metadata?, let token?):
            return .registration(DynamicRegistration(metadata: metadata, accessToken: token))
        case ("console", _, _), ("documents", _, _), ("registration", _, _): throw damage()
        default: throw .unsupported(unknown)
        }
    }

    fileprivate mutating func suspension() throws(StoreFault) -> ClientSuspension? {
        switch (try optionalDate(), try optionalText()) {
        case (let at?, let reason?): return ClientSuspension(at: at, reason: reason)
        case (nil, nil): return nil
        default: throw damage()
        }
    }

    fileprivate mutating func keys() throws(StoreFault) -> JSONWebKeySet? {
        guard let bytes = try optionalBytes() else { return nil }
        guard let keys = try? JSONWebKeySet(parsing: bytes) else { throw damage() }
        return keys
    }
}
