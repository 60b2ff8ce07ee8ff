@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
import Foundation

/// A session in the export of a user, without the digest of its token.
package struct UserSessionDocument: Encodable, Sendable {
    private let sid: String
    private let authenticatedAt: String
    private let methods: [String]
    private let lastSeenAt: String
    private let expiresAt: String
    private let userAgent: String
    private let source: String
    private let isPersistent: Bool

    private enum CodingKeys: String, CodingKey {
        case sid, source, methods
        case authenticatedAt = "authenticated_at"
        case lastSeenAt = "last_seen_at"
        case expiresAt = "expires_at"
        case userAgent = "user_agent"
        case isPersistent = "persistent"
    }

    package init(_ session: Session) {
        sid = session.id.rawValue
        authenticatedAt = Moment.text(session.authenticatedAt)
        methods = session.methods.all.map(\.rawValue).sorted()
        lastSeenAt = Moment.text(session.lastSeenAt)
        expiresAt = Moment.text(session.expiresAt)
        userAgent = session.userAgent
        source = session.source
        isPersistent = session.isPersistent
    }
}

/// A passkey in the export of a user, without its public key.
package struct UserPasskeyDocument: Encodable, Sendable {
    private let credentialID: String
    private let name: String
    private let product: String?
    private let isSynced: Bool
    private let createdAt: String
    private let lastUsedAt: String?
    private let lastUserAgent: String?
    private let lastSource: String?

    private enum CodingKeys: String, CodingKey {
        case name, product
        case credentialID = "credential_id"
        case isSynced = "synced"
        case createdAt = "created_at"
        case lastUsedAt = "last_used_at"
        case lastUserAgent = "last_user_agent"
        case lastSource = "last_source"
    }

    package init(_ passkey: Passkey) {
        credentialID = Base64URL.encode(passkey.credentialID)
        name = passkey.name
        product = PasskeyCeremonies.product(of: passkey)
        isSynced = passkey.isBackedUp
        createdAt = Moment.text(passkey.createdAt)
        lastUsedAt = passkey.lastUse.map { Moment.text($0.time) }
        lastUserAgent = passkey.lastUse?.userAgent
        lastSource = passkey.lastUse?.source
    }
}

/// An identity at another issuer in the export of a user.
package struct UserIdentityDocument: Encodable, Sendable {
    private let issuer: String
    private let subject: String
    private let createdAt: String
    private let lastUsedAt: String?

    private enum CodingKeys: String, CodingKey {
        case issuer, subject
        case createdAt = "created_at"
        case lastUsedAt = "last_used_at"
    }

    package init(_ identity: UserIdentity) {
        issuer = identity.subject.issuer
        subject = identity.subject.subject
        createdAt = Moment.text(identity.createdAt)
        lastUsedAt = identity.lastUsedAt.map(Moment.text)
    }
}

/// A second factor in the export of a user, without its secret.
package struct UserSecondFactorDocument: Encodable, Sendable {
    private let createdAt: String?
    private let hasApp: Bool?
    private let recoveryCodes: Int?
    private let isMissing: Bool
    private let securityKeys: [UserPasskeyDocument]

    private enum CodingKeys: String, CodingKey {
        case createdAt = "created_at"
        case hasApp = "authenticator_app"
        case securityKeys = "security_keys"
        case recoveryCodes = "unused_recovery_codes"
        case isMissing = "missing"
    }

    /// Creates the document; nil if the user has no second factor.
    package init?(_ state: SecondFactorState, securityKeys: [Passkey]) {
        self.securityKeys = securityKeys.map(UserPasskeyDocument.init)
        switch state {
        case .none: return nil
        case .lost: (createdAt, hasApp, recoveryCodes, isMissing) = (nil, nil, nil, true)
        case .active(let factor, let codes):
            (createdAt, hasApp) = (Moment.text(factor.createdAt), factor.hasApp)
            (recoveryCodes, isMissing) = (codes, false)
        }
    }
}

