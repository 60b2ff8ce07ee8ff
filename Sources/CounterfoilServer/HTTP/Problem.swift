/// What can keep a person from the page that they wanted; the catalogue says of each what is wrong, what happened and what
/// can be done: `problem.not-found.title`, `.explanation` and `.advice`.
public enum Problem: String, CaseIterable, Sendable {
    /// There is nothing at the address.
    case notFound = "not-found"
    /// The body is larger than the endpoint takes; place `limit`.
    case tooLarge = "too-large"
    /// The body did not arrive in time.
    case tooSlow = "too-slow"
    /// Too many bytes of bodies are held already.
    case overloaded
    /// The address is longer than the server takes; place `limit`.
    case addressTooLong = "address-too-long"
    /// An application asked for what cannot be given; place `reason`.
    case requestRefused = "request-refused"
    /// An application asked for what cannot be answered to it; place `reason`.
    case requestUnanswered = "request-unanswered"
    /// The same, where it is known whose request it is; places `application` and `reason`.
    case applicationUnanswered = "application-unanswered"
    /// The form was not sent from a page of ours in this browser.
    case fromElsewhere = "from-elsewhere"
    /// The form cannot be read; place `reason`.
    case unreadableForm = "unreadable-form"
    /// The page has waited for too long.
    case pageExpired = "page-expired"
    /// The cookie of the browser is missing.
    case cookiesMissing = "cookies-missing"
    /// The form came without a button.
    case noDecision = "no-decision"
    /// The one-time link is over.
    case linkOver = "link-over"
    /// The question was answered before.
    case alreadyAnswered = "already-answered"
    /// The application was deleted meanwhile.
    case clientGone = "client-gone"
    /// The application was changed meanwhile.
    case clientChanged = "client-changed"
    /// The account was switched off meanwhile.
    case personGone = "person-gone"
    /// Too many passwords wait to be checked.
    case tooBusy = "too-busy"
    /// The user has approved too many authorizations lately.
    case tooManyApprovals = "too-many-approvals"
    /// The records cannot be reached.
    case unavailable = "unavailable"
    /// A fault of the server.
    case fault = "fault"

    /// What is wrong, as a heading.
    func title(_ values: [String: Text.Value]) -> Text { Text(key: "problem.\(rawValue).title", values) }

    /// What happened.
    func explanation(_ values: [String: Text.Value]) -> Text { Text(key: "problem.\(rawValue).explanation", values) }

    /// What can be done.
    func advice(_ values: [String: Text.Value]) -> Text { Text(key: "problem.\(rawValue).advice", values) }

    /// What the button says that goes on, where there is one.
    func wayOn() -> Text { Text(key: "problem.\(rawValue).way-on") }
}
