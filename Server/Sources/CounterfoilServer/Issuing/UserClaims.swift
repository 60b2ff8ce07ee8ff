import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens

extension UserClaims {
    /// Creates the claims of a user (OpenID Connect Core §5.1), without claims that have no value.
    init(of user: User) {
        let profile = user.profile
        var values: [String: Value] = [
            "name": .text(user.displayName), "preferred_username": .text(user.username.rawValue),
            "updated_at": .time(user.changedAt),
        ]
        let texts = [
            "given_name": profile.givenName, "family_name": profile.familyName, "middle_name": profile.middleName,
            "nickname": profile.nickname, "profile": profile.profile, "picture": profile.picture,
            "website": profile.website, "gender": profile.gender, "birthdate": profile.birthdate,
            "zoneinfo": profile.zoneInfo, "locale": profile.locale, "phone_number": profile.phoneNumber,
            "email": user.email?.rawValue,
        ]
        for case (let name, let text?) in texts { values[name] = .text(text) }
        if user.email != nil { values["email_verified"] = .flag(profile.isEmailVerified ?? false) }
        if profile.phoneNumber != nil {
            values["phone_number_verified"] = .flag(profile.isPhoneNumberVerified ?? false)
        }
        if let address = profile.address {
            let parts = [
                "formatted": address.formatted, "street_address": address.streetAddress, "locality": address.locality,
                "region": address.region, "postal_code": address.postalCode, "country": address.country,
            ].compactMapValues(\.self)
            if !parts.isEmpty { values["address"] = .address(parts) }
        }
        self.init(values)
    }

    /// Returns the names of the claims that a scope covers (OpenID Connect Core §5.4).
    static func names(for scope: Scope) -> Set<String> {
        var names: Set<String> = []
        if scope.contains(.profile) { names.formUnion(profile) }
        if scope.contains(.email) { names.formUnion(["email", "email_verified"]) }
        if scope.contains(.phone) { names.formUnion(["phone_number", "phone_number_verified"]) }
        if scope.contains(.address) { names.insert("address") }
        return names
    }

    /// Returns the standard scopes that cover at least one of the named claims (OpenID Connect Core §5.4);
    /// unknown names are ignored.
    static func scope(covering names: Set<String>) -> Scope {
        Scope(
            [Scope.Token.profile, .email, .address, .phone].filter {
                !Self.names(for: Scope([$0])).isDisjoint(with: names)
            })
    }

    /// The claims of the scope `profile`.
    private static let profile: Set<String> = [
        "name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture",
        "website", "gender", "birthdate", "zoneinfo", "locale", "updated_at",
    ]

    /// The names of all supported claims, the value of `claims_supported` without protocol claims such as `iss`.
    static let all = profile.union(["email", "email_verified", "phone_number", "phone_number_verified", "address"])
}