/// A grant in the export of a user, with the times of its refresh tokens but without a token or a digest.
package struct UserGrantDocument: Encodable, Sendable {
    private let grantID: String
    private let clientID: String
    private let scope: String
    private let claimScope: String?
    private let resources: [String]
    private let idTokenClaims: [String]
    private let userInfoClaims: [String]
    private let sid: String?
    private let authenticatedAt: String
    private let methods: [String]
    private let deviceName: String?
    private let userAgent: String
    private let source: String
    private let isSeparateDevice: Bool
    private let createdAt: String
    private let lastUsedAt: String
    private let accessUntil: String?
    private let revokedAt: String?
    private let refreshToken: RefreshToken?

    private struct RefreshToken: Encodable, Sendable {
        let rotated_at: String
        let last_used_at: String
        let expires_at: String
    }

    private enum CodingKeys: String, CodingKey {
        case scope, resources, sid, methods, source
        case grantID = "grant_id"
        case clientID = "client_id"
        case claimScope = "claim_scope"
        case idTokenClaims = "id_token_claims"
        case userInfoClaims = "userinfo_claims"
        case authenticatedAt = "authenticated_at"
        case deviceName = "device_name"
        case isSeparateDevice = "separate_device"
        case userAgent = "user_agent"
        case createdAt = "created_at"
        case lastUsedAt = "last_used_at"
        case accessUntil = "access_until"
        case revokedAt = "revoked_at"
        case refreshToken = "refresh_token"
    }

    package init(_ record: GrantWithTokens) {
        let grant = record.grant
        grantID = grant.id.rawValue
        clientID = grant.clientID.rawValue
        scope = grant.scope.description
        claimScope = grant.claimScope.isEmpty ? nil : grant.claimScope.description
        resources = grant.resources.map(\.rawValue)
        idTokenClaims = grant.claims.idToken.sorted()
        userInfoClaims = grant.claims.userInfo.sorted()
        sid = grant.sessionID?.rawValue
        authenticatedAt = Moment.text(grant.authenticatedAt)
        methods = grant.methods.all.map(\.rawValue).sorted()
        deviceName = grant.device.name
        userAgent = grant.device.userAgent
        source = grant.device.source
        isSeparateDevice = grant.device.isSeparate
        createdAt = Moment.text(grant.createdAt)
        lastUsedAt = Moment.text(grant.lastUsedAt)
        accessUntil = record.accessUntil.map(Moment.text)
        revokedAt = grant.revokedAt.map(Moment.text)
        refreshToken = record.family.map { family in
            RefreshToken(
                rotated_at: Moment.text(family.rotatedAt), last_used_at: Moment.text(family.lastUsedAt),
                expires_at: Moment.text(family.expiresAt))
        }
    }
}

/// A consent in the export of a user.
package struct UserConsentDocument: Encodable, Sendable {
    private let clientID: String
    private let clientName: String
    private let scope: String
    private let remembered: String
    private let rememberedAt: [String: String]
    private let since: String
    private let allowedAt: String
    private let lastUsedAt: String?

    private enum CodingKeys: String, CodingKey {
        case scope, since
        case clientID = "client_id"
        case clientName = "client_name"
        case remembered = "remembered_scope"
        case rememberedAt = "remembered_scope_by_api"
        case allowedAt = "allowed_at"
        case lastUsedAt = "last_used_at"
    }

    package init(_ facts: ConsentFacts) {
        let consent = facts.consent
        clientID = consent.clientID.rawValue
        clientName = facts.client.presentation.name
        scope = consent.scope.description
        remembered = consent.remembered.description
        rememberedAt = Dictionary(
            consent.rememberedAt.map { ($0.key.rawValue, $0.value.description) },
            uniquingKeysWith: { first, _ in first })
        since = Moment.text(consent.since)
        allowedAt = Moment.text(consent.allowedAt)
        lastUsedAt = consent.lastUsedAt.map(Moment.text)
    }
}

/// A record in the export of a user that this version cannot read.
package struct UnreadableDocument: Encodable, Sendable {
    private let record: String
    private let id: String?
    private let column: String

    package init(_ unreadable: UnreadableRecord) {
        record = unreadable.value.record
        id = unreadable.id
        column = unreadable.value.column
    }
}
