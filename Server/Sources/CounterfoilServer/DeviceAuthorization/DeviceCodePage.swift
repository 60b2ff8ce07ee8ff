/// The page on which a user types the code that a device shows; it posts `user_code`, `request` and `ticket`.
package struct DeviceCodePage: Sendable, Hashable {
    /// The path that the form posts to.
    package var action: String
    /// The form ticket, which proves that the form came from this page; the hidden field `ticket`.
    package var ticket: String
    /// The initial code: from the URL, or as typed when the form is shown again; empty for none.
    package var userCode: String
    /// The error, in one sentence, when the form is shown again.
    package var problem: String?
    /// The number of seconds to wait before the next attempt, if there were too many wrong codes.
    package var retryAfterSeconds: Int?

    package init(
        action: String, ticket: String, userCode: String = "", problem: String? = nil, retryAfterSeconds: Int? = nil
    ) {
        self.action = action
        self.ticket = ticket
        self.userCode = userCode
        self.problem = problem
        self.retryAfterSeconds = retryAfterSeconds
    }
}

extension DeviceCodePage: Page {
    package static let template = "device-code"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        [
            "wait": retryAfterSeconds.map { Localizer(frame.language)(.wait(seconds: $0)) },
            "isFilled": !userCode.isEmpty && problem == nil,
        ]
    }
}
