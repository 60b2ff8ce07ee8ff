import CounterfoilServer
import CounterfoilStore
import Foundation

/// A user in the output of commands, without the password hash.
///
/// If OpenID Connect Core §5.1 defines a claim for a value, the JSON member has the name of that claim.
struct UserDocument: Encodable {
    private let person: Person

    init(_ person: Person) { self.person = person }

    private enum CodingKeys: String, CodingKey {
        case sub, username, name, email, administrator, disabled, profile
        case createdAt = "created_at"
        case changedAt = "updated_at"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(person.id.rawValue, forKey: .sub)
        try values.encode(person.username.rawValue, forKey: .username)
        try values.encode(person.displayName, forKey: .name)
        try values.encodeIfPresent(person.email?.rawValue, forKey: .email)
        try values.encode(person.isAdministrator, forKey: .administrator)
        try values.encode(person.disabledAt != nil, forKey: .disabled)
        try values.encode(person.profile, forKey: .profile)
        try values.encode(Int(person.createdAt.timeIntervalSince1970), forKey: .createdAt)
        try values.encode(Int(person.changedAt.timeIntervalSince1970), forKey: .changedAt)
    }

    /// The user as one line of text.
    var line: String {
        var words = "\(person.username)"
        if let email = person.email { words += " <\(email)>" }
        if person.isAdministrator { words += ", administrator" }
        if person.disabledAt != nil { words += ", disabled" }
        return words
    }

    /// The user as text, one line for each value.
    ///
    /// Values that are not set are omitted.
    var words: String {
        let profile = person.profile
        var lines = [line, "  sub: \(person.id)", "  name: \(DisplayName(person.displayName))"]
        func add(_ name: String, _ value: String?) {
            // `DisplayName` removes line breaks and control characters, so a value cannot imitate another line.
            if let value { lines.append("  \(name): \(DisplayName(value))") }
        }
        if person.email != nil { add("email verified", profile.isEmailVerified == true ? "yes" : "no") }
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
        return lines.joined(separator: "\n")
    }
}
