public import CounterfoilPlatform
import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens

/// The claims about a user and the sign-in as typed values.
///
/// OpenID Connect Core §2 and §5.1. A property is nil if the claim is missing or has another type than the standard
/// requires. Only ``subject`` identifies a user; the others can change, and may be whatever the user has typed.
public struct StandardClaims: Sendable, Hashable {
    /// Every claim by name, including those without a property.
    public let all: [String: ClaimValue]

    init(_ claims: [String: ClaimValue]) { all = claims }

    /// `sub`: the identifier of the user, unique within the issuer.
    public var subject: String? { text("sub") }
    /// `name`: the full name for display.
    public var name: String? { text("name") }
    /// `given_name`: the given names.
    public var givenName: String? { text("given_name") }
    /// `family_name`: the family names.
    public var familyName: String? { text("family_name") }
    /// `middle_name`: the middle names.
    public var middleName: String? { text("middle_name") }
    /// `nickname`: a casual name.
    public var nickname: String? { text("nickname") }
    /// `preferred_username`: the name by which the user wants to be called, which is not unique.
    public var preferredUsername: String? { text("preferred_username") }
    /// `profile`: the URL of the user's profile page.
    public var profile: String? { text("profile") }
    /// `picture`: the URL of a picture of the user.
    public var picture: String? { text("picture") }
    /// `website`: the URL of the user's website.
    public var website: String? { text("website") }
    /// `email`: the email address.
    public var email: String? { text("email") }
    /// `email_verified`: whether the server has made sure that the email address is the user's.
    public var isEmailVerified: Bool? { flag("email_verified") }
    /// `gender`: such as `female` or `male`.
    public var gender: String? { text("gender") }
    /// `birthdate`: `YYYY-MM-DD`, `0000-MM-DD` without the year, or `YYYY`.
    public var birthdate: String? { text("birthdate") }
    /// `zoneinfo`: the time zone, such as `Europe/Oslo`.
    public var timeZone: String? { text("zoneinfo") }
    /// `locale`: the language tag, such as `nb-NO`.
    public var locale: String? { text("locale") }
    /// `phone_number`: the telephone number, such as `+47 22 00 00 00`.
    public var phoneNumber: String? { text("phone_number") }
    /// `phone_number_verified`: whether the server has made sure that the telephone number is the user's.
    public var isPhoneNumberVerified: Bool? { flag("phone_number_verified") }
    /// `address`: the postal address.
    public var address: Address? {
        guard case .object(let members) = all["address"] else { return nil }
        return Address(members.compactMapValues(\.text))
    }
    /// `updated_at`: the time at which the claims last changed.
    public var updatedAt: Date? { time("updated_at") }

    /// `auth_time`: the time at which the user authenticated.
    public var authTime: Date? { time("auth_time") }
    /// `acr`: the authentication context, one of `acr_values` after a step-up.
    public var authenticationContext: String? { text("acr") }
    /// `amr`: the methods with which the user authenticated, such as `pwd` and `otp` (RFC 8176); empty if missing.
    public var authenticationMethods: [String] {
        guard case .array(let values) = all["amr"] else { return [] }
        return values.compactMap(\.text)
    }

    /// A postal address (OpenID Connect Core §5.1.1); members that the server omits are nil.
    public struct Address: Sendable, Hashable {
        /// `formatted`: the whole address for display, with line feeds between its lines.
        public let formatted: String?
        /// `street_address`: street, number and the like, with line feeds between its lines.
        public let streetAddress: String?
        /// `locality`: the city.
        public let locality: String?
        /// `region`: the state, province or region.
        public let region: String?
        /// `postal_code`: the postal code.
        public let postalCode: String?
        /// `country`: the country.
        public let country: String?

        init(_ members: [String: String]) {
            formatted = members["formatted"]
            streetAddress = members["street_address"]
            locality = members["locality"]
            region = members["region"]
            postalCode = members["postal_code"]
            country = members["country"]
        }
    }

    private func text(_ name: String) -> String? { all[name]?.text }

    private func flag(_ name: String) -> Bool? { if case .boolean(let flag) = all[name] { flag } else { nil } }

    private func time(_ name: String) -> Date? {
        switch all[name] {
        case .integer(let seconds): Date(timeIntervalSince1970: Double(seconds))
        case .number(let seconds): Date(timeIntervalSince1970: seconds)
        default: nil
        }
    }
}

extension Credentials {
    /// The claims of the latest verified ID token; nil if there is none.
    ///
    /// They are read from ``idToken``, whose signature the client verified when it received the token.
    public var standardClaims: StandardClaims? {
        idToken.flatMap { JSONReader.unverifiedClaims(of: $0.exposed) }
            .map { claims in StandardClaims(claims.mapValues { ClaimValue($0) }) }
    }
}

extension UserInfo {
    /// The claims as typed values.
    public var standardClaims: StandardClaims { StandardClaims(claims) }
}
