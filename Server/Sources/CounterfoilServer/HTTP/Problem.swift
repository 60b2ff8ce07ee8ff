import CounterfoilProtocol
import CounterfoilStore

/// The reason why a user gets an error page instead of the requested one.
///
/// The message catalogue has three texts for each case. Those of ``notFound`` are `problem.not-found.title`,
/// `problem.not-found.explanation` and `problem.not-found.advice`.
package enum Problem: String, CaseIterable, Sendable {
    /// The server has no page at the URL, or none that this user may see.
    case notFound = "not-found"
    /// The request body exceeds the size limit of the endpoint; placeholder `limit` in bytes.
    case tooLarge = "too-large"
    /// The request body did not arrive in time.
    case tooSlow = "too-slow"
    /// The server already has too many bytes of request bodies in memory.
    case overloaded
    /// The URL exceeds the length limit of the server; placeholder `limit` in bytes.
    case uriTooLong = "uri-too-long"
    /// The request was refused with an OAuth error; the placeholder `reason` is the error code.
    case requestRefused = "request-refused"
    /// An authorization request is invalid and its client is unknown, so no error response can be sent;
    /// placeholder `reason`.
    case requestUnanswered = "request-unanswered"
    /// An authorization request of a known client is invalid in such a way that no error response can be sent to
    /// the client; placeholders `application` and `reason`.
    case clientUnanswered = "application-unanswered"
    /// The pushed authorization request is unknown, was already answered, has expired or is of another client.
    case pushedRequestGone = "pushed-request-gone"
    /// The form was not submitted from a page of this server.
    case fromElsewhere = "from-elsewhere"
    /// The form is of another sign-in: the user has signed in or out, or the browser has lost its cookies, since the
    /// page was shown.
    case pageOutdated = "page-outdated"
    /// The form cannot be parsed; placeholder `reason`.
    case unreadableForm = "unreadable-form"
    /// The page with the form was open for too long.
    case pageExpired = "page-expired"
    /// The browser did not send the cookie that this server set with the form.
    case cookiesMissing = "cookies-missing"
    /// The form does not contain the value of any button, so the user's decision is unknown.
    case noDecision = "no-decision"
    /// The one-time link for creating the first owner is wrong, or a newer one has replaced it.
    case linkExpired = "link-expired"
    /// An owner exists, so the one-time link was used, or is not needed.
    case alreadySetUp = "already-set-up"
    /// The link for a new password was used, has expired, was replaced, or has ended with a change of the account.
    case recoveryLinkOver = "recovery-link-over"
    /// Another browser has asked for the link for a new password.
    case recoveryElsewhere = "recovery-elsewhere"
    /// The link to create an account was used or withdrawn, or has expired.
    case signUpLinkOver = "sign-up-link-over"
    /// The link to create an account was opened in another browser than the one that asked for it.
    case signUpOtherBrowser = "sign-up-other-browser"
    /// The page of the owner has signed no user in; placeholders `page`, and `url` of the sign-in page of this server.
    case externalSignInRefused = "external-sign-in-refused"
    /// The response of the page of the owner does not hold; placeholders `page`, and `url` of the sign-in page of this
    /// server.
    case externalSignInInvalid = "external-sign-in-invalid"
    /// The sign-in at the page of the owner was begun in another browser or too long ago, or is complete.
    case externalSignInOver = "external-sign-in-over"
    /// The page of the owner has signed a user in who has no account; placeholder `page`.
    case externalSignInUnknown = "external-sign-in-unknown"
    /// The user has already answered the page.
    case alreadyAnswered = "already-answered"
    /// The client was deleted while the page was open.
    case clientDeleted = "client-deleted"
    /// The client was changed while the page was open.
    case clientChanged = "client-changed"
    /// The account was disabled while the page was open.
    case userNotActive = "person-not-active"
    /// Only administrators may allow something to the client, because no person has registered it; placeholder
    /// `application`.
    case needsAdministrator = "needs-administrator"
    /// The policy of the client asks for a stronger sign-in than the user can have; placeholder `application`.
    case needsStrongerSignIn = "needs-stronger-sign-in"
    /// The policy of the client asks for a passkey, and the user has none; placeholder `application`.
    case needsPasskey = "needs-passkey"
    /// An administrator has suspended the client; placeholder `application`.
    case clientSuspended = "application-suspended"
    /// No administrator has approved the client yet; placeholder `application`.
    case clientPending = "application-pending"
    /// The client is in development, and its developer does not name the user; placeholder `application`.
    case clientInDevelopment = "application-in-development"
    /// The role of the user has not the right to do this; placeholder `roles`, those that have it.
    case rightMissing = "right-missing"
    /// The account has a stronger role than the user; placeholders `role` and `roles`, those that may change it.
    case strongerAccount = "stronger-account"
    /// The account manages a client with rights that the user lacks; placeholder `roles`, those that may change it.
    case strongerClients = "stronger-clients"
    /// The user may not give or withdraw a role; placeholders `role` and `roles`, those that may.
    case roleUnassignable = "role-unassignable"
    /// Only some users register clients at this server, and the user is none of them.
    case registrationClosed = "registration-closed"
    /// Too many password checks are waiting, a client failed to authenticate too often, or a client retried a
    /// refresh too often.
    case tooBusy = "too-busy"
    /// The user has approved too many authorizations recently.
    case tooManyApprovals = "too-many-approvals"
    /// The server cannot reach its store.
    case unavailable = "unavailable"
    /// The store did not confirm a commit, so the change may have been made.
    case unconfirmed = "unconfirmed"
    /// The server has an internal error, which it logs.
    case fault = "fault"

    /// The reason in the audit log; nil for a fault of the server, for a page that does not exist, and if the error of
    /// the request says more.
    var reason: AuditEvent.Reason? {
        switch self {
        case .notFound, .requestRefused, .unavailable, .unconfirmed, .fault: nil
        case .tooLarge, .tooSlow, .uriTooLong, .unreadableForm, .noDecision: .unreadable
        case .overloaded, .tooBusy: .overloaded
        case .requestUnanswered, .clientUnanswered: AuditEvent.Reason(.invalidRequest)
        case .pushedRequestGone: .pushedRequest
        case .fromElsewhere: .foreignForm
        case .pageOutdated: .ticket
        case .pageExpired: .ticketExpired
        case .cookiesMissing: .cookie
        case .linkExpired, .alreadySetUp: .setupLink
        case .recoveryLinkOver, .recoveryElsewhere: .userLink
        case .signUpLinkOver, .signUpOtherBrowser: .signUpLink
        case .externalSignInRefused: .denied
        case .externalSignInInvalid: .externalSignIn
        case .externalSignInOver: .cookie
        case .externalSignInUnknown: .unknownUser
        case .alreadyAnswered: .alreadyAnswered
        case .clientDeleted: .clientDeleted
        case .clientChanged: .clientChanged
        case .userNotActive: .accountChanged
        case .needsAdministrator, .rightMissing, .strongerAccount, .strongerClients, .roleUnassignable:
            .notAdministrator
        case .needsStrongerSignIn, .needsPasskey: AuditEvent.Reason(.unmetAuthenticationRequirements)
        case .clientSuspended: .clientSuspended
        case .clientPending, .clientInDevelopment: .clientNotApproved
        case .registrationClosed: .registrationClosed
        case .tooManyApprovals: .throttledUser
        }
    }

    /// Returns the title of the error page; `values` replace its placeholders.
    func title(_ values: [String: LocalizedText.Value]) -> LocalizedText {
        LocalizedText(key: "problem.\(rawValue).title", values)
    }

    func explanation(_ values: [String: LocalizedText.Value]) -> LocalizedText {
        LocalizedText(key: "problem.\(rawValue).explanation", values)
    }

    /// Returns the text of the error page that tells the user what to do.
    func advice(_ values: [String: LocalizedText.Value]) -> LocalizedText {
        LocalizedText(key: "problem.\(rawValue).advice", values)
    }

    /// Returns the label of the button to continue, which only some error pages have.
    func continueLink() -> LocalizedText { LocalizedText(key: "problem.\(rawValue).continue") }
}
