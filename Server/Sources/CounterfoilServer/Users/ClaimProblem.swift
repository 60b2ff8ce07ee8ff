package import CounterfoilStore

/// The reason why a group, an attribute, or the claims of a scope are refused, with the remedy.
package enum ClaimProblem: Localized, Hashable {
    case notAName(String)
    case reserved(String)
    case tooManyInScope
    case notAGroup(String)
    case notJSON
    case notAValue(String)
    case refused(UserAttributes.Refusal)

    package var text: LocalizedText {
        switch self {
        case .notAName(let name):
            LocalizedText(
                "claims.not-a-name", ["name": .name(DisplayName(name)), "limit": .number(ClaimName.limit)])
        case .reserved(let name): LocalizedText("claims.reserved", ["name": .name(DisplayName(name))])
        case .tooManyInScope:
            LocalizedText("claims.too-many-in-scope", ["limit": .number(ReleasedClaims.limit)])
        case .notAGroup(let name):
            LocalizedText(
                "claims.not-a-group", ["name": .name(DisplayName(name)), "limit": .number(GroupName.limit)])
        case .notJSON: LocalizedText("claims.not-json")
        case .notAValue(let name): LocalizedText("claims.not-a-value", ["name": .name(DisplayName(name))])
        case .refused(.tooManyGroups):
            LocalizedText("claims.too-many-groups", ["limit": .number(UserAttributes.groupLimit)])
        case .refused(.tooManyAttributes):
            LocalizedText("claims.too-many-attributes", ["limit": .number(UserAttributes.attributeLimit)])
        case .refused(.tooLarge):
            LocalizedText("claims.too-large", ["limit": .number(UserAttributes.byteLimit)])
        case .refused(.nameOfGroups): LocalizedText("claims.name-of-groups")
        }
    }

    /// Returns the problem with the name of a claim; nil if there is none.
    package init?(withName name: String) {
        if !ClaimName.isName(name) {
            self = .notAName(name)
        } else if ClaimName.isReserved(name) {
            self = .reserved(name)
        } else {
            return nil
        }
    }
}
