import ArgumentParser
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens

/// The options for the claims of a user (OpenID Connect Core §5.1).
///
/// An option with an empty value removes the claim. Only the display name cannot be empty.
struct UserOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The name shown on pages.", valueName: "name"))
    var displayName: String?

    @Option(name: .long, help: "The email address, which also works for sign-in.")
    var email: String?

    @Option(name: .long, help: ArgumentHelp("Whether the email address is verified: true or false.", valueName: "bool"))
    var emailVerified: Bool?

    @Option(name: .long, help: ArgumentHelp("The given name.", valueName: "name"))
    var givenName: String?

    @Option(name: .long, help: ArgumentHelp("The family name.", valueName: "name"))
    var familyName: String?

    @Option(name: .long, help: ArgumentHelp("The middle name.", valueName: "name"))
    var middleName: String?

    @Option(name: .long, help: ArgumentHelp("The nickname.", valueName: "name"))
    var nickname: String?

    @Option(name: .long, help: ArgumentHelp("The https URL of the profile page.", valueName: "url"))
    var profile: String?

    @Option(name: .long, help: ArgumentHelp("The https URL of a picture of the user.", valueName: "url"))
    var picture: String?

    @Option(name: .long, help: ArgumentHelp("The https URL of the user's website.", valueName: "url"))
    var website: String?

    @Option(name: .long, help: "The gender.")
    var gender: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The birthday: 1990-01-31, 0000-01-31 without the year, or 1990.", valueName: "date"))
    var birthdate: String?

    @Option(name: .long, help: ArgumentHelp("The time zone, such as Europe/Oslo.", valueName: "zone"))
    var zoneinfo: String?

    @Option(name: .long, help: ArgumentHelp("The language, such as nb-NO.", valueName: "language"))
    var locale: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The phone number with its country code, such as +4722225555.", valueName: "number"))
    var phone: String?

    @Option(name: .long, help: ArgumentHelp("Whether the phone number is verified: true or false.", valueName: "bool"))
    var phoneVerified: Bool?

    @Option(name: .long, help: ArgumentHelp("The complete postal address, as on an envelope.", valueName: "text"))
    var addressFormatted: String?

    @Option(name: .long, help: ArgumentHelp("The street and house number.", valueName: "street"))
    var addressStreet: String?

    @Option(name: .long, help: ArgumentHelp("The city.", valueName: "city"))
    var addressLocality: String?

    @Option(name: .long, help: ArgumentHelp("The state or region.", valueName: "region"))
    var addressRegion: String?

    @Option(name: .long, help: ArgumentHelp("The postal code.", valueName: "code"))
    var addressPostalCode: String?

    @Option(name: .long, help: ArgumentHelp("The country.", valueName: "country"))
    var addressCountry: String?

    /// The place of a claim in a user of the administration API.
    private enum Place { case user, profile, address }

    /// The text options, with the claims that they set and their formats.
    private var texts: [(option: String, claim: String, place: Place, value: String?, format: ClaimFormat)] {
        [
            ("display-name", "name", .user, displayName, .name),
            ("given-name", "given_name", .profile, givenName, .name),
            ("family-name", "family_name", .profile, familyName, .name),
            ("middle-name", "middle_name", .profile, middleName, .name),
            ("nickname", "nickname", .profile, nickname, .name), ("profile", "profile", .profile, profile, .url),
            ("picture", "picture", .profile, picture, .url), ("website", "website", .profile, website, .url),
            ("gender", "gender", .profile, gender, .name),
            ("birthdate", "birthdate", .profile, birthdate, .birthdate),
            ("zoneinfo", "zoneinfo", .profile, zoneinfo, .timeZone), ("locale", "locale", .profile, locale, .language),
            ("phone", "phone_number", .profile, phone, .telephone),
            ("address-formatted", "formatted", .address, addressFormatted, .lines),
            ("address-street", "street_address", .address, addressStreet, .lines),
            ("address-locality", "locality", .address, addressLocality, .name),
            ("address-region", "region", .address, addressRegion, .name),
            ("address-postal-code", "postal_code", .address, addressPostalCode, .name),
            ("address-country", "country", .address, addressCountry, .name),
        ]
    }

    /// Whether any option is given.
    var hasChanges: Bool {
        email != nil || emailVerified != nil || phoneVerified != nil || texts.contains { $0.value != nil }
    }

    func validate() throws {
        for (option, _, _, value, format) in texts {
            guard let value = value?.trimmingWhitespace(), !value.isEmpty else { continue }
            guard format.accepts(value) else { throw ValidationError("--\(option): \(format.rule)") }
        }
        try Self.checkVisible(displayName: displayName)
        guard email.map({ $0.trimmingWhitespace().isEmpty || EmailAddress($0) != nil }) ?? true else {
            throw ValidationError("--email: \(email ?? "") is not a valid email address.")
        }
    }

    /// Throws if nothing of a display name can be seen.
    static func checkVisible(displayName: String?) throws {
        guard displayName.map(DisplayName.isVisible) ?? true else {
            throw ValidationError("--display-name cannot be empty.")
        }
    }

    /// The given options as a change of a user (RFC 7396), in which an empty value becomes null.
    ///
    /// White space at the beginning and the end of a value is ignored.
    var members: [String: JSONValue] {
        var parts: [Place: [String: JSONValue]] = [:]
        func set(_ claim: String, at place: Place, to value: String?) {
            guard let value = value?.trimmingWhitespace() else { return }
            parts[place, default: [:]][claim] = value.isEmpty ? .null : .string(value)
        }
        for text in texts { set(text.claim, at: text.place, to: text.value) }
        set("email", at: .user, to: email)
        if let emailVerified { parts[.user, default: [:]]["email_verified"] = .boolean(emailVerified) }
        if let phoneVerified { parts[.profile, default: [:]]["phone_number_verified"] = .boolean(phoneVerified) }
        if let address = parts[.address] { parts[.profile, default: [:]]["address"] = .object(address) }
        if let profile = parts[.profile] { parts[.user, default: [:]]["profile"] = .object(profile) }
        return parts[.user] ?? [:]
    }
}
