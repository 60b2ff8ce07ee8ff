@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

extension String {
    /// Whether the text, without white space around it, can be the display name of a user.
    package var isDisplayName: Bool { ClaimFormat.name.accepts(self) && DisplayName.isVisible(self) }

    /// A description of the format of a display name, for error messages.
    static let displayNameRule = ClaimFormat.name.rule.replacing("must be one line", with: "must be one visible line")
}

extension User {
    /// Creates the account that an administrator adds.
    ///
    /// - Parameters:
    ///   - displayName: The name shown on pages; nil for the name as it was typed.
    ///   - typedName: The username as it was typed.
    package init?(
        creating typedName: String, email: EmailAddress?, isEmailVerified: Bool, displayName: String?,
        passwordHash: PasswordHash?, role: UserRole?, at time: Date
    ) {
        guard let username = Username(typedName) else { return nil }
        var profile = UserProfile()
        if email != nil, isEmailVerified { profile.isEmailVerified = true }
        self.init(
            username: username, email: email, displayName: (displayName ?? typedName).trimmingWhitespace(),
            passwordHash: passwordHash, role: role, profile: profile, createdAt: time)
    }

    /// A digest of the name and the address, by which a form finds that they have changed since it was shown.
    package var revision: String {
        RecordDigest([displayName, email?.rawValue ?? "", "\(profile.isEmailVerified == true)"]).text
    }

    /// Changes the email address; another address is unverified, unless it is stated to be verified.
    package mutating func changeEmail(to address: EmailAddress?, isVerified: Bool?) {
        if address != email { profile.isEmailVerified = nil }
        email = address
        if let isVerified { profile.isEmailVerified = address == nil ? nil : isVerified }
    }
}
