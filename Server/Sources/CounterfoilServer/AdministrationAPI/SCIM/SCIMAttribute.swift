import CounterfoilProtocol

/// An attribute of a user in SCIM (RFC 7643 §4.1).
enum SCIMAttribute: Sendable, Hashable {
    case externalID, userName, displayName, name, givenName, familyName, middleName, formattedName
    case emails, emailValue, active, password
    /// An attribute that only the server sets: `id`, `schemas`, `meta` or `groups`.
    case readOnly
    /// An attribute of the standard that the server does not store.
    case unstored

    /// The schema of users.
    static let userSchema = "urn:ietf:params:scim:schemas:core:2.0:User"
    /// The schema of the enterprise extension (RFC 7643 §4.3), of which the server stores nothing.
    static let enterpriseSchema = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"

    private static let known: [String: Self] = [
        "externalid": .externalID, "username": .userName, "displayname": .displayName, "active": .active,
        "password": .password, "name": .name, "name.givenname": .givenName, "name.familyname": .familyName,
        "name.middlename": .middleName, "name.formatted": .formattedName, "emails": .emails,
        "emails.value": .emailValue, "id": .readOnly, "schemas": .readOnly, "meta": .readOnly, "groups": .readOnly,
        "name.honorificprefix": .unstored, "name.honorificsuffix": .unstored, "emails.type": .unstored,
        "emails.primary": .unstored, "emails.display": .unstored,
    ]

    private static let unstoredNames: Set<String> = [
        "nickname", "profileurl", "title", "usertype", "preferredlanguage", "locale", "timezone", "phonenumbers", "ims",
        "photos", "addresses", "entitlements", "roles", "x509certificates",
    ]

    /// Finds an attribute by its name, with or without the URN of its schema; nil if there is none.
    init?(_ name: String) {
        let name = Self.canonical(name)
        if let attribute = Self.known[name] {
            self = attribute
        } else if Self.unstoredNames.contains(name.prefix { $0 != "." && $0 != "[" }.description)
            || name == Self.enterpriseSchema.lowercased() || name.hasPrefix(Self.enterpriseSchema.lowercased() + ":")
        {
            self = .unstored
        } else {
            return nil
        }
    }

    /// Returns a name in the form in which names are compared, without the URN of the schema of users.
    ///
    /// RFC 7643 §2.1: names do not distinguish upper and lower case.
    static func canonical(_ name: String) -> String {
        let name = name.lowercased()
        let prefix = userSchema.lowercased() + ":"
        return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
    }
}

/// The target of an operation of a PATCH request: an attribute, and which of its values (RFC 7644 §3.5.2).
struct SCIMPath: Sendable {
    let attribute: SCIMAttribute
    /// The conditions on the value of `emails`; empty for none.
    let values: [SCIMFilter.Email]

    /// Parses the path of an operation, or the name of a member.
    init(parsing text: String) throws(ProblemError) {
        var reader = SCIMFilterReader(text, failingWith: .invalidPath)
        let name = try reader.readName()
        guard reader.take("[") else {
            try reader.end()
            (attribute, values) = (try Self.attribute(name), [])
            return
        }
        guard SCIMAttribute(name) == .emails else {
            // Such as addresses[type eq "work"].locality, of which nothing is stored.
            attribute = try Self.attribute(name)
            values = []
            guard attribute == .unstored else { throw reader.refusal("Only emails can have a filter.") }
            return
        }
        values = try reader.readEmailConditions()
        if reader.take(".") {
            attribute = try Self.attribute("emails." + (try reader.readName()))
        } else {
            attribute = .emails
        }
        try reader.end()
    }

    private static func attribute(_ name: String) throws(ProblemError) -> SCIMAttribute {
        guard let attribute = SCIMAttribute(name) else {
            throw ProblemError(.invalidPath, "\(EscapedText(name)): a user has no such attribute.")
        }
        return attribute
    }
}
