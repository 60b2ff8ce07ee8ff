/// The page on which a user who has just signed in with a password can create a passkey; it posts `decision`, `door`,
/// `request`, `recent`, `passkey` and `ticket`.
///
/// `decision` is `create`, `upgrade` or `later`. With the first two, the script posts the answer of the browser in
/// `passkey` (WebAuthn §5.1, `RegistrationResponseJSON`). It posts `upgrade` without a question to the user, in a
/// browser that can (§5.1.3, conditional mediation).
package struct PasskeyOfferPage: Page, Hashable {
    package static let template = "passkey-offer"

    /// The values of the form field `decision`.
    package enum Decision: String, Sendable {
        case create, upgrade, later
    }

    /// The name of the client to which the user continues; nil for none.
    package var clientName: DisplayName?
    /// The path that the forms post to.
    package var action: String
    /// The hidden fields of the forms.
    package var question: PasskeyOfferQuestion
    /// The form ticket, which proves that the form came from this page; the hidden field `ticket`.
    package var ticket: String
    /// The options in JSON with which the user creates a passkey (WebAuthn §5.1.8).
    package var options: String
    /// The options in JSON with which the browser creates one without a question.
    package var upgradeOptions: String
    /// The error, in one sentence, when the page is shown again.
    package var problem: String?

    package init(
        clientName: DisplayName? = nil, action: String, question: PasskeyOfferQuestion, ticket: String,
        options: String, upgradeOptions: String, problem: String? = nil
    ) {
        self.clientName = clientName
        self.action = action
        self.question = question
        self.ticket = ticket
        self.options = options
        self.upgradeOptions = upgradeOptions
        self.problem = problem
    }

    package var script: PageScript? { .passkeys }

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        // A browser has tried this before the page is shown again.
        ["door": question.door.rawValue, "upgrade": problem == nil ? upgradeOptions : nil]
    }
}

/// The question whether a user creates a passkey, with the request at which the user continues.
package struct PasskeyOfferQuestion: Sendable, Hashable {
    /// The part of the server at which the user continues.
    package var door: SignInDoor
    /// The pending request of the door.
    package var request: String
    /// Whether the user has signed in for this request.
    package var isSignedInForThis: Bool

    package init(door: SignInDoor, request: String, isSignedInForThis: Bool = false) {
        self.door = door
        self.request = request
        self.isSignedInForThis = isSignedInForThis
    }

    /// The text that the ticket of the form authenticates.
    var sentence: String { "\(door.rawValue)\0\(isSignedInForThis)\0\(request)" }
}
