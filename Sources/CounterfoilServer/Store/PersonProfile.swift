/// The claims about a user other than name and email address, all optional (OpenID Connect Core §5.1).
public struct PersonProfile: Sendable, Hashable, Codable {
    /// `given_name`.
    public var givenName: String?
    /// `family_name`.
    public var familyName: String?
    /// `middle_name`.
    public var middleName: String?
    /// `nickname`.
    public var nickname: String?
    /// `profile`, an https URL.
    public var profile: String?
    /// `picture`, an https URL.
    public var picture: String?
    /// `website`, an https URL.
    public var website: String?
    /// `gender`.
    public var gender: String?
    /// `birthdate`, as `YYYY-MM-DD` or `YYYY`.
    public var birthdate: String?
    /// `zoneinfo`, such as `Europe/Oslo`.
    public var zoneInfo: String?
    /// `locale`, such as `nb-NO`.
    public var locale: String?
    /// `email_verified`; nil counts as false.
    public var isEmailVerified: Bool?
    /// `phone_number`.
    public var phoneNumber: String?
    /// `phone_number_verified`; nil counts as false.
    public var isPhoneNumberVerified: Bool?
    /// `address`.
    public var address: Address?

    /// A postal address (OpenID Connect Core §5.1.1).
    public struct Address: Sendable, Hashable, Codable {
        /// `formatted`, the full address for display or a mailing label.
        public var formatted: String?
        /// `street_address`.
        public var streetAddress: String?
        /// `locality`.
        public var locality: String?
        /// `region`.
        public var region: String?
        /// `postal_code`.
        public var postalCode: String?
        /// `country`.
        public var country: String?

        private enum CodingKeys: String, CodingKey {
            case formatted, locality, region, country
            case streetAddress = "street_address"
            case postalCode = "postal_code"
        }

        /// Creates an empty address.
        public init() {}
    }

    private enum CodingKeys: String, CodingKey {
        case nickname, profile, picture, website, gender, birthdate, locale, address
        case givenName = "given_name"
        case familyName = "family_name"
        case middleName = "middle_name"
        case zoneInfo = "zoneinfo"
        case isEmailVerified = "email_verified"
        case phoneNumber = "phone_number"
        case isPhoneNumberVerified = "phone_number_verified"
    }

    /// Creates an empty profile.
    public init() {}
}
