package import CounterfoilStore

/// The names of roles, and what they allow.
private enum RoleText: String, LocalizationKey {
    case owner = "role.owner"
    case administrator = "role.administrator"
    case support = "role.support"
    case auditor = "role.auditor"
    case developer = "role.developer"
    case ownerMeaning = "role.owner.meaning"
    case administratorMeaning = "role.administrator.meaning"
    case supportMeaning = "role.support.meaning"
    case auditorMeaning = "role.auditor.meaning"
    case developerMeaning = "role.developer.meaning"
    case none = "role.none"
    case more = "role.more"
}

extension UserRole {
    /// The name of the role.
    package var label: LocalizedText {
        switch self {
        case .owner: RoleText.owner.text
        case .administrator: RoleText.administrator.text
        case .support: RoleText.support.text
        case .auditor: RoleText.auditor.text
        case .developer: RoleText.developer.text
        }
    }

    /// One sentence that tells the user what the role allows.
    package var meaning: LocalizedText {
        switch self {
        case .owner: RoleText.ownerMeaning.text
        case .administrator: RoleText.administratorMeaning.text
        case .support: RoleText.supportMeaning.text
        case .auditor: RoleText.auditorMeaning.text
        case .developer: RoleText.developerMeaning.text
        }
    }

    /// The name for the absence of a role.
    package static var noRole: LocalizedText { RoleText.none.text }

    /// Returns the names of roles, separated by commas.
    package static func list(_ roles: [UserRole]) -> LocalizedText {
        guard let first = roles.first else { return noRole }
        guard roles.count > 1 else { return first.label }
        return LocalizedText(
            RoleText.more, ["role": .nested(first.label), "rest": .nested(list(Array(roles.dropFirst())))])
    }
}
