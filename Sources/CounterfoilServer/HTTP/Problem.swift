/// The reason why a user gets an error page instead of the requested one.
///
/// The message catalogue has three texts for each: `problem.not-found.title`, `.explanation` and `.advice`.
package enum Problem: String, CaseIterable, Sendable {
    /// There is no page at the URL.
    case notFound = "not-found"
    /// The body exceeds the limit of the endpoint; placeholder `limit`.
    case tooLarge = "too-large"
    /// The body did not arrive in time.
    case tooSlow = "too-slow"
    /// The server already holds too many bytes of request bodies.
    case overloaded
    /// The URL exceeds the limit of the server; placeholder `limit`.
    case addressTooLong = "address-too-long"
    /// A protocol error; placeholder `reason`, the error code.
    case requestRefused = "request-refused"
    /// An authorization request is invalid, and the error cannot be sent to the client; placeholder
    /// `reason`.
    case requestUnanswered = "request-unanswered"
    /// The same, if the client is known; placeholders `application` and `reason`.
    case applicationUnanswered = "application-unanswered"
    /// The form was not submitted from a page of this server in this browser.
    case fromElsewhere = "from-elsewhere"
    /// The form cannot be read; placeholder `reason`.
    case unreadableForm = "unreadable-form"
    /// The page has expired.
    case pageExpired = "page-expired"
    /// The browser did not send its cookie.
    case cookiesMissing = "cookies-missing"
    /// The form does not say which button was pressed.
    case noDecision = "no-decision"
    /// The one-time link was used or replaced by a newer one.
    case linkOver = "link-over"
    /// The page was already answered.
    case alreadyAnswered = "already-answered"
    /// The client was deleted while the page was open.
    case clientGone = "client-gone"
    /// The client was changed while the page was open.
    case clientChanged = "client-changed"
    /// The account was disabled while the page was open.
    case personGone = "person-gone"
    /// Too many password checks are pending, or one refresh was retried too often.
    case tooBusy = "too-busy"
    /// The user has approved too many authorizations recently.
    case tooManyApprovals = "too-many-approvals"
    /// The store is unavailable.
    case unavailable = "unavailable"
    /// An internal error of the server.
    case fault = "fault"

    /// Returns the title of the page.
    func title(_ values: [String: LocalizedText.Value]) -> LocalizedText {
        LocalizedText(key: "problem.\(rawValue).title", values)
    }

    /// Returns the explanation of what happened.
    func explanation(_ values: [String: LocalizedText.Value]) -> LocalizedText {
        LocalizedText(key: "problem.\(rawValue).explanation", values)
    }

    /// Returns the advice to the user.
    func advice(_ values: [String: LocalizedText.Value]) -> LocalizedText {
        LocalizedText(key: "problem.\(rawValue).advice", values)
    }

    /// Returns the label of the button that leads to another page.
    func continueLink() -> LocalizedText { LocalizedText(key: "problem.\(rawValue).way-on") }
}
