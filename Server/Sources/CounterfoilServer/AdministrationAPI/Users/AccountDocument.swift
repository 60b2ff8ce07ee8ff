import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// A user in answers of the administration API, without the password hash.
///
/// If OpenID Connect Core §5.1 defines a claim for a value, the member has the name of that claim.
struct AccountDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, username, name, email, role, disabled, profile
        case isEmailVerified = "email_verified"
        case hasPassword = "has_password"
        case mustChangePassword = "must_change_password"
        case termsVersion = "terms_version"
        case termsAcceptedAt = "terms_accepted_at"
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case lastSignInAt = "last_sign_in_at"
        case hasSecondFactor = "has_second_factor"
        case passkeys
        case externalID = "external_id"
    }

    let id: String
    let username: String
    let name: String
    let email: String?
    let isEmailVerified: Bool
    let role: String?
    let disabled: Bool
    let hasPassword: Bool
    let mustChangePassword: Bool
    let profile: UserProfile
    let termsVersion: String?
    let termsAcceptedAt: Date?
    let createdAt: Date
    let updatedAt: Date
    let lastSignInAt: Date?
    let hasSecondFactor: Bool?
    let passkeys: Int?
    let externalID: String?

    init(_ overview: UserOverview) {
        self.init(
            overview.user, lastSignInAt: overview.lastSignInAt, hasSecondFactor: overview.hasSecondFactor,
            passkeys: overview.passkeys)
    }

    private init(_ user: User, lastSignInAt: Date?, hasSecondFactor: Bool?, passkeys: Int?) {
        id = user.id.rawValue
        username = user.username.rawValue
        name = user.displayName
        email = user.email?.rawValue
        isEmailVerified = user.profile.isEmailVerified == true
        role = user.role?.rawValue
        disabled = user.disabledAt != nil
        hasPassword = user.passwordHash != nil
        mustChangePassword = user.mustChangePassword
        var claims = user.profile
        claims.isEmailVerified = nil
        profile = claims
        termsVersion = user.acceptedTerms?.version
        termsAcceptedAt = user.acceptedTerms?.acceptedAt
        createdAt = user.createdAt
        updatedAt = user.changedAt
        self.lastSignInAt = lastSignInAt
        self.hasSecondFactor = hasSecondFactor
        self.passkeys = passkeys
        externalID = user.externalID?.rawValue
    }

    /// Returns the version of a user, which a sign-in does not change.
    static func version(of user: User) throws -> EntityTag {
        try EntityTag(of: AccountDocument(user, lastSignInAt: nil, hasSecondFactor: nil, passkeys: nil))
    }
}

/// A disabled user whose record this version cannot read.
struct DisabledAccountDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable { case id, username, disabled }

    let id: String
    let username: String
    let disabled = true

    init(id: UserIdentifier, username: String) {
        self.id = id.rawValue
        self.username = username
    }
}

extension StoreFault {
    /// Whether a record has an invalid value, or one that this version does not know.
    var isOfRecord: Bool {
        switch self {
        case .unsupported, .damaged: true
        case .unavailable, .unconfirmed: false
        }
    }
}

extension AdministrationAnswer {
    /// Creates the answer with a user as it is stored now; throws 404 if it was deleted.
    init(user id: UserIdentifier, _ call: AdministrationCall) async throws {
        guard let overview = try await call.store.userOverview(id) else { throw NotFoundError() }
        try self.init(AccountDocument(overview), version: try AccountDocument.version(of: overview.user))
    }

    /// Creates the answer with a new user, without another read after the commit.
    init(created user: User, _ call: AdministrationCall) throws {
        let overview = UserOverview(user: user, lastSignInAt: nil, hasSecondFactor: false, passkeys: 0)
        try self.init(
            AccountDocument(overview), version: try AccountDocument.version(of: user),
            location: call.url("/users/" + AdministrationCall.escaped(user.id.rawValue)))
        self.user = user.id
    }
}
