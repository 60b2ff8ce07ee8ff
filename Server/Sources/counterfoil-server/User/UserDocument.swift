import CounterfoilServer
import CounterfoilStore
import Foundation

/// A user in the output of commands, without the password hash.
///
/// If OpenID Connect Core §5.1 defines a claim for a value, the JSON member has the name of that claim.
struct UserDocument: Encodable {
    private let user: User
    /// The facts that are not in the record of the user; nil if they were not read.
    private let overview: UserOverview?

    /// The groups and attributes; nil if they were not read.
    private let attributes: UserAttributes?

    init(_ user: User, _ attributes: UserAttributes? = nil) {
        (self.user, overview, self.attributes) = (user, nil, attributes)
    }

    init(_ overview: UserOverview, _ attributes: UserAttributes? = nil) {
        (user, self.overview, self.attributes) = (overview.user, overview, attributes)
    }

    private enum CodingKeys: String, CodingKey {
        case sub, username, name, email, role, disabled, profile
        case externalID = "external_id"
        case mustChangePassword = "must_change_password"
        case termsVersion = "terms_version"
        case termsAcceptedAt = "terms_accepted_at"
        case hasPassword = "has_password"
        case createdAt = "created_at"
        case changedAt = "updated_at"
        case lastSignInAt = "last_sign_in_at"
        case hasSecondFactor = "second_factor"
        case passkeys, groups, attributes
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(user.id.rawValue, forKey: .sub)
        try values.encode(user.username.rawValue, forKey: .username)
        try values.encode(user.displayName, forKey: .name)
        try values.encodeIfPresent(user.email?.rawValue, forKey: .email)
        try values.encodeIfPresent(user.role?.rawValue, forKey: .role)
        try values.encode(user.disabledAt != nil, forKey: .disabled)
        if user.mustChangePassword { try values.encode(true, forKey: .mustChangePassword) }
        try values.encode(user.passwordHash != nil, forKey: .hasPassword)
        try values.encode(user.profile, forKey: .profile)
        try values.encodeIfPresent(user.externalID?.rawValue, forKey: .externalID)
        if let terms = user.acceptedTerms {
            try values.encode(terms.version, forKey: .termsVersion)
            try values.encode(Int(terms.acceptedAt.timeIntervalSince1970), forKey: .termsAcceptedAt)
        }
        try values.encode(Int(user.createdAt.timeIntervalSince1970), forKey: .createdAt)
        try values.encode(Int(user.changedAt.timeIntervalSince1970), forKey: .changedAt)
        if let attributes {
            try values.encode(attributes.groups.sorted().map(\.rawValue), forKey: .groups)
            try values.encode(
                Dictionary(uniqueKeysWithValues: attributes.values.map { ($0.key.rawValue, $0.value) }),
                forKey: .attributes)
        }
        guard let overview else { return }
        try values.encodeIfPresent(
            overview.lastSignInAt.map { Int($0.timeIntervalSince1970) }, forKey: .lastSignInAt)
        try values.encode(overview.hasSecondFactor, forKey: .hasSecondFactor)
        try values.encode(overview.passkeys, forKey: .passkeys)
    }

    /// The user as one line of text.
    var line: String {
        var words = "\(user.username)"
        if let email = user.email { words += " <\(email)>" }
        if let role = user.role { words += ", \(role.rawValue)" }
        if user.disabledAt != nil { words += ", disabled" }
        if user.mustChangePassword { words += ", must change the password" }
        if user.passwordHash == nil { words += ", no password" }
        return words
    }

    /// The user as text, one line for each value.
    ///
    /// Values that are not set are omitted.
    var words: String {
        let profile = user.profile
        var lines = [line, "  sub: \(user.id)", "  name: \(DisplayName(user.displayName))"]
        func add(_ name: String, _ value: String?) {
            // `DisplayName` removes line breaks and control characters, so a value cannot imitate another line.
            if let value { lines.append("  \(name): \(DisplayName(value))") }
        }
        if user.email != nil { add("email verified", profile.isEmailVerified == true ? "yes" : "no") }
        add("given name", profile.givenName)
        add("family name", profile.familyName)
        add("middle name", profile.middleName)
        add("nickname", profile.nickname)
        add("profile", profile.profile)
        add("picture", profile.picture)
        add("website", profile.website)
        add("gender", profile.gender)
        add("birthdate", profile.birthdate)
        add("time zone", profile.zoneInfo)
        add("language", profile.locale)
        add("telephone", profile.phoneNumber)
        if profile.phoneNumber != nil {
            add("telephone verified", profile.isPhoneNumberVerified == true ? "yes" : "no")
        }
        add("address", profile.address?.formatted)
        add("street", profile.address?.streetAddress)
        add("city", profile.address?.locality)
        add("region", profile.address?.region)
        add("postal code", profile.address?.postalCode)
        add("country", profile.address?.country)
        add("external ID", user.externalID?.rawValue)
        if let terms = user.acceptedTerms {
            add("accepted terms", "\(terms.version), \(Moment.text(terms.acceptedAt))")
        }
        if let attributes {
            let groups = attributes.groups.sorted().map { "\(DisplayName($0.rawValue))" }
            if !groups.isEmpty { lines.append("  groups: " + groups.joined(separator: ", ")) }
            for (name, value) in attributes.values.sorted(by: { $0.key < $1.key }) {
                add("attribute \(name)", value.json)
            }
        }
        if let overview {
            add("last sign-in", overview.lastSignInAt.map { Moment.text($0) } ?? "never")
            add("second factor", overview.hasSecondFactor ? "yes" : "no")
            add("passkeys", String(overview.passkeys))
        }
        return lines.joined(separator: "\n")
    }
}
