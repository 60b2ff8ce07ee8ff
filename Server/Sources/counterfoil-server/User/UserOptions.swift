import ArgumentParser
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation

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

    /// The text options with their names and formats.
    private var texts: [(option: String, value: String?, format: ClaimFormat)] {
        [
            ("display-name", displayName, .name), ("given-name", givenName, .name), ("family-name", familyName, .name),
            ("middle-name", middleName, .name), ("nickname", nickname, .name), ("profile", profile, .url),
            ("picture", picture, .url), ("website", website, .url), ("gender", gender, .name),
            ("birthdate", birthdate, .birthdate), ("zoneinfo", zoneinfo, .timeZone), ("locale", locale, .language),
            ("phone", phone, .telephone), ("address-formatted", addressFormatted, .lines),
            ("address-street", addressStreet, .lines), ("address-locality", addressLocality, .name),
            ("address-region", addressRegion, .name), ("address-postal-code", addressPostalCode, .name),
            ("address-country", addressCountry, .name),
        ]
    }

    /// Whether any option is given.
    var hasChanges: Bool {
        email != nil || emailVerified != nil || phoneVerified != nil || texts.contains { $0.value != nil }
    }

    func validate() throws {
        for (option, value, format) in texts {
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

    /// Writes the given options into a user.
    ///
    /// White space at the beginning and the end of a value is ignored. A changed email address or phone number becomes
    /// unverified, unless the options also say that it is verified.
    func write(into user: inout User) {
        func replace(_ old: inout String?, by value: String?) {
            if let value = value?.trimmingWhitespace() { old = value.isEmpty ? nil : value }
        }
        if let displayName { user.displayName = displayName.trimmingWhitespace() }
        let formerPhone = user.profile.phoneNumber
        user.changeEmail(to: email.map(EmailAddress.init) ?? user.email, isVerified: emailVerified)
        var profile = user.profile
        replace(&profile.givenName, by: givenName)
        replace(&profile.familyName, by: familyName)
        replace(&profile.middleName, by: middleName)
        replace(&profile.nickname, by: nickname)
        replace(&profile.profile, by: self.profile)
        replace(&profile.picture, by: picture)
        replace(&profile.website, by: website)
        replace(&profile.gender, by: gender)
        replace(&profile.birthdate, by: birthdate)
        replace(&profile.zoneInfo, by: zoneinfo)
        replace(&profile.locale, by: locale)
        replace(&profile.phoneNumber, by: phone)
        if profile.phoneNumber != formerPhone { profile.isPhoneNumberVerified = nil }
        if let phoneVerified { profile.isPhoneNumberVerified = phoneVerified }
        var address = profile.address ?? UserProfile.Address()
        replace(&address.formatted, by: addressFormatted)
        replace(&address.streetAddress, by: addressStreet)
        replace(&address.locality, by: addressLocality)
        replace(&address.region, by: addressRegion)
        replace(&address.postalCode, by: addressPostalCode)
        replace(&address.country, by: addressCountry)
        profile.address = address == UserProfile.Address() ? nil : address
        user.profile = profile
    }
}
