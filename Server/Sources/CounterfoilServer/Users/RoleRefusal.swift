import CounterfoilProtocol
package import CounterfoilStore
import HTTPTypes

/// The error that the role of a user does not allow a change.
package enum RoleRefusal: Error, Sendable, Hashable {
    /// The role has not the right.
    case lacksRight(AdministrationRight)
    /// The account has this role, which is stronger than that of the user.
    case strongerAccount(UserRole)
    /// The account manages a client that has these rights of the administration, some of which the user lacks.
    case strongerClients(Set<AdministrationRight>)
    /// The user may not give or withdraw this role.
    case unassignable(UserRole)

    /// The roles that allow it, the strongest first.
    package var roles: [UserRole] {
        switch self {
        case .lacksRight(let right): right.roles
        case .strongerAccount(let role):
            AdministrationRight.writeUsers.roles.filter { $0.mayAct(onAccountWith: role) }
        case .strongerClients(let rights):
            AdministrationRight.writeUsers.roles.filter { rights.isSubset(of: $0.rights) }
        case .unassignable(let role): UserRole.allCases.filter { $0.mayAssign(role) }
        }
    }

    /// One sentence that says which roles allow it.
    package var explanation: LocalizedText { problem.explanation(values) }

    private var problem: Problem {
        switch self {
        case .lacksRight: .rightMissing
        case .strongerAccount: .strongerAccount
        case .strongerClients: .strongerClients
        case .unassignable: .roleUnassignable
        }
    }

    private var values: [String: LocalizedText.Value] {
        let roles = LocalizedText.Value.nested(UserRole.list(roles))
        return switch self {
        case .lacksRight, .strongerClients: ["roles": roles]
        case .strongerAccount(let role), .unassignable(let role): ["role": .nested(role.label), "roles": roles]
        }
    }
}

extension RoleRefusal: Refusing {
    var refusal: Refusal { Refusal(.forbidden, .accessDenied, problem, values, continueLink: .home) }
}
