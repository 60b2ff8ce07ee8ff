import CounterfoilProtocol
import CounterfoilStore
import HTTPTypes

/// The errors of an approval that issued no code: the user gets an error page, or a redirect for `outdated`.
enum ApprovalError: Error {
    case alreadyAnswered
    /// The client or the scopes of an API changed after the page was shown; `askAgain` is the URL that starts
    /// the request again.
    case clientChanged(askAgain: String)
    case clientDeleted
    case userNotActive
    /// Only administrators may allow something to the client with this name, and the user is none.
    case needsAdministrator(DisplayName)
    /// The client with this name gets tokens only after a stronger sign-in than the user has or can have.
    case needsStrongerSignIn(DisplayName, reaching: AuthenticationContext)
    /// The client with this name is in development, and its developer does not name the user.
    case inDevelopment(DisplayName)
    /// The session ended or the consent was withdrawn while the request was processed; `startAgain` is the
    /// URL that starts the request again.
    case outdated(startAgain: String, OAuthError)
}

extension ApprovalError: Refusing {
    var refusal: Refusal {
        switch self {
        case .alreadyAnswered: Refusal(.badRequest, .invalidRequest, .alreadyAnswered)
        case .clientChanged(let askAgain):
            Refusal(.conflict, .invalidRequest, .clientChanged, continueLink: .address(askAgain))
        case .clientDeleted: Refusal(.badRequest, .invalidRequest, .clientDeleted)
        case .userNotActive: Refusal(.forbidden, .accessDenied, .userNotActive)
        case .needsAdministrator(let client):
            Refusal(.forbidden, .accessDenied, .needsAdministrator, ["application": .name(client)])
        case .needsStrongerSignIn(let client, .passkey):
            Refusal(.forbidden, .accessDenied, .needsPasskey, ["application": .name(client)])
        case .needsStrongerSignIn(let client, .twoFactor), .needsStrongerSignIn(let client, .password):
            Refusal(.forbidden, .accessDenied, .needsStrongerSignIn, ["application": .name(client)])
        case .inDevelopment(let client):
            Refusal(.forbidden, .accessDenied, .clientInDevelopment, ["application": .name(client)])
        case .outdated(let startAgain, let error): Refusal(error, to: .seeOther(startAgain))
        }
    }
}
