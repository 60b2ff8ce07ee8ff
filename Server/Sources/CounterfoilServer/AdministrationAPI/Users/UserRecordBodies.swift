import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// The body with which users of another server are added.
struct ImportBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case users
        case isTrial = "dry_run"
    }

    /// The maximum number of users of a request.
    static let limit = 200

    /// The users, each of which is refused for itself.
    let users: [[String: JSONValue]]
    let isTrial: Bool

    init?(_ members: inout BodyMembers<Member>) {
        isTrial = members.flag(.isTrial) ?? false
        if !members.has(.users) || members.isNull(.users) { members.refuse(.users, "It is required.") }
        guard let users = members.objects(.users, atMost: Self.limit) else { return nil }
        self.users = users
    }
}

/// A user of another server, as an import has it.
struct UserRecordBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case sub, username, name, email, profile, groups, attributes, identities, role, disabled
        case isEmailVerified = "email_verified"
        case externalID = "external_id"
        case createdAt = "created_at"
        case passwordHash = "password_hash"
        case mustChangePassword = "must_change_password"
    }

    let id: UserIdentifier?
    let username: Username
    let email: EmailAddress?
    let role: UserRole?
    let identities: [ExternalSubject]
    private let name: String
    private let isEmailVerified: Bool
    private let profile: ProfileChange
    private let attributes: UserAttributes
    private let isDisabled: Bool
    private let externalID: ExternalIdentifier?
    private let createdAt: Date?
    private let passwordHash: PasswordHash?
    private let mustChangePassword: Bool

    init?(_ members: inout BodyMembers<Member>) {
        id = members.value(.sub, rule: Self.subRule) { text in
            UserIdentifier(text).flatMap { $0.isImportable ? $0 : nil }
        }
        let username = members.username(.username)
        let name = members.displayName(.name)
        email = members.email(.email)
        isEmailVerified = members.flag(.isEmailVerified) ?? false
        if isEmailVerified, !members.has(.email) || members.isNull(.email) {
            members.refuse(.isEmailVerified, "It needs an email address.")
        }
        profile = members.profile(.profile) ?? ProfileChange()
        attributes = members.userAttributes(groups: .groups, attributes: .attributes) ?? UserAttributes()
        identities = members.identities(.identities) ?? []
        role = members.role(.role)
        isDisabled = members.flag(.disabled) ?? false
        externalID = members.value(.externalID, rule: "It must have 1 to \(ExternalIdentifier.limit) bytes.") {
            ExternalIdentifier($0)
        }
        createdAt = members.value(.createdAt, rule: "It must be a time such as 2026-11-30T09:00:00Z.") {
            Moment.parse($0, in: .gmt)
        }
        passwordHash = members.passwordHash(.passwordHash)
        mustChangePassword = members.flag(.mustChangePassword) ?? false
        guard let username, let canonical = Username(username) else { return nil }
        self.username = canonical
        self.name = name ?? username.trimmingCharacters(in: .whitespaces)
    }

    private static let subRule =
        "It must have 1 to \(UserIdentifier.limit) letters, digits and - . _ | : @ + =, and not begin with app_ or api_. "
        + "One that begins with per_ must be of this software."

    /// Returns the user whom an import adds; the account is not younger than the import.
    func user(at time: Date) -> ImportedUser {
        let created = min(createdAt ?? time, time)
        var user = User(
            id: id ?? UserIdentifier(), username: username, email: email, displayName: name,
            passwordHash: passwordHash, role: role, createdAt: created, changedAt: time,
            disabledAt: isDisabled ? time : nil, mustChangePassword: mustChangePassword, externalID: externalID)
        profile.write(into: &user.profile)
        if isEmailVerified { user.profile.isEmailVerified = true }
        let identities = identities.map { UserIdentity(subject: $0, userID: user.id, createdAt: time) }
        return ImportedUser(user, attributes: attributes, identities: identities, keepsIdentifier: id != nil)
    }
}

