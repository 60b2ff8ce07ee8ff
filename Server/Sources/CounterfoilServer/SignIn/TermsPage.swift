/// The page on which a signed-in user accepts the terms of the service; it posts `decision`, `door`, `request`,
/// `recent`, `version` and `ticket`.
///
/// `decision` is `accept` or `decline`.
package struct TermsPage: Page, Hashable {
    package static let template = "terms"

    /// The name of the client to which the user continues; nil for none.
    package var clientName: DisplayName?
    package var userDisplayName: DisplayName
    /// The https URL of the terms.
    package var termsURI: String
    /// The path that the form posts to.
    package var action: String
    /// The hidden fields of the form.
    package var question: TermsQuestion
    /// The form ticket, which proves that the form came from this page; the hidden field `ticket`.
    package var ticket: String

    package init(
        clientName: DisplayName? = nil, userDisplayName: DisplayName, termsURI: String, action: String,
        question: TermsQuestion, ticket: String
    ) {
        self.clientName = clientName
        self.userDisplayName = userDisplayName
        self.termsURI = termsURI
        self.action = action
        self.question = question
        self.ticket = ticket
    }

    package func values(in frame: Frame) -> [String: (any Sendable)?] { ["door": question.door.rawValue] }
}

/// The question whether a user accepts the terms, with the request at which the user continues.
package struct TermsQuestion: Sendable, Hashable {
    /// The part of the server at which the user continues.
    package var door: SignInDoor
    /// The pending request of the door.
    package var request: String
    /// Whether the user has signed in for this request.
    package var isSignedInForThis: Bool
    /// The version of the terms.
    package var version: String

    package init(door: SignInDoor, request: String, isSignedInForThis: Bool = false, version: String) {
        self.door = door
        self.request = request
        self.isSignedInForThis = isSignedInForThis
        self.version = version
    }

    /// The text that the ticket of the form authenticates.
    var sentence: String { "\(door.rawValue)\0\(isSignedInForThis)\0\(version)\0\(request)" }
}
