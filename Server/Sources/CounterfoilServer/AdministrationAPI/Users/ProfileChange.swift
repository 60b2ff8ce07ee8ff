@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

/// A change of the claims about a user other than name and email address, from a JSON Merge Patch (RFC 7396).
struct ProfileChange: Sendable {
    /// A claim that cannot be set, with the rule that it must follow.
    struct Problem: Sendable {
        /// The path of the claim in the profile.
        let claim: [String]
        let rule: String
    }

    private typealias Claim = WritableKeyPath<UserProfile, String?> & Sendable
    private typealias Part = WritableKeyPath<UserProfile.Address, String?> & Sendable

    /// The new values by claim; nil removes one.
    private var texts: [String: String?] = [:]
    private var address: [String: String?] = [:]
    private var removesAddress = false
    private var isPhoneNumberVerified: Bool?

    private static let claims: [String: (path: any Claim, format: ClaimFormat)] = [
        "given_name": (\.givenName, .name), "family_name": (\.familyName, .name), "middle_name": (\.middleName, .name),
        "nickname": (\.nickname, .name), "profile": (\.profile, .url), "picture": (\.picture, .url),
        "website": (\.website, .url), "gender": (\.gender, .name), "birthdate": (\.birthdate, .birthdate),
        "zoneinfo": (\.zoneInfo, .timeZone), "locale": (\.locale, .language),
        "phone_number": (\.phoneNumber, .telephone),
    ]

    private static let parts: [String: (path: any Part, format: ClaimFormat)] = [
        "formatted": (\.formatted, .lines), "street_address": (\.streetAddress, .lines),
        "locality": (\.locality, .name),
        "region": (\.region, .name), "postal_code": (\.postalCode, .name), "country": (\.country, .name),
    ]

    /// Reads the members of the patch, and returns those that are refused.
    mutating func read(_ members: [String: JSONValue]) -> [Problem] {
        var problems: [Problem] = []
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            switch (name, value) {
            case ("phone_number_verified", .boolean(let flag)): isPhoneNumberVerified = flag
            case ("address", .null): removesAddress = true
            case ("address", .object(let parts)):
                for (part, value) in parts.sorted(by: { $0.key < $1.key }) {
                    if let rule = Self.rule(broken: value, Self.parts[part]?.format) {
                        problems.append(Problem(claim: [name, part], rule: rule))
                    } else {
                        address.updateValue(value.text.map { $0.trimmingWhitespace() }, forKey: part)
                    }
                }
            default:
                if let rule = Self.rule(broken: value, Self.claims[name]?.format) {
                    problems.append(Problem(claim: [name], rule: rule))
                } else {
                    // An assignment of nil would drop the claim in place of its value.
                    texts.updateValue(value.text.map { $0.trimmingWhitespace() }, forKey: name)
                }
            }
        }
        return problems
    }

    /// Returns the rule that a value breaks; nil if it can be set.
    private static func rule(broken value: JSONValue, _ format: ClaimFormat?) -> String? {
        guard let format else { return "A user has no such claim, or its value has another type." }
        switch value {
        case .null: return nil
        case .string(let text):
            let text = text.trimmingWhitespace()
            return !text.isEmpty && format.accepts(text) ? nil : "It " + format.rule
        default: return "It must be a string or null."
        }
    }

    /// Writes the change into a profile; another telephone number is unverified, unless it is stated to be verified.
    func write(into profile: inout UserProfile) {
        let formerPhone = profile.phoneNumber
        for (name, text) in texts {
            if let claim = Self.claims[name] { profile[keyPath: claim.path] = text }
        }
        if profile.phoneNumber != formerPhone { profile.isPhoneNumberVerified = nil }
        if let isPhoneNumberVerified { profile.isPhoneNumberVerified = isPhoneNumberVerified }
        var written = removesAddress ? UserProfile.Address() : profile.address ?? UserProfile.Address()
        for (name, text) in address {
            if let part = Self.parts[name] { written[keyPath: part.path] = text }
        }
        profile.address = written == UserProfile.Address() ? nil : written
    }
}