extension BodyMembers {
    /// Returns a password hash in a form that a sign-in verifies; nil if it is absent, null or refused.
    fileprivate mutating func passwordHash(_ member: Member) -> PasswordHash? {
        guard let hash = text(member).map(PasswordHash.init(encoded:)) else { return nil }
        do throws(HashForm.Refusal) { _ = try HashForm(hash) } catch {
            refuse(member, "\(error)")
            return nil
        }
        return hash
    }

    /// Returns identities at other issuers; nil if the list is absent, null or refused.
    fileprivate mutating func identities(_ member: Member) -> [ExternalSubject]? {
        guard let objects = objects(member, atMost: UserIdentity.limitPerUser) else { return nil }
        let subjects = objects.compactMap { object -> ExternalSubject? in
            guard object.count == 2, let issuer = object["issuer"]?.text, let subject = object["subject"]?.text else {
                return nil
            }
            return ExternalSubject(issuer: issuer, subject: subject)
        }
        guard Set(subjects).count == objects.count else {
            refuse(
                member,
                "Each must be an object with an issuer of at most \(ExternalSubject.issuerLimit) bytes and a subject of "
                    + "at most \(ExternalSubject.subjectLimit), and occur once.")
            return nil
        }
        return subjects
    }
}

/// The results of an import.
struct ImportDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable { case results }

    /// The result for each user, in the order of the request.
    let results: [ImportResult]
}

/// The result of an import for one user.
struct ImportResult: Encodable, Sendable {
    enum Outcome: String, Encodable { case created, exists, refused }

    let outcome: Outcome
    /// The identifier of the user; nil for a refused one, and for one whose identifier the request does not have.
    let sub: String?
    /// The members that are refused; nil for none.
    let errors: [ProblemDetails.Part]?

    private init(_ outcome: Outcome, _ sub: String?, _ errors: [ProblemDetails.Part]?) {
        (self.outcome, self.sub, self.errors) = (outcome, sub, errors)
    }

    static func refused(_ parts: [ProblemDetails.Part]) -> ImportResult { ImportResult(.refused, nil, parts) }

    init(_ imported: ImportedUser, _ outcome: ImportUserOutcome) {
        let sub = imported.user.id.rawValue
        switch outcome {
        case .added: self.init(.created, sub, nil)
        case .exists: self.init(.exists, imported.keepsIdentifier ? sub : nil, nil)
        case .identifierTaken: self.init(.refused, nil, [.member("sub", "Another user or an app has it.")])
        case .usernameTaken: self.init(.refused, nil, [.member("username", "Another user has it.")])
        case .emailTaken: self.init(.refused, nil, [.member("email", "Another user has it.")])
        case .identityTaken: self.init(.refused, nil, [.member("identities", "Another user has one of them.")])
        }
    }
}

/// A user in the form that an import reads, without a password hash.
struct UserRecordDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case sub, username, name, email, profile, groups, attributes, identities, role, disabled
        case isEmailVerified = "email_verified"
        case externalID = "external_id"
        case createdAt = "created_at"
        case mustChangePassword = "must_change_password"
    }

    /// An identity at another issuer.
    struct Identity: Encodable, Sendable {
        let issuer: String
        let subject: String
    }

    private let sub: String
    private let username: String
    private let name: String
    private let email: String?
    private let isEmailVerified: Bool
    private let profile: UserProfile
    private let groups: [String]
    private let attributes: [String: AttributeValue]
    private let identities: [Identity]
    private let role: String?
    private let disabled: Bool
    private let externalID: String?
    private let createdAt: Date
    private let mustChangePassword: Bool

    init(_ user: User, _ attributes: UserAttributes, _ identities: [UserIdentity]) {
        let account = AccountDocument(
            UserOverview(user: user, lastSignInAt: nil, hasSecondFactor: false, passkeys: 0))
        let document = AttributesDocument(attributes)
        sub = account.id
        username = account.username
        name = account.name
        email = account.email
        isEmailVerified = account.isEmailVerified
        profile = account.profile
        groups = document.groups
        self.attributes = document.attributes
        self.identities = identities.map { Identity(issuer: $0.subject.issuer, subject: $0.subject.subject) }
        role = account.role
        disabled = account.disabled
        externalID = account.externalID
        createdAt = account.createdAt
        mustChangePassword = account.mustChangePassword
    }
}
