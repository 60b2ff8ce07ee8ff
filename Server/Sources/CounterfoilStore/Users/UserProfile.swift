/// The claims about a user other than name and email address, all optional (OpenID Connect Core §5.1).
public struct UserProfile: Sendable, Hashable, Codable {
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

        fileprivate enum CodingKeys: String, CodingKey {
            case formatted, locality, region, country
            case streetAddress = "street_address"
            case postalCode = "postal_code"
        }

        /// Creates an empty address.
        public init() {}
    }

    fileprivate enum CodingKeys: String, CodingKey {
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

extension UserProfile {
    /// The change of a stored profile to this one, as a JSON Merge Patch (RFC 7396).
    ///
    /// It contains every member of the profile, with null for one that is not set. A member that a newer version has
    /// stored is not in the patch, so it stays.
    package var mergePatch: some Encodable { MergePatch(profile: self) }

    private struct MergePatch: Encodable {
        let profile: UserProfile

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encode(profile.givenName, forKey: .givenName)
            try members.encode(profile.familyName, forKey: .familyName)
            try members.encode(profile.middleName, forKey: .middleName)
            try members.encode(profile.nickname, forKey: .nickname)
            try members.encode(profile.profile, forKey: .profile)
            try members.encode(profile.picture, forKey: .picture)
            try members.encode(profile.website, forKey: .website)
            try members.encode(profile.gender, forKey: .gender)
            try members.encode(profile.birthdate, forKey: .birthdate)
            try members.encode(profile.zoneInfo, forKey: .zoneInfo)
            try members.encode(profile.locale, forKey: .locale)
            try members.encode(profile.isEmailVerified, forKey: .isEmailVerified)
            try members.encode(profile.phoneNumber, forKey: .phoneNumber)
            try members.encode(profile.isPhoneNumberVerified, forKey: .isPhoneNumberVerified)
            try members.encode(profile.address.map(AddressPatch.init(address:)), forKey: .address)
        }
    }

    private struct AddressPatch: Encodable {
        let address: Address

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: Address.CodingKeys.self)
            try members.encode(address.formatted, forKey: .formatted)
            try members.encode(address.streetAddress, forKey: .streetAddress)
            try members.encode(address.locality, forKey: .locality)
            try members.encode(address.region, forKey: .region)
            try members.encode(address.postalCode, forKey: .postalCode)
            try members.encode(address.country, forKey: .country)
        }
    }
}
