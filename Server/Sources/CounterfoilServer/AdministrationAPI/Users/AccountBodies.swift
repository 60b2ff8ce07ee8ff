@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// The body with which a user is created.
struct NewAccountBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case username, name, email, password, role
        case isEmailVerified = "email_verified"
        case mustChangePassword = "must_change_password"
    }

    let username: String
    let name: String?
    let email: EmailAddress?
    let isEmailVerified: Bool
    let password: String?
    let mustChangePassword: Bool
    let role: UserRole?

    init?(_ members: inout BodyMembers<Member>) {
        let username = members.username(.username)
        name = members.displayName(.name)
        email = members.email(.email)
        isEmailVerified = members.flag(.isEmailVerified) ?? false
        password = members.text(.password)
        mustChangePassword = members.flag(.mustChangePassword) ?? false
        role = members.role(.role)
        if isEmailVerified, email == nil { members.refuse(.isEmailVerified, "It needs an email address.") }
        if mustChangePassword, password == nil { members.refuse(.mustChangePassword, "It needs a password.") }
        guard let username else { return nil }
        self.username = username
    }
}

/// The body with which a user is changed: a JSON Merge Patch (RFC 7396), in which null removes a value.
struct ChangedAccountBody: AdministrationBody {
    enum Member: String, CaseIterable {
        case name, email, profile
        case isEmailVerified = "email_verified"
    }

    let name: String?
    /// The new address, which is nil to remove it; nil to keep the former one.
    let email: EmailAddress??
    let isEmailVerified: Bool?
    let profile: ProfileChange

    init?(_ members: inout BodyMembers<Member>) {
        name = members.displayName(.name)
        if members.has(.name), name == nil, members.problems.isEmpty { members.refuse(.name, "It cannot be removed.") }
        let address = members.email(.email)
        email = members.has(.email) ? .some(address) : nil
        isEmailVerified = members.flag(.isEmailVerified)
        profile = members.profile(.profile) ?? ProfileChange()
    }

    /// Writes the changes into a user.
    func write(into user: inout User) {
        if let name { user.displayName = name }
        user.changeEmail(to: email ?? user.email, isVerified: isEmailVerified)
        profile.write(into: &user.profile)
    }
}

/// The body with which a user gets a role, or null to have none.
struct RoleBody: AdministrationBody {
    enum Member: String, CaseIterable { case role }

    let role: UserRole?

    init?(_ members: inout BodyMembers<Member>) {
        role = members.role(.role)
        guard members.has(.role) else {
            members.refuse(.role, "It is required.")
            return nil
        }
    }
}

extension BodyMembers {
    /// Returns a required username as it was typed.
    mutating func username(_ member: Member) -> String? {
        required(member, rule: "It must have 1 to 64 letters, digits and . _ -") { Username($0) == nil ? nil : $0 }
    }

    /// Returns the claims of a profile; nil if it is absent or refused.
    mutating func profile(_ member: Member) -> ProfileChange? {
        guard let claims = parts(member) else { return nil }
        var change = ProfileChange()
        for problem in change.read(claims) { refuse(below: member, problem.claim, problem.rule) }
        return change
    }

    mutating func displayName(_ member: Member) -> String? {
        value(member, rule: "It " + String.displayNameRule) {
            let name = $0.trimmingWhitespace()
            return name.isDisplayName ? name : nil
        }
    }

    mutating func email(_ member: Member) -> EmailAddress? {
        value(member, rule: "It must be an email address.") { EmailAddress($0) }
    }

    mutating func role(_ member: Member) -> UserRole? {
        let all = UserRole.allCases.map(\.rawValue).joined(separator: ", ")
        return value(member, rule: "It must be one of \(all), or null.") { UserRole(rawValue: $0) }
    }
}
